"""File with the state of an active evaluation: what was asked, with which probability, and the scores."""

from pathlib import Path

import msgspec

from harness_uq.io.atomic_write import atomic_replace
from harness_uq.messages.catalogue.reading import FILE_UNREADABLE
from harness_uq.messages.errors import DataError, LogError
from harness_uq.messages.redaction import redact

VERSION = 1


class RoundState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Questions of one round in the order in which they are asked.

    `scores` has the scores in [0, 1] of the first questions, which were asked, one per system; None for questions
    without a score yet.
    """

    questions: tuple[int, ...]
    probabilities: tuple[float, ...]
    scores: tuple[tuple[float, ...] | None, ...]


class SamplerState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options and rounds of an active evaluation, and the fingerprint of its history."""

    version: int
    history: str
    n_questions: int
    n_rounds: int
    seed: int
    system: tuple[str, ...]
    width: float | None
    at_least: float | None
    level: float
    rounds: tuple[RoundState, ...]


def is_consistent(state: SamplerState, n_all: int) -> bool:
    """Whether the questions exist, were drawn once, and have scores in [0, 1] of all systems."""
    drawn = [question for one in state.rounds for question in one.questions]
    rows = [row for one in state.rounds for row in one.scores if row is not None]
    return (
        len(set(drawn)) == len(drawn) <= state.n_questions
        and all(0 <= question < n_all for question in drawn)
        and all(len(one.questions) == len(one.probabilities) >= len(one.scores) for one in state.rounds)
        and all(len(row) == len(state.system) and all(0 <= score <= 1 for score in row) for row in rows)
    )


def write_state(state: SamplerState, path: str | Path) -> None:
    """Write a state; the file appears complete or not at all."""
    with atomic_replace(Path(path)) as stream:
        stream.write(msgspec.json.encode(state) + b"\n")


def read_state(path: str | Path) -> SamplerState:
    """Read a state.

    Raises LogError if the file cannot be read; DataError if it is not a state of this version.
    """
    try:
        state = msgspec.json.decode(Path(path).read_bytes(), type=SamplerState)
    except OSError as error:
        raise LogError(FILE_UNREADABLE(reason=error.strerror or str(error)).at(str(path))) from None
    except msgspec.DecodeError as error:
        raise DataError(f"{redact(str(path))} is not the state of an active evaluation: {error}") from None
    if state.version != VERSION:
        raise DataError(f"{redact(str(path))} has version {state.version}; this release reads version {VERSION}")
    return state
