"""Sequential paired comparison: an anytime-valid e-value that can be monitored after every question."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, broadcast_floats
from harness_uq.stats.common.validate_scalars import check_number


def log_e_value(only_a: ArrayLike, only_b: ArrayLike) -> FloatArray:
    """Log e-value against equal systems, from the discordant questions so far.

    E = B(c10 + 1/2, c01 + 1/2) / B(1/2, 1/2) 2^(c10 + c01) is the marginal likelihood of the discordant questions under
    r ~ Beta(1/2, 1/2) (the prior of the Dirichlet cells) over their likelihood under r = 1/2. It is a martingale under
    r = 1/2.

    Parameters
    ----------
    only_a, only_b : array_like
        Numbers of questions that only A, and only B, got right; they broadcast together.

    Returns
    -------
    ndarray
        log E. If the systems are equal, E has mean at most 1 at any stopping time. Stopping at E >= 1 / alpha therefore
        has an error probability of at most alpha, for any number of looks; for E >= 20 it is 5 %.

    Raises
    ------
    DataError
        If a count is negative or not finite.

    Notes
    -----
    It is valid for independent questions in an order that does not depend on their outcomes. Questions of one cluster
    are not independent: count clusters that favour A or B instead, and evaluate E after whole clusters.

    References
    ----------
    Ville (1939); Grünwald, de Heide and Koolen (2024), J. R. Stat. Soc. B 86, 1091-1128.

    Examples
    --------
    One discordant question is uninformative, E = 1; a second one for the same system gives 3/8 times 4:

    >>> np.exp(log_e_value([1, 2], 0)).round(12).tolist()
    [1.0, 1.5]
    """
    a, b = broadcast_floats(only_a=only_a, only_b=only_b)
    if not (np.isfinite(a) & np.isfinite(b) & (a >= 0) & (b >= 0)).all():
        raise DataError("discordant counts only_a and only_b must be finite and non-negative")
    return np.asarray(special.betaln(a + 0.5, b + 0.5) - np.log(np.pi) + (a + b) * np.log(2.0))


def running_log_e_value(correct_a: ArrayLike, correct_b: ArrayLike) -> FloatArray:
    """Log e-value after each question, in the order in which questions were scored.

    Parameters
    ----------
    correct_a, correct_b : array_like, shape (..., n_questions)
        0, 1 or NaN for a question that was not answered, which has no effect.

    Returns
    -------
    ndarray, shape (..., n_questions)
        log E.

    Raises
    ------
    DataError
        If the shapes differ or a value is not 0, 1 or NaN.

    Examples
    --------
    >>> np.exp(running_log_e_value([1, 1, 1], [0, 1, 0])).round(12).tolist()
    [1.0, 1.0, 1.5]
    """
    a, b = as_floats(correct_a, "correct_a"), as_floats(correct_b, "correct_b")
    if a.shape != b.shape or a.ndim == 0:
        raise DataError(f"correct_a and correct_b need the same questions; got shapes {a.shape} and {b.shape}")
    for name, values in (("a", a), ("b", b)):
        if not (np.isin(values, (0.0, 1.0)) | np.isnan(values)).all():
            raise DataError(f"correct_{name} must be 0, 1 or NaN")
    only_a = np.cumsum((a == 1) & (b == 0), axis=-1)
    only_b = np.cumsum((a == 0) & (b == 1), axis=-1)
    return log_e_value(only_a, only_b)


def stopping_time(log_e: ArrayLike, *, threshold: float = 20.0) -> IntArray:
    """Number of questions after which the running e-value first reaches `threshold`; -1 if it never does.

    Parameters
    ----------
    log_e : array_like, shape (..., n_questions)
        Result of `running_log_e_value`.
    threshold : float, optional
        1 / alpha, greater than 1; the default 20 limits the type I error to 5 %.

    Returns
    -------
    ndarray of int, shape (...)
        Numbers of questions.

    Raises
    ------
    DataError
        If the threshold is not greater than 1, or `log_e` is empty or contains NaN.

    Examples
    --------
    >>> int(stopping_time(np.log([1.0, 6.0, 25.0, 3.0])))
    3
    """
    check_number(threshold, "threshold", above=0)
    if not threshold > 1:
        raise DataError(f"threshold is 1 / alpha and must exceed 1; got {threshold}")
    values = as_floats(log_e, "log_e")
    if not values.size or values.ndim == 0 or np.isnan(values).any():
        raise DataError(f"log_e must have a number for each of at least one question; got shape {values.shape}")
    reached = values >= np.log(threshold)
    return np.asarray(np.where(reached.any(axis=-1), reached.argmax(axis=-1) + 1, -1), np.int64)
