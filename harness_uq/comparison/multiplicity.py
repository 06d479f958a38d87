"""Verdicts of one comparison of two systems, corrected for the number of tasks."""

from collections.abc import Sequence
from dataclasses import replace

from harness_uq.results.comparison import Comparison
from harness_uq.stats.pairs.multiple_testing import holm


def adjust_verdicts(rows: Sequence[Comparison], pooled_task: str, level: float) -> list[Comparison]:
    """Add the verdicts after correction by Holm's method over all tasks and metrics.

    The p-value of `better` and `worse` is twice the posterior tail beyond 0, that of `equivalent` twice the larger tail
    beyond the margin, as an interval of level 1 - alpha leaves alpha / 2 on each side. A verdict is kept if its
    adjusted p-value is at most 1 - level. With this, the probability of any wrong verdict is at most 1 - level, as
    far as that of each single verdict is. The rows over all tasks are corrected for their own number.

    Parameters
    ----------
    rows : comparisons of two systems
    pooled_task : task of the rows over all tasks
    level : level of the intervals from which the verdicts follow

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65-70.
    """
    p_values = [_p_value(row) for row in rows]
    adjusted: dict[int, float] = {}
    for is_pooled in (False, True):
        family = [k for k, row in enumerate(rows) if (row.task == pooled_task) == is_pooled]
        tested = [(k, p) for k in family if (p := p_values[k]) is not None]
        if tested:
            corrected = holm([p for _, p in tested]).tolist()
            adjusted |= {k: p for (k, _), p in zip(tested, corrected, strict=True)}
    return [
        replace(
            row,
            verdict_p_adjusted=adjusted.get(k),
            verdict_adjusted=row.verdict if adjusted.get(k, 1.0) <= 1 - level else "undecided",
        )
        for k, row in enumerate(rows)
    ]


def _p_value(row: Comparison) -> float | None:
    """p-value of the verdict; of an undecided one the smallest of those of all verdicts; None without a posterior."""
    if row.difference is None or row.posterior is None:
        return None
    below, above = float(row.posterior.cdf(0.0)), 1 - float(row.posterior.cdf(0.0))
    different = 2 * min(below, above)
    if not row.margin:
        return different
    outside = max(float(row.posterior.cdf(-row.margin)), 1 - float(row.posterior.cdf(row.margin)))
    if row.verdict == "undecided":
        return min(different, 2 * outside, 1.0)
    return min(2 * outside, 1.0) if row.verdict == "equivalent" else different
