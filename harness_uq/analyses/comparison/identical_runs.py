"""Detect a comparison of a system with itself."""

from collections.abc import Sequence

from harness_uq.data.match_questions import are_constant, have_equal_scores
from harness_uq.data.selection import ScoreKey
from harness_uq.inference.compared_runs import Side
from harness_uq.messages import Message
from harness_uq.messages.catalogue.comparison import IDENTICAL_RUNS


def sameness(a: Side, b: Side, matched: Sequence[tuple[ScoreKey, ScoreKey]]) -> Message | None:
    """Return the message that both sides contain identical runs; None if they differ.

    `matched`: keys of A and B that are compared.
    """
    pairs = [(a.chosen[key_a], b.chosen[key_b]) for key_a, key_b in matched]
    task_pairs = [(one, other) for one, other in pairs if not one.log.subtasks]
    if not (task_pairs and all(have_equal_scores(one, other) for one, other in task_pairs)):
        return None
    n = sum({one.log.task: len(one.log.questions) for one, _ in task_pairs}.values())
    explanation = "perhaps because they contain the same samples under two names"
    if all(are_constant(one.data) for one, _ in task_pairs):
        explanation = "because all scores are equal"
    if all(one.log.source == other.log.source and one.log.system == other.log.system for one, other in task_pairs):
        explanation = "because both sides read the same log"
    return IDENTICAL_RUNS(n_questions=n, explanation=explanation)
