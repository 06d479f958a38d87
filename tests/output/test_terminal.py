"""Tables on short lines: numbers stay whole, names are cut, and columns without room are named."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.output.document import Cells, Document, Section
from harness_uq.output.short_names import shorten
from harness_uq.output.terminal import TerminalPage, documents_text
from tests.output.rendering import render
from tests.results import factory as make

WIDTHS = (80, 100, 120, 160)


def table(columns: list[Cells], width: int) -> str:
    page = TerminalPage(width)
    page.add_table(columns)
    page.add_below([page.hidden_columns()])
    return page.text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "text",
    [
        lambda width: render(make.estimates(), width=width),
        lambda width: render(make.comparisons(), "table", width=width),
        lambda width: render([make.ranking(8)], "table", width=width),
    ],
    ids=["estimates", "comparisons", "rankings"],
)
def test_no_line_is_longer_than_asked_and_no_interval_is_broken(text, width: int) -> None:
    lines = text(width).splitlines()
    assert max(map(cell_len, lines)) <= width
    intervals = [line for line in lines if "[" in line]
    assert intervals
    assert all(re.search(r"\[-?[\d.,]+, -?[\d.,]+\]", line) for line in intervals)


def test_value_and_interval_are_never_left_out() -> None:
    header = " ".join(render(make.estimates(), width=80).splitlines()[1:3])
    assert "Value" in header
    assert "95% interval" in header


def test_columns_without_room_are_named_with_where_they_are() -> None:
    columns = [Cells("Task", ["a"] * 2, is_number=False), Cells("Score", ["0.12345678"] * 2), Cells("Extra", ["1"] * 2)]
    columns[2] = Cells("Extra", ["0.12345678"] * 2, spare=1)
    short = table(columns, 20)
    assert "0.12345678\n" in re.sub(r" +\n", "\n", short)
    assert "Hidden: Extra (" in " ".join(short.split())
    assert "--columns" in short
    assert "Hidden" not in table(columns, 28)


def test_the_most_spare_columns_go_first_and_equals_go_together() -> None:
    columns = [Cells(name, ["123456"], spare=spare) for name, spare in (("A", 0), ("B", 1), ("C", 2), ("D", 2))]
    assert "Hidden: C, D (" in " ".join(table(columns, 23).split())
    assert "Hidden: B, C, D (" in " ".join(table(columns, 13).split())


def test_names_are_broken_at_separators_before_anything_is_left_out() -> None:
    columns = [Cells("Metric", ["exact_match (custom-extract)"], is_number=False), Cells("±", ["0.1"], spare=1)]
    lines = [line.rstrip() for line in table(columns, 24).splitlines()]
    assert [line.split() for line in lines] == [["Metric", "±"], ["exact_match", "0.1"], ["(custom-extract)"]]


def test_a_metric_that_all_rows_share_moves_to_the_title_of_a_narrow_table() -> None:
    columns = [
        Cells("Task", ["a" * 9] * 2, is_number=False),
        Cells("Metric", ["acc"] * 2, is_number=False, in_title=True),
    ]
    section = Section("Scores", [*columns, Cells("Value", ["0.1234"] * 2)])
    wide, narrow = (documents_text([Document([section])], RenderOptions(width=width)) for width in (80, 22))
    assert "Metric" in wide
    assert narrow.startswith("Scores, acc\n")
    assert "Metric" not in narrow


def test_settings_are_part_of_names_only_where_they_distinguish_systems() -> None:
    one, two = make.estimate(system="a (top_k=1)"), make.estimate(system="b (top_k=2)")
    assert "top_k" not in render([one, two], width=80)
    assert "top_k=1" in render([one, make.estimate(system="a (top_k=2)")], width=80)
    assert "top_k=1" in render([one, two], "markdown")


@pytest.mark.parametrize("width", [80, 100])
def test_columns_that_matter_stay_on_80_columns(width: int) -> None:
    estimates = " ".join(" ".join(render(make.estimates(), width=width).splitlines()[:4]).split())
    assert all(name in estimates for name in ("Value", "interval", "SE", "Harness", "N"))
    comparisons = render(make.comparisons(), "table", width=width)
    header = next(line for line in comparisons.splitlines() if "Verdict" in line)
    assert all(f" {name} " in header for name in ("A", "B", "A − B", "95% interval"))


def test_names_that_a_cut_would_make_equal_are_cut_less() -> None:
    names = ["leaderboard_math_algebra_hard", "leaderboard_math_geometry_hard"]
    columns = [Cells("Task", names, is_number=False), Cells("Value", ["0.1"] * 2), Cells("More", ["1"] * 2, spare=1)]
    shown = [line.split()[0] for line in table(columns, 30).splitlines()[1:3]]
    assert len(set(shown)) == 2
    assert all("…" in name for name in shown)


def test_short_forms_come_before_anything_is_left_out_and_may_say_two_columns_in_one() -> None:
    columns = [
        Cells("Questions", ["132"], short=[Cells("N/clusters", ["132/30"])]),
        Cells("Clusters", ["30 passage_id"], short=[]),
        Cells("Deff", ["2.22"], spare=1),
    ]
    assert "30 passage_id" in table(columns, 30)
    assert table(columns, 20).split() == ["N/clusters", "Deff", "132/30", "2.22"]


def test_the_legend_speaks_of_no_column_that_is_left_out() -> None:
    columns = [Cells("A", ["123456"]), Cells("B", ["123456"], spare=1)]
    section = Section("", columns, legend={"A": "about A.", "B": "about B.", "": "always."})
    text = " ".join(documents_text([Document([section])], RenderOptions(width=8)).split())
    assert "always." in text
    assert "about B." not in text


def test_an_interval_beside_a_hidden_difference_is_explained() -> None:
    sentence = "95% interval: interval of the difference A − B."
    assert sentence in " ".join(render(make.comparisons(), "table", width=40).split())
    assert sentence not in render(make.comparisons(), "table", width=200)


def test_the_legend_of_a_ranking_speaks_of_no_column_that_is_left_out() -> None:
    default, all_columns = (render([make.ranking(8)], "table", columns=names) for names in (None, ("all",)))
    assert "Rank set: " in all_columns
    assert "Rank set" not in default


@pytest.mark.parametrize("width", WIDTHS)
def test_clusters_and_what_they_cost_stay_at_every_width(width: int) -> None:
    text = render(make.estimates(), width=width)
    assert "500/25" in text or "25 passage" in text
    header = next(line for line in text.splitlines() if "Value" in line)
    assert ("Deff" in header) == (width > 100)


def test_further_lines_of_an_indented_text_are_indented_by_two_more_spaces() -> None:
    page = TerminalPage(30)
    page.add("  clusters: questions count as independent of each other")
    assert [len(line) - len(line.lstrip()) for line in page.text.splitlines()] == [2, 4, 4]


def test_where_there_is_no_terminal_nothing_folds() -> None:
    assert ("word " * 200).strip() in _said("word " * 200)


def test_a_header_with_brackets_or_colons_is_printed_as_it_is() -> None:
    assert table([Cells("level[a] :key:", ["x"], is_number=False)], 80).startswith("level[a] :key:")


def _said(text: str) -> str:
    page = TerminalPage()
    page.add(text)
    return page.text


@given(st.text("ab _-/()字", max_size=40), st.integers(3, 20))
def test_a_cut_text_fits_and_keeps_its_ends(text: str, width: int) -> None:
    shown = shorten(text, width)
    assert cell_len(shown) <= width
    head, _, tail = shown.partition("…")
    assert text.startswith(head)
    assert text.endswith(tail)
