"""What is said and found about the structure of a task's scores: options, catalogue entries, facts, clusters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from harness_uq.errors import StructureError
from harness_uq.logs.data import IntArray

ScoreType = Literal["binary", "graded", "bounded", "real", "record"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One finding and where it came from.

    Attributes
    ----------
    name : `clusters`, `trials`, `score type`…
    value : the finding in words
    evidence : its source in words
    """

    name: str
    value: str
    evidence: str


@dataclass(frozen=True, slots=True)
class StructureOptions:
    """What the user says about the structure.

    Attributes
    ----------
    cluster : field for every task, `none` to switch clusters off, None or `auto` to detect
    cluster_by_task : field, `none` or `auto` by task name; stronger than `cluster`
    ranges : (low, high) by metric name, or by `TASK:METRIC`, which is stronger
    origin : where it is said, for the report
    defaults : what holds where nothing is said here
    """

    cluster: str | None = None
    cluster_by_task: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    origin: str = "--cluster"
    defaults: "StructureOptions | None" = None

    def of_task(self, task: str) -> "StructureOptions":
        """The same for one task alone, with what the defaults add: its field, ranges by metric.

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
        """The field the user wants for `task`, None where the user left it open."""
        wanted = self.of_task(task).cluster
        return None if wanted == "auto" else wanted

    def check_names(self, tasks: Iterable[str], metrics: Iterable[str]) -> None:
        """Make sure that the tasks and metrics named, but for those of the defaults, are among those of the logs.

        Raises
        ------
        StructureError : if a name is not

        >>> StructureOptions.parse(["dorp=passage"]).check_names(["drop", "squad"], ["f1"])
        Traceback (most recent call last):
        harness_uq.errors.StructureError: no task is called 'dorp'; there are drop, squad
        """
        named_tasks = [*self.cluster_by_task, *(name.rpartition(":")[0] for name in self.ranges if ":" in name)]
        for kind, named, known in (
            ("task", named_tasks, sorted(set(tasks))),
            ("metric", [name.rpartition(":")[2] for name in self.ranges], sorted(set(metrics))),
        ):
            if unknown := [name for name in named if name not in known]:
                raise StructureError(f"no {kind} is called {unknown[0]!r}; there are {', '.join(known)}")

    @classmethod
    def parse(
        cls, clusters: Iterable[str], ranges: Mapping[str, tuple[float, float]] | None = None
    ) -> "StructureOptions":
        """Options from `FIELD`, `TASK=FIELD`, `none` and `auto`; of several for every task the last counts.

        >>> StructureOptions.parse(["passage", "drop=none"]).cluster_of("drop")
        'none'
        """
        named = list(clusters)
        general = [item for item in named if "=" not in item]
        by_task = dict(item.rsplit("=", 1) for item in named if "=" in item)
        return cls(general[-1] if general else None, by_task, ranges or {})


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Cluster labels of a task's questions.

    Attributes
    ----------
    key : name of the field, None where questions count as independent
    codes : int (n_questions,), None where there is no key; a question without a value is its own cluster
    fact : the finding with its evidence
    hints, warnings : for the report
    is_stated : the user or the task says so; then labels that come with single scores do not count
    """

    key: str | None
    codes: IntArray | None
    fact: Fact
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    is_stated: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """Structure of the data of one metric.

    Attributes
    ----------
    score_type : `binary`, `graded`, `bounded`, `real`, or `record` where the metric is no average of scores
    bounds : (low, high) of a score; None for `real` and `record`
    n_questions, max_trials, n_cells : scored questions, most trials a question, scored cells
    n_clusters, cluster_key : None where questions count as independent
    facts : findings with their evidence
    hints, warnings : for the report
    """

    score_type: ScoreType
    bounds: tuple[float, float] | None
    n_questions: int
    max_trials: int
    n_cells: int
    n_clusters: int | None
    cluster_key: str | None
    facts: tuple[Fact, ...] = ()
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
