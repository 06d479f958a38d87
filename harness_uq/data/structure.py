"""The structure of scores: what the user declares, and score types, trials and clusters with their evidence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from harness_uq.data.missing_scores import MissingPolicies
from harness_uq.data.resources import RESOURCE_METRICS
from harness_uq.data.task_log import (
    AggregateScore,
    Classifications,
    FloatArray,
    IntArray,
    Scores,
    SufficientStatistics,
    TaskData,
)
from harness_uq.messages import HasMessages, Message
from harness_uq.messages.catalogue.estimation import INCOMPLETE_TOTALS, INCONSISTENT_TOTALS, TOTALS_NOT_A_PROPORTION
from harness_uq.messages.catalogue.score_structure import (
    PERCENT_SCORES,
    RANGE_ASSUMED,
    RANGE_EXCLUDES_VALUE,
    RANGE_INFERRED,
    RANGE_UNKNOWN,
    UNKNOWN_NAME,
)
from harness_uq.messages.errors import NotEstimableError, StructureError, UsageError

ScoreType = Literal["binary", "graded", "bounded", "real", "record"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One finding about the structure, with its source, both in words."""

    name: str  # `clusters`, `trials`, `score type`…
    value: str
    evidence: str


@dataclass(frozen=True, slots=True)
class StructureOptions:
    """The structure that the user declares.

    Attributes
    ----------
    cluster : field for every task, `none` to switch clusters off, None or `auto` to detect
    cluster_by_task : field, `none` or `auto` by task name; takes precedence over `cluster`
    ranges : (low, high) by metric name, or by `TASK:METRIC`, which takes precedence
    origin : source of the options, for the report
    use_samples : whether to use the logged samples even if they cover only a part of what the harness reports
    missing : what trials without a score count as
    defaults : options for everything that is not specified here
    """

    cluster: str | None = None
    cluster_by_task: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    origin: str = "--cluster"
    use_samples: bool = False
    missing: MissingPolicies = field(default_factory=MissingPolicies)
    defaults: "StructureOptions | None" = None

    @property
    def without_policies(self) -> "StructureOptions":
        """These options for logs to which the policies for missing scores have been applied."""
        return replace(self, missing=MissingPolicies("drop"))

    def without_bounds(self, analysis: str) -> "StructureOptions":
        """These options.

        Raises
        ------
        UsageError : if a policy for missing scores is `bounds`, which `analysis` does not support
        """
        if self.missing.has_bounds:
            raise UsageError(
                f"--missing bounds is not supported for {analysis}. Use --missing with drop, zero or error."
            )
        return self

    def of_task(self, task: str) -> "StructureOptions":
        """Return the options of one task, completed from the defaults: its cluster field and the ranges by metric.

        >>> StructureOptions(ranges={"f1": (0, 1), "drop:f1": (0, 100)}).of_task("drop").ranges
        {'f1': (0, 100)}
        """
        weaker = self.defaults.of_task(task) if self.defaults else StructureOptions()
        wanted = self.cluster_by_task.get(task, self.cluster)
        plain = {name: ends for name, ends in self.ranges.items() if ":" not in name}
        own = {name.removeprefix(f"{task}:"): ends for name, ends in self.ranges.items() if name.startswith(f"{task}:")}
        ranges = {**weaker.ranges, **plain, **own}
        if wanted is None:
            return StructureOptions(weaker.cluster, ranges=ranges, origin=weaker.origin)
        return StructureOptions(wanted, ranges=ranges, origin=self.origin)

    def cluster_of(self, task: str) -> str | None:
        """Return the field that the user specified for `task`, None if unspecified."""
        wanted = self.of_task(task).cluster
        return None if wanted == "auto" else wanted

    def check_names(self, tasks: Iterable[str], metrics: Iterable[str]) -> None:
        """Check that the logs contain the tasks and metrics named in the options, except those of the defaults.

        Raises
        ------
        StructureError : if a name does not exist

        >>> StructureOptions.parse(["dorp=passage"]).check_names(["drop"], ["f1"])
        Traceback (most recent call last):
        ...
        harness_uq.messages.errors.StructureError: The logs contain no task 'dorp'. Did you mean 'drop'? ...
        """
        named_tasks = [*self.cluster_by_task, *(name.rpartition(":")[0] for name in self.ranges if ":" in name)]
        for kind, named, known in (
            ("task", named_tasks, sorted(set(tasks))),
            ("metric", [name.rpartition(":")[2] for name in self.ranges], sorted(set(metrics))),
        ):
            if unknown := [name for name in named if name not in known]:
                raise StructureError(UNKNOWN_NAME(kind=kind, name=unknown[0], known=known or ["none"]))

    @classmethod
    def parse(
        cls, clusters: Iterable[str], ranges: Mapping[str, tuple[float, float]] | None = None
    ) -> "StructureOptions":
        """Parse `FIELD`, `TASK=FIELD`, `none` and `auto`; if several apply to all tasks, the last one applies.

        >>> StructureOptions.parse(["passage", "drop=none"]).cluster_of("drop")
        'none'
        """
        named = list(clusters)
        general = [item for item in named if "=" not in item]
        by_task = dict(item.rsplit("=", 1) for item in named if "=" in item)
        return cls(general[-1] if general else None, by_task, ranges or {})


@dataclass(frozen=True, slots=True, eq=False)
class Clusters(HasMessages):
    """Cluster labels of a task's questions."""

    key: str | None  # name of the field; None if questions are treated as independent
    codes: IntArray | None  # (n_questions,), None without a key; a question without a value is a cluster of its own
    fact: Evidence
    messages: tuple[Message, ...] = ()
    is_stated: bool = False  # by the user or the task; labels stored with the scores are then ignored
    few: "Clusters | None" = None  # of a detected field with too few values to be used unasked

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters, None without labels."""
        return None if self.codes is None else len(np.unique(self.codes))


@dataclass(frozen=True, slots=True, eq=False)
class Structure(HasMessages):
    """Structure of the data of one metric; numbers of scored questions, trials per question, scores and clusters."""

    score_type: ScoreType  # `record` if the metric is not a mean of scores
    bounds: tuple[float, float] | None  # (low, high) of a score; None for `real` and `record`
    n_questions: int
    max_trials: int  # per question
    n_scores: int
    n_clusters: int | None
    cluster_key: str | None
    facts: tuple[Evidence, ...] = ()
    messages: tuple[Message, ...] = ()


_LARGEST_PERCENT = 100.0


def detect(
    data: Scores | Classifications | SufficientStatistics, clusters: Clusters, options: StructureOptions
) -> Structure:
    """Detect the structure of the data of one metric, given the clusters of its task's questions."""
    scored = data.is_scored
    codes = codes_of(data, clusters)
    n_clusters = None if codes is None else len(np.unique(codes[scored]))
    score_type, bounds, fact = score_type_of(data, options.ranges)
    cells = data.is_trial_scored[scored]
    max_trials = int(cells.sum(axis=1).max(initial=0))
    key, cluster_fact = clusters.key, clusters.fact
    if codes is not None and codes is not clusters.codes:
        key, cluster_fact = "cluster", Evidence("clusters", str(n_clusters), "given with the scores")
    trials = f"{max_trials} trial{'' if max_trials == 1 else 's'} per question"
    facts = (cluster_fact, fact, Evidence("trials", trials, "the log"))
    messages = clusters.messages
    if score_type == "real" and isinstance(data, Scores) and data.metric not in RESOURCE_METRICS:
        unknown = PERCENT_SCORES if _look_like_percent(data) else RANGE_UNKNOWN
        messages += (unknown(metric=data.metric),)
    if isinstance(data, Scores) and data.metric not in options.ranges and scored.any():
        messages += _source_of_range(data)
    return Structure(
        score_type=score_type,
        bounds=bounds,
        n_questions=int(scored.sum()),
        max_trials=max_trials,
        n_scores=int(cells.sum()),
        n_clusters=n_clusters,
        cluster_key=key if n_clusters is not None else None,
        facts=facts,
        messages=messages,
    )


def _look_like_percent(data: Scores) -> bool:
    """Whether all scores lie between 0 and 100, and some are 100, or some 0 and others above 10."""
    values = data.values[np.isfinite(data.values)]
    if not values.size or values.min() < 0 or values.max() > _LARGEST_PERCENT:
        return False
    return bool(values.max() == _LARGEST_PERCENT or (values.min() == 0 and values.max() > _LARGEST_PERCENT / 10))


def _source_of_range(data: Scores) -> tuple[Message, ...]:
    """The message that the range of scores that are all equal is inferred or assumed."""
    if data.bounds is None or data.bounds_source is None:
        return ()
    low, high = data.bounds
    params = {"metric": data.metric, "value": float(np.nanmax(data.values)), "low": low, "high": high}
    return (RANGE_INFERRED(**params, source=data.bounds_source) if data.bounds_source else RANGE_ASSUMED(**params),)


def score_type_of(
    data: Scores | Classifications | SufficientStatistics, ranges: Mapping[str, tuple[float, float]]
) -> tuple[ScoreType, tuple[float, float] | None, Evidence]:
    """Determine the score type and bounds from the first available source.

    The sources are, in order: the user's range, declared levels, the range of the metric, and whether all values are
    0 or 1. Resources such as the number of turns have no range.
    """
    if not isinstance(data, Scores):
        return "record", None, Evidence("score type", "not an average of scores", "kind of the metric")
    values = data.values[np.isfinite(data.values)]
    if data.metric in ranges:
        low, high = ranges[data.metric]
        if (outside := values[(values < low) | (values > high)]).size:
            raise StructureError(RANGE_EXCLUDES_VALUE(metric=data.metric, low=low, high=high, value=outside[0]))
        return _bounded_or_binary(values, (low, high), "named by the user (--range)")
    if data.levels is not None:
        bounds = (min(data.levels), max(data.levels))
        if set(np.unique(values)) <= {0.0, 1.0} and bounds == (0.0, 1.0):
            return "binary", bounds, Evidence("score type", "binary", "levels declared by the harness, all 0 or 1")
        return "graded", bounds, Evidence("score type", f"graded {data.levels}", "levels declared by the harness")
    if data.bounds is not None and values.size and data.bounds[0] <= values.min() and values.max() <= data.bounds[1]:
        return _bounded_or_binary(values, data.bounds, _evidence_of_range(data))
    if values.size and data.metric not in RESOURCE_METRICS and np.isin(values, (0.0, 1.0)).all():
        return "binary", (0.0, 1.0), Evidence("score type", "binary", "all values are 0 or 1")
    return "real", None, Evidence("score type", "unbounded", "no range is known")


def known_range(data: TaskData, ranges: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    """Smallest and largest possible score; None if the range is unknown, or scores lie outside their declared range."""
    if not isinstance(data, Scores):
        return None
    try:
        return score_type_of(data, ranges)[1]
    except StructureError:
        return None  # the results of the task contain a warning about these scores


def _evidence_of_range(data: Scores) -> str:
    if data.bounds_source is None:
        return "range of the metric, known to the harness"
    return f"inferred from {data.bounds_source}" if data.bounds_source else "assumed, because all scores are equal"


def _bounded_or_binary(
    values: FloatArray, bounds: tuple[float, float], evidence: str
) -> tuple[ScoreType, tuple[float, float], Evidence]:
    if bounds == (0.0, 1.0) and np.isin(values, (0.0, 1.0)).all():
        return "binary", bounds, Evidence("score type", "binary", f"{evidence}; all values are 0 or 1")
    return "bounded", bounds, Evidence("score type", f"bounded to [{bounds[0]:g}, {bounds[1]:g}]", evidence)


_MOST_QUESTIONS = 10**12


def counts_of(data: AggregateScore) -> tuple[int, int]:
    """The numbers of correct answers and of questions.

    Raises NotEstimableError if the metric is not known to be a proportion of correct answers, or its value and number
    of questions do not imply an integer number of correct answers.
    """
    value, n = data.value, data.n
    if value is None or not n:
        missing = "the value" if value is None else "the number of questions"
        raise NotEstimableError(INCOMPLETE_TOTALS(reason=data.reason, missing=missing))
    if not data.is_share:
        raise NotEstimableError(TOTALS_NOT_A_PROPORTION(reason=data.reason, metric=data.metric))
    is_share = 0 <= value <= 1 and 0 < n <= _MOST_QUESTIONS
    if not (is_share and abs(value * n - round(value * n)) <= 1e-6 * n):
        raise NotEstimableError(INCONSISTENT_TOTALS(reason=data.reason, value=value, n_questions=n))
    return round(value * n), n


def codes_of(data: TaskData, clusters: Clusters) -> IntArray | None:
    """Return the cluster labels used for a metric; None if its questions are treated as independent."""
    given = None if isinstance(data, AggregateScore) else data.clusters
    return clusters.codes if clusters.is_stated or given is None else given
