"""Verdicts of one comparison of two systems, corrected for the number of tasks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from harness_uq.results.comparison import Comparison
from harness_uq.stats.pairs.multiple_testing import holm


def adjust_verdicts(rows: Sequence[Comparison], pooled_task: str, level: float) -> list[Comparison]:
    """Add the verdicts after correction by Holm's method over all tasks and metrics.

    The p-value of `better` and `worse` is twice the posterior tail beyond 0, that of `equivalent` twice the larger tail
    beyond the margin, as an interval of level 1 - alpha leaves alpha / 2 on each side. With several tasks, the p-value
    of `better` and `worse` is at least that of the test of no difference (McNemar's exact test, or t), as a posterior
    tail has its error rate on average only. A verdict is kept if its adjusted p-value is at most 1 - level. The rows
    over all tasks are corrected for their own number, and a single row keeps its verdict.

    Parameters
    ----------
    rows : comparisons of two systems
    pooled_task : task of the rows over all tasks
    level : level of the intervals from which the verdicts follow

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65-70.
    """
    n_alike = Counter(row.task == pooled_task for row in rows if row.difference is not None)
    p_values = [_p_value(row, is_alone=n_alike[row.task == pooled_task] == 1) for row in rows]
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


def _p_value(row: Comparison, *, is_alone: bool) -> float | None:
    """p-value of the verdict; of an undecided one the smallest of those of all verdicts; None without a posterior."""
    if row.difference is None or row.posterior is None:
        return None
    below, above = float(row.posterior.cdf(0.0)), 1 - float(row.posterior.cdf(0.0))
    different = max(2 * min(below, above), 0.0 if is_alone else row.p_value or 0.0)
    if not row.margin:
        return different
    outside = max(float(row.posterior.cdf(-row.margin)), 1 - float(row.posterior.cdf(row.margin)))
    if row.verdict == "undecided":
        return min(different, 2 * outside, 1.0)
    return min(2 * outside, 1.0) if row.verdict == "equivalent" else different
