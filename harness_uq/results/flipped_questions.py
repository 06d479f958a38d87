"""Questions whose answers changed between a baseline and a new system."""

from dataclasses import dataclass

from harness_uq.results.declaration import Declared
from harness_uq.results.history import FlakyQuestion


@dataclass(frozen=True, slots=True)
class FlippedQuestion(Declared):
    """A question that the new system answers worse or better than the baseline.

    Attributes
    ----------
    question : its identifier
    share_new, share_baseline : mean scores, which are shares of right answers if higher values are better; that of the
        baseline includes its history
    probability : posterior probability that its probability of a right answer changed; None if the baseline, with
        its history, has one answer to each question
    """

    question: str
    share_new: float
    share_baseline: float
    probability: float | None


@dataclass(frozen=True, slots=True)
class FlippedQuestions(Declared):
    """Questions of one score whose answers changed.

    Attributes
    ----------
    n_worse, n_better : numbers of questions that the new system answers worse or better, without flaky ones
    n_flaky : number of questions to which identical runs of the baseline often give different answers
    worse, better : these questions, with the strongest evidence first
    flaky : the flakiest questions first; empty if the baseline, with its history, has one answer to each
        question
    """

    task: str
    metric: str
    filter: str
    n_worse: int
    n_better: int
    n_flaky: int
    worse: tuple[FlippedQuestion, ...]
    better: tuple[FlippedQuestion, ...]
    flaky: tuple[FlakyQuestion, ...]
