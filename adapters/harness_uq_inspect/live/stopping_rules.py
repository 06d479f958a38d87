"""Stopping rules: compare the scores so far with a target width or with a logged run, several times per epoch."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq
from harness_uq.plugin_api import DataError, LogError, Scores, TaskLog, read_logs
from harness_uq_inspect.live.settings import Scope
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Json, Sample
from harness_uq_inspect.read.task_log import task_log_of

LOOKS_PER_EPOCH: Final = 10


@dataclass(frozen=True, slots=True)
class Rule:
    """The arguments of `stop_when`."""

    width: float | None
    level: float
    min_trials: int
    compare_to: str | None = None
    scope: str = "population"
    cluster: str | None = None
    metric: str | None = None
    valid: str | None = None

    @property
    def options(self) -> uq.Options:
        """Options of the estimate."""
        structure = uq.StructureOptions(self.cluster)
        return uq.Options(level=self.level, scope=cast(Scope, self.scope), structure=structure)

    def to_dict(self) -> Json:
        """The arguments that are not None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Decision:
    """Why the run stops early.

    `kind`: the condition that was met. `n_trials`: number of trials scored when it was met.
    """

    kind: Literal["width", "comparison"]
    reason: str
    n_trials: int
    values: Mapping[str, float]

    def to_dict(self) -> Json:
        """JSON-ready form."""
        return {"decision": self.kind, "reason": self.reason, "n_trials_at_decision": self.n_trials, **self.values}


def watched_scores(task: TaskLog, metric: str | None) -> Scores:
    """The scores that a rule monitors: those of `metric`, or the first numeric ones of the task. Raises DataError if no
    score has this name, or its values are not numbers.
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
    """The logged run of the task. Raises LogError if the path cannot be read or contains no run of the task."""
    logs = [log for log in read_logs(path, strict=True).logs if log.task == task]
    if not logs:
        raise LogError(f"{path} contains no run of task {task!r} for the comparison")
    return Baseline(logs[-1].system, logs[-1])


class Monitor:
    """Scores of a running task, and the stopping rule that is applied to them.

    `log`: log of the task, without samples. `documents`: one sample of each question without its scores, in the order
    in which the questions are asked. Raises LogError if the baseline cannot be read or does not contain the task.
    """

    undecided_reason: str

    def __init__(self, log: Log, documents: Mapping[str, Sample], rule: Rule) -> None:
        self._log, self._rule = log, rule
        self._log.documents = dict(documents)
        self._plugins = uq.load_plugins()
        self._baseline = None if rule.compare_to is None else read_baseline(rule.compare_to, log.header.eval.task)
        self.n_looks = 0

    @property
    def n_trials(self) -> int:
        """Number of trials scored so far."""
        return len(self._log.cells)


class EpochMonitor(Monitor):
    """A monitor that compares all trials so far, several times per epoch."""

    def __init__(self, log: Log, documents: Mapping[str, Sample], epochs: int, rule: Rule) -> None:
        super().__init__(log, documents, rule)
        self._epochs = epochs
        self._n = max(1, len(documents))
        self._step = max(1, self._n // LOOKS_PER_EPOCH)
        self._last_epoch_looked = 0
        self.undecided_reason = (
            "no check was due, because every question must have its first trials before the first check"
        )

    @property
    def is_due(self) -> bool:
        """Whether the rule is to be evaluated now."""
        first = self._n * self._rule.min_trials
        return self.n_trials >= first and (self.n_trials - first) % self._step == 0

    def add(self, trial: Sample) -> None:
        """Record a scored trial."""
        self._log.cells[str(trial.id), trial.epoch] = trial

    def look(self) -> Decision | None:
        """Evaluate the rule on the scores so far; None if it is not met yet."""
        self.n_looks += 1
        # a copy, because trials end while the rule is being evaluated
        task = task_log_of(Log(self._log.header, dict(self._log.cells), self._log.documents), "live")
        data = watched_scores(task, self._rule.metric)
        return self._decide_by_width(task, data) or self._decide_by_comparison(task, data)

    # ------------------------------------------------------------ width

    def _decide_by_width(self, task: uq.TaskLog, data: uq.Scores) -> Decision | None:
        target = self._rule.width
        if target is None:
            return None
        estimates = uq.estimate(task, self._rule.options, plugins=self._plugins)
        row = next(row for row in estimates if (row.metric, row.filter) == (data.metric, data.filter))
        if row.interval is None:
            self.undecided_reason = row.reason.text if row.reason else "The score has no interval"
            return None
        description = (
            f"the {self._rule.scope} interval [{row.interval.low:.4f}, {row.interval.high:.4f}] ({row.method})"
        )
        if row.interval.width > target:
            self.undecided_reason = f"{description} is still wider than {target:g}"
            return None
        values = {"low": row.interval.low, "high": row.interval.high, "width": row.interval.width}
        return Decision("width", f"{description} is at most {target:g} wide", self.n_trials, values)

    # ------------------------------------------------------------ comparison

    @property
    def threshold(self) -> float:
        """E-value at which a comparison is decided: one look per epoch, with a Bonferroni correction."""
        return (self._epochs - self._rule.min_trials + 1) / (1 - self._rule.level)

    def _decide_by_comparison(self, task: uq.TaskLog, data: uq.Scores) -> Decision | None:
        epoch = self.n_trials // self._n
        if self._baseline is None or epoch <= self._last_epoch_looked:
            return None
        self._last_epoch_looked = epoch
        differences = _unit_differences(task, data, self._baseline, self._rule)
        e_value = math.exp(min(uq.log_e_value_of_differences(differences), 700.0))
        mean = float(np.mean(differences))
        description = f"after epoch {epoch}, the e-value {e_value:.3g} of the comparison with {self._baseline.name}"
        if e_value < self.threshold:
            self.undecided_reason = f"{description} is below the threshold of {self.threshold:.3g}"
            return None
        verdict = "better" if mean > 0 else "worse"
        reason = f"{description} reaches the threshold of {self.threshold:.3g}, so this system is {verdict}"
        values = {"e_value": e_value, "threshold": self.threshold, "mean_difference": mean}
        return Decision("comparison", reason, self.n_trials, values)


def _unit_differences(task: uq.TaskLog, data: uq.Scores, baseline: Baseline, rule: Rule) -> NDArray[np.float64]:
    """Differences of question means; with clusters, the sum of each cluster divided by the size of the largest one.
    Raises DataError if a score is outside [0, 1] or no question is in both runs.
    """
    baseline_means = baseline.means(data.metric)
    keys = (task.questions.hashes if baseline.log.questions.hashes else ()) or task.questions.ids
    rows = [row for row in np.flatnonzero(data.is_scored) if keys[row] in baseline_means]
    if not rows:
        raise uq.DataError(f"{baseline.name} and this run have no question in common")
    means = np.array([baseline_means[keys[row]] for row in rows])
    differences: NDArray[np.float64] = np.nanmean(data.values[rows], axis=1) - means
    if np.abs(differences).max() > 1:
        raise uq.DataError("stopping because of a comparison requires scores between 0 and 1")
    codes = uq.detect_structure(task, rule.options)[0].clusters.codes
    if codes is None:
        return differences
    units = np.unique(codes[rows], return_inverse=True)[1]
    sizes = np.bincount(units)
    return np.asarray(np.bincount(units, differences) / sizes.max())
