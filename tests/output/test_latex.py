"""LaTeX tables: complete and escaped."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq.messages.errors import DataError
from harness_uq.output.latex import escape_latex
from harness_uq.results.documents import KINDS
from tests.output.rendering import render
from tests.results import factory as make


def several_metrics():
    """Comparisons whose tasks and metrics have long names."""
    kinds = [("acc", "none"), ("exact_match", "flexible-extract"), ("exact_match", "strict-match")]
    rows = [make.comparison(task=f"demo_word_problems_{k}") for k in range(4)]
    return [replace(row, metric=metric, filter=name) for row in rows for metric, name in kinds]


TABLES = {
    "estimates": lambda: render(make.estimates(), "latex", caption="50 % of a_b", label="tab:scores"),
    "long": lambda: render([make.estimate(task=f"task_{k}") for k in range(60)], "latex"),
    "comparisons": lambda: render(make.comparisons(), "latex"),
    "comparisons of several metrics": lambda: render(several_metrics(), "latex"),
    "rankings": lambda: render([make.ranking(5), make.ranking(3)], "latex"),
    "plan": lambda: render([make.plan()], "latex"),
    "effects": lambda: render([make.effects()], "latex"),
}
GRIDS = {
    "estimates": lambda: render(make.estimates(), "latex", layout="grid"),
    "rankings": lambda: render([replace(make.ranking(7), task=f"task_{k}") for k in range(7)], "latex", layout="grid"),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_row_has_as_many_cells_as_the_alignment(name):
    text = TABLES[name]()
    (align,) = re.findall(r"\\begin\{(?:tabularx?|longtable)\}(?:\{\\textwidth\})?\{(.+)\}\n", text)
    columns = len(re.sub(r">\{[^}]*\}|\{[^}]*\}", "", align))
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and not line.startswith((r"\multi", r"\cap"))]
    assert len(rows) > 3
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {columns}


def test_numbers_and_warnings_arrive():
    text = render(make.estimates(), "latex")
    assert "0.762 & [0.682, 0.831]" in text
    assert "not estimable" in text
    assert "The 25 clusters (defined by passage) differ" in text


def test_negative_numbers_have_a_minus_and_names_keep_their_hyphens():
    text = render(make.comparisons(), "latex")
    assert "[$-$0.116, 0.006]" in text
    assert "Llama-3.1-8B-Instruct" in text


def test_a_difference_that_is_not_estimable_says_so():
    assert "not estimable" in render([replace(make.comparison(), difference=None)], "latex")


def test_of_several_metrics_each_row_names_its_own_and_reasons_appear_once():
    rows = several_metrics()
    text = render(rows, "latex")
    assert r"problems\_\allowbreak{}0 & exact\_\allowbreak{}match (strict-match) &" in text
    assert text.count("Of 12 scores of 4 tasks, 12 are better") == 1
    assert text.count("is better than") <= 1
    assert "Metric" not in render(rows[:1], "latex")


def test_rankings_by_filter_have_headings_of_their_own_and_one_note():
    text = render([replace(make.ranking(3), filter=name) for name in ("first", "maj@8")], "latex")
    assert "(first)" in text
    assert "(maj@8)" in text


def test_rows_that_open_with_a_bracket_do_not_become_arguments():
    row = replace(make.ranking(1).systems[0], system="[new] model")
    assert "\n{}[new] model" in render([replace(make.ranking(1), systems=(row,))], "latex")


def test_no_rows_give_no_table():
    assert render([], "latex") == ""


@given(st.text())
def test_no_special_character_survives_unescaped(text):
    plain = re.sub(r"\\[{}$&#_%]|\\[a-z]+\{\}|\$[^$]*\$|-\{\}", "", escape_latex(text))
    assert not set(plain) & set('\\{}$&#_%^~<>|"')


def test_columns_digits_and_label_are_as_asked():
    text = render(
        make.estimates(), "latex", columns=("task", "value", "se"), digits=1, caption="Mine", label="tab:mine"
    )
    assert r"\caption{Mine\label{tab:mine}}" in text
    assert r"Task & Value & SE \\" in text
    assert "& 0.8 &" in text


@pytest.mark.parametrize("name", ["estimates", "comparisons", "rankings", "plans", "effects"])
def test_every_column_of_a_result_can_be_rendered(name: str) -> None:
    rows = {
        "estimates": make.estimates(),
        "comparisons": make.comparisons(),
        "rankings": [make.ranking(5)],
        "plans": [make.plan()],
        "effects": [make.effects()],
    }[name]
    (section, *_) = KINDS[name].document(rows, 3).sections
    columns = [column.name for column in section.columns]
    assert len(set(columns)) == len(columns)
    text = render(rows, "latex", columns=("all",))
    head = text.partition(r"\toprule")[2].partition(r"\midrule")[0]
    assert head.count(" & ") == len(section.visible_columns(["all"])) - 1
    for column in columns:
        assert render(rows, "latex", columns=(column,)).count(r"\begin{table}") == 1


def test_a_column_that_there_is_not_is_an_error_that_lists_those_there_are():
    with pytest.raises(DataError, match=r"Unknown column: 'p'. Available columns: task, metric, a, b, .*, all\."):
        render(make.comparisons(), "latex", columns=("task", "p"))


def test_systems_by_tasks_have_intervals_and_letters_of_their_groups():
    text = GRIDS["rankings"]()
    assert text.count(r"\begin{tabularx}") == 2
    assert re.search(r"0\.\d{3}\\textsuperscript\{[a-z]+\} \\newline \{\\scriptsize \[0\.\d{3},\\,0\.\d{3}\]\}", text)
    assert "Systems that share a letter have overlapping ranks" in text


@pytest.mark.slow
def test_every_table_is_set_within_the_width_of_the_text(latex, tmp_path):
    tables = [make_one() for make_one in (*TABLES.values(), *GRIDS.values())]
    packages = "booktabs,longtable,tabularx"
    document = "\n".join(
        [
            rf"\documentclass{{article}}\usepackage[T1]{{fontenc}}\usepackage{{{packages}}}",
            r"\begin{document}",
            *tables,
            r"\end{document}",
        ]
    )
    log = latex(document, tmp_path)
    assert re.findall(r"Overfull \\hbox \((\S+)pt too wide", log) == []
