"""Recovery of the trials behind scores that a harness reduced to an event, such as pass@k."""

from dataclasses import replace

from harness_uq.data.task_log import Scores, TaskData, TaskLog


def trials_behind(log: TaskLog, data: TaskData) -> tuple[Scores, str] | None:
    """Find the trials that `data` reduces to an event.

    Each reduced score is itself an estimate from trials, not an observation of the event. Only the trials show how the
    probability of the event varies between questions.

    Parameters
    ----------
    log : TaskLog
        The task.
    data : TaskData
        One of its metrics.

    Returns
    -------
    (Scores, str) or None
        The trials and the name of the estimand; None if `data` is not such a reduction or the trials are not logged.
    """
    if not isinstance(data, Scores) or data.event is None:
        return None
    for other in log.data:
        if isinstance(other, Scores) and other.metric == data.metric and other.values.shape[1] > 1:
            return replace(other, filter=data.filter), data.event
    return None
