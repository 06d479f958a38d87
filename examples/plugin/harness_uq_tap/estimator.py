"""Hoeffding's interval of the mean of bounded scores."""

import math
from dataclasses import dataclass

import numpy as np

from harness_uq import About, Estimate, Finding, Interval, Problem, Scores


@dataclass(frozen=True)
class Hoeffding:
    """Mean ± (high - low) sqrt(log(2 / alpha) / (2 n)) of n independent scores (Hoeffding 1963, theorem 2)."""

    name: str = "hoeffding"
    about: About = About(
        title="Hoeffding's interval",
        formula="ȳ ± (hi − lo) √(log(2/α) / 2n)",
        text="Assumes independent scores within known bounds and nothing else; wide.",
        sources=("Hoeffding (1963), J. Am. Stat. Assoc. 58:13-30",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Why the method does not fit; None where it does."""
        if not isinstance(problem.data, Scores) or problem.structure.bounds is None:
            return "needs scores of a known range"
        return "treats questions as independent" if problem.structure.n_clusters else None

    def estimate(self, problem: Problem) -> Estimate:
        """The interval."""
        means = np.nanmean(problem.data.values, axis=1)
        low, high = problem.structure.bounds
        half = (high - low) * math.sqrt(math.log(2 / (1 - problem.level)) / (2 * len(means)))
        value = float(means.mean())
        interval = Interval(max(low, value - half), min(high, value + half), problem.level, "confidence")
        return Finding(value, interval, float(means.std(ddof=1) / math.sqrt(len(means)))).estimate(problem, self.name)
