"""Counts behind a score of which only the total is known."""

from harness_uq.errors import NotEstimableError
from harness_uq.logs.data import Totals

_MOST_QUESTIONS = 10**12


def counts_of(data: Totals) -> tuple[int, int]:
    """Right answers and questions.

    Raises
    ------
    NotEstimableError : if the metric is not known to be a share of right answers, or its value and number of questions
        do not make a whole number of them
    """
    value, n = data.value, data.n
    if value is None or not n:
        raise NotEstimableError(
            f"{data.reason}; the log gives no {'value' if value is None else 'number of questions'}"
        )
    if data.is_share is False:
        raise NotEstimableError(data.reason)
    if not data.is_share:
        raise NotEstimableError(f"{data.reason}, and {data.metric!r} is not known to be a share of right answers")
    if not 0 <= value <= 1 or not 0 < n <= _MOST_QUESTIONS:
        raise NotEstimableError(f"{data.reason}, and {value:g} of {n:g} questions is no share of right answers")
    right = round(value * n)
    if abs(value * n - right) > 1e-6 * n:
        raise NotEstimableError(f"{data.reason}, and {value} of {n} is no whole number of right answers")
    return right, n
