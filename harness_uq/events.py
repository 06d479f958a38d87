"""Reductions of trials to an event, such as pass@k, traced back to the trials themselves."""

import re
from dataclasses import replace

from harness_uq.data import Scores, TaskData, TaskLog

_EVENT = re.compile(r"pass_(at|k)_(\d+)")
_SIGN = {"at": "@", "k": "^"}


def trials_behind(log: TaskLog, data: TaskData) -> tuple[Scores, str] | None:
    """The trials of which `data` is a reduction to an event, and the name of the estimand; None where it is none.

    The reduced scores of questions, each an estimate from its trials, are no draws of the event; the trials tell how
    its probability varies between questions.

    Parameters
    ----------
    log : the task
    data : one of its metrics; the reductions known are `pass_at_K` and `pass_k_K`
    """
    if not isinstance(data, Scores) or (match := _EVENT.fullmatch(data.reduction or "")) is None:
        return None
    for other in log.data:
        if isinstance(other, Scores) and other.metric == data.metric and other.values.shape[1] > 1:
            return replace(other, filter=data.filter), f"pass{_SIGN[match[1]]}{match[2]}"
    return None
