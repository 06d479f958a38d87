"""Effective number of independent graders."""

import json

import numpy as np
import pytest
from scipy import stats

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.labels.effective_graders import effective_graders
from tests.conftest import ROOT

RNG = np.random.default_rng(3)


def test_equicorrelated_errors_have_the_effective_sample_size_of_kish():
    common, own = RNG.normal(size=(200_000, 1)), RNG.normal(size=(200_000, 4))
    found = effective_graders(np.sqrt(0.3) * common + np.sqrt(0.7) * own)
    assert found.value == pytest.approx(4 / (1 + 3 * 0.3), rel=0.01)
    assert found.correlation == pytest.approx(0.3, abs=0.01)
    assert found.low < found.value < found.high


def test_it_is_the_ratio_of_the_variances_of_one_grader_and_of_the_mean():
    errors = RNG.normal(size=(50, 3)) * [1, 2, 3] + RNG.normal(size=(50, 1))
    expected = errors.var(axis=0).mean() / errors.mean(axis=1).var()
    assert effective_graders(errors).value == pytest.approx(expected)
    assert effective_graders(errors + np.array([0, 5, -1])).value == pytest.approx(expected)


def test_copies_of_a_grader_are_one_grader():
    errors = np.repeat(RNG.integers(-1, 2, (60, 1)), 3, axis=1)
    found = effective_graders(errors)
    assert (found.value, found.low, found.high) == pytest.approx((1, 1, 1))


def test_answers_of_one_cluster_do_not_count_as_independent():
    errors = RNG.normal(size=(40, 3)) + RNG.normal(size=(40, 1))
    alone = effective_graders(errors)
    repeated = effective_graders(np.repeat(errors, 5, axis=0), clusters=np.repeat(np.arange(40), 5))
    assert (repeated.value, repeated.low, repeated.high) == pytest.approx((alone.value, alone.low, alone.high))


def test_the_standard_error_is_that_of_the_jackknife():
    errors, clusters = RNG.normal(size=(30, 3)) + RNG.normal(size=(30, 1)), np.arange(30) // 3
    found = effective_graders(errors, clusters=clusters)
    without = np.log([effective_graders(errors[clusters != c]).value for c in range(10)])
    se = np.sqrt(9 / 10 * ((without - without.mean()) ** 2).sum())
    totals = np.bincount(clusters, (errors - errors.mean(axis=0)).sum(axis=1) ** 2)
    m = totals.sum() ** 2 / (totals**2).sum()
    assert found.high == pytest.approx(found.value * np.exp(stats.t.ppf(0.975, m - 1) * se))


def test_too_few_errors_are_refused():
    with pytest.raises(NotEstimableError, match="too few"):
        effective_graders(np.zeros((50, 2)))
    with pytest.raises(DataError, match="at least two graders"):
        effective_graders(np.zeros((50, 1)))


def test_coverage_in_the_declared_cells_is_that_of_the_documentation():
    cells = json.loads((ROOT / "benchmarks/results/effective_graders.json").read_text())["cells"]
    assert len(cells) == 15
    assert min(cell["coverage"] for cell in cells if cell["graders"] < 7) >= 0.92
    assert min(cell["coverage"] for cell in cells) >= 0.9
