"""Use totals of a log that cover more questions than its samples."""

import re
from dataclasses import replace

from harness_uq.data.catalogue import Catalogue
from harness_uq.data.task_log import AggregateScore, HarnessResult, Scores, TaskData, TaskLog
from harness_uq.results.estimate import NOTHING_REPORTED

FEW_SAMPLES = 0.5
_NEAR = 0.02


def prefer_totals(log: TaskLog, data: TaskData, catalogue: Catalogue | None) -> TaskData:
    """Return the data, or the totals if they contain more information.

    Totals replace the samples if the log contains samples for less than half of the questions that the harness scored.
    If the number of questions is missing, it is computed from the standard error of a proportion:
    n = p (1 - p) / se^2 + 1.
    """
    reported = log.reported.get((data.metric, data.filter), NOTHING_REPORTED)
    if isinstance(data, AggregateScore):
        n = data.n or _n_behind(data, reported)
        return replace(data, n=n) if n else data
    if not isinstance(data, Scores) or reported.value is None or catalogue is None:
        return data
    n_held = int(data.is_scored.sum())
    if not reported.n or n_held >= FEW_SAMPLES * reported.n or not re.fullmatch(catalogue.shares, data.metric):
        return data
    reason = f"The log contains samples of only {n_held} of {reported.n} questions, so the totals of all are used"
    return AggregateScore(data.metric, data.filter, reported.value, reported.n, reason, is_share=True)


def _n_behind(data: AggregateScore, reported: HarnessResult) -> int | None:
    """Return the number of questions of a proportion with this standard error; None if no integer matches."""
    value, error = data.value, reported.std_error
    if not data.is_share or value is None or not error or not 0 < value < 1:
        return None
    exact = value * (1 - value) / error**2 + 1
    n = round(exact)
    is_whole = abs(exact - n) <= _NEAR and abs(value * n - round(value * n)) <= _NEAR
    return n if is_whole else None
