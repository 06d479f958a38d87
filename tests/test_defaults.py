"""Each default with its number: a change that was not meant fails here, one that was meant gets a decision page."""

import pytest

from harness_uq import Options, estimate_scores
from harness_uq.data.structure import StructureOptions
from tests.conftest import ROOT

RIGHT = [1] * 17 + [0] * 3
PASSAGES, OF_PASSAGES = [i // 4 for i in range(40)], [1, 1, 1, 0] * 8 + [1, 1, 0, 0] * 2
TRIALS = [
    [int(c) for c in row] for row in ["1110", "1111", "0010", "1111", "0000", "1101", "1111", "1011", "1111", "0111"]
]
GRADED = [0.9, 0.85, 0.8, 0.95, 0.7, 0.9, 0.88, 0.6, 0.92, 0.99]
LONG_TAILED = [3, 7, 1, 9, 4, 5, 30, 2, 6, 8]
PAIRS = [i // 2 for i in range(10)]
UNIT = {"structure": StructureOptions(ranges={"score": (0.0, 1.0)})}

# scores, clusters, options; method, interval; the page that says why
DEFAULTS = {
    "right or wrong": (RIGHT, None, {}, "beta", 0.659947, 0.959123, "001"),
    "in clusters": (OF_PASSAGES, PASSAGES, {}, "clustered", 0.541483, 0.814953, "072"),
    "in trials": (TRIALS, None, {}, "clustered", 0.489521, 0.888126, "072"),
    "in clusters and trials": (TRIALS, PAIRS, {}, "nested", 0.417142, 0.896270, "072"),
    "bounded": (GRADED, None, UNIT, "dirichlet-process", 0.706840, 0.914748, "071"),
    "bounded in clusters": (GRADED, PAIRS, UNIT, "clustered-dp", 0.737786, 0.918434, "071"),
    "unbounded": (LONG_TAILED, None, {}, "hall", 2.505610, 28.714498, "022"),
    "unbounded in clusters": (LONG_TAILED, PAIRS, {}, "hall", 2.435667, 28.447071, "022"),
    "these questions": (TRIALS, None, {"scope": "benchmark"}, "benchmark", 0.595998, 0.833627, "004"),
    "pass@2": (TRIALS, None, {"estimand": "pass@2"}, "pass-k-unbiased", 0.586325, 0.971201, "071"),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_default_gives_its_number(name: str) -> None:
    values, clusters, options, method, low, high, _ = DEFAULTS[name]
    row = estimate_scores(values, clusters=clusters, options=Options(**options))
    assert row.method == method
    assert (row.interval.low, row.interval.high) == pytest.approx((low, high), abs=2e-6)


@pytest.mark.parametrize("page", sorted({row[-1] for row in DEFAULTS.values()}))
def test_a_default_has_its_decision(page: str) -> None:
    (found,) = (ROOT / "docs/decisions").glob(f"{page}-*.md")
    assert found.read_text()
