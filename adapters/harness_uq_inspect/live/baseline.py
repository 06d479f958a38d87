"""The scores that a stopping rule monitors, and the logged run that they are compared with."""

from dataclasses import dataclass

import numpy as np

from harness_uq.plugin_api import DataError, LogError, Scores, TaskLog, read_logs


def watched_scores(task: TaskLog, metric: str | None) -> Scores:
    """The scores that a rule monitors: those of `metric`, or the first numeric ones of the task.

    Raises
    ------
    DataError : if no score has this name, or its values are not numbers
    """
    candidates = [data for data in task.data if isinstance(data, Scores) and data.reduction in (None, "mean")]
    scores = next((data for data in candidates if metric in (None, data.metric)), None)
    if scores is None:
        names = ", ".join(data.metric for data in candidates) or "none whose values are numbers"
        raise DataError(f"score {metric!r} not found; available scores: {names}")
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """A logged run to compare with."""

    name: str
    log: TaskLog

    def means(self, metric: str) -> dict[str, float]:
        """Mean score of each question over its trials, by content hash, or by identifier if there are no hashes."""
        data = watched_scores(self.log, metric)
        scored = np.flatnonzero(data.is_scored)
        means = np.nanmean(data.values[scored], axis=1)
        questions = self.log.questions
        keys = questions.hashes or questions.ids
        return {keys[row]: float(mean) for row, mean in zip(scored, means, strict=True)}


def read_baseline(path: str, task: str) -> Baseline:
    """The logged run of the task.

    Raises
    ------
    LogError : if the path cannot be read or contains no run of the task
    """
    logs = [log for log in read_logs(path, strict=True).logs if log.task == task]
    if not logs:
        raise LogError(f"{path} contains no run of task {task!r} for the comparison")
    return Baseline(logs[-1].system, logs[-1])
