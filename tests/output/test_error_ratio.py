"""The reason why our standard error differs from the harness's is said where the numbers show it, and nowhere else."""

from dataclasses import replace
from math import sqrt

import pytest

from harness_uq.data.task_log import HarnessResult
from harness_uq.results.error_ratio import error_ratio
from tests.results import factory as make


def with_harness(row, std_error, n=None):
    return replace(row, harness=HarnessResult(row.value, std_error, n))


def test_clusters_are_the_reason_where_the_design_effect_gives_the_ratio():
    found = error_ratio(make.clustered())
    # design effect 4.1
    assert found.value == pytest.approx(sqrt(4.1), rel=0.02)
    assert found.reason == "clusters: answers with the same passage are correlated (× 2.02)"


def test_trials_are_the_reason_where_the_harness_pooled_them_and_not_where_it_averaged_them():
    row = make.repeated()
    assert error_ratio(row).reason.startswith("trials: the 8 answers")
    averaged = with_harness(row, row.std_error / 1.07)
    assert error_ratio(averaged).reason == "they agree within 12 %; the reason is unknown"


def test_equal_errors_need_no_reason():
    assert error_ratio(make.estimate()).reason == "they agree within 5 %"


@pytest.mark.parametrize(
    ("successes", "n", "words"),
    [(49, 50, "ceiling"), (1, 50, "floor"), (6, 10, "few questions"), (16, 30, "few questions")],
)
def test_the_uniform_prior_is_the_reason_near_a_bound_and_in_small_samples(successes, n, words):
    assert error_ratio(make.estimate(successes=successes, n=n)).reason.startswith(words)


def test_a_standard_error_of_zero_is_not_a_ratio():
    found = error_ratio(make.ceiling())
    assert found.value is None
    assert "not certainty" in found.reason


@pytest.mark.parametrize("std_error", [-0.1, 1e-320, -1e308])
def test_an_impossible_standard_error_of_the_harness_is_not_a_ratio(std_error):
    assert error_ratio(with_harness(make.estimate(), std_error)).value is None


def test_questions_missing_from_the_log_are_a_reason():
    row = make.estimate(successes=80, n=100)
    assert error_ratio(with_harness(row, row.std_error / 2, 400)).reason == (
        "the harness counted 400 questions, the log has 100 (× 2.00)"
    )


def test_another_scope_is_another_question():
    assert error_ratio(replace(make.clustered(), scope="benchmark")).reason.startswith("different estimand")


def test_a_judge_that_labels_correct_is_another_question():
    row = replace(make.clustered(), diagnostics={"n_labels": 60.0})
    assert error_ratio(row).reason.startswith("different estimand: the score by human labels")


def test_what_nothing_accounts_for_is_unknown():
    row = make.estimate()
    assert error_ratio(with_harness(row, row.std_error * 3)).reason.startswith("unknown")


def test_what_clusters_account_for_in_part_is_said_to_be_a_part():
    row = make.clustered()
    assert error_ratio(with_harness(row, row.std_error / 3)).reason.endswith("(× 2.02); the rest is unknown")


@pytest.mark.parametrize("make_row", [make.unknown, make.perplexity])
def test_a_missing_error_is_said(make_row):
    assert error_ratio(make_row()).value is None
