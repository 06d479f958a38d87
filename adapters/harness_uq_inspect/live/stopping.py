"""When to stop: the scores so far, looked at now and then, against a width or against a logged run."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from harness_uq import (
    DataError,
    Estimate,
    Options,
    Scores,
    StructureOptions,
    TaskLog,
    estimate,
    load_plugins,
    structures,
)
from harness_uq.stats.looks.betting import log_e_value_of_differences
from harness_uq_inspect.live.reference import Reference, reference_of, watched
from harness_uq_inspect.live.wanted import Scope
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Json, Sample
from harness_uq_inspect.read.task_log import task_log_of

LOOKS_PER_EPOCH: Final = 10


@dataclass(frozen=True, slots=True)
class Rule:
    """What `stop_when` was asked for; see there."""

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
        """What was asked for, without what was left open."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Decision:
    """Why the epochs end.

    Attributes
    ----------
    kind : which part of the rule was met
    n_trials : trials scored by then
    facts : numbers behind the reason
    """

    kind: Literal["width", "comparison"]
    reason: str
    n_trials: int
    facts: Mapping[str, float]

    def to_dict(self) -> Json:
        """JSON-ready form."""
        return {"decision": self.kind, "reason": self.reason, "n_trials_at_decision": self.n_trials, **self.facts}


class Watch:
    """The scores of a task under way.

    Parameters
    ----------
    log : without samples
    documents : one sample of each question, without scores
    epochs : planned
    rule : when to stop

    Raises
    ------
    LogError : if the run to compare with cannot be read, or holds no such task
    """

    def __init__(self, log: Log, documents: Mapping[str, Sample], epochs: int, rule: Rule) -> None:
        self._log, self._rule, self._epochs = log, rule, epochs
        self._log.documents = dict(documents)
        self._plugins = load_plugins()
        self._reference = None if rule.compare_to is None else reference_of(rule.compare_to, log.header.eval.task)
        self._n = max(1, len(documents))
        self._step = max(1, self._n // LOOKS_PER_EPOCH)
        self._last_epoch_looked = 0
        self.n_looks = 0
        self.why_not = "no look was due: every question gets its first trials before anything is decided"

    @property
    def n_trials(self) -> int:
        """Trials scored so far."""
        return len(self._log.cells)

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        first = self._n * self._rule.min_trials
        return self.n_trials >= first and (self.n_trials - first) % self._step == 0

    def add(self, trial: Sample) -> None:
        """Take in a scored trial."""
        self._log.cells[str(trial.id), trial.epoch] = trial

    def look(self) -> Decision | None:
        """Whether the rule is met."""
        self.n_looks += 1
        task = task_log_of(_copied(self._log), "live")
        data = watched(task, self._rule.metric)
        return self._by_width(task, data) or self._by_comparison(task, data)

    # ------------------------------------------------------------ width

    def _by_width(self, task: TaskLog, data: Scores) -> Decision | None:
        target = self._rule.width
        if target is None:
            return None
        row = self._estimate(task, data)
        if row.interval is None:
            self.why_not = "; ".join(row.warnings) or "no interval"
            return None
        found = f"{self._rule.scope} interval [{row.interval.low:.4f}, {row.interval.high:.4f}] ({row.method})"
        if row.interval.width > target:
            self.why_not = f"{found} is still wider than {target:g}"
            return None
        facts = {"low": row.interval.low, "high": row.interval.high, "width": row.interval.width}
        return Decision("width", f"{found} is at most {target:g} wide", self.n_trials, facts)

    def _estimate(self, task: TaskLog, data: Scores) -> Estimate:
        rows = estimate(task, self._rule.options, plugins=self._plugins)
        return next(row for row in rows if (row.metric, row.filter) == (data.metric, data.filter))

    # ------------------------------------------------------------ comparison

    @property
    def threshold(self) -> float:
        """E-value that decides: one look an epoch, the error spread over them (Bonferroni)."""
        return (self._epochs - self._rule.min_trials + 1) / (1 - self._rule.level)

    def _by_comparison(self, task: TaskLog, data: Scores) -> Decision | None:
        epoch = self.n_trials // self._n
        if self._reference is None or epoch <= self._last_epoch_looked:
            return None
        self._last_epoch_looked = epoch
        differences = _unit_differences(task, data, self._reference, self._rule)
        e_value = math.exp(min(log_e_value_of_differences(differences), 700.0))
        mean = float(np.mean(differences))
        what = f"e-value {e_value:.3g} after epoch {epoch} against {self._reference.name}"
        if e_value < self.threshold:
            self.why_not = f"{what} stays under {self.threshold:.3g}"
            return None
        verdict = "better" if mean > 0 else "worse"
        reason = f"{what} reaches {self.threshold:.3g}: this system is {verdict}"
        facts = {"e_value": e_value, "threshold": self.threshold, "mean_difference": mean}
        return Decision("comparison", reason, self.n_trials, facts)


# ---------------------------------------------------------------- scores so far


def _copied(log: Log) -> Log:
    """The log as it is now; trials go on ending while it is looked at."""
    return Log(log.header, dict(log.cells), log.documents)


def _unit_differences(task: TaskLog, data: Scores, reference: Reference, rule: Rule) -> NDArray[np.float64]:
    """Difference of question means, or their mean over the questions of a cluster in units of the largest cluster.

    Raises
    ------
    DataError : if scores leave [0, 1] or no question is in both runs
    """
    theirs = reference.means(data.metric)
    keys = (task.questions.hashes if reference.log.questions.hashes else ()) or task.questions.ids
    rows = [row for row in np.flatnonzero(data.is_scored) if keys[row] in theirs]
    if not rows:
        raise DataError(f"{reference.name} and this run have no question in common")
    reference_means = np.array([theirs[keys[row]] for row in rows])
    differences: NDArray[np.float64] = np.nanmean(data.values[rows], axis=1) - reference_means
    if np.abs(differences).max() > 1:
        raise DataError("a comparison is decided for scores between 0 and 1 only")
    codes = structures(task, rule.options.structure)[0].clusters.codes
    if codes is None:
        return differences
    units = np.unique(codes[rows], return_inverse=True)[1]
    sizes = np.bincount(units)
    return np.asarray(np.bincount(units, differences) / sizes.max())
