"""E-value against a zero mean difference, for differences between two systems that need not be 0 or ±1."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError

_MAX_NODES = 2048


def log_e_value_of_differences(differences: ArrayLike, *, bound: float = 1.0) -> float:
    """Log e-value against E[difference] = 0 from independent differences of questions (or clusters).

    E is the integral of prod_i (1 + lambda D_i / bound) over the arcsine distribution of lambda on (-1, 1), the wealth
    of a gambler who bets a fraction lambda on each question, mixed over lambda. Each factor has mean 1 if E[D] = 0. For
    differences in {-1, 0, 1}, E is 2^(a + b) B(a + 1/2, b + 1/2) / B(1/2, 1/2) for a differences of 1 and b of -1.
    Gauss-Chebyshev quadrature is exact for up to 4094 differences.

    Parameters
    ----------
    differences : array_like, shape (n,)
        Mean score of A minus mean score of B per question, in [-bound, bound].
    bound : float, optional
        Largest possible absolute difference (default 1).

    Returns
    -------
    float
        log E. If the mean difference is zero, E has mean 1, so that P(E >= 1 / alpha) <= alpha. To test L times while
        trials are added to the same questions, require E >= L / alpha.

    Raises
    ------
    DataError
        If a difference is not finite or exceeds the bound.

    References
    ----------
    Waudby-Smith and Ramdas (2024), J. R. Stat. Soc. B 86, 1-27, section 4.

    Examples
    --------
    Two questions won by the same system give 3/2, as for the discordant counts (2, 0):

    >>> round(float(np.exp(log_e_value_of_differences([1, 1]))), 12)
    1.5
    """
    d = np.asarray(differences, float).ravel() / bound
    if not (np.isfinite(d).all() and (np.abs(d) <= 1 + 1e-12).all()):
        raise DataError(f"differences must be finite and lie within ±{bound:g}")
    d = np.clip(d[d != 0], -1.0, 1.0)
    n_nodes = min(len(d) // 2 + 1, _MAX_NODES)
    nodes = np.cos((np.arange(n_nodes) + 0.5) * np.pi / n_nodes)
    log_wealth = np.log1p(nodes[:, None] * d).sum(axis=1)
    return float(np.logaddexp.reduce(log_wealth) - np.log(n_nodes))
