"""The variation between runs, and differences that allow for it."""

import numpy as np
import pytest
from scipy import integrate, stats

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.pairs.run_variation import (
    DistributionOverRuns,
    Normal,
    RunVariation,
    pooled_variation,
    run_variation,
)

SCORES = np.random.default_rng(0).random((4, 30))


def test_the_parts_are_the_mean_squares_of_a_two_way_layout() -> None:
    """Mean squares from the sums of squares of the rows, columns and total (Searle et al. 1992, table 4.2)."""
    n_runs, n = SCORES.shape
    correction = SCORES.sum() ** 2 / SCORES.size
    total = (SCORES**2).sum() - correction
    of_runs = (SCORES.sum(axis=1) ** 2).sum() / n - correction
    of_questions = (SCORES.sum(axis=0) ** 2).sum() / n_runs - correction
    residual = (total - of_runs - of_questions) / ((n_runs - 1) * (n - 1))
    found = run_variation(SCORES)
    assert found.mean_square == pytest.approx(of_runs / (n_runs - 1) / n)
    assert found.trial_variance == pytest.approx(residual / n)


def test_a_shift_of_whole_runs_is_variation_between_runs_alone() -> None:
    shifts = np.array([0.0, 0.1, -0.2])
    found = run_variation(np.arange(10.0) + shifts[:, None])
    assert found.trial_variance == pytest.approx(0, abs=1e-25)
    assert found.run_variance == pytest.approx(shifts.var(ddof=1))


@pytest.mark.parametrize("n_runs", [2, 3, 5, 10])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.975, 0.995])
def test_if_only_runs_vary_the_difference_is_student_t(n_runs: int, p: float) -> None:
    found = DistributionOverRuns(Normal(0.1, 1e-6), RunVariation(n_runs - 1, 0.04, 0.0), (1, n_runs))
    scale = 0.2 * np.sqrt(1 + 1 / n_runs)
    assert float(found.quantile(p)) == pytest.approx(0.1 + scale * stats.t.ppf(p, n_runs - 1), abs=1e-4)


def test_runs_that_vary_less_than_their_questions_explain_add_little_with_many_runs() -> None:
    found = DistributionOverRuns(Normal(0.0, 1.0), RunVariation(199, 0.01, 0.01), (1, 200))
    assert found.interval(0.95) == pytest.approx((-1.96, 1.96), abs=0.01)
    assert found.run_sd == 0


def test_the_probability_is_an_average_over_the_chi_square_distribution() -> None:
    variation = RunVariation(3, 0.5, 0.2)
    found = DistributionOverRuns(Normal(0.0, 1.0), variation, (1, 4))

    def at(w: float) -> float:
        variance = 1 + 1.25 * max(0.5 * 3 / w - 0.2, 0)
        return float(stats.norm.cdf(1.5 / np.sqrt(variance)) * stats.chi2.pdf(w, 3))

    expected = sum(integrate.quad(at, *ends)[0] for ends in ((0, 7.5), (7.5, np.inf)))
    assert float(found.cdf(1.5)) == pytest.approx(expected, abs=1e-4)


def test_pooled_runs_of_both_systems_are_the_t_test_of_two_samples() -> None:
    """If only runs vary, the p-value is that of Student's two-sample t test with pooled variance."""
    a, b = np.array([0.70, 0.74, 0.69]), np.array([0.78, 0.75])
    variation = pooled_variation([run_variation(np.arange(10.0) + shifts[:, None]) for shifts in (a, b)])
    found = DistributionOverRuns(Normal(float(a.mean() - b.mean()), 1e-7), variation, (3, 2))
    assert variation.df == 3
    assert float(found.cdf(0.0)) == pytest.approx(1 - stats.ttest_ind(a, b, alternative="less").pvalue, abs=1e-4)


def test_more_variation_between_runs_widens_the_interval() -> None:
    widths = [
        np.ptp(DistributionOverRuns(Normal(0.0, 1.0), RunVariation(2, v, 0.1), (1, 3)).interval())
        for v in (0.1, 0.5, 2)
    ]
    assert widths == sorted(widths)


def test_invalid_scores_are_refused() -> None:
    with pytest.raises(DataError, match="no missing values"):
        run_variation([[1.0, np.nan], [1.0, 0.0]])
    with pytest.raises(NotEstimableError, match="two runs"):
        run_variation([[1.0, 0.0]])
