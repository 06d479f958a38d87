"""Effective number of independent graders."""

import json

import numpy as np
import pytest
from scipy import stats

from harness_uq.messages.errors import DataError, NotEstimableError
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


def test_copies_of_a_grader_are_one_grader_with_an_interval_that_depends_on_the_number_of_errors():
    errors = np.repeat(RNG.integers(-1, 2, (60, 1)), 3, axis=1)
    few, many = effective_graders(errors), effective_graders(np.tile(errors, (10, 1)))
    assert (few.value, few.low, many.value, many.low) == pytest.approx((1, 1, 1, 1))
    assert 1 < many.high < few.high < 1.2


def test_answers_of_one_cluster_do_not_count_as_independent():
    errors = RNG.normal(size=(40, 3)) + RNG.normal(size=(40, 1))
    alone = effective_graders(errors)
    repeated = effective_graders(np.repeat(errors, 5, axis=0), clusters=np.repeat(np.arange(40), 5))
    assert (repeated.value, repeated.low, repeated.high) == pytest.approx((alone.value, alone.low, alone.high))


def test_the_interval_is_that_of_the_jackknife_with_two_added_answers():
    errors = RNG.normal(size=(30, 3)) + RNG.normal(size=(30, 1))
    errors -= errors.mean(axis=0)
    found = effective_graders(errors)
    single, total = (errors**2).sum(axis=1), errors.sum(axis=1) ** 2
    size = (single**2).sum() / single.sum()
    single, total = np.append(single, [size, size]), np.append(total, [3 * size, size])
    without = np.array([np.log(3 * np.delete(single, i).sum() / np.delete(total, i).sum()) for i in range(32)])
    second, fourth = stats.moment(without, 2), stats.moment(without, 4)
    # Satterthwaite: twice the squared variance, divided by the variance of the estimated variance (kurtosis - 1) / N
    t = stats.t(2 * 32 / (fourth / second**2 - 1)).ppf(0.975)
    centre, reach = np.log(3 * single.sum() / total.sum()), t * np.sqrt(31 * second)
    assert (found.low, found.high) == pytest.approx(np.exp([centre - reach, centre + reach]))


def test_no_common_error_among_the_labels_does_not_exclude_common_errors():
    errors = np.zeros((50, 2))
    errors[:4, 0] = errors[4:8, 1] = 1
    assert effective_graders(errors).low < 1.7


def test_too_few_errors_are_refused():
    with pytest.raises(NotEstimableError, match="too few"):
        effective_graders(np.zeros((50, 2)))
    with pytest.raises(NotEstimableError, match="too few"):
        effective_graders(np.eye(1, 50).T @ np.ones((1, 3)))
    with pytest.raises(DataError, match="at least two graders"):
        effective_graders(np.zeros((50, 1)))


def test_coverage_in_the_declared_cells_is_that_of_the_documentation():
    cells = json.loads((ROOT / "benchmarks/results/effective_graders.json").read_text())["cells"]
    assert len(cells) == 93
    assert min(cell["coverage"] for cell in cells[:90]) >= 0.94
    assert min(cell["coverage"] for cell in cells[90:]) >= 0.84
