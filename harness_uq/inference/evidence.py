"""The evidence for a score: samples, trials behind a reduction, totals of the harness or a stored interval."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness_uq.data.catalogue import Catalogue
from harness_uq.data.missing_scores import Extreme, MissingPolicies, find_missing
from harness_uq.data.resources import RESOURCE_METRICS
from harness_uq.data.selection import NEARLY_COMPLETE, higher_is_better
from harness_uq.data.structure import StructureOptions, score_type_of
from harness_uq.data.task_log import AggregateScore, HarnessResult, Scores, TaskData, TaskLog
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages import Message, distinct
from harness_uq.messages.catalogue.comparison import TOTALS_USED
from harness_uq.messages.catalogue.estimation import MISSING_SCORES_REFUSED, STORED_INTERVAL_DIFFERS
from harness_uq.messages.errors import DataError, StructureError
from harness_uq.results.estimate import NOTHING_REPORTED, Estimate, Interval

_NEAR_TOTAL = 0.5
_NEAR_INTEGER = 0.02


def with_best_evidence(logs: Iterable[TaskLog], plugins: Plugins, options: StructureOptions) -> list[TaskLog]:
    """Replace the samples of each log by the totals where the samples cover fewer questions than the harness reports.

    Trials without a score are then treated as the policies for missing scores require.

    All commands that print a score or a verdict call this function, so that they use the same evidence. Samples are
    used if they cover all questions, or if they cover at least 95 % of them and their mean differs from the total by at
    most half of its standard error. Otherwise the totals are used, without questions to match. `logs`: task logs, whose
    data are samples or totals. `plugins`: their catalogues name the metrics that are shares of correct answers.
    `options`: whether to use the samples that the logs contain in any case, and what trials without a score count as.
    Raises DataError if a trial without a score has the policy `error`.
    """
    decided = [
        _decided(log, plugins.catalogues.get(log.source.harness), use_samples=options.use_samples) for log in logs
    ]
    return with_policies(decided, options)


def with_policies(logs: Iterable[TaskLog], structure: StructureOptions) -> list[TaskLog]:
    """The logs, in which trials without a score count as the policies of `structure` say.

    A metric whose worst score is unknown becomes a total without a value if it is needed. Raises DataError if a trial
    without a score has the policy `error`.
    """
    return [_completed(log, structure) for log in logs]


def _completed(log: TaskLog, structure: StructureOptions) -> TaskLog:
    data = tuple(_with_policies(log, item, structure) for item in log.data)
    is_unchanged = all(new is old for new, old in zip(data, log.data, strict=True))
    return log if is_unchanged else replace(log, data=data)


def _with_policies(log: TaskLog, data: TaskData, structure: StructureOptions) -> TaskData:
    if not isinstance(data, Scores) or data.metric in RESOURCE_METRICS:
        return data
    missing = find_missing(data.values, log.ended_by, structure.missing, is_complete=data.is_complete)
    if missing is None:
        return data
    counts = missing.counts
    if (missing.policy == "error").any():
        numbers = {"n_missing": counts.n_missing, "n_trials": counts.n_trials, "causes": counts.causes}
        raise DataError(MISSING_SCORES_REFUSED(task=log.task, system=log.system, **numbers))
    bounds = _range_of(log, data, structure)
    n_replaced = counts.n_worst + (counts.n_open if structure.missing.extreme else 0)
    if bounds is None and n_replaced:
        reason = f"Trials without a score cannot be replaced, because the range of {data.metric!r} is unknown (--range)"
        return AggregateScore(data.metric, data.filter, None, None, reason)
    low, high = bounds or (math.nan, math.nan)
    worst, best = (low, high) if higher_is_better(log, data.metric) else (high, low)
    open_score = {None: math.nan, "worst": worst, "best": best}[structure.missing.extreme]
    completed = missing.completed(data.values, worst, open_score)
    if n_replaced and data.is_scored.any():
        of_questions = np.nanmean(data.values[data.is_scored], axis=1)
        counts = replace(counts, logged=(float(of_questions.mean()), len(of_questions)))
    return replace(data, values=completed, bounds=bounds or data.bounds, missing=counts)


def _range_of(log: TaskLog, data: Scores, structure: StructureOptions) -> tuple[float, float] | None:
    """The range of possible scores; None if it is unknown or contradicted by the scores."""
    try:
        return score_type_of(data, structure.of_task(log.task).ranges)[1]
    except StructureError:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class OpenLogs:
    """Logs in which trials have the worst or the best possible score, completed when they are needed.

    These are the trials with the policy `bounds` or, if no policy was chosen, all trials without a score.
    """

    logged: Sequence[TaskLog]  # before totals replaced samples and policies for missing scores applied
    structure: StructureOptions
    plugins: Plugins
    _completed: dict[Extreme, list[TaskLog]] = field(default_factory=dict)

    @property
    def policies(self) -> MissingPolicies:
        """The policies that the user chose."""
        return self.structure.missing

    @property
    def are_open(self) -> bool:
        """Whether trials without a score may have any score."""
        return self.policies.has_bounds or self.policies.is_default

    def at(self, extreme: Extreme) -> list[TaskLog]:
        """The logs with the worst or the best scores."""
        if extreme not in self._completed:
            policies = MissingPolicies("bounds") if self.policies.is_default else self.policies
            structure = replace(self.structure, missing=policies.at(extreme))
            self._completed[extreme] = with_best_evidence(self.logged, self.plugins, structure)
        return self._completed[extreme]


def _decided(log: TaskLog, catalogue: Catalogue | None, *, use_samples: bool) -> TaskLog:
    data: list[TaskData] = []
    messages: list[Message] = []
    for item in log.data:
        reported = log.reported.get((item.metric, item.filter), NOTHING_REPORTED)
        if isinstance(item, AggregateScore):
            # the number of questions follows from the standard error of a proportion
            n = item.n or _n_behind(item, reported)
            data.append(replace(item, n=n, std_error=reported.std_error))
        elif use_samples or _are_representative(item, reported):
            data.append(item)
        else:
            n_samples = int(item.is_scored.sum())
            data.append(_totals(item, reported, catalogue))
            messages.append(TOTALS_USED(system=log.system, n_samples=n_samples, n_questions=reported.n))
    return replace(log, data=tuple(data), messages=distinct((*log.messages, *messages)))


def _are_representative(data: TaskData, reported: HarnessResult) -> bool:
    """Whether the samples may represent the score of all questions that the harness reports."""
    if isinstance(data, AggregateScore) or reported.value is None or reported.n is None:
        return True
    n_samples = int(data.is_scored.sum())
    if n_samples >= reported.n:
        return True
    if n_samples < NEARLY_COMPLETE * reported.n:
        return False
    if not isinstance(data, Scores) or data.event is not None:
        return True
    means = np.nanmean(data.values[data.is_scored], axis=1)
    std_error = reported.std_error or float(np.std(means, ddof=1)) / np.sqrt(len(means))
    return bool(abs(float(means.mean()) - reported.value) <= _NEAR_TOTAL * std_error)


def _totals(data: TaskData, reported: HarnessResult, catalogue: Catalogue | None) -> AggregateScore:
    is_catalogued = catalogue is not None and re.fullmatch(catalogue.shares, data.metric) is not None
    is_binary = isinstance(data, Scores) and data.levels == (0.0, 1.0) and data.logged_trials == 1
    is_proportion = True if is_catalogued or is_binary else None
    reason = "The log contains only a part of the samples"
    return AggregateScore(
        data.metric, data.filter, reported.value, reported.n, reason, is_proportion, reported.std_error
    )


def _n_behind(data: AggregateScore, reported: HarnessResult) -> int | None:
    """Return n = p (1 - p) / se^2 + 1, the size of a sample with this standard error; None if it is no integer."""
    value, error = data.value, reported.std_error
    if not data.is_share or value is None or not error or not 0 < value < 1:
        return None
    exact = value * (1 - value) / error**2 + 1
    n = round(exact)
    is_whole = abs(exact - n) <= _NEAR_INTEGER and abs(value * n - round(value * n)) <= _NEAR_INTEGER
    return n if is_whole else None


# ---------------------------------------------------------------- trials behind a reduction


def trials_behind(log: TaskLog, data: TaskData) -> tuple[Scores, str] | None:
    """Find the trials that `data` reduces to an event.

    Each reduced score is itself an estimate from trials, not an observation of the event. Only the trials show how the
    probability of the event varies between questions. Returns the trials and the name of the estimand; None if `data`
    is not such a reduction or the trials are not logged.
    """
    if not isinstance(data, Scores) or data.event is None:
        return None
    for other in log.data:
        if isinstance(other, Scores) and other.metric == data.metric and other.values.shape[1] > 1:
            return replace(other, filter=data.filter), data.event
    return None


# ---------------------------------------------------------------- stored intervals


def with_stored_interval(row: Estimate, data: AggregateScore, level: float) -> Estimate:
    """The estimate with the stored interval, if it has none of its own.

    If the stored interval has another level or scope, the first message states its level and scope.
    """
    stored = data.stored
    if row.interval is not None or row.value is None or stored is None or data.is_contradicted:
        return row
    if not math.isclose(stored.level, level) or stored.scope != row.scope:
        differs = STORED_INTERVAL_DIFFERS(level=stored.level, scope=stored.scope)
        return replace(row, messages=(differs, *row.messages))
    return replace(
        row,
        method=stored.method,
        method_reason="the log contains the interval of the live run, and the score cannot be computed again",
        std_error=stored.std_error,
        interval=Interval(stored.low, stored.high, stored.level, stored.kind),
        n_clusters=stored.n_clusters,
        messages=(*row.warnings, *row.notes, *stored.messages),
    )
