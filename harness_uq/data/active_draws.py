"""Metadata of questions that were chosen actively: the round, its number of questions, and the probability."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from harness_uq.data.task_log import FloatArray, Questions

PREFIX: Final = "harness_uq."  # of fields that describe how a question was chosen, not what it is
ROUND, ROUND_SIZE, PROBABILITY = f"{PREFIX}round", f"{PREFIX}round_size", f"{PREFIX}probability"


@dataclass(frozen=True, slots=True, eq=False)
class ActiveDraws:
    """How the questions of a run were chosen.

    Attributes
    ----------
    rounds : ndarray, shape (n_questions,)
        Round in which each question was drawn.
    round_sizes : ndarray, shape (n_questions,)
        Number of questions drawn in this round.
    probabilities : ndarray, shape (n_questions,)
        Probability with which the question was drawn in this round.
    """

    rounds: FloatArray
    round_sizes: FloatArray
    probabilities: FloatArray


def active_draws(questions: Questions) -> ActiveDraws | None:
    """Return how the questions were chosen; None if they have no such metadata."""
    columns = []
    for name in (ROUND, ROUND_SIZE, PROBABILITY):
        field = questions.fields.get(name)
        if field is None or field.n_missing or not field.values:
            return None
        columns.append(np.array(field.values, float)[field.codes])
    rounds, sizes, probabilities = columns
    if not ((probabilities > 0) & (probabilities <= 1)).all():
        return None
    return ActiveDraws(rounds, sizes, probabilities)
