"""Overall result of systems over several tasks."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.comparison import Verdict
from harness_uq.results.declaration import INTERNAL, Declared
from harness_uq.results.estimate import Interval, Posterior


@dataclass(frozen=True, slots=True)
class OverallTask(Declared):
    """One task of an overall result.

    Attributes
    ----------
    task : a task, or a group that counts as one task
    metric, filter : the score of the task in the overall result
    weight : weight of the task; the weights have the sum 1
    chance : score of random answers, by which the score is normalized; None without normalization
    n_subtasks : number of tasks of a group; None for a single task
    """

    task: str
    metric: str
    filter: str
    weight: float
    chance: float | None = None
    n_subtasks: int | None = None


@dataclass(frozen=True, slots=True)
class OverallSystem(Declared):
    """Overall score of one system. Ranks are None if the systems were not ranked.

    Attributes
    ----------
    value, interval : weighted mean of the scores of the tasks
    std_error : its standard error; None if that of a task is unknown
    n_questions : number of questions of all tasks; None if that of a task is unknown
    prob_best : probability that this system has the best overall score, under a prior by which systems may be alike
    prob_best_flat : the same under a flat prior
    expected_rank : posterior mean of the rank; 1 is best
    rank_interval : credible interval of the rank of this system alone
    rank_set : best and worst rank in the simultaneous rank sets
    letters : compact letter display: systems that share a letter cannot be separated after correction for all pairs
    average_rank : mean over the tasks of the rank of the score, ties share their mean rank
    tasks_led : number of tasks on which no system scores better
    """

    system: str
    value: float
    interval: Interval
    std_error: float | None = None
    n_questions: int | None = None
    prob_best: float | None = None
    prob_best_flat: float | None = None
    expected_rank: float | None = None
    rank_interval: tuple[int, int] | None = None
    rank_set: tuple[int, int] | None = None
    letters: str = ""
    average_rank: float | None = None
    tasks_led: int | None = None


@dataclass(frozen=True, slots=True)
class OverallDifference(Declared):
    """Difference of the overall scores of a system and the baseline.

    Attributes
    ----------
    value : score of the system minus that of the baseline
    interval : simultaneous interval: all intervals contain their differences with probability `interval.level`
    single_interval : interval of this difference alone
    prob_better : probability that the system is better than the baseline
    verdict, verdict_text : verdict by the simultaneous interval, in one word and as a sentence
    single_verdict : verdict by the interval of this difference alone
    posterior : posterior of the difference; None if only joint draws of all systems are known. It is not part of the
        JSON form
    """

    system: str
    value: float
    interval: Interval
    single_interval: Interval
    prob_better: float
    verdict: Verdict
    verdict_text: str
    single_verdict: Verdict
    posterior: Posterior | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)


@dataclass(frozen=True, slots=True)
class Overall(Declared, HasMessages):
    """Weighted mean of the scores of several tasks for each system.

    Attributes
    ----------
    weights : `equal`, `questions`, `group` (those of the harness's group), `subtasks` or `given`
    normalization : `none`, or `chance`: (score - chance) / (1 - chance)
    generalizes_over_tasks : whether the interval refers to new tasks of the same kind; otherwise to new questions in
        these tasks
    higher_is_better : False if lower scores are better in every task
    tasks : the tasks with their metrics and weights
    systems : best first; empty if there is no overall result
    prob_better : prob_better[i][j] = P(system i is better than system j), in the order of `systems`, under a flat
        prior; None if the systems were not ranked
    baseline : system with which the others are compared; None without a comparison
    differences : difference of each other system from the baseline
    messages : notes, warnings, and why there is no overall result
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "systems"
    not_in_records: ClassVar = ("tasks", "prob_better", "differences")

    weights: str
    normalization: Literal["none", "chance"]
    generalizes_over_tasks: bool
    higher_is_better: bool
    tasks: tuple[OverallTask, ...]
    systems: tuple[OverallSystem, ...]
    prob_better: tuple[tuple[float, ...], ...] | None = None
    baseline: str | None = None
    differences: tuple[OverallDifference, ...] = ()
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or `not_estimable` (`reason` says why)."""
        return status_of(self.messages, has_result=bool(self.systems))
