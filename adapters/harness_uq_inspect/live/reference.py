"""The score that a rule watches, and the logged run that it is compared with."""

from dataclasses import dataclass

import numpy as np

from harness_uq import DataError, LogError, Scores, TaskLog, read_logs


def watched(task: TaskLog, metric: str | None) -> Scores:
    """The score to watch: question × trial matrix.

    Raises
    ------
    DataError : if there is none of that name, or its values are no numbers
    """
    offered = [data for data in task.data if isinstance(data, Scores) and data.reduction in (None, "mean")]
    found = next((data for data in offered if metric in (None, data.metric)), None)
    if found is None:
        names = ", ".join(data.metric for data in offered) or "none whose values are numbers"
        raise DataError(f"no score {metric!r} to watch; there are {names}")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A logged run: mean score of each question, by hash of its content and by identifier."""

    name: str
    log: TaskLog

    def means(self, metric: str) -> dict[str, float]:
        """Mean over its trials of each question, by content hash and by identifier."""
        data = watched(self.log, metric)
        scored = np.flatnonzero(data.is_scored)
        means = np.nanmean(data.values[scored], axis=1)
        questions = self.log.questions
        keys = questions.hashes or questions.ids
        return {keys[row]: float(mean) for row, mean in zip(scored, means, strict=True)}


def reference_of(path: str, task: str) -> Reference:
    """The logged run of the task.

    Raises
    ------
    LogError : if the path cannot be read, or holds no run of the task
    """
    logs = [log for log in read_logs(path, strict=True).logs if log.task == task]
    if not logs:
        raise LogError(f"{path} holds no run of the task {task!r} to compare with")
    return Reference(logs[-1].system, logs[-1])
