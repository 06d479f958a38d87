"""Ranking of several systems on one task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import INTERNAL, Declared
from harness_uq.results.estimate import Interval


@dataclass(frozen=True, slots=True)
class RankedSystem(Declared):
    """Score and rank of one system.

    Attributes
    ----------
    value, interval : score on the common questions, with the interval of `estimate` for these questions
    prob_best : probability that this system has the best score; None if trials without a score may have any score
    expected_rank : posterior mean of the rank, 1 is best; None as for `prob_best`
    rank_low, rank_high : credible interval of the rank of this system alone; the rank set if `prob_best` is None
    rank_set : best and worst rank in the simultaneous rank sets, which all contain the true ranks with probability
        `interval.level`; None if not computed
    letters : compact letter display: systems that share a letter cannot be separated
    tied_rank : rank with ties by Bayes@N z-scores (Hariri et al. 2025); None with one trial per question
    letters_adjusted : the same letters by paired tests with correction for multiple testing; empty without tests, a
        dash for a system without a test
    """

    json_properties: ClassVar = ("rank_interval",)

    system: str
    value: float
    interval: Interval
    prob_best: float | None
    expected_rank: float | None
    rank_low: int = field(metadata=INTERNAL)
    rank_high: int = field(metadata=INTERNAL)
    letters: str
    tied_rank: int | None = None
    letters_adjusted: str = ""
    rank_set: tuple[int, int] | None = None

    @property
    def typical_rank(self) -> float:
        """The expected rank, or the middle of the rank set if it is unknown."""
        return (self.rank_low + self.rank_high) / 2 if self.expected_rank is None else self.expected_rank

    @property
    def rank_interval(self) -> tuple[int, int]:
        """Credible interval of the rank, for this system alone."""
        return self.rank_low, self.rank_high


@dataclass(frozen=True, slots=True)
class Neighbours(Declared):
    """Number of adjacent pairs of systems in a ranking whose order is undecided.

    Attributes
    ----------
    n_pairs : number of adjacent pairs
    undecided : pairs in which neither system is better with probability 1 - (1 - level) / 2
    undecided_simultaneous : pairs that are undecided if all pairs are tested with one simultaneous error rate
    """

    json_properties: ClassVar = ("undecided_share", "undecided_simultaneous_share")

    n_pairs: int
    undecided: int
    undecided_simultaneous: int

    @property
    def undecided_share(self) -> float | None:
        """Share of the pairs that are undecided individually; None without pairs."""
        return self.undecided / self.n_pairs if self.n_pairs else None

    @property
    def undecided_simultaneous_share(self) -> float | None:
        """Share of the pairs that are undecided after correction; None without pairs."""
        return self.undecided_simultaneous / self.n_pairs if self.n_pairs else None


@dataclass(frozen=True, slots=True)
class Ranking(Declared, HasMessages):
    """Ranking of several systems on one task, metric and filter.

    Attributes
    ----------
    systems : best first
    prob_better : prob_better[i][j] = P(system i is better than system j), in the order of `systems`; None if trials
        without a score may have any score
    adjusted_p : adjusted_p[i][j], p-values of two-sided paired tests after the correction; None if not computed, NaN
        (null in JSON) if the difference of a pair is constant
    correction : `holm` or `bh`
    prob_rank : prob_rank[i][r] = P(rank of system i is r + 1), in the order of `systems`; None if not computed
    neighbours : number of adjacent pairs whose order is undecided; None if not computed
    n_questions : number of questions that all systems share
    n_comparisons : number of comparisons in all rankings: pairs × tasks × metrics × filters
    diagnostics : `mc_error`, the largest Monte Carlo standard error of P(best) and P(better), and `n_draws`
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "systems"

    task: str
    metric: str
    filter: str
    systems: tuple[RankedSystem, ...]
    prob_better: tuple[tuple[float, ...], ...] | None
    n_questions: int
    n_comparisons: int
    adjusted_p: tuple[tuple[float, ...], ...] | None = None
    correction: str | None = None
    prob_rank: tuple[tuple[float, ...], ...] | None = None
    neighbours: Neighbours | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`: a ranking that is not possible is an error."""
        return status_of(self.messages, has_result=True)
