"""Score of a run that was watched: an interval that holds whenever one looked, and whatever made the run end."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness_uq.estimating.finding import (
    Finding,
    build,
    needs_mean,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
)
from harness_uq.logs.data import IntArray, Scores
from harness_uq.plugins.protocols import Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.looks.confidence_sequence import ConfidenceSequence, confidence_sequence
from harness_uq.stats.means.bounded import cluster_totals, clustered_bounded_posterior

_NOTE = (
    "the interval holds at every moment of the run at once: one may look whenever one likes, and stop for what one "
    "sees; the order of the questions must not depend on their scores"
)
_UNKNOWN = (
    "the log does not say which clusters the questions without a score belong to: each cluster counts with those that "
    "have one, and the interval does not quite hold at every moment"
)


@dataclass(frozen=True, slots=True)
class ConfidenceSequenceMean:
    """The last interval of a confidence sequence over the questions in the order of the log."""

    name: str = "confidence-sequence"
    about: About = About(
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
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores without bounds."""
        return needs_mean(problem, "binary", "graded", "bounded")

    def estimate(self, problem: Problem) -> Estimate:
        """Interval of the mean over questions, each with its mean over trials."""
        scores, bounds = scores_of(problem), problem.structure.bounds or (0.0, 1.0)
        means, line = question_means(scores), _line(problem)
        sequence = confidence_sequence(
            means[: line.n_counted],
            clusters=line.clusters,
            level=problem.level,
            bounds=bounds,
            planned=line.planned,
        )
        interval = Interval(float(sequence.low[-1]), float(sequence.high[-1]), problem.level, "confidence")
        spread = clustered_bounded_posterior(*cluster_totals(means, unit_codes(scores)), *bounds)
        found = Finding(
            plain_score(scores),
            interval,
            spread.sd,
            diagnostics=_diagnostics(sequence, line.planned),
            notes=(_NOTE, *line.notes),
            warnings=line.warnings,
        )
        return build(problem, self.name, found)


def _diagnostics(sequence: ConfidenceSequence, planned: int | None) -> dict[str, float]:
    """Questions or whole clusters that the last interval counts, and the questions planned where that is known."""
    counted = {"n_units": float(sequence.n_clusters[-1])}
    return counted if planned is None else {**counted, "n_planned": float(planned)}


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The questions in their order, those that were never asked included.

    Attributes
    ----------
    n_counted : scored questions before the first without a score, where clusters of the others are known
    clusters : of these and of those to come; None where questions are independent
    planned : how many there are in all; None where that is not known
    """

    n_counted: int
    clusters: IntArray | None
    planned: int | None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


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
        return _Line(n, codes, None, warnings=(_UNKNOWN,))
    n_counted = n if is_scored.all() else int(is_scored.argmin())
    n_whole = int((np.bincount(planned[:n_counted], minlength=planned.max() + 1) == np.bincount(planned)).sum())
    note = f"a cluster counts once all its questions are scored: {n_whole} of {len(np.unique(planned))} do"
    return _Line(n_counted, planned, facts.n_watched, notes=(note,))


def _is_scored(problem: Problem) -> NDArray[np.bool_]:
    """Which questions of the log have a score; those of `problem.data` are the others left out."""
    data = problem.data
    logged = next(one for one in problem.log.data if (one.metric, one.filter) == (data.metric, data.filter))
    return logged.is_scored if isinstance(logged, Scores) else np.ones(0, bool)


def _alike(first: IntArray, second: IntArray) -> bool:
    """Whether two lists of codes group the same items together."""
    pairs = len(np.unique(np.column_stack([first, second]), axis=0)) if len(first) == len(second) else -1
    return pairs == len(np.unique(first)) == len(np.unique(second))


ESTIMATORS = (ConfidenceSequenceMean(),)
