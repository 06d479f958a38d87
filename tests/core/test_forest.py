"""The forest plot in characters."""

import io
import sys

import pytest
from rich.cells import cell_len

from harness_uq.report.forest import forest_text
from tests.core import results_factory as make

EVERYTHING = [*make.estimates(), *make.comparisons(), make.ranking(5)]


def drawing(text: str, label: str) -> str:
    return next(line for line in text.splitlines() if label in line)


@pytest.mark.parametrize("width", [44, 80, 100, 200])
def test_no_line_is_wider_than_asked(width):
    assert max(map(cell_len, forest_text(EVERYTHING, width=width).splitlines())) <= width


def test_wide_characters_do_not_shift_the_drawing():
    rows = [make.estimate(system="通义千问"), make.estimate(system="abcdefgh")]
    text = forest_text(rows, width=100)
    places = [cell_len(line[: line.index("├")]) for line in text.splitlines()[1:3]]
    assert places[0] == places[1]


def test_marks_stand_where_the_axis_says():
    # 150 of 200: on an axis of 0.65 to 0.85 the dot stands at its middle, over the tick 0.75
    text = forest_text([make.estimate(successes=150, n=200)], width=120)
    row, axis, numbers = text.splitlines()[1:4]
    dot = row.index("●")
    assert axis[dot] == "┴"
    assert abs(numbers.index("0.75") + 2 - dot) <= 1


def test_an_interval_at_the_bound_ends_at_the_axis():
    row, axis = forest_text([make.ceiling()], width=100).splitlines()[1:3]
    assert len(row) == len(axis)
    assert row.endswith("●")


def test_no_difference_is_marked_beside_an_interval_and_inside_one():
    rows = [line for line in forest_text(make.comparisons(), width=140).splitlines() if "●" in line and "[" in line]
    # the third interval is [-0.0068, 0.0088] with its dot at 0.0010, within a character of 0
    assert [("┊" in row, "┼" in row) for row in rows] == [(True, False), (False, True), (False, False), (True, False)]


def test_a_row_without_interval_says_so_and_keeps_its_dot():
    line = drawing(forest_text([make.unknown()], width=100), "31.40")
    assert "not estimable" in line
    assert line.endswith("●")


def test_ascii_alone_where_the_terminal_knows_no_more(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    text = forest_text([*make.comparisons(), make.ceiling()], width=60)
    assert text.isascii()
    assert "|" in text


def test_nothing_gives_nothing():
    assert forest_text([]) == ""
