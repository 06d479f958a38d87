"""Scores of repeated runs over time."""

from dataclasses import dataclass
from typing import ClassVar

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import Declared
from harness_uq.results.estimate import Interval

MOST_QUESTIONS = 20  # in each list of questions


@dataclass(frozen=True, slots=True)
class HistoryRun(Declared):
    """One run.

    Attributes
    ----------
    time : when the run started, as logged; None if the log has no time
    path : its log
    value, interval : mean score on the common questions, and an interval for the level of the score on these questions,
        which allows for the noise of trials and between runs
    evidence : evidence for a change since the level before was reached; 1 is neutral
    settings_changed : what differs in the configuration from the run before: settings, model, version of the harness,
        questions and prompts
    """

    time: str | None
    path: str
    value: float
    interval: Interval
    evidence: float
    settings_changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelShift(Declared):
    """A change of the score that the runs show.

    Attributes
    ----------
    first_run : number of the first run with the new level, from 1
    reported_after : number of the run after which the evidence sufficed
    time : time of the first run with the new level
    before, after : mean scores of the runs before and after the change
    value, interval : difference after minus before
    """

    first_run: int
    reported_after: int
    time: str | None
    before: float
    after: float
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class ChangedQuestion(Declared):
    """A question whose answers changed.

    Attributes
    ----------
    question : its identifier
    share_before, share_after : shares of right answers before and after
    probability : posterior probability that its probability of a right answer changed
    """

    question: str
    share_before: float
    share_after: float
    probability: float


@dataclass(frozen=True, slots=True)
class FlakyQuestion(Declared):
    """A question that is answered correctly in some runs and incorrectly in others without a change.

    Attributes
    ----------
    question : its identifier
    share : share of right answers
    flakiness : posterior mean of the probability that two runs differ, at most 0.5
    """

    question: str
    share: float
    flakiness: float


@dataclass(frozen=True, slots=True)
class History(Declared, HasMessages):
    """Scores of the runs of one system over time, for one task, metric and filter.

    Attributes
    ----------
    n_questions : number of questions that all runs have in common
    runs : in the order of their times
    shifts : changes of the score, in order
    changed_questions : questions whose answers changed at the last shift, or in the last run if there is none; those
        with the highest probability first
    flaky_questions : the flakiest questions first
    trial_sd, run_sd : standard deviation of the mean score of a run due to its trials, and due to differences between
        runs; None if they are unknown
    answer : whether the score changed, as one sentence
    messages : notes and warnings, and the reason if there is no result
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "runs"
    not_in_records: ClassVar = ("shifts", "changed_questions", "flaky_questions")

    system: str
    task: str
    metric: str
    filter: str
    level: float
    n_questions: int = 0
    runs: tuple[HistoryRun, ...] = ()
    shifts: tuple[LevelShift, ...] = ()
    changed_questions: tuple[ChangedQuestion, ...] = ()
    flaky_questions: tuple[FlakyQuestion, ...] = ()
    trial_sd: float | None = None
    run_sd: float | None = None
    answer: str = ""
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or why there is no result."""
        return status_of(self.messages, has_result=bool(self.runs))
