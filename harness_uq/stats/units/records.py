"""Draws of sums of records under random weights of the records, for statistics that are functions of such sums."""

from collections.abc import Iterator

import numpy as np

from harness_uq.stats.common.validate_arrays import FloatArray, IntArray

_BLOCK = 2**21  # size of temporary arrays


def record_draws(
    records: FloatArray, masses: FloatArray | IntArray, n_draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draws of sum_j g_j r_j with independent g_j ~ Gamma(m_j).

    A statistic that does not change if all sums are multiplied by the same number has the posterior of a Dirichlet
    process on the units. Equal units are one record with the sum of their masses. `records` (J, K) and positive
    `masses` (J,) are those of the units and of prior atoms; draws are (n_draws, K).

    >>> draws = record_draws(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([3, 1]), 4000, np.random.default_rng(0))
    >>> bool(abs((draws[:, 0] / draws[:, 1]).mean() - 0.75) < 0.01)
    True
    """
    return np.concatenate([weights @ records for weights in gamma_blocks(masses, n_draws, len(records), rng)])


def gamma_blocks(
    masses: FloatArray | IntArray, n_draws: int, width: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Gamma(mass) weights (n_draws, J) in blocks, so that n_draws × `width` values need not be in memory.

    `width` is the number of values that are derived from one draw.
    """
    step = max(1, _BLOCK // width)
    is_exponential = bool((masses == 1).all())
    for start in range(0, n_draws, step):
        size = (min(step, n_draws - start), len(masses))
        # the same distribution if all masses are 1, five times as fast
        yield rng.standard_exponential(size) if is_exponential else rng.standard_gamma(masses, size)
