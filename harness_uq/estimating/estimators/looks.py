"""Score of a run that was watched: an interval that holds whenever one looked, and whatever made the run end."""

from dataclasses import dataclass

from harness_uq.estimating.finding import (
    Finding,
    build,
    needs_mean,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
)
from harness_uq.plugins.protocols import Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.looks.confidence_sequence import confidence_sequence
from harness_uq.stats.means.bounded import cluster_totals, clustered_bounded_posterior

_NOTE = (
    "the interval holds at every moment of the run at once: one may look whenever one likes, and stop for what one "
    "sees; the order of the questions must not depend on their scores"
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
        means, planned = question_means(scores), problem.log.facts.n_watched
        sequence = confidence_sequence(
            means,
            clusters=scores.clusters,
            level=problem.level,
            bounds=bounds,
            planned=planned if scores.clusters is None else None,
        )
        interval = Interval(float(sequence.low[-1]), float(sequence.high[-1]), problem.level, "confidence")
        spread = clustered_bounded_posterior(*cluster_totals(means, unit_codes(scores)), *bounds)
        return build(problem, self.name, Finding(plain_score(scores), interval, spread.sd, notes=(_NOTE,)))


ESTIMATORS = (ConfidenceSequenceMean(),)
