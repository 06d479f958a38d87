"""What a log's totals tell beyond its samples: how many questions there were, and how all of them scored."""

from dataclasses import replace

from harness_uq.logs.catalogue import Catalogue, is_share
from harness_uq.logs.data import Reported, Scores, TaskData, TaskLog, Totals
from harness_uq.results.estimate import NOTHING_REPORTED

FEW_SAMPLES = 0.5
_NEAR = 0.02


def better_evidence(log: TaskLog, data: TaskData, catalogue: Catalogue | None) -> TaskData:
    """Data as they are, or totals that tell more.

    Totals stand in for the samples of less than half of the questions that the harness scored. Where totals lack their
    number of questions, it follows from the standard error of a plain share: n = p (1 - p) / se^2 + 1.
    """
    reported = log.reported.get((data.metric, data.filter), NOTHING_REPORTED)
    if isinstance(data, Totals):
        n = data.n or _n_behind(data, reported)
        return replace(data, n=n) if n else data
    if not isinstance(data, Scores) or reported.value is None or catalogue is None:
        return data
    n_held = int(data.is_scored.sum())
    if not reported.n or n_held >= FEW_SAMPLES * reported.n or not is_share(data.metric, catalogue):
        return data
    reason = f"the log holds samples of {n_held} of {reported.n} questions, so the totals of all count"
    return Totals(data.metric, data.filter, reported.value, reported.n, reason, is_share=True)


def _n_behind(data: Totals, reported: Reported) -> int | None:
    """Number of questions of a share that has this standard error; None where no whole number fits."""
    value, error = data.value, reported.std_error
    if not data.is_share or value is None or not error or not 0 < value < 1:
        return None
    exact = value * (1 - value) / error**2 + 1
    n = round(exact)
    is_whole = abs(exact - n) <= _NEAR and abs(value * n - round(value * n)) <= _NEAR
    return n if is_whole else None
