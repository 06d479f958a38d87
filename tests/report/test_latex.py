"""LaTeX tables: complete and escaped."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq.errors import DataError
from harness_uq.report.latex import comparisons_latex, estimates_latex, plan_latex, rankings_latex
from harness_uq.report.latex_grid import estimates_grid, rankings_grid
from harness_uq.report.latex_table import Paper, escape_latex
from tests.results import factory as make


def several_metrics():
    """Comparisons whose tasks and metrics have long names."""
    kinds = [("acc", "none"), ("exact_match", "flexible-extract"), ("exact_match", "strict-match")]
    rows = [make.comparison(task=f"demo_word_problems_{k}") for k in range(4)]
    return [replace(row, metric=metric, filter=name) for row in rows for metric, name in kinds]


TABLES = {
    "estimates": lambda: estimates_latex(make.estimates(), Paper(caption="50 % of a_b", label="tab:scores")),
    "long": lambda: estimates_latex([make.estimate(task=f"task_{k}") for k in range(60)]),
    "comparisons": lambda: comparisons_latex(make.comparisons()),
    "comparisons of several metrics": lambda: comparisons_latex(several_metrics()),
    "rankings": lambda: rankings_latex([make.ranking(5), make.ranking(3)]),
    "plan": lambda: plan_latex(make.plan()),
}
GRIDS = {
    "estimates": lambda: estimates_grid(make.estimates(), Paper()),
    "rankings": lambda: rankings_grid([replace(make.ranking(7), task=f"task_{k}") for k in range(7)], Paper()),
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
    text = estimates_latex(make.estimates())
    assert "0.762 & [0.682, 0.831]" in text
    assert "not estimable" in text
    assert "only 4 of 25 clusters" in text


def test_negative_numbers_have_a_minus_and_names_keep_their_hyphens():
    text = comparisons_latex(make.comparisons())
    assert "[$-$0.116, 0.006]" in text
    assert "Llama-3.1-8B-Instruct" in text


def test_a_difference_that_is_not_estimable_says_so():
    assert "not estimable" in comparisons_latex([replace(make.comparison(), difference=None)])


def test_of_several_metrics_a_row_names_its_own_and_reasons_are_said_once():
    rows = several_metrics()
    text = comparisons_latex(rows)
    assert (
        r"demo\_\allowbreak{}word\_\allowbreak{}problems\_\allowbreak{}0, exact\_\allowbreak{}match (strict-match) &"
        in text
    )
    assert text.count("12 scores of 4 tasks: 12 better") == 1
    assert text.count("is better than") <= 1
    assert " & Metric & " in comparisons_latex(rows, Paper(columns=("task", "metric", "verdict")))


def test_rankings_by_filter_have_headings_of_their_own_and_one_note():
    text = rankings_latex([replace(make.ranking(3), filter=name) for name in ("first", "maj@8")])
    assert "(first)" in text
    assert "(maj@8)" in text
    assert text.count("in all") == 1


def test_rows_that_open_with_a_bracket_do_not_become_arguments():
    row = replace(make.ranking(1).systems[0], system="[new] model")
    assert "\n{}[new] model" in rankings_latex([replace(make.ranking(1), systems=(row,))])


def test_no_rows_give_no_table():
    assert estimates_latex([]) == ""


@given(st.text())
def test_no_special_character_survives_unescaped(text):
    plain = re.sub(r"\\[{}$&#_%]|\\[a-z]+\{\}|\$[^$]*\$|-\{\}", "", escape_latex(text))
    assert not set(plain) & set('\\{}$&#_%^~<>|"')


def test_columns_digits_and_label_are_as_asked():
    text = estimates_latex(make.estimates(), Paper(("task", "value", "se"), 1, "Mine", "tab:mine"))
    assert r"\caption{Mine\label{tab:mine}}" in text
    assert r"Task & Value & $\pm$ \\" in text
    assert "& 0.8 &" in text


def test_a_column_that_there_is_not_is_an_error_that_lists_those_there_are():
    with pytest.raises(DataError, match=r"no column 'p'; there are task, metric, a, b, difference"):
        comparisons_latex(make.comparisons(), Paper(("task", "p")))


def test_systems_by_tasks_have_intervals_and_letters_of_their_groups():
    text = GRIDS["rankings"]()
    assert text.count(r"\begin{tabularx}") == 2
    assert re.search(r"0\.\d{3}\\textsuperscript\{[a-z]+\} \\newline \{\\scriptsize \[0\.\d{3},\\,0\.\d{3}\]\}", text)
    assert "Systems that share a letter cannot be told apart" in text


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
