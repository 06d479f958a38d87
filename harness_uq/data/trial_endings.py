"""How trials ended: completed, stopped by an error or a limit, refused, or with an answer that could not be parsed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from harness_uq.data.arrays import FloatArray, read_only
from harness_uq.messages.errors import DataError

LIMITS: Final = ("token", "time", "working", "message", "turn", "cost", "context", "operator", "custom")
"""Kinds of limits of Inspect AI."""
ENDINGS: Final = ("completed", "error", *(f"{kind} limit" for kind in LIMITS), "limit", "refused", "unparsed")
"""How a trial can end; `limit` is one of unknown kind."""
UNKNOWN: Final = "unknown"
"""The ending of a trial that the log does not describe."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialEndings:
    """How each trial of a task ended, whether or not it has a score.

    An ending and a score are independent of each other: a trial that exceeded a limit may have a score, and a completed
    trial may have none.

    Attributes
    ----------
    codes : int (n_questions, n_trials), index into `ENDINGS`; -1 if unknown
    """

    codes: NDArray[np.int64]

    def __post_init__(self) -> None:
        codes = read_only(self, "codes", self.codes, np.int64, 2)
        if codes.size and not -1 <= codes.min() <= codes.max() < len(ENDINGS):
            raise DataError(f"codes of endings must be -1 to {len(ENDINGS) - 1}; got {codes.min()} to {codes.max()}")

    def counts(self) -> dict[str, int]:
        """Number of trials with each ending that occurs, in the order of `ENDINGS`."""
        return _counted(self.codes.ravel())

    def counts_without_score(self, values: FloatArray) -> dict[str, int]:
        """Number of trials without a score, by ending; trials whose ending the log does not tell are `unknown`.

        Parameters
        ----------
        values : float (n_questions, n_trials), NaN for trials without a score. If it has another shape, because trials
            were reduced to one score, all endings are unknown.
        """
        is_lost = np.isnan(values)
        return _counted(self.codes[is_lost] if values.shape == self.codes.shape else np.full(is_lost.sum(), -1))


def ending_code(ending: str) -> int:
    """The index of an ending in `ENDINGS`; -1 for any other text.

    Examples
    --------
    >>> ending_code("error"), ending_code("?")
    (1, -1)
    """
    return ENDINGS.index(ending) if ending in ENDINGS else -1


def causes_of_missing(endings: TrialEndings | None, values: FloatArray) -> str:
    """How the trials without a score ended, in words and with parentheses; empty if it is unknown."""
    by_ending = {} if endings is None else endings.counts_without_score(values)
    return f" ({describe_counts(by_ending)})" if by_ending.keys() - {UNKNOWN} else ""


def describe_counts(counts: dict[str, int]) -> str:
    """Words for the number of trials by ending.

    >>> describe_counts({"completed": 1, "error": 8, "token limit": 4})
    '1 completed, 8 errors, 4 token limit'
    """
    return ", ".join(
        f"{n:,} {'errors' if ending == 'error' and n > 1 else ending}" for ending, n in counts.items() if n
    )


def _counted(codes: Iterable[int]) -> dict[str, int]:
    counts = Counter(int(code) for code in codes)
    known = {ending: counts[i] for i, ending in enumerate(ENDINGS) if counts[i]}
    return known | ({UNKNOWN: counts[-1]} if counts[-1] else {})
