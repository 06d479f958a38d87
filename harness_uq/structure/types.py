"""Types that describe the structure of a task's scores: options, catalog entries, facts and clusters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from harness_uq.data.missing_scores import MissingPolicies
from harness_uq.data.task_log import IntArray
from harness_uq.errors import StructureError, UsageError
from harness_uq.messages import HasMessages, Message
from harness_uq.messages.catalogue.structure import UNKNOWN_NAME

ScoreType = Literal["binary", "graded", "bounded", "real", "record"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One finding about the structure, with its source.

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
        harness_uq.errors.StructureError: The logs contain no task 'dorp'. Did you mean 'drop'? Available tasks: drop.
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
    """Cluster labels of a task's questions.

    Attributes
    ----------
    key : name of the field, None if questions are treated as independent
    codes : int (n_questions,), None without a key; each question without a value is a separate cluster
    fact : the finding with its evidence
    messages : notes and warnings
    is_stated : whether the user or the task declares the clusters; labels stored with the scores are then ignored
    """

    key: str | None
    codes: IntArray | None
    fact: Evidence
    messages: tuple[Message, ...] = ()
    is_stated: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Structure(HasMessages):
    """Structure of the data of one metric.

    Attributes
    ----------
    score_type : `binary`, `graded`, `bounded`, `real`, or `record` if the metric is not a mean of scores
    bounds : (low, high) of a score; None for `real` and `record`
    n_questions, max_trials, n_scores : numbers of scored questions, of trials per question (maximum) and of scores
    n_clusters, cluster_key : number and field of the clusters; None if questions are treated as independent
    facts : findings with their evidence
    messages : notes and warnings
    """

    score_type: ScoreType
    bounds: tuple[float, float] | None
    n_questions: int
    max_trials: int
    n_scores: int
    n_clusters: int | None
    cluster_key: str | None
    facts: tuple[Evidence, ...] = ()
    messages: tuple[Message, ...] = ()
