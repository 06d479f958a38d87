"""What a plugin offers: the protocols of estimators and harnesses, and what they are given and return."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from harness_uq.estimands import Estimand
from harness_uq.results.about import About

if TYPE_CHECKING:
    import numpy as np

    from harness_uq.logs.catalogue import Catalogue
    from harness_uq.logs.data import Classifications, Records, Scores, TaskGroup, TaskLog, Totals
    from harness_uq.results.estimate import Estimate
    from harness_uq.structure.facts import Structure

CredibleKind = Literal["hdi", "quantile"]
Settings: TypeAlias = Mapping[str, str | float]  # what estimates were asked for, by name of the option
ProblemData: TypeAlias = "Scores | Classifications | Records | Totals | TaskGroup"


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The one argument of an estimator.

    Attributes
    ----------
    estimand : what is asked
    data : scored questions only, with the clusters that `structure` names
    structure : clusters, trials and score type, each with its evidence
    log : the `TaskLog` the data came from
    level : coverage aimed at, in (0, 1)
    interval : kind of credible interval, None for the estimator's own default
    rng : the only source of randomness
    """

    estimand: Estimand
    data: "ProblemData"
    structure: "Structure"
    log: "TaskLog"
    level: float = 0.95
    interval: CredibleKind | None = None
    rng: "np.random.Generator | None" = None


class Estimator(Protocol):
    """A method that turns a problem into an estimate."""

    @property
    def name(self) -> str:
        """Name on the command line and in reports; lower case with hyphens."""

    @property
    def about(self) -> About:
        """Title, formula, sources, scopes, and whether it takes groups of tasks."""

    def unsuitable(self, problem: Problem) -> str | None:
        """Why the method cannot be used on this problem; None where it can."""

    def estimate(self, problem: Problem) -> "Estimate":
        """The estimate. Raises NotEstimableError with the reason where the data have no answer."""


@dataclass(frozen=True, slots=True)
class Run:
    """The files of one run that belong together.

    Attributes
    ----------
    name : what messages call it
    files : every file of the run; two runs never share one
    time : when it was logged, ISO 8601, None if unknown
    """

    name: str
    files: tuple[str, ...]
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a harness recognised under some paths.

    Attributes
    ----------
    runs : the runs
    unrecognised : files that are no logs of this harness
    problems : (path, message) of files that look like logs but cannot be read
    """

    runs: tuple[Run, ...]
    unrecognised: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


@runtime_checkable
class Watchable(Protocol):
    """A harness whose runs can be read while they are made; `watch` asks it for them."""

    def read_running(self, run: Run) -> "Iterable[TaskLog]":
        """Tasks of a run that has not ended, none where it has.

        All questions planned are rows, in the order in which they were put in line; those without a score are NaN.
        Raises LogError where the run cannot be read at all.
        """


@runtime_checkable
class Reader(Protocol):
    """What a harness must offer: it finds its runs among files and reads them.

    Many logs are read by other processes, to which it is sent by pickle.
    """

    @property
    def name(self) -> str:
        """Name of the harness, in messages and on the command line; lower case with hyphens."""

    def find(self, paths: Sequence[str]) -> Found:
        """Runs among these files; `paths` holds files only, directories are walked by the caller."""

    def read(self, run: Run) -> "Iterable[TaskLog]":
        """The run's tasks. Raises LogError where the run cannot be read at all."""


@runtime_checkable
class General(Protocol):
    """A reader of files of a kind that many programs write: it is asked last, for what no other reader took."""

    def why_not(self, path: str) -> str | None:
        """Why a file is none of its logs, for the user who named it; empty where it is of another kind, None if one."""


@runtime_checkable
class ReadsStores(Protocol):
    """A reader that takes URLs of stores as well as paths; other readers are given paths of this machine only.

    It opens both by `harness_uq.logs.places`.
    """

    reads_stores: bool


@runtime_checkable
class TellsParts(Protocol):
    """A harness that knows by their names which files may belong to one run, so that many are read side by side."""

    def parts(self, paths: Sequence[str]) -> Iterable[Sequence[str]]:
        """The paths, those that may belong to one run together, without opening any."""


@runtime_checkable
class HasVersion(Protocol):
    """A harness whose reading depends on more than the version of its plugin."""

    @property
    def version(self) -> str:
        """What it depends on, with versions; where it changes, logs kept in a store are read again."""


@runtime_checkable
class HasCatalogue(Protocol):
    """A harness whose tasks and metrics are known."""

    def catalogue(self) -> "Catalogue":
        """What is known of this harness's tasks and metrics."""


@runtime_checkable
class Runner(Protocol):
    """A harness that can be run."""

    def main(self, argv: Sequence[str]) -> int:
        """What `harness-uq NAME ARGV…` does, such as a run of the harness with `--uq bayes`; the exit code."""


@runtime_checkable
class Writer(Protocol):
    """A harness into whose logs estimates can be written."""

    def write(
        self, run: Run, estimates: "Sequence[Estimate]", destination: str | None, *, settings: Settings
    ) -> list[str]:
        """Put the run's estimates into its logs and return the paths of the files written.

        Every file is written whole under another name and then renamed, so that a failure leaves what was there.

        Parameters
        ----------
        estimates : of this run only
        destination : folder for copies of the run's files, which must not hold them yet; None writes in place,
            keeping what `restore` needs
        settings : what was asked for, by name (`method`, `level`, `scope`…), to be recorded beside the estimates

        Raises
        ------
        LogError : if the run cannot be written; its files are as they were
        """

    def restore(self, path: str) -> list[str]:
        """Undo an in-place `write` of a file, byte for byte; the paths brought back, none where nothing was written.

        Raises
        ------
        LogError : if the file was written in place but cannot be brought back
        """


@runtime_checkable
class Harness(Reader, HasCatalogue, Runner, Writer, Protocol):
    """A harness with every part."""
