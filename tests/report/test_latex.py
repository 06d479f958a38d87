"""LaTeX tables: complete and escaped."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq.report.latex import comparisons_latex, escape_latex, estimates_latex, plan_latex, rankings_latex
from tests.results import factory as make

TABLES = {
    "estimates": lambda: estimates_latex(make.estimates(), caption="50 % of a_b"),
    "long": lambda: estimates_latex([make.estimate(task=f"task_{k}") for k in range(60)]),
    "comparisons": lambda: comparisons_latex(make.comparisons()),
    "rankings": lambda: rankings_latex([make.ranking(5), make.ranking(3)]),
    "plan": lambda: plan_latex(make.plan()),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_row_has_as_many_cells_as_the_alignment(name):
    text = TABLES[name]()
    columns = len(re.search(r"\\begin\{(?:tabular|longtable)\}\{([lr]+)\}", text)[1])
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and not line.startswith((r"\multi", r"\cap"))]
    assert len(rows) > 3
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {columns}


def test_numbers_and_warnings_arrive():
    text = estimates_latex(make.estimates())
    assert "0.7620 & [0.6819, 0.8313]" in text
    assert "not estimable" in text
    assert "only 4 of 25 clusters" in text


def test_negative_numbers_have_a_minus_and_names_keep_their_hyphens():
    text = comparisons_latex(make.comparisons())
    assert "[$-$0.1158, 0.0058]" in text
    assert "Llama-3.1-8B-Instruct" in text


def test_a_difference_that_is_not_estimable_says_so():
    assert "not estimable" in comparisons_latex([replace(make.comparison(), difference=None)])


def test_rows_that_open_with_a_bracket_do_not_become_arguments():
    row = replace(make.ranking(1).systems[0], system="[new] model")
    assert "\n{}[new] model" in rankings_latex([replace(make.ranking(1), systems=(row,))])


def test_no_rows_give_no_table():
    assert estimates_latex([]) == ""


@given(st.text())
def test_no_special_character_survives_unescaped(text):
    plain = re.sub(r"\\[{}$&#_%]|\\[a-z]+\{\}|\$[^$]*\$|-\{\}", "", escape_latex(text))
    assert not set(plain) & set('\\{}$&#_%^~<>|"')
