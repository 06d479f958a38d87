"""Stopping rules: compare the scores so far with a target width or with a logged run, several times per epoch."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import (
    DataError,
    Options,
    Scores,
    StructureOptions,
    TaskLog,
    detect_structure,
    estimate,
    load_plugins,
    log_e_value_of_differences,
)
from harness_uq_inspect.live.baseline import Baseline, read_baseline, watched_scores
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
    def options(self) -> Options:
        """Options of the estimate."""
        structure = StructureOptions(self.cluster)
        return Options(level=self.level, scope=cast(Scope, self.scope), structure=structure)

    def to_dict(self) -> Json:
        """The arguments that are not None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Decision:
    """Why the run stops early.

    Attributes
    ----------
    kind : the condition that was met
    n_trials : number of trials scored when it was met
    values : the numbers in the reason
    """

    kind: Literal["width", "comparison"]
    reason: str
    n_trials: int
    values: Mapping[str, float]

    def to_dict(self) -> Json:
        """JSON-ready form."""
        return {"decision": self.kind, "reason": self.reason, "n_trials_at_decision": self.n_trials, **self.values}


class EpochMonitor:
    """Scores of a running task, and the stopping rule that is applied to them.

    Parameters
    ----------
    log : log of the task, without samples
    documents : one sample of each question, without its scores
    epochs : planned number of epochs
    rule : stopping rule

    Raises
    ------
    LogError : if the baseline cannot be read or does not contain the task
    """

    def __init__(self, log: Log, documents: Mapping[str, Sample], epochs: int, rule: Rule) -> None:
        self._log, self._rule, self._epochs = log, rule, epochs
        self._log.documents = dict(documents)
        self._plugins = load_plugins()
        self._baseline = None if rule.compare_to is None else read_baseline(rule.compare_to, log.header.eval.task)
        self._n = max(1, len(documents))
        self._step = max(1, self._n // LOOKS_PER_EPOCH)
        self._last_epoch_looked = 0
        self.n_looks = 0
        self.undecided_reason = (
            "no check was due, because every question must have its first trials before the first check"
        )

    @property
    def n_trials(self) -> int:
        """Number of trials scored so far."""
        return len(self._log.cells)

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

    def _decide_by_width(self, task: TaskLog, data: Scores) -> Decision | None:
        target = self._rule.width
        if target is None:
            return None
        estimates = estimate(task, self._rule.options, plugins=self._plugins)
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

    def _decide_by_comparison(self, task: TaskLog, data: Scores) -> Decision | None:
        epoch = self.n_trials // self._n
        if self._baseline is None or epoch <= self._last_epoch_looked:
            return None
        self._last_epoch_looked = epoch
        differences = _unit_differences(task, data, self._baseline, self._rule)
        e_value = math.exp(min(log_e_value_of_differences(differences), 700.0))
        mean = float(np.mean(differences))
        description = f"after epoch {epoch}, the e-value {e_value:.3g} of the comparison with {self._baseline.name}"
        if e_value < self.threshold:
            self.undecided_reason = f"{description} is below the threshold of {self.threshold:.3g}"
            return None
        verdict = "better" if mean > 0 else "worse"
        reason = f"{description} reaches the threshold of {self.threshold:.3g}, so this system is {verdict}"
        values = {"e_value": e_value, "threshold": self.threshold, "mean_difference": mean}
        return Decision("comparison", reason, self.n_trials, values)


def _unit_differences(task: TaskLog, data: Scores, baseline: Baseline, rule: Rule) -> NDArray[np.float64]:
    """Differences of question means; with clusters, the sum of each cluster divided by the size of the largest one.

    Raises
    ------
    DataError : if a score is outside [0, 1] or no question is in both runs
    """
    baseline_means = baseline.means(data.metric)
    keys = (task.questions.hashes if baseline.log.questions.hashes else ()) or task.questions.ids
    rows = [row for row in np.flatnonzero(data.is_scored) if keys[row] in baseline_means]
    if not rows:
        raise DataError(f"{baseline.name} and this run have no question in common")
    means = np.array([baseline_means[keys[row]] for row in rows])
    differences: NDArray[np.float64] = np.nanmean(data.values[rows], axis=1) - means
    if np.abs(differences).max() > 1:
        raise DataError("stopping because of a comparison requires scores between 0 and 1")
    codes = detect_structure(task, rule.options)[0].clusters.codes
    if codes is None:
        return differences
    units = np.unique(codes[rows], return_inverse=True)[1]
    sizes = np.bincount(units)
    return np.asarray(np.bincount(units, differences) / sizes.max())
