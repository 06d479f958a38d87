"""Assertions about scores for pytest and other test frameworks, with the error rates of a gate."""

import unittest
from typing import Literal, Unpack

from harness_uq.analyses.gating.gate import gate
from harness_uq.io.readers import Runs
from harness_uq.options_typed import GateKeywords
from harness_uq.results.gate import Gate, gate_answer

Undecided = Literal["fail", "skip"]

__all__ = ["assert_at_least", "assert_at_most", "assert_not_worse"]


def assert_at_least(
    runs: Runs, task: str, bound: float, /, *, on_undecided: Undecided = "fail", **keywords: "Unpack[GateKeywords]"
) -> None:
    """Assert that the true score on a task is at least `bound`.

    Parameters
    ----------
    runs : runs of one system: paths or results in memory, as for `gate`
    task : `TASK`, `TASK:METRIC` or a pattern of tasks
    bound : in units of the score
    on_undecided : `fail` raises AssertionError if the data do not decide; `skip` skips the test
    **keywords : options of `gate`, such as `level` and `cluster`

    Raises
    ------
    AssertionError : if the data show that the score is below the bound, or do not decide; the message is that of the
        gate
    unittest.SkipTest : if the data do not decide and `on_undecided` is `skip`; pytest reports a skipped test
    LogError, DataError : as `gate`
    """
    keywords["at_least"] = {task: bound}
    _check(gate(runs, **keywords), on_undecided)


def assert_at_most(
    runs: Runs, task: str, bound: float, /, *, on_undecided: Undecided = "fail", **keywords: "Unpack[GateKeywords]"
) -> None:
    """Assert that the true score on a task is at most `bound`. Parameters and errors are those of `assert_at_least`."""
    keywords["at_most"] = {task: bound}
    _check(gate(runs, **keywords), on_undecided)


def assert_not_worse(
    new: Runs, baseline: Runs, *, on_undecided: Undecided = "fail", **keywords: "Unpack[GateKeywords]"
) -> None:
    """Assert that a system is not worse than a baseline by more than a margin.

    Parameters
    ----------
    new, baseline : runs of one system each: paths or results in memory, as for `gate`
    on_undecided : `fail` raises AssertionError if the data do not decide; `skip` skips the test
    **keywords : options of `gate`; `margin` or `margins` is required

    Raises
    ------
    AssertionError, unittest.SkipTest, LogError, DataError : as `assert_at_least`
    """
    _check(gate(new, baseline, **keywords), on_undecided)


def _check(found: Gate, on_undecided: Undecided) -> None:
    if found.decision == "pass":
        return
    text = gate_answer(found)
    if found.decision == "undecided" and on_undecided == "skip":
        raise unittest.SkipTest(text)
    raise AssertionError(text)
