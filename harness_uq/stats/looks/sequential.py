"""Watching a paired comparison while it runs: an e-value that may be read after every question."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, IntArray, fitted, numbers
from harness_uq.stats.common.scalars import check_number


def log_e_value(only_a: ArrayLike, only_b: ArrayLike) -> FloatArray:
    """Log e-value against equal systems, from the discordant questions so far.

    Parameters
    ----------
    only_a, only_b : array_like, broadcast together; questions that only A, only B got right

    Returns
    -------
    ndarray; log E. Under equal systems E has mean at most 1 whenever one stops to look, so that stopping at
    E >= 1 / alpha errs with probability at most alpha, however often one looks; with E >= 20, 5 %.

    Raises
    ------
    DataError : if a count is negative or not finite

    E = B(c10 + 1/2, c01 + 1/2) / B(1/2, 1/2) 2^(c10 + c01): the marginal likelihood of the discordant questions
    under r ~ Beta(1/2, 1/2), the prior of the Dirichlet cells, over that under r = 1/2. It is a martingale under
    r = 1/2: Ville (1939); Grünwald, de Heide and Koolen (2024), J. R. Stat. Soc. B 86, 1091-1128.

    Valid for independent questions in an order that does not depend on their outcomes. Questions of one cluster are
    not independent: count clusters that favour A or B instead, and look after whole clusters.

    One discordant question says nothing yet, E = 1; a second for the same system gives 3/8 times 4:

    >>> np.exp(log_e_value([1, 2], 0)).round(12).tolist()
    [1.0, 1.5]
    """
    a, b = fitted(only_a=only_a, only_b=only_b)
    if not (np.isfinite(a) & np.isfinite(b) & (a >= 0) & (b >= 0)).all():
        raise DataError("discordant counts only_a and only_b must be finite and not negative")
    return np.asarray(special.betaln(a + 0.5, b + 0.5) - np.log(np.pi) + (a + b) * np.log(2.0))


def running_log_e_value(correct_a: ArrayLike, correct_b: ArrayLike) -> FloatArray:
    """Log e-value after each question, in the order in which the questions were scored.

    Parameters
    ----------
    correct_a, correct_b : array_like, shape (..., n_questions); 0 or 1, or NaN for a question not answered, which
        changes nothing

    Returns
    -------
    ndarray, shape (..., n_questions)

    Raises
    ------
    DataError : if the shapes differ or a value is not 0, 1 or NaN

    >>> np.exp(running_log_e_value([1, 1, 1], [0, 1, 0])).round(12).tolist()
    [1.0, 1.0, 1.5]
    """
    a, b = numbers(correct_a, "correct_a"), numbers(correct_b, "correct_b")
    if a.shape != b.shape or a.ndim == 0:
        raise DataError(f"correct_a and correct_b need the same questions; got shapes {a.shape} and {b.shape}")
    for name, values in (("a", a), ("b", b)):
        if not (np.isin(values, (0.0, 1.0)) | np.isnan(values)).all():
            raise DataError(f"correct_{name} must be 0, 1 or NaN: the e-value counts discordant questions")
    only_a = np.cumsum((a == 1) & (b == 0), axis=-1)
    only_b = np.cumsum((a == 0) & (b == 1), axis=-1)
    return log_e_value(only_a, only_b)


def first_decision(log_e: ArrayLike, *, threshold: float = 20.0) -> IntArray:
    """Number of questions after which the running e-value first reaches `threshold`; -1 where it never does.

    Parameters
    ----------
    log_e : array_like, shape (..., n_questions); from `running_log_e_value`
    threshold : float > 1; 1 / alpha, so that 20 keeps false alarms under 5 %

    Returns
    -------
    ndarray of int, shape (...)

    Raises
    ------
    DataError : if the threshold is not above 1

    >>> int(first_decision(np.log([1.0, 6.0, 25.0, 3.0])))
    3
    """
    check_number(threshold, "threshold", above=0)
    if not threshold > 1:
        raise DataError(f"threshold is 1 / alpha and must exceed 1; got {threshold}")
    values = numbers(log_e, "log_e")
    if not values.size or values.ndim == 0 or np.isnan(values).any():
        raise DataError(f"log_e must hold a number for every question, and one at least; got shape {values.shape}")
    reached = values >= np.log(threshold)
    return np.asarray(np.where(reached.any(axis=-1), reached.argmax(axis=-1) + 1, -1), np.int64)
