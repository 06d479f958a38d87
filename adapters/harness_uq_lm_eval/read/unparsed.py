"""Find answers that a filter of lm-eval could not parse.

A regular-expression filter replaces an answer without a match by its fallback, `[invalid]` by default, and the metric
scores that text. The answer is unparsed if every filter of the task gives the fallback.
"""

import numpy as np

from harness_uq.plugin_api import TrialEndings, ending_code
from harness_uq_lm_eval.json_access import items

FALLBACK = "[invalid]"


def is_unparsed(filtered: object) -> bool:
    """Whether all answers of a row are the fallback of a filter.

    >>> is_unparsed(["[invalid]"]), is_unparsed(["42"]), is_unparsed([])
    (True, False, False)
    """
    answers = items(filtered)
    return bool(answers) and all(answer == FALLBACK for answer in answers)


class UnparsedAnswers:
    """Counts, for each question, the rows of all filters and those with an unparsed answer."""

    def __init__(self) -> None:
        self._n_rows: dict[int, int] = {}
        self._n_unparsed: dict[int, int] = {}

    def add(self, question: int, *, is_unparsed: bool) -> None:
        """Add the row of a filter."""
        self._n_rows[question] = self._n_rows.get(question, 0) + 1
        if is_unparsed:
            self._n_unparsed[question] = self._n_unparsed.get(question, 0) + 1

    def endings(self, n_questions: int) -> TrialEndings | None:
        """How each question ended, `unparsed` or `completed`; None if every answer was parsed."""
        unparsed = [question for question, n in self._n_unparsed.items() if n == self._n_rows[question]]
        if not unparsed:
            return None
        codes = np.full((n_questions, 1), ending_code("completed"))
        codes[unparsed] = ending_code("unparsed")
        return TrialEndings(codes)
