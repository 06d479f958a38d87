"""Coverage and width of the difference of systems that share a part of their questions.

Four designs (shared questions, own questions of A and of B, latent correlation), normal scores and binary scores (0.79
and 0.69 right), 2,000 data sets per cell, seed 2407. The widths are divided by those of the optimal linear combination
with known variances and covariance, and by those of the paired t interval on the shared questions.

    python benchmarks/sim_partial_overlap.py
"""

import numpy as np
from scipy import stats

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.pairs.paired_frequentist import paired_t
from harness_uq.stats.pairs.partial_overlap import partial_overlap

DESIGNS = ((50, 50, 50, 0.8), (100, 20, 200, 0.5), (30, 30, 0, 0.9), (200, 200, 200, 0.3))
THRESHOLDS = (0.8, 0.5)
N = 2000


def moments(correlation: float, *, is_binary: bool) -> tuple[np.ndarray, float]:
    """Covariance matrix of one question's two scores, and the true difference."""
    if not is_binary:
        return np.array([[1.0, correlation], [correlation, 1.0]]), 0.0
    right = stats.norm.cdf(THRESHOLDS)
    both = stats.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]]).cdf(THRESHOLDS)
    return np.outer(right, -right) + np.array([[right[0], both], [both, right[1]]]), float(right[0] - right[1])


def optimal_error(covariance: np.ndarray, n_shared: int, n_a: int, n_b: int) -> float:
    """Standard error of the best linear unbiased difference, from the information of the two means."""
    information = n_shared * np.linalg.inv(covariance) + np.diag([n_a / covariance[0, 0], n_b / covariance[1, 1]])
    contrast = np.array([1.0, -1.0])
    return float(np.sqrt(contrast @ np.linalg.inv(information) @ contrast))


def main() -> None:
    """Print one line per cell."""
    rng = np.random.default_rng(2407)
    for n_shared, n_a, n_b, correlation in DESIGNS:
        for is_binary in (False, True):
            covariance, truth = moments(correlation, is_binary=is_binary)
            best = 2 * stats.norm.ppf(0.975) * optimal_error(covariance, n_shared, n_a, n_b)
            hits, widths, paired = [], [], []
            for _ in range(N):
                n = n_shared + n_a + n_b
                scores = np.sqrt(correlation) * rng.standard_normal(n)
                scores = scores + np.sqrt(1 - correlation) * rng.standard_normal((2, n))
                if is_binary:
                    scores = (scores < np.array(THRESHOLDS)[:, None]).astype(float)
                a, b = scores[0, : n_shared + n_a], np.r_[scores[1, :n_shared], scores[1, n_shared + n_a :]]
                try:
                    found = partial_overlap(a[:n_shared], b[:n_shared], a[n_shared:], b[n_shared:]).difference
                    low, high = paired_t(a[:n_shared] - b[:n_shared]).interval()
                except NotEstimableError:
                    continue
                paired.append(high - low)
                low, high = found.interval()
                hits.append(low <= truth <= high)
                widths.append(high - low)
            cell = f"{n_shared} shared, {n_a} and {n_b} own, {correlation}, {'binary' if is_binary else 'normal'}"
            ratios = (
                f"{np.mean(widths) / best:.3f} of the optimal, {np.mean(widths) / np.mean(paired):.3f} of the paired"
            )
            print(f"{cell}: {len(hits)} data sets, coverage {np.mean(hits):.4f}, width {ratios} width")


if __name__ == "__main__":
    main()
