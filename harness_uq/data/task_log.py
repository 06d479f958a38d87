"""Task logs: the data of one task in one run, validated once and read-only afterwards.

A `TaskLog` contains the questions and, for each metric and filter, one of four kinds of data: `Scores` (a number per
question and trial), `Classifications` (target and prediction), `SufficientStatistics` (of a corpus metric) or
`AggregateScore` (a value without data per question). The rows of every array are the questions of the `TaskLog`, in its
order.
"""

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.data.arrays import FloatArray as FloatArray
from harness_uq.data.arrays import IntArray as IntArray
from harness_uq.data.arrays import label_codes, read_only, score_table
from harness_uq.data.missing_scores import MissingCounts
from harness_uq.data.resources import ResourceOptions, Resources, metric_columns, renamed, resource_messages
from harness_uq.data.trial_endings import TrialEndings
from harness_uq.messages import HasMessages, Message
from harness_uq.messages.errors import DataError

MetricKey: TypeAlias = tuple[str, str]
_EMPTY: Mapping[Any, Any] = MappingProxyType({})


def _read_only_mapping(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)  # pickle cannot import the type by its own name


# allows sending logs to other processes
copyreg.pickle(MappingProxyType, lambda mapping: (_read_only_mapping, (dict(mapping),)))


def _label_clusters(owner: object, clusters: IntArray, metric: str, n_questions: int) -> None:
    """Store the cluster labels; replace each negative label by one that no other question has."""
    if len(clusters) != n_questions:
        raise DataError(f"{metric}: {len(clusters)} cluster labels for {n_questions} questions")
    labels = np.array(clusters, np.int64)
    unknown = labels < 0
    labels[unknown] = labels.max(initial=-1) + 1 + np.arange(unknown.sum())
    read_only(owner, "clusters", labels, np.int64, 1)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One of several attempts at a run, of which a later one continues an earlier one.

    Attributes
    ----------
    run : identifier that all attempts at the run share
    id : identifier of this attempt
    is_finished : whether the attempt was completed
    n_trials : number of scored trials in the log
    content : hash of the scores: logs of one attempt with the same hash are copies. Empty if it is not known.
    """

    run: str
    id: str
    is_finished: bool
    n_trials: int = 0
    content: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a log.

    Attributes
    ----------
    path : the file to name in messages
    harness : `lm-eval`, `inspect` or the name of a plugin
    version : version of the harness that wrote the log; None if not logged
    time : time of the run (ISO 8601); None if not logged
    run : identifier of the run to which the task belongs; empty if each log is a run
    attempt : which attempt at the run the log contains; None if the harness does not continue runs in other logs
    """

    path: str
    harness: str
    version: str | None = None
    time: str | None = None
    run: str = field(default="", metadata={"json": "internal"})
    attempt: Attempt | None = field(default=None, metadata={"json": "internal"})


@dataclass(frozen=True, slots=True)
class RunMetadata:
    """Information about a run that affects the statistics.

    Attributes
    ----------
    n_all : number of questions in the whole benchmark; None if unknown
    is_limited : whether the run was configured to use only part of the benchmark
    is_random_subset : whether that part is a random sample rather than the first questions or selected ones
    is_finished : whether the run was completed
    n_watched : number of planned questions of a run with a stopping rule; None for other runs
    watched_clusters : cluster of each planned question, the logged questions first and in their order; None if the log
        does not contain the clusters of the questions that were not asked
    chance : expected score of random answers, from the numbers of choices of the questions; None if it is unknown
    n_cached : number of trials, besides the first of each question, whose answers came from a cache
    settings : all other settings by name (`num_fewshot`, `epochs`, `seed`, …), as the harness logs them
    """

    n_all: int | None = None
    is_limited: bool = False
    is_random_subset: bool = False
    is_finished: bool = True
    n_watched: int | None = None
    watched_clusters: tuple[int, ...] | None = None
    chance: float | None = None
    n_cached: int = 0
    settings: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
        if self.watched_clusters is not None:
            object.__setattr__(self, "watched_clusters", tuple(self.watched_clusters))


@dataclass(frozen=True, slots=True)
class HarnessResult:
    """The harness's own result for one metric and filter. Attributes are None if the harness reported nothing.

    Attributes
    ----------
    value, std_error : as logged (`N/A` becomes None)
    n : number of scored questions according to the harness
    """

    value: float | None
    std_error: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class ClusterDeclaration:
    """A declaration of clusters in the task or its log.

    Attributes
    ----------
    cluster : name of the field whose values are the clusters; `none` if the questions are independent
    origin : location of the declaration, for reports (`metadata.uq.cluster`, `stderr(cluster=…)`)
    is_stated : whether the task or the user states the clusters, which then replace labels that are stored with the
        scores. False if they were detected; `origin` is then the evidence.
    """

    cluster: str
    origin: str
    is_stated: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class MetadataField:
    """A field of the questions' documents that may define clusters.

    Attributes
    ----------
    codes : int (n_questions,); equal values have the same code, a missing value has -1
    is_text : whether the values are long texts (120 characters or more on average)
    values : the value of each code; empty if the values are too many or too long to name groups of questions
    """

    codes: IntArray
    is_text: bool = False
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_only(self, "codes", self.codes, np.int64, 1)
        if self.values and len(self.values) <= self.codes.max(initial=-1):
            raise DataError(f"{len(self.values)} values for {self.codes.max() + 1} codes of a field")

    @property
    def n_missing(self) -> int:
        """Number of questions without the field."""
        return int(np.sum(self.codes < 0))

    @property
    def n_distinct(self) -> int:
        """Number of different values."""
        return len(np.unique(self.codes[self.codes >= 0]))


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Questions:
    """The questions of one task in one run.

    Attributes
    ----------
    ids : identifier of each question, as the harness logs it
    hashes : hash of each question's content; empty if unknown
    fields : metadata fields that may define clusters, by dotted name
    prompt_prefix : codes of the beginning of each prompt; None if prompts were not read
    items : identifier of the item behind each question, shared by its translations, prompts and variants in other
        tasks; empty if unknown
    prompt_hashes : hash of each prompt; empty if unknown
    """

    ids: tuple[str, ...]
    hashes: tuple[str, ...] = ()
    fields: Mapping[str, MetadataField] = field(default_factory=dict)
    prompt_prefix: MetadataField | None = None
    items: tuple[str, ...] = ()
    prompt_hashes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.ids)
        per_question = {
            "content hashes": self.hashes,
            "item identifiers": self.items,
            "prompt hashes": self.prompt_hashes,
        }
        for name, labels in per_question.items():
            if len(labels) not in (0, n):
                raise DataError(f"{len(labels)} {name} for {n} questions")
        for name, candidate in self.fields.items():
            if len(candidate.codes) != n:
                raise DataError(f"field {name!r} has {len(candidate.codes)} entries for {n} questions")
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """A number per question and trial.

    Attributes
    ----------
    metric, filter : names in the harness; `none` if there is no filter
    values : float (n_questions, n_trials); NaN for a missing trial and for a question without this metric
    clusters : int (n_questions,); a question with a negative label becomes a cluster of its own
    levels : scores that the harness declares possible (C/I/P/N: 1, 0, 0.5); None if it declares none
    logged_trials : trials logged per question; more than n_trials if only their reduction was scored
    reduction : how the harness reduced the trials (`mean`, `take_first`, `mode`, …); None without trials
    bounds : lowest and highest possible score; None if the log does not contain them. A catalogue may add them.
    event : the estimand to which the trials were reduced, such as `pass@4`; None for averages
    is_complete : whether every trial that was run has a score; NaN then fills up questions with fewer trials than
        others
    bounds_source : what `bounds` were inferred from, such as `its name`; empty if they are an assumption, None if they
        are known
    missing : numbers of trials without a score, if a policy for missing scores has been applied to `values`
    """

    metric: str
    filter: str
    values: FloatArray
    clusters: IntArray | None = None
    levels: tuple[float, ...] | None = None
    logged_trials: int = 1
    reduction: str | None = None
    bounds: tuple[float, float] | None = None
    event: str | None = None
    is_complete: bool = False
    bounds_source: str | None = None
    missing: MissingCounts | None = None

    def __post_init__(self) -> None:
        values = read_only(self, "values", self.values, np.float64, 2)
        if self.clusters is not None:
            _label_clusters(self, self.clusters, self.metric, len(values))

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Which questions have at least one scored trial; bool (n_questions,)."""
        return np.asarray(self.is_trial_scored.any(axis=1))

    @property
    def is_trial_scored(self) -> NDArray[np.bool_]:
        """Which trials have a score; bool (n_questions, n_trials)."""
        return np.isfinite(self.values)

    @property
    def means(self) -> FloatArray:
        """Mean over the trials of each question; float (n_questions,), NaN without a score."""
        means: FloatArray = np.full(len(self.values), np.nan)
        means[self.is_scored] = np.nanmean(self.values[self.is_scored], axis=1)
        return means


@dataclass(frozen=True, slots=True, eq=False)
class Classifications:
    """Target and predicted class of each question.

    Attributes
    ----------
    metric, filter : names in the harness
    targets : int (n_questions,), index into `labels`; -1 for a question without this metric
    predictions : int (n_questions, n_trials), index into `labels`; -1 for a missing prediction
    labels : class names; of two classes the last is the positive one
    clusters : as in `Scores`
    function : name of the function of the confusion matrix; by default the name of the metric
    """

    metric: str
    filter: str
    targets: IntArray
    predictions: IntArray
    labels: tuple[str, ...]
    clusters: IntArray | None = None
    function: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", self.function or self.metric)
        targets = read_only(self, "targets", self.targets, np.int64, 1)
        predictions = read_only(self, "predictions", self.predictions, np.int64, 2)
        if len(targets) != len(predictions):
            raise DataError(f"{self.metric}: {len(targets)} targets for {len(predictions)} rows of predictions")
        if self.clusters is not None:
            _label_clusters(self, self.clusters, self.metric, len(targets))
        highest = max(targets.max(initial=-1), predictions.max(initial=-1))
        if highest >= len(self.labels):
            raise DataError(f"{self.metric}: class {highest} has no label; labels are {list(self.labels)}")

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Which questions have a target; bool (n_questions,)."""
        return np.asarray(self.targets >= 0)

    @property
    def is_trial_scored(self) -> NDArray[np.bool_]:
        """Which trials have a prediction; bool (n_questions, n_trials)."""
        return np.asarray(self.predictions >= 0)


@dataclass(frozen=True, slots=True, eq=False)
class SufficientStatistics:
    """Sufficient statistics per question, for a metric that is a function of their sums.

    Attributes
    ----------
    metric, filter : names in the harness
    statistics : float (n_questions, p); a row of NaN for a question without this metric
    statistic : name of the function of the column sums (`perplexity`, `bits_per_byte`, …)
    clusters : as in `Scores`
    """

    metric: str
    filter: str
    statistics: FloatArray
    statistic: str
    clusters: IntArray | None = None

    def __post_init__(self) -> None:
        statistics = read_only(self, "statistics", self.statistics, np.float64, 2)
        if self.clusters is not None:
            _label_clusters(self, self.clusters, self.metric, len(statistics))

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Which questions have statistics; bool (n_questions,)."""
        return np.asarray(np.isfinite(self.statistics).all(axis=1))

    @property
    def is_trial_scored(self) -> NDArray[np.bool_]:
        """Which questions have statistics, as a column; bool (n_questions, 1)."""
        return self.is_scored[:, None]


@dataclass(frozen=True, slots=True)
class StoredInterval:
    """An interval that a live run or `rescore` stored in the log, for the value that the harness reported.

    Attributes
    ----------
    method : name of the method
    scope : scope of the estimate: `population`, `benchmark` or `full`
    low, high : limits
    level : nominal coverage
    kind : `quantile`, `hdi` or `confidence`
    std_error : standard error; None if the log contains none
    n_clusters : number of clusters; None if the questions are independent
    messages : notes and warnings about the interval
    """

    method: str
    scope: str
    low: float
    high: float
    level: float
    kind: Literal["quantile", "hdi", "confidence"]
    std_error: float | None = None
    n_clusters: int | None = None
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class AggregateScore:
    """A value for which the log contains no usable data per question.

    Attributes
    ----------
    metric, filter : names in the harness
    value : as logged; None if the harness reported none
    n : number of questions; None if not logged
    reason : why there are no data per question: a sentence without its full stop
    is_share : whether the value is the share of `n` questions with a correct answer; None if unknown. A catalogue may
        add it.
    std_error : standard error as logged; None if the harness reported none
    is_contradicted : whether the samples give another value, as `reason` says. There is then no interval, not even from
        `std_error`.
    stored : interval of this value that the log contains; None if there is none
    """

    metric: str
    filter: str
    value: float | None
    n: int | None
    reason: str
    is_share: bool | None = None
    std_error: float | None = None
    is_contradicted: bool = False
    stored: StoredInterval | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TaskGroup:
    """Scores of several tasks whose weighted mean is reported as one score; `levels` and `bounds` as in `Scores`."""

    metric: str
    filter: str
    values: FloatArray  # (n_rows,); mean over trials of each question, one task after the other
    tasks: IntArray  # (n_rows,); index into `names`
    units: IntArray  # (n_rows,); equal for dependent rows: one cluster, or one item that occurs in several tasks
    weights: FloatArray  # (n_tasks,) of the tasks, with sum 1
    names: tuple[str, ...]
    levels: tuple[float, ...] | None = None
    bounds: tuple[float, float] | None = None
    n_trials: int = 1  # largest number per question
    of_totals: tuple[str, ...] = ()  # tasks of which only totals are known; their zeros and ones have no order
    left_out: tuple[str, ...] = ()  # tasks of the group without a score of the metric

    def __post_init__(self) -> None:
        for name, dtype in (("values", np.float64), ("tasks", np.int64), ("units", np.int64), ("weights", np.float64)):
            read_only(self, name, getattr(self, name), dtype, 1)
        if not len(self.values) == len(self.tasks) == len(self.units):
            raise DataError(f"{self.metric}: values, tasks and units of a group must be equally long")

    @property
    def n_units(self) -> int:
        """Number of independent units."""
        return len(np.unique(self.units))

    @property
    def shares_units(self) -> bool:
        """Whether a unit occurs in more than one task."""
        return len(np.unique(np.stack([self.units, self.tasks]), axis=1).T) > self.n_units


TaskData: TypeAlias = Scores | Classifications | SufficientStatistics | AggregateScore


@dataclass(frozen=True, slots=True, eq=False)
class TaskLog(HasMessages):
    """The data of one task in one run.

    Attributes
    ----------
    system : the model with its settings
    task : name of the task or group of tasks
    source : origin of the log
    questions : the questions, in the order of all arrays
    data : one entry for each metric and filter
    reported : the harness's own results by (metric, filter)
    declared : clusters that the task or its log declares
    facts : information about the run
    higher_is_better : by metric, if the log or the catalogue contains it. For other metrics, higher is assumed to be
        better.
    messages : notes and warnings about the log
    subtasks : names of the tasks that a group aggregates; empty for a single task
    resources : tokens, cost and time of the trials; None unless they were requested from the reader
    ended_by : how each trial ended; None if the log does not contain it
    """

    system: str
    task: str
    source: Source
    questions: Questions
    data: tuple[TaskData, ...]
    reported: Mapping[MetricKey, HarnessResult] = field(default_factory=dict)
    declared: ClusterDeclaration | None = None
    facts: RunMetadata = RunMetadata()
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    subtasks: tuple[str, ...] = ()
    resources: Resources | None = None
    ended_by: TrialEndings | None = None

    def __post_init__(self) -> None:
        for name in ("reported", "higher_is_better"):
            given = getattr(self, name)
            object.__setattr__(self, name, MappingProxyType(dict(given)) if given else _EMPTY)
        for item in self.data:
            if not isinstance(item, AggregateScore) and len(item.is_scored) != len(self.questions):
                rows = len(item.is_scored)
                raise DataError(f"{self.task}, {item.metric}: {rows} rows for {len(self.questions)} questions")
        for array in () if self.resources is None else self.resources.arrays():
            if len(array) != len(self.questions):
                raise DataError(f"{self.task}, resources: {len(array)} rows for {len(self.questions)} questions")
        if self.ended_by is not None and len(self.ended_by.codes) != len(self.questions):
            rows = len(self.ended_by.codes)
            raise DataError(f"{self.task}, ended_by: {rows} rows for {len(self.questions)} questions")


def log_of_array(values: ArrayLike, system: str, *, clusters: ArrayLike | None, metric: str) -> TaskLog:
    """Build the task log of an array of scores; its rows are the questions "0", "1" and so on. Raises DataError if
    values or clusters have a different shape, or a value is not a finite number.
    """
    table = score_table(values)
    codes = None if clusters is None else label_codes(clusters, len(table))
    codes = None if codes is None or (codes < 0).all() else codes
    return TaskLog(
        system=system,
        task="array",
        source=Source(system, "array"),
        questions=Questions(tuple(str(i) for i in range(len(table)))),
        data=(Scores(metric, "none", table, codes),),
    )


def with_resource_metrics(log: TaskLog, options: ResourceOptions) -> TaskLog:
    """The log with the cost, tokens, time, messages and turns of each trial as further metrics, lower is better.

    A metric is omitted if the log does not contain it. Trials whose value is unknown have no score.
    """
    if log.subtasks:
        return log
    if log.resources is None or not (columns := dict(metric_columns(log.resources, log.source.time, options.prices))):
        return log
    taken = {data.metric for data in log.data}
    names = {name: renamed(name) if name in taken else name for name in columns}
    return replace(
        log,
        data=(*log.data, *(Scores(names[name], "none", values) for name, values in columns.items())),
        higher_is_better={**log.higher_is_better, **dict.fromkeys(names.values(), False)},
        messages=(*log.messages, *resource_messages(log.resources, log.source.time, options.prices)),
    )
