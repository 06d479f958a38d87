"""Table of differences that a live run prints."""

from dataclasses import replace

from harness_uq import Comparison, Interval
from harness_uq.results.comparison import Difference
from harness_uq_lm_eval.live.console_report import TableColumn, comparison_table

ROW = Comparison(
    task="drop",
    metric="acc",
    filter="none",
    system_a="new",
    system_b="old",
    scope="population",
    method="dirichlet",
    value_a=0.75,
    value_b=0.5,
    difference=Difference(0.25, 0.1, Interval(0.05, 0.45, 0.95, "quantile")),
    verdict="better",
    verdict_corrected="better",
    verdict_text="new is better.",
    prob_positive=0.99,
    n_matched=40,
)


def test_a_single_row_has_a_sentence():
    assert comparison_table([ROW]).splitlines() == [
        "A: new   B: old",
        "|Tasks|Metric| |  A   |  B   |A - B |     95% CI     |P(A > B)|Verdict|",
        "|-----|------|-|-----:|-----:|-----:|----------------|-------:|-------|",
        "|drop |acc   |↑|0.7500|0.5000|0.2500|[0.0500, 0.4500]|   0.990|better |",
        "",
        "new is better.",
        "P(A > B): probability that A's score is higher; uq.comparisons in the results file says more.",
    ]


def test_several_rows_have_no_sentence():
    assert "new is better.\n" not in comparison_table([ROW, replace(ROW, task="other")])


def test_filters_have_a_column_where_there_are_some():
    assert "|Filter|" not in comparison_table([ROW, ROW])
    assert "|maj@8 |" in comparison_table([ROW, replace(ROW, filter="maj@8")])


def test_no_probability_is_printed_as_0_or_1():
    text = comparison_table([replace(ROW, prob_positive=1.0), replace(ROW, prob_positive=1e-9)])
    assert ">0.999|" in text
    assert "<0.001|" in text


def test_unknown_values_are_a_dash_and_unmatched_tasks_are_named():
    unknown = replace(ROW, difference=None, prob_positive=None, value_b=None, n_matched=None, higher_is_better=False)
    lines = comparison_table([unknown]).splitlines()
    assert lines[3] == "|drop |acc   |↓|0.7500| -|    -|- |       -|better |"
    assert "Not matched question by question, which is less precise: drop." in lines


def test_a_column_of_single_digits_has_a_valid_markdown_rule():
    assert TableColumn("n", ["8"]).lines() == ["n ", "-:", " 8"]
