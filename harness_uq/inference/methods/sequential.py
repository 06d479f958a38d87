"""Score of a run with a stopping rule: an interval that is valid at every moment, for any reason to stop."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness_uq import stats
from harness_uq.data.estimands import MethodInfo
from harness_uq.data.task_log import IntArray, Scores
from harness_uq.inference.method import (
    MethodResult,
    RequiresProblem,
    needs_type,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
)
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.results.estimate import Estimate, Interval

if TYPE_CHECKING:
    from harness_uq.stats.sequential.confidence_sequence import ConfidenceSequence


class ConfidenceSequenceMean(RequiresProblem):
    """The last interval of a confidence sequence over the questions in the order of the log."""

    name = "confidence-sequence"
    info = MethodInfo(
        title="Confidence sequence by betting",
        formula=(
            "{m : K<sub>t</sub>(m) < 2 / α and K′<sub>t</sub>(1 − m) < 2 / α}, K<sub>t</sub>(m) = "
            "Σ<sub>j</sub> w<sub>j</sub> Π<sub>i ≤ t</sub> (1 + b<sub>ij</sub> (T<sub>i</sub> − m N<sub>i</sub>))"
        ),
        text=(
            "The means against which a gambler has not yet multiplied his capital by 2 / α, K′ with right and wrong "
            "exchanged. It holds at every moment at once, so that a run may be looked at after every question and "
            "ended for what is seen."
        ),
        sources=("waudbysmith2024",),
        uses_clusters=True,
    )
    requirements = (needs_type("binary", "graded", "bounded"),)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval of the mean over questions, each with its mean over trials."""
        scores, bounds = scores_of(problem), problem.structure.bounds or (0.0, 1.0)
        means, line = question_means(scores), _line(problem)
        sequence = stats.confidence_sequence(
            means[: line.n_used], clusters=line.clusters, level=problem.level, bounds=bounds, planned=line.planned
        )
        interval = Interval(float(sequence.low[-1]), float(sequence.high[-1]), problem.level, "confidence")
        spread = stats.clustered_bounded_posterior(*stats.cluster_totals(means, unit_codes(scores)), *bounds)
        result = MethodResult(
            plain_score(scores),
            interval,
            spread.sd,
            diagnostics=_diagnostics(sequence, line.planned),
            messages=(catalogue.ANYTIME_VALID(), *line.messages),
        )
        return result.estimate(problem, self.name)


def _diagnostics(sequence: "ConfidenceSequence", planned: int | None) -> dict[str, float]:
    """Number of questions or whole clusters in the last interval, and of planned questions if it is known."""
    counted = {"n_units": float(sequence.n_clusters[-1])}
    return counted if planned is None else {**counted, "n_planned": float(planned)}


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The planned questions in their order, including those that were not asked.

    `n_used`: number of scored questions; if the clusters of all planned questions are known, only those before the
    first question without a score. `clusters`: cluster of each of these questions, and of the others if it is known;
    None if questions are independent. `planned`: number of planned questions; None if it is unknown.
    """

    n_used: int
    clusters: IntArray | None
    planned: int | None
    messages: tuple[Message, ...] = ()


def _line(problem: Problem) -> _Line:
    scores, facts = scores_of(problem), problem.log.facts
    n, codes = len(scores.values), scores.clusters
    if codes is None:
        return _Line(n, None, facts.n_watched)
    if facts.n_watched is None or facts.n_watched <= n:
        return _Line(n, codes, facts.n_watched)
    is_scored = _is_scored(problem)
    planned = np.array(facts.watched_clusters or (), np.int64)
    if len(planned) != facts.n_watched or not _alike(planned[: len(is_scored)][is_scored], codes):
        return _Line(n, codes, None, messages=(catalogue.UNKNOWN_PENDING_CLUSTERS(),))
    n_used = n if is_scored.all() else int(is_scored.argmin())
    n_whole = int((np.bincount(planned[:n_used], minlength=planned.max() + 1) == np.bincount(planned)).sum())
    note = catalogue.INCOMPLETE_CLUSTERS(n_complete=n_whole, n_clusters=len(np.unique(planned)))
    return _Line(n_used, planned, facts.n_watched, messages=(note,))


def _is_scored(problem: Problem) -> NDArray[np.bool_]:
    """Which questions of the log have a score; `problem.data` contains only these."""
    data = problem.data
    logged = next(one for one in problem.log.data if (one.metric, one.filter) == (data.metric, data.filter))
    return logged.is_scored if isinstance(logged, Scores) else np.ones(0, bool)


def _alike(first: IntArray, second: IntArray) -> bool:
    """Whether two lists of codes group the same items together."""
    pairs = len(np.unique(np.column_stack([first, second]), axis=0)) if len(first) == len(second) else -1
    return pairs == len(np.unique(first)) == len(np.unique(second))


ESTIMATORS = (ConfidenceSequenceMean(),)
