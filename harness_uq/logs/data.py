"""What one run says of one task: validated once, read-only afterwards.

A `TaskLog` holds the questions and, per metric and filter, one of four kinds of data: `Scores` (a number
per question and trial), `Classifications` (target and prediction), `Records` (sufficient statistics of a
corpus metric) or `Totals` (a value without per-question data). Rows of every array are the questions of
the `TaskLog`, in its order.
"""

import copyreg
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.errors import DataError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
MetricKey: TypeAlias = tuple[str, str]
_EMPTY: Mapping[Any, Any] = MappingProxyType({})


def _sent(mapping: MappingProxyType[Any, Any]) -> tuple[Callable[..., MappingProxyType[Any, Any]], tuple[Any]]:
    return _read_only_again, (dict(mapping),)


def _read_only_again(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)  # whose own name pickle does not find


# so that logs can be sent to other processes
copyreg.pickle(MappingProxyType, _sent)


def _read_only(owner: object, name: str, values: ArrayLike, dtype: type, ndim: int) -> NDArray[Any]:
    array: NDArray[Any] = np.array(values, dtype=dtype)
    if array.ndim != ndim:
        raise DataError(f"{type(owner).__name__}.{name} must have {ndim} dimension(s); got shape {array.shape}")
    array.setflags(write=False)
    object.__setattr__(owner, name, array)
    return array


def _label_clusters(owner: object, clusters: IntArray, metric: str, n_questions: int) -> None:
    """Cluster labels of every question; each label below 0 is replaced by one that no other question has."""
    if len(clusters) != n_questions:
        raise DataError(f"{metric}: {len(clusters)} cluster labels for {n_questions} questions")
    labels = np.array(clusters, np.int64)
    unknown = labels < 0
    labels[unknown] = labels.max(initial=-1) + 1 + np.arange(unknown.sum())
    _read_only(owner, "clusters", labels, np.int64, 1)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a log came from.

    Attributes
    ----------
    path : the file a message should name
    harness : `lm-eval` or `inspect`, or a plugin's name
    version : version of the harness that wrote it, None if not logged
    time : when the run was logged, ISO 8601, None if not logged
    run : what the tasks of one run have in common and other runs have not; empty where a log is a run
    """

    path: str
    harness: str
    version: str | None = None
    time: str | None = None
    run: str = ""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run says of itself that bears on the statistics.

    Attributes
    ----------
    n_all : questions of the whole benchmark, None if unknown
    is_limited : the run used a part of them on purpose
    is_random_subset : that part is a random draw, not the first questions or named ones
    is_finished : the run came to its end
    n_watched : questions planned for a run that a rule could end after any of them, None for any other
    watched_clusters : a cluster's number for each of these, the logged ones first and in their order; None where the
        log does not say which cluster a question is of that was not asked
    settings : everything else by name (`num_fewshot`, `epochs`, `seed`…), as the harness logs it
    """

    n_all: int | None = None
    is_limited: bool = False
    is_random_subset: bool = False
    is_finished: bool = True
    n_watched: int | None = None
    watched_clusters: tuple[int, ...] | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
        if self.watched_clusters is not None:
            object.__setattr__(self, "watched_clusters", tuple(self.watched_clusters))


@dataclass(frozen=True, slots=True)
class Reported:
    """What the harness itself printed for one metric and filter; None where it printed nothing.

    Attributes
    ----------
    value, std_error : as logged (`N/A` becomes None)
    n : number of questions the harness says it scored
    """

    value: float | None
    std_error: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A statement about the structure that the task or its log makes itself.

    Attributes
    ----------
    cluster : name of the field whose values are the clusters; `none` says that there are none
    origin : where it stands, for the report (`metadata.uq.cluster`, `stderr(cluster=…)`)
    """

    cluster: str
    origin: str


@dataclass(frozen=True, slots=True, eq=False)
class CandidateField:
    """One field of the questions' documents that may identify clusters.

    Attributes
    ----------
    codes : int (n_questions,); equal values share a code, -1 where the field is missing
    is_text : the values are long texts (mean of 120 characters or more)
    """

    codes: IntArray
    is_text: bool = False

    def __post_init__(self) -> None:
        _read_only(self, "codes", self.codes, np.int64, 1)

    @property
    def n_missing(self) -> int:
        """Questions on which the field is absent."""
        return int(np.sum(self.codes < 0))

    @property
    def n_distinct(self) -> int:
        """Number of different values."""
        return len(np.unique(self.codes[self.codes >= 0]))


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """The questions of one task in one run.

    Attributes
    ----------
    ids : identifier of each question as the harness logs it
    hashes : hash of each question's content, empty where unknown
    prompt_hashes : hash of what the system was given for each question, empty where unknown
    fields : candidate cluster fields by dotted name
    prompt_prefix : codes of the text that opens each prompt, None where prompts were not read
    items : identifier of the item behind each question, the same for its translations, prompts and variants in other
        tasks; empty where unknown
    """

    ids: tuple[str, ...]
    hashes: tuple[str, ...] = ()
    fields: Mapping[str, CandidateField] = field(default_factory=dict)
    prompt_prefix: CandidateField | None = None
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
    metric, filter : names as the harness gives them; `none` where there is no filter
    values : float (n_questions, n_trials); NaN marks a missing trial or a question without this metric
    clusters : int (n_questions,) or None; a label below 0 says that the cluster is unknown, and becomes one of its own
    levels : scores that the harness declares possible (C/I/P/N: 1, 0, 0.5), None where it declares none
    logged_trials : trials logged a question; larger than n_trials where only their reduction was scored
    reduction : how the harness reduced the trials (`mean`, `take_first`, `mode`…), None without trials
    bounds : lowest and highest possible score, None where the log does not say; a catalogue of the harness may
    event : the estimand of which these are reduced values, such as `pass@4`; None where they are averages
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

    def __post_init__(self) -> None:
        values = _read_only(self, "values", self.values, np.float64, 2)
        if self.clusters is not None:
            _label_clusters(self, self.clusters, self.metric, len(values))

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Which questions have at least one scored trial; bool (n_questions,)."""
        return np.asarray(np.isfinite(self.values).any(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Classifications:
    """Target and predicted class of each question.

    Attributes
    ----------
    targets : int (n_questions,), index into `labels`; -1 where the question lacks this metric
    predictions : int (n_questions, n_trials), index into `labels`; -1 for a missing prediction
    labels : class names; where there are two, the last is the positive one
    function : name of the function of the confusion matrix; the metric's own name where none is given
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
        targets = _read_only(self, "targets", self.targets, np.int64, 1)
        predictions = _read_only(self, "predictions", self.predictions, np.int64, 2)
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


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Sufficient statistics per question of a metric computed from their sums.

    Attributes
    ----------
    statistics : float (n_questions, p); a row of NaN where the question lacks this metric
    statistic : name of the function of the column sums (`perplexity`, `bits_per_byte`…)
    """

    metric: str
    filter: str
    statistics: FloatArray
    statistic: str
    clusters: IntArray | None = None

    def __post_init__(self) -> None:
        statistics = _read_only(self, "statistics", self.statistics, np.float64, 2)
        if self.clusters is not None:
            _label_clusters(self, self.clusters, self.metric, len(statistics))

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Which questions have statistics; bool (n_questions,)."""
        return np.asarray(np.isfinite(self.statistics).all(axis=1))


@dataclass(frozen=True, slots=True)
class Totals:
    """A value for which the log holds no usable per-question data.

    Attributes
    ----------
    value : as logged, None where the harness gave none
    n : questions behind it, None where the log does not say
    reason : why there are no per-question data, for the report
    is_share : whether the value is the share of `n` questions that are right; None where the log does not say, and a
        catalogue of the harness may
    """

    metric: str
    filter: str
    value: float | None
    n: int | None
    reason: str
    is_share: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TaskGroup:
    """Question scores of several tasks whose weighted mean is reported as one score.

    Attributes
    ----------
    values : float (n_rows,); each question's mean over its trials, tasks one after the other
    tasks : int (n_rows,); index into `names`
    units : int (n_rows,); rows of equal label are not independent: one cluster, or one item that recurs across tasks
    weights : float (n_tasks,), sum 1
    names : of the tasks
    levels, bounds : as of `Scores`
    n_trials : most trials a question
    of_totals : names of the tasks of which only the total is known, so that their questions are 0 or 1 in any order
    """

    metric: str
    filter: str
    values: FloatArray
    tasks: IntArray
    units: IntArray
    weights: FloatArray
    names: tuple[str, ...]
    levels: tuple[float, ...] | None = None
    bounds: tuple[float, float] | None = None
    n_trials: int = 1
    of_totals: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, dtype in (("values", np.float64), ("tasks", np.int64), ("units", np.int64), ("weights", np.float64)):
            _read_only(self, name, getattr(self, name), dtype, 1)
        if not len(self.values) == len(self.tasks) == len(self.units):
            raise DataError(f"{self.metric}: values, tasks and units of a group must be equally long")

    @property
    def n_units(self) -> int:
        """Number of independent units."""
        return len(np.unique(self.units))

    @property
    def shares_units(self) -> bool:
        """Whether some unit stands in more than one task."""
        return len(np.unique(np.stack([self.units, self.tasks]), axis=1).T) > self.n_units


TaskData: TypeAlias = Scores | Classifications | Records | Totals


@dataclass(frozen=True, slots=True, eq=False)
class TaskLog:
    """What one run says of one task.

    Attributes
    ----------
    system : the model with its settings
    task : name of the task, or of the group of tasks
    facts : of the run
    higher_is_better : by metric, where the log or the harness's catalogue says; others count as better when higher
    reported : the harness's own numbers by (metric, filter)
    data : one entry for each metric and filter
    notes : facts about the reading that belong in a report
    warnings : facts about the reading that may change a conclusion
    subtasks : names of the tasks that this row aggregates, empty for a plain task
    """

    system: str
    task: str
    source: Source
    questions: Questions
    data: tuple[TaskData, ...]
    reported: Mapping[MetricKey, Reported] = field(default_factory=dict)
    declared: Declaration | None = None
    facts: RunFacts = RunFacts()
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    subtasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("reported", "higher_is_better"):
            given = getattr(self, name)
            object.__setattr__(self, name, MappingProxyType(dict(given)) if given else _EMPTY)
        for item in self.data:
            if not isinstance(item, Totals) and len(item.is_scored) != len(self.questions):
                rows = len(item.is_scored)
                raise DataError(f"{self.task}, {item.metric}: {rows} rows for {len(self.questions)} questions")
