"""Hoeffding's interval for the mean of bounded scores."""

import math
from dataclasses import dataclass

import numpy as np

from harness_uq.plugin_api import Estimate, Interval, MethodInfo, MethodResult, Problem, Scores


@dataclass(frozen=True)
class Hoeffding:
    """Mean ± (high - low) sqrt(log(2 / alpha) / (2 n)) of n independent scores (Hoeffding 1963, theorem 2)."""

    name: str = "hoeffding"
    info: MethodInfo = MethodInfo(
        title="Hoeffding's interval",
        formula="ȳ ± (hi − lo) √(log(2/α) / 2n)",
        text="Assumes only that scores are independent and lie within known bounds. The interval is wide.",
        sources=("Hoeffding (1963), J. Am. Stat. Assoc. 58:13-30",),
    )

    def why_unsupported(self, problem: Problem) -> str | None:
        """The reason if the method cannot be applied; None if it can."""
        if not isinstance(problem.data, Scores) or problem.structure.bounds is None:
            return "needs scores of a known range"
        return "treats questions as independent" if problem.structure.n_clusters else None

    def estimate(self, problem: Problem) -> Estimate:
        """Mean score with its interval."""
        means = np.nanmean(problem.data.values, axis=1)
        low, high = problem.structure.bounds
        half = (high - low) * math.sqrt(math.log(2 / (1 - problem.level)) / (2 * len(means)))
        value = float(means.mean())
        interval = Interval(max(low, value - half), min(high, value + half), problem.level, "confidence")
        return MethodResult(value, interval, float(means.std(ddof=1) / math.sqrt(len(means)))).estimate(
            problem, self.name
        )
