"""The tests of a gate with their decisions, as formats of CI systems show them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness_uq.output.columns import format_interval, format_number, metric_name
from harness_uq.results.gate import Decision, Gate, GateRow, RequirementRow

_RELATIONS = {"at_least": "at least", "at_most": "at most"}
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class GateCase:
    """One test of a gate, as CI systems show it.

    Attributes
    ----------
    group : the task
    name : what is required
    is_needed : whether the gate passes only if this test passes
    text : the numbers behind the decision
    """

    group: str
    name: str
    decision: Decision
    is_needed: bool
    text: str


def gate_cases(gate: Gate, digits: int) -> list[GateCase]:
    """Every comparison, required bound and missing score."""
    return [*_compared(gate, digits), *_required(gate.requirements, digits), *_missing(gate)]


def _compared(gate: Gate, digits: int) -> Iterator[GateCase]:
    for row in gate.rows:
        one = row.comparison
        relation = f"not worse by more than {one.margin:g}"
        if row.improve_by is not None:
            relation = f"better by more than {row.improve_by:g}"
        name = f"{metric_name(one.metric, one.filter)} {relation}"
        sides = ((one.system_a, one.value_a), (one.system_b, one.value_b))
        values = ", ".join(f"{system}: {format_number(value, digits)}" for system, value in sides)
        difference = "not estimable"
        if one.difference is not None:
            difference = (
                f"{format_number(one.difference.value, digits)} {format_interval(one.difference.interval, digits)}"
            )
        text = f"{values}, difference: {difference}{_broken(gate, row) if row.decision == 'fail' else ''}"
        yield GateCase(one.task, name, row.decision, row.is_needed, text)


def _broken(gate: Gate, row: GateRow) -> str:
    """The questions that broke, in a sentence."""
    one = row.comparison
    flipped = next((each for each in gate.flipped if (each.task, each.metric, each.filter) == one.key), None)
    if flipped is None or not flipped.worse:
        return ""
    names = ", ".join(question.question for question in flipped.worse[:_MOST_NAMED])
    more = f" and {flipped.n_worse - _MOST_NAMED} more" if flipped.n_worse > _MOST_NAMED else ""
    return f". Questions that are worse: {names}{more}"


def _required(rows: Sequence[RequirementRow], digits: int) -> Iterator[GateCase]:
    for row in rows:
        one = row.estimate
        name = f"{metric_name(one.metric, one.filter)} {_RELATIONS[row.requirement]} {row.bound:g}"
        interval = "not estimable" if one.interval is None else format_interval(one.interval, digits)
        yield GateCase(
            one.task, name, row.decision, True, f"{one.system}: {format_number(one.value, digits)} {interval}"
        )


def _missing(gate: Gate) -> Iterator[GateCase]:
    for one in gate.missing:
        text = "The new runs have no score, but the baseline has one."
        yield GateCase(one.task, f"{metric_name(one.metric, one.filter)} present", "undecided", True, text)
