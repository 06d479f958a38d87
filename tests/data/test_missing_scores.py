"""Policies for trials without a score."""

import numpy as np
import pytest

from harness_uq.data.missing_scores import MissingPolicies, find_missing
from harness_uq.data.trial_endings import TrialEndings, ending_code
from harness_uq.messages.errors import DataError

NAN = np.nan


def endings(*rows: list[str]) -> TrialEndings:
    return TrialEndings(np.array([[ending_code(name) for name in row] for row in rows]))


def test_policies_by_cause() -> None:
    policies = MissingPolicies.parse(["zero", "limit=drop", "token-limit=bounds"], ["error=zero"])
    assert policies.of("completed") == policies.of("unknown") == "zero"
    assert policies.of("time-limit") == policies.of("limit") == "drop"
    assert policies.of("token-limit") == "bounds"
    assert policies.of_scored("error") == "zero"
    assert policies.of_scored("completed") is None
    assert policies.has_bounds
    assert not policies.is_default


def test_the_default_drops_trials() -> None:
    policies = MissingPolicies.parse([])
    assert policies.is_default
    assert policies.of("error") == "drop"
    assert not MissingPolicies.parse(["drop"]).is_default


@pytest.mark.parametrize(
    ("missing", "treat", "text"),
    [
        (["zeros"], [], "Did you mean 'zero'"),
        (["eror=zero"], [], "Did you mean 'error'"),
        ([], ["zero"], "treat requires a cause"),
        ([], ["limit=none"], "policy"),
    ],
)
def test_unknown_names_are_refused(missing: list[str], treat: list[str], text: str) -> None:
    with pytest.raises(DataError, match=text):
        MissingPolicies.parse(missing, treat)


def test_scores_are_replaced_by_cause() -> None:
    values = np.array([[1.0, NAN], [NAN, 0.0], [NAN, 1.0]])
    ended = endings(["completed", "error"], ["token limit", "completed"], ["refused", "time limit"])
    policies = MissingPolicies.parse(["error=zero", "limit=bounds"], ["time-limit=drop"])
    missing = find_missing(values, ended, policies)
    assert missing is not None
    np.testing.assert_array_equal(
        missing.completed(values, worst=0.0, open_score=1.0), [[1.0, 0.0], [1.0, 0.0], [NAN, NAN]]
    )
    counts = missing.counts
    assert (counts.n_missing, counts.n_trials, counts.n_ignored, counts.n_worst, counts.n_open) == (4, 6, 1, 1, 1)
    assert counts.causes == " (1 error, 1 token limit, 1 time limit, 1 refused)"


def test_scores_that_are_given_change_only_by_treat() -> None:
    values = np.array([[1.0], [1.0]])
    ended = endings(["token limit"], ["completed"])
    assert find_missing(values, ended, MissingPolicies.parse(["limit=zero"])) is None
    treated = find_missing(values, ended, MissingPolicies.parse([], ["limit=zero"]))
    assert treated is not None
    np.testing.assert_array_equal(treated.completed(values, 0.0, NAN), [[0.0], [1.0]])


def test_causes_are_unknown_without_endings_or_after_a_reduction() -> None:
    values = np.array([[NAN], [1.0]])
    policies = MissingPolicies.parse(["unknown=zero"])
    for ended in (None, endings(["error", "error"], ["completed", "completed"])):
        missing = find_missing(values, ended, policies)
        assert missing is not None
        assert missing.counts.causes == ""
        np.testing.assert_array_equal(missing.completed(values, 0.0, NAN), [[0.0], [1.0]])
