"""Protocols of what plugins provide: interval methods, readers and output formats, with their arguments and results."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from harness_uq.data.estimands import Estimand, MethodInfo
from harness_uq.messages import Message
from harness_uq.messages.errors import DataError

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    import numpy as np

    from harness_uq.data.catalogue import Catalogue
    from harness_uq.data.resources import ResourceOptions
    from harness_uq.data.structure import Structure
    from harness_uq.data.task_log import (
        AggregateScore,
        Classifications,
        Scores,
        SufficientStatistics,
        TaskGroup,
        TaskLog,
    )
    from harness_uq.results.estimate import Estimate

ReadError: TypeAlias = Mapping[str, object]
Layout: TypeAlias = Literal["rows", "grid"]
Detail: TypeAlias = Literal["quiet", "brief", "notes"]
CredibleKind = Literal["hdi", "quantile"]
Settings: TypeAlias = Mapping[str, str | float]  # options of an estimate by name
ProblemData: TypeAlias = "Scores | Classifications | SufficientStatistics | AggregateScore | TaskGroup"
_WITHOUT_TABLE = ("overall", "summary")


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The argument of an interval method.

    Attributes
    ----------
    estimand : the quantity to estimate; `estimand.label` is its name, such as `mean` or `pass@2`
    data : the scored questions of one metric, with the labels of their clusters:

        - `Scores`: `values`, an array of questions by trials with NaN for missing trials; `scores_of(problem)` returns
          these data and refuses all others with a reason
        - `Classifications`: `targets` and `predictions` of metrics such as F1
        - `SufficientStatistics`: a record for each question, and the `statistic` of these, such as BLEU
        - `AggregateScore`: only the total score is known
        - `TaskGroup`: the tasks of a group, for methods whose `info.takes_groups` is true

    structure : `score_type`, `bounds` (lowest and highest possible score), `n_questions`, `n_clusters` (None without
        clusters) and `max_trials` of the data, with the evidence for them
    log : the task log that the data came from
    level : nominal coverage, in (0, 1)
    interval : type of credible interval; None for the default of the method
    rng : the only source of random numbers
    """

    estimand: Estimand
    data: "ProblemData"
    structure: "Structure"
    log: "TaskLog"
    level: float = 0.95
    interval: CredibleKind | None = None
    rng: "np.random.Generator | None" = None


class Estimator(Protocol):
    """An interval method; on the command line a method, in the hook `harness_uq_estimators` an estimator."""

    @property
    def name(self) -> str:
        """Name for `--uq` and in reports; lower case with hyphens."""

    @property
    def info(self) -> MethodInfo:
        """Title, formula, sources and scopes, and whether groups of tasks are supported."""

    def why_unsupported(self, problem: Problem) -> Message | str | None:
        """Why the method cannot be used on this problem; None if it can.

        It must refuse kinds of `problem.data` that `estimate` does not support, unless this calls `scores_of`, and
        scores that it does not support: of another type, without `bounds`, with several trials or in clusters. What
        `info` does not declare is refused or warned about without it: estimands, groups of tasks, scopes and clusters.
        """

    def estimate(self, problem: Problem) -> "Estimate":
        """The estimate of the problem; raises NotEstimableError with the reason if the data do not determine one."""


@dataclass(frozen=True, slots=True)
class Run:
    """The files of one run.

    Attributes
    ----------
    name : for messages
    files : all files of the run; no file belongs to two runs
    time : when the run was logged, ISO 8601; None if unknown
    """

    name: str
    files: tuple[str, ...]
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Discovery:
    """The runs of a harness among some files.

    Attributes
    ----------
    runs : the runs
    unrecognised : files that are not logs of this harness
    problems : (path, message) of files that look like logs of this harness but cannot be read
    """

    runs: tuple[Run, ...]
    unrecognised: tuple[str, ...] = ()
    problems: tuple[tuple[str, Message | str], ...] = ()


@dataclass(frozen=True, slots=True)
class ResultSet:
    """The results of one command.

    Attributes
    ----------
    lists : results by the name of their list in documents, such as `estimates` or `comparisons`
    errors : `path` and `message` of everything that could not be read; `path` is None for errors in the options
    kinds : how the results of each list are presented
    page : title and parts of a page of these results, given the options
    """

    lists: Mapping[str, Sequence[Any]]
    errors: Sequence[ReadError] = ()
    kinds: Mapping[str, Any] = field(default_factory=dict, repr=False)
    page: "Callable[[ResultSet, RenderOptions], Mapping[str, object]] | None" = field(default=None, repr=False)

    @property
    def tables(self) -> Mapping[str, Sequence[Any]]:
        """The lists without the overall result and the summary of data, unless there is nothing else."""
        rest = {name: rows for name, rows in self.lists.items() if name not in _WITHOUT_TABLE}
        return rest or self.lists


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """Options of rendering; each format uses those that apply to it.

    Attributes
    ----------
    width : characters per line of text; None takes the width of the terminal, or as many as needed without one
    is_terminal : whether text may be folded and styled; None asks standard output
    in_python : whether hints name attributes and arguments of Python instead of options of the command line
    columns : names of the columns of a table for a paper, in order; `("all",)` for every column, None for those that
        fit the width of a page
    digits : number of decimals, 0 to 12; None for the format's own
    percent : whether tables show scores from 0 to 1 in per cent
    summarize : whether a summary of tasks or designs replaces their tables, if there is one
    detail : of text for a terminal: `quiet` for headlines and tables, `brief` for messages in one line as well, `notes`
        for all messages as sentences
    layout : `rows` for one row per result, `grid` for systems by tasks
    caption, label : of a table for a paper; None for a default caption and no label
    title, command, date : of a page: its title, the command that made it, and when
    logs : the logs of the results, for formats with `needs_logs`
    """

    width: int | None = None
    is_terminal: bool | None = None
    in_python: bool = False
    columns: tuple[str, ...] | None = None
    digits: int | None = None
    percent: bool = False
    summarize: bool = True
    detail: Detail = "brief"
    layout: Layout = "rows"
    caption: str | None = None
    label: str | None = None
    title: str | None = None
    command: str = ""
    date: str = ""
    logs: "Iterable[TaskLog]" = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.digits is not None and not 0 <= self.digits <= 12:
            raise DataError(f"digits must lie between 0 and 12; got {self.digits}")

    def digits_or(self, default: int) -> int:
        """The number of decimals, or `default` if it is None."""
        return default if self.digits is None else self.digits


class Format(Protocol):
    """An output format of results."""

    @property
    def name(self) -> str:
        """The name for `--format`; lower case."""

    @property
    def suffix(self) -> str:
        """The suffix of its files, such as `.csv`; `--output FILE` chooses the format by it."""

    @property
    def accepts(self) -> Set[str] | None:
        """Names of the result lists that it can render, such as `estimates`; None for all."""

    @property
    def has_errors(self) -> bool:
        """Whether its documents list errors, so that a command prints one even if nothing could be read."""

    @property
    def needs_logs(self) -> bool:
        """Whether `RenderOptions.logs` must hold the logs."""

    def render(self, results: ResultSet, options: RenderOptions) -> str | bytes:
        """The results in this format."""


@runtime_checkable
class WritesFiles(Protocol):
    """An output format that also writes estimates with the scores of their samples as a folder of files."""

    def files(self, rows: "Sequence[Estimate]", logs: "Iterable[TaskLog]") -> "Iterable[tuple[PurePosixPath, str]]":
        """Path and content of each file, from estimates and their logs."""


@runtime_checkable
class Watchable(Protocol):
    """A harness whose runs can be read while they are in progress, for `harness-uq watch`."""

    def read_running(self, run: Run) -> "Iterable[TaskLog]":
        """Tasks of a run in progress; none if the run has ended. Raises LogError if it cannot be read. The rows are all
        planned questions, in the order in which they are scheduled; questions without a score are NaN.
        """


@runtime_checkable
class Reader(Protocol):
    """A reader of the logs of a harness, the required part of a harness.

    Readers must support pickling, because many logs are read by several processes.
    """

    @property
    def name(self) -> str:
        """Name of the harness in messages and on the command line; lower case with hyphens."""

    def find(self, paths: Sequence[str]) -> Discovery:
        """Runs among these files; folders have already been expanded."""

    def read(self, run: Run) -> "Iterable[TaskLog]":
        """The tasks of the run.

        Raises
        ------
        LogError : if the run cannot be read
        """


@runtime_checkable
class FallbackReader(Protocol):
    """A reader of a general file type, which is asked after all other readers have claimed their files."""

    def why_not(self, path: str) -> str | None:
        """Why a file is not a log; an empty text if it is of another file type, None if it is a log."""


@runtime_checkable
class SupportsUrls(Protocol):
    """A reader that accepts URLs; all other readers receive local paths only.

    Both are opened with the functions of `harness_uq.plugin_api.paths`.
    """

    reads_stores: bool


@runtime_checkable
class ReadsObjects(Protocol):
    """A reader that also reads results in memory, such as those that the Python functions of a harness return."""

    @property
    def name(self) -> str:
        """Name of the harness, as for `Reader`."""

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the accepted types for error messages, such as `inspect_ai.log.EvalLog`."""

    def accepts_object(self, result: object) -> bool:
        """Whether an object is a result of this harness; must be fast and not import the harness."""

    def read_object(self, result: object) -> "Iterable[TaskLog]":
        """The tasks of an accepted object, equal to those that `read` reads from its files. Raises LogError if the
        object cannot be read.
        """


@runtime_checkable
class ReadsResources(Protocol):
    """A reader that can also read what the trials used: tokens, cost, time, messages and turns.

    If `resources` is not None, its task logs have `resources`, as far as the logs contain them.
    """

    @property
    def resources(self) -> "ResourceOptions | None":
        """How resources become metrics; None to read scores only."""

    def with_resources(self, options: "ResourceOptions") -> Reader:
        """A copy of the reader with these options."""


@runtime_checkable
class ReadsColumns(Protocol):
    """A reader of tables whose columns the user can name."""

    def with_columns(self, columns: Mapping[str, str | Sequence[str]]) -> Reader:
        """A copy of the reader that uses these columns, by role, or that leaves tables to other readers. Raises
        LogError if a role does not exist.
        """


@runtime_checkable
class GroupsFiles(Protocol):
    """A harness that groups files by their names, so that large folders are read in parallel."""

    def parts(self, paths: Sequence[str]) -> Iterable[Sequence[str]]:
        """The paths in groups that may belong to one run; no file is opened."""


@runtime_checkable
class Versioned(Protocol):
    """A harness whose results depend on more than the version of its plugin."""

    @property
    def version(self) -> str:
        """What the results depend on, with versions; if it changes, stored results are invalid."""


@runtime_checkable
class HasCatalogue(Protocol):
    """A harness with a catalogue of tasks and metrics."""

    def catalogue(self) -> "Catalogue":
        """Cluster fields, ranges and directions of the tasks and metrics of this harness."""


@runtime_checkable
class Runner(Protocol):
    """A harness that can be run."""

    def main(self, argv: Sequence[str]) -> int:
        """Run the harness with these arguments, for `harness-uq NAME ...`; returns the exit code."""


@runtime_checkable
class Writer(Protocol):
    """A harness whose logs can be annotated with estimates."""

    def write(
        self, run: Run, estimates: "Sequence[Estimate]", destination: str | None, *, settings: Settings
    ) -> list[str]:
        """Write estimates of a run into its logs, or into copies of its files in the folder `destination`.

        Each file is written under a temporary name and then renamed, so that the logs are unchanged after a failure.
        The copies must not exist yet; without a folder the logs are changed in place, with the data that `restore`
        requires. The settings are options of the estimates by name (`method`, `level`, `scope` and others) and are
        recorded with them. Returns the paths of the files that were written. Raises LogError if the run cannot be
        written.
        """

    def restore(self, path: str) -> list[str]:
        """Undo an in-place `write` of a file, byte for byte, and return the paths of the restored files. They are empty
        if the file was not written in place. Raises LogError if it was and cannot be restored.
        """
