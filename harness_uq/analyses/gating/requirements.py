"""Bounds that scores of a system must reach or must not exceed, and the scores and resources that they name."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeAlias

import numpy as np

from harness_uq.analyses.overall.select_tasks import headline_order
from harness_uq.data.resources import RESOURCE_METRICS, renamed
from harness_uq.data.selection import ScoreKey, SelectedRun
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.data.trial_endings import ending_code
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.decisions import BINOMIAL_METHODS, Hypothesis, bound_hypothesis
from harness_uq.inference.estimates import estimate_logs
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import BOUND_OUTSIDE_RANGE, REQUIREMENT_NOT_SELECTED
from harness_uq.messages.errors import DataError, StructureError, unknown_name
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.results.gate import RequirementKind
from harness_uq.stats.pairs.run_variation import DistributionOverRuns, RunVariation

ERROR_RATE = "error_rate"
NAMED_METRICS = frozenset({*RESOURCE_METRICS, *map(renamed, RESOURCE_METRICS), ERROR_RATE})
_PERCENT = 100

Bounds: TypeAlias = float | Mapping[str, float] | Mapping[str | None, float]


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound on the scores of tasks.

    `kind`: `at_least` or `at_most`. `bound`: in units of the score. `task`: name or pattern of tasks; None for all
    tasks. `metric`: metric, or `METRIC,FILTER`; None for the first metric of each task in the order of overall results.
    """

    kind: RequirementKind
    bound: float
    task: str | None = None
    metric: str | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound):
            raise DataError(f"the bound of a requirement is a number; got {self.bound}")

    @classmethod
    def parse(cls, kind: RequirementKind, name: str | None, bound: float) -> "Requirement":
        """Requirement of a name `TASK`, `TASK:METRIC`, a resource such as `cost`, or None.

        In the name of a group, `TASK, FIELD: GROUP`, the colon is followed by a space.

        >>> Requirement.parse("at_least", "gsm8k:exact_match,strict-match", 0.8).metric
        'exact_match,strict-match'
        >>> Requirement.parse("at_least", "safety, language: de", 0.8).task
        'safety, language: de'
        """
        if name in NAMED_METRICS:
            return cls(kind, bound, None, name)
        task, _, metric = re.sub(r":(?! )", "\0", name or "", count=1).partition("\0")
        return cls(kind, bound, task or None, metric or None)

    def select(self, chosen: Mapping[ScoreKey, SelectedRun]) -> list[ScoreKey]:
        """Return the task, metric and filter of each score that the requirement refers to. Raises DataError if it
        refers to no score.
        """
        tasks = list(dict.fromkeys(task for task, _, _ in chosen))
        wanted = [task for task in tasks if self.task is None or fnmatchcase(task, self.task)]
        if not wanted:
            raise DataError(unknown_name("task of a requirement", str(self.task), tasks, plural="tasks"))
        return [self._score([key for key in chosen if key[0] == task]) for task in wanted]

    def _score(self, offered: Sequence[ScoreKey]) -> ScoreKey:
        if self.metric is None:
            return min(offered, key=headline_order)
        metric, _, filter_name = self.metric.partition(",")
        matching = [key for key in offered if key[1] == metric and filter_name in ("", key[2])]
        if not matching:
            raise DataError(
                unknown_name("metric of a requirement", self.metric, [key[1] for key in offered], plural="metrics")
            )
        return matching[0]


def requirements_of(at_least: Bounds | None, at_most: Bounds | None) -> tuple[Requirement, ...]:
    """The requirements of bounds that are one number, or numbers by `TASK` or `TASK:METRIC`."""
    given: tuple[tuple[RequirementKind, Bounds | None], ...] = (("at_least", at_least), ("at_most", at_most))
    return tuple(
        Requirement.parse(kind, name, bound)
        for kind, bounds in given
        for name, bound in (bounds if isinstance(bounds, Mapping) else {} if bounds is None else {None: bounds}).items()
    )


@dataclass(frozen=True, slots=True, eq=False)
class RequiredScore:
    """A score with a bound.

    `row`: estimate of the score. `over_runs`: distribution of the score over runs; None if the system has one run.
    """

    requirement: Requirement
    row: Estimate
    over_runs: DistributionOverRuns | None = None

    @property
    def hypothesis(self) -> Hypothesis | None:
        """What is required, with its p-values; None if the score is not estimable."""
        return bound_hypothesis(self.row, self.requirement.kind, self.requirement.bound, self.over_runs)

    def with_runs(self, variation: RunVariation | None) -> "RequiredScore":
        """The score with the variation between runs in its interval; unchanged if the system has one run."""
        row = self.row
        if variation is None or row.posterior is None or row.interval is None:
            return self
        over_runs = DistributionOverRuns(row.posterior, variation, (variation.df + 1,))
        low, high = over_runs.interval(row.interval.level)
        if row.structure is not None and row.structure.bounds is not None:
            low, high = max(low, row.structure.bounds[0]), min(high, row.structure.bounds[1])
        interval = replace(row.interval, low=low, high=high)
        return replace(self, row=replace(row, interval=interval, std_error=over_runs.sd), over_runs=over_runs)


def required_scores(
    new: Side, requirements: Sequence[Requirement], compared: Options, plugins: Plugins
) -> list[RequiredScore]:
    """Each requirement with the estimate of each score that it refers to. Raises DataError if a requirement refers to
    no score, and StructureError if a bound lies outside the range of the scores.
    """
    keys = [(requirement, key) for requirement in requirements for key in requirement.select(new.chosen)]
    if not keys:
        return []
    estimates = estimate_logs(new.logs, compared.estimation, plugins)
    rows = {row.key: row for row in estimates if row.key in new.chosen and row.source == new.chosen[row.key].log.source}
    required = [RequiredScore(requirement, rows[key]) for requirement, key in keys]
    for one in required:
        _check_bound(one.requirement.bound, one.row)
    return required


def _check_bound(bound: float, row: Estimate) -> None:
    """Check that a score can lie on both sides of the bound. Raises StructureError if it cannot; the message suggests
    the bound that was probably intended.
    """
    bounds = (0.0, 1.0) if row.method in BINOMIAL_METHODS else row.structure.bounds if row.structure else None
    if bounds is None or bounds[0] <= bound <= bounds[1]:
        return
    scaled = bound / _PERCENT
    suggestion = f" Did you mean {scaled:g}?" if bounds[0] <= scaled <= bounds[1] else ""
    raise StructureError(
        BOUND_OUTSIDE_RANGE(
            bound=bound, metric=row.metric, task=row.task, low=bounds[0], high=bounds[1], suggestion=suggestion
        )
    )


def check_selected(option: str, named: Iterable[str], selected: Iterable[str]) -> None:
    """Check that a selection of tasks contains the tasks that an option names.

    `named`: names or patterns of tasks, or names of groups of questions `TASK, FIELD: GROUP`. Raises DataError if the
    selection does not contain one of them.
    """
    tasks = sorted(set(selected))
    for name in named:
        if not any(fnmatchcase(task, name) or name.startswith(f"{task}, ") for task in tasks):
            raise DataError(REQUIREMENT_NOT_SELECTED(option=option, task=name, selected=tasks))


# ---------------------------------------------------------------- metrics that are read only if they are named


def named_metrics(names: Iterable[str | None]) -> frozenset[str]:
    """The metrics among the names of requirements and margins that are read only if they are named.

    >>> sorted(named_metrics(["gsm8k:cost", "error_rate", "acc", None]))
    ['cost', 'error_rate']
    """
    metrics = {(name or "").rpartition(":")[2].partition(",")[0] for name in names}
    return NAMED_METRICS & metrics


def reads_resources(names: Set[str]) -> bool:
    """Whether one of the metrics is a resource, which readers must be asked for."""
    return bool(names - {ERROR_RATE})


def with_named_metrics(side: Side, names: Set[str]) -> Side:
    """The side with the named ones of these metrics, and without the others."""
    return side.with_logs([_with_named(log, names) for log in side.logs])


def _with_named(log: TaskLog, names: Set[str]) -> TaskLog:
    kept = tuple(data for data in log.data if data.metric in names or data.metric not in NAMED_METRICS)
    if ERROR_RATE in names and (errors := _error_rate(log)) is not None:
        kept = (*kept, errors)
    return replace(log, data=kept, higher_is_better={**log.higher_is_better, ERROR_RATE: False})


def _error_rate(log: TaskLog) -> Scores | None:
    """Whether each trial ended with an error; None if the log does not tell how its trials ended."""
    if log.ended_by is None or any(data.metric == ERROR_RATE for data in log.data):
        return None
    codes = log.ended_by.codes
    values = np.where(codes < 0, np.nan, (codes == ending_code("error")).astype(float))
    return Scores(ERROR_RATE, "none", values, bounds=(0.0, 1.0))
