"""Table of differences that a live run prints."""

from dataclasses import replace

from harness_uq import Comparison, Interval, estimate_scores
from harness_uq.messages.catalogue.score_structure import POSSIBLE_CLUSTER_FIELDS, RANGE_UNKNOWN
from harness_uq.results.comparison import Difference
from harness_uq_lm_eval.live.console_report import TableColumn, comparison_text

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


def test_the_table_has_a_headline_and_the_names_of_both_runs(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    headline, systems, header, row = comparison_text([ROW], "runs/old").splitlines()
    assert (headline, systems) == ("new is better.", "A: this run, B: runs/old, acc")
    assert "95% interval" in header
    assert "[0.0500, 0.4500]" in row


def test_messages_of_the_estimates_are_not_repeated():
    note, warning = POSSIBLE_CLUSTER_FIELDS(fields="a (5 groups)", example="a"), RANGE_UNKNOWN(metric="acc")
    row = replace(ROW, messages=(note, warning))
    text = comparison_text([row], "runs/old", known=[replace(estimate_scores([0, 1, 1]), messages=(note,))])
    assert note.code not in text
    assert warning.code in text


def test_a_column_of_single_digits_has_a_valid_markdown_rule():
    assert TableColumn("n", ["8"]).lines() == ["n ", "-:", " 8"]
