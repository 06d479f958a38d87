"""Recover the counts behind a score whose total alone is known."""

from harness_uq.data.task_log import AggregateScore
from harness_uq.errors import NotEstimableError
from harness_uq.messages.catalogue.estimation import INCOMPLETE_TOTALS, INCONSISTENT_TOTALS, TOTALS_NOT_A_PROPORTION

_MOST_QUESTIONS = 10**12


def counts_of(data: AggregateScore) -> tuple[int, int]:
    """Return the numbers of correct answers and of questions.

    Raises
    ------
    NotEstimableError : if the metric is not known to be a proportion of correct answers, or its value and number of
        questions do not imply an integer number of correct answers
    """
    value, n = data.value, data.n
    if value is None or not n:
        missing = "the value" if value is None else "the number of questions"
        raise NotEstimableError(INCOMPLETE_TOTALS(reason=data.reason, missing=missing))
    if not data.is_share:
        raise NotEstimableError(TOTALS_NOT_A_PROPORTION(reason=data.reason, metric=data.metric))
    is_share = 0 <= value <= 1 and 0 < n <= _MOST_QUESTIONS
    if not (is_share and abs(value * n - round(value * n)) <= 1e-6 * n):
        raise NotEstimableError(INCONSISTENT_TOTALS(reason=data.reason, value=value, n_questions=n))
    return round(value * n), n
