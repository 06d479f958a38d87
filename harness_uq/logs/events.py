"""Reductions of trials to an event, such as pass@k, traced back to the trials themselves."""

from dataclasses import replace

from harness_uq.logs.data import Scores, TaskData, TaskLog


def trials_behind(log: TaskLog, data: TaskData) -> tuple[Scores, str] | None:
    """The trials of which `data` is a reduction to an event, and the name of the estimand; None where it is none.

    The reduced scores of questions, each an estimate from its trials, are no draws of the event; the trials tell how
    its probability varies between questions.

    Parameters
    ----------
    log : the task
    data : one of its metrics
    """
    if not isinstance(data, Scores) or data.event is None:
        return None
    for other in log.data:
        if isinstance(other, Scores) and other.metric == data.metric and other.values.shape[1] > 1:
            return replace(other, filter=data.filter), data.event
    return None
