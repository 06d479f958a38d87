"""What a typed program does with the installed package: mypy reads it beside the wheel alone, and nothing runs it."""

from typing import assert_type

import harness_uq
from harness_uq.stats import beta_posterior


def consumer() -> None:
    """Types of results are known, and a wrong argument is an error: without types the ignored line would be none."""
    low, _ = beta_posterior(8, 10).interval(0.95, "hdi")
    assert_type(low, float)
    assert_type(harness_uq.estimate_scores([1, 0, 1, 1]), harness_uq.Estimate)
    assert_type([row.task for row in harness_uq.estimate("results/")], list[str])
    assert_type([row.task for row in harness_uq.estimate({"large": ["results/"]})], list[str])
    assert_type(harness_uq.compare_scores([1, 0], [1, 1], level=0.9), harness_uq.Comparison)
    harness_uq.estimate(42)  # type: ignore[call-overload]
    harness_uq.estimate("results/", level="0.9")  # type: ignore[call-overload]
    harness_uq.estimate("results/", levl=0.9)  # type: ignore[call-overload]
