"""Resources of a run per question and trial: tokens, cost, time, messages and turns.

Readers attach `Resources` to a `TaskLog` only if they are asked to, because logs of agents contain much more usage than
scores. Unknown values are NaN and never 0.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from harness_uq.data.arrays import FloatArray, read_only
from harness_uq.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class TokenUsage:
    """Tokens of one model, and their cost as the harness recorded it.

    All arrays have shape (n_questions, n_trials). They are None if the log does not contain them, and NaN for trials
    whose usage is unknown. If a trial did not call the model, they are 0.

    Attributes
    ----------
    model : str
        Name of the model, as in the log.
    is_grader : bool
        Whether the tokens were used to grade answers. The tokens of a model that answers and grades are two entries.
    input_tokens : ndarray or None
        All input tokens, including those that were read from or written to a cache.
    output_tokens : ndarray or None
        All output tokens, including reasoning.
    reasoning_tokens : ndarray or None
        Output tokens that were used for reasoning.
    cache_read_tokens, cache_write_tokens : ndarray or None
        Input tokens that were read from a cache or written to it.
    cost : ndarray or None
        Cost in US dollars that the log records.
    """

    model: str
    is_grader: bool = False
    input_tokens: FloatArray | None = None
    output_tokens: FloatArray | None = None
    reasoning_tokens: FloatArray | None = None
    cache_read_tokens: FloatArray | None = None
    cache_write_tokens: FloatArray | None = None
    cost: FloatArray | None = None

    def __post_init__(self) -> None:
        _validate(self, [field.name for field in fields(self) if field.name not in ("model", "is_grader")])


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """What the trials of a task used.

    All arrays have shape (n_questions, n_trials). They are None if the log does not contain them, and NaN for trials
    whose value is unknown.

    Attributes
    ----------
    usage : tuple of TokenUsage
        Tokens by model, separately for answering and grading.
    cost : ndarray or None
        Cost of answering in US dollars, if the log records it per trial and not per model.
    total_time : ndarray or None
        Seconds from start to end of a trial.
    working_time : ndarray or None
        Seconds without the time spent waiting, for example for rate limits.
    messages, turns : ndarray or None
        Number of messages of the conversation, and number of turns of the model.
    is_grader_separate : bool
        Whether the log tells the usage of graders from that of the system. If not, all usage counts as the system's.
    """

    usage: tuple[TokenUsage, ...] = ()
    cost: FloatArray | None = None
    total_time: FloatArray | None = None
    working_time: FloatArray | None = None
    messages: FloatArray | None = None
    turns: FloatArray | None = None
    is_grader_separate: bool = True

    def __post_init__(self) -> None:
        _validate(self, [field.name for field in fields(self) if field.name not in ("usage", "is_grader_separate")])
        if len(shapes := set(map(np.shape, self.arrays()))) > 1:
            raise DataError(f"arrays of resources must have one shape; got {sorted(shapes)}")

    def arrays(self) -> Iterator[FloatArray]:
        """All arrays that the log contains, without their names."""
        yield from _arrays_of((self, *self.usage))


def _arrays_of(owners: Iterable[object]) -> Iterator[FloatArray]:
    for owner in owners:
        values = (getattr(owner, field.name) for field in fields(owner))  # type: ignore[arg-type]
        yield from (value for value in values if isinstance(value, np.ndarray))


def _validate(owner: object, names: Iterable[str]) -> None:
    """Store the arrays as read-only float (n_questions, n_trials); values must be NaN, or finite and at least 0."""
    for name in names:
        if (values := getattr(owner, name)) is None:
            continue
        array = read_only(owner, name, values, np.float64, 2)
        if (invalid := array[(array < 0) | np.isinf(array)]).size:
            raise DataError(f"{name} must be at least 0 and finite; got {invalid[0]:g}")
