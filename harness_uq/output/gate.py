"""Gates for readers: the decision and its reason, a table of scores, then warnings and notes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from harness_uq.output.columns import format_interval, format_number, level_header, metric_name
from harness_uq.output.document import Document, ResultKind, Section, count_cells
from harness_uq.output.flipped_questions import flipped_sections
from harness_uq.output.footnotes import footnotes, message_lists
from harness_uq.output.phrases import difference_header, join_names, percent, totals_sentence
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted, task_title
from harness_uq.results.gate import Decision, Gate, GateRow, RequirementRow

_ENOUGH = 0.8
_OPTIONAL = "Scores with a decision in parentheses can fail the gate, but do not have to pass."
_Row = TypeVar("_Row", GateRow, RequirementRow)
_COLOURS = {"pass": "green", "fail": "red", "undecided": "yellow"}


def gates_document(gates: Sequence[Gate], digits: int = 4) -> Document:
    """For each gate, a table of the compared scores and one of the scores with a required bound."""
    compared = [row.comparison for gate in gates for row in gate.rows]
    notes = footnotes([*compared, *(row.estimate for gate in gates for row in gate.requirements)])
    for heading, texts in message_lists(gates).items():
        notes[heading] += texts
    sections = [section for gate in gates for section in _sections(gate, digits)]
    return Document(sections, notes, caption="Gate.")


def _sections(gate: Gate, digits: int) -> Iterator[Section]:
    answer = gate_answer(gate)
    if gate.rows:
        yield _section(gate, digits, answer)
    if gate.requirements:
        yield _requirements_section(gate, digits, "" if gate.rows else answer)
    yield from flipped_sections(gate)


def gate_answer(gate: Gate) -> str:
    """The decision of the gate and its reason, as sentences; those that explain the decision come first."""
    parts = [_comparison_answer(gate)] if gate.rows else []
    parts += [_requirement_answer(decision, gate) for decision in _REASONS]
    explained = sorted((part for part in parts if part[1]), key=lambda part: part[0] != gate.decision)
    return f"{gate.decision.upper()}: {' '.join(text for _, text in explained)}"


def _comparison_answer(gate: Gate) -> tuple[Decision, str]:
    """The decision on the comparisons alone, and its reason."""
    decisions = [row.decision for row in gate.rows]
    needed = [row.decision for row in gate.rows if row.is_needed]
    is_passed = not gate.missing and all(one == "pass" for one in needed)
    decision: Decision = "fail" if "fail" in decisions else "pass" if is_passed else "undecided"
    a, b = gate.rows[0].comparison.system_a, gate.rows[0].comparison.system_b
    note = gate.rows[0].comparison.identical_runs_note
    reason = note if note and decision == "undecided" else _REASONS[decision](gate, a, b)
    sentences = [reason]
    if note and reason != note:
        sentences.append(note)
    if gate.missing:
        tasks = [task_title(one.task, one.metric, one.filter) for one in gate.missing]
        sentences.append(f"{a} has no score for {join_names(tasks)}, but {b} has one.")
    if totals := totals_sentence([row.comparison for row in gate.rows]):
        sentences.append(totals)
    if not gate.can_fail:
        sentences.append(
            f"This gate cannot fail: with so few questions, even the lowest possible scores would not show that {a} is "
            "worse by more than the margin."
        )
    return decision, " ".join(sentences)


def _requirement_answer(decision: Decision, gate: Gate) -> tuple[Decision, str]:
    """A sentence about the requirements with this decision; empty if there are none."""
    rows = [row for row in gate.requirements if row.decision == decision]
    if not rows:
        return decision, ""
    if decision == "fail":
        return decision, f"The data show that {join_names(_violation(row, gate) for row in rows)}."
    if decision == "pass":
        return decision, f"The data show that the {_bounds_met(rows, gate)}."
    tested = [row for row in rows if row.estimate.interval is not None]
    sentences = []
    if tested:
        sentences.append(f"The data do not show whether the {_bounds_met(tested, gate)}.")
        if more := max(row.n_to_decide or 0 for row in tested):
            sentences.append(f"If the true scores equal the observed ones, {more:,} more questions would show it.")
    if unknown := [_required_name(row, gate) for row in rows if row.estimate.interval is None]:
        sentences.append(f"{_not_estimable('score', unknown)} and cannot be compared with a bound.")
    return decision, " ".join(sentences)


def _bounds_met(rows: Sequence[RequirementRow], gate: Gate) -> str:
    """The statement that the scores of these rows meet their bounds."""
    bounds = [(_required_name(row, gate), f"{_RELATIONS[row.requirement]} {row.bound:g}") for row in rows]
    if len(bounds) == 1:
        name, bound = bounds[0]
        return f"score on {name} is {bound}"
    return f"scores on {join_names(f'{name} ({bound})' for name, bound in bounds)} meet their requirements"


def _not_estimable(what: str, names: Sequence[str]) -> str:
    """The start of a sentence that scores or differences are not estimable."""
    return (
        f"The {what} on {names[0]} is not estimable"
        if len(names) == 1
        else (f"The {what}s on {join_names(names)} are not estimable")
    )


def _violation(row: RequirementRow, gate: Gate) -> str:
    relation = "below" if row.requirement == "at_least" else "above"
    one = row.estimate
    score = format_number(one.value, 4) + ("" if one.interval is None else f", {format_interval(one.interval, 4)}")
    return f"the score on {_required_name(row, gate)} ({score}) is {relation} {row.bound:g}"


def _required_name(row: RequirementRow, gate: Gate) -> str:
    one = row.estimate
    has_namesakes = sum(other.estimate.task == one.task for other in gate.requirements) > 1
    return task_title(one.task, one.metric, one.filter) if has_namesakes else one.task


def _failed(gate: Gate, a: str, b: str) -> str:
    rows = [row for row in gate.rows if row.decision == "fail"]
    worse, others = _by_kind(rows)
    sentences = []
    if worse:
        sentences.append(
            f"{a} is worse than {b} by more than the margin on {join_names(_drop(row, gate) for row in worse)}."
        )
    if others:
        names = join_names(f"{_drop(row, gate)} by more than {row.improve_by:g}" for row in others)
        sentences.append(f"{a} is not better than {b} on {names}.")
    return " ".join(sentences)


def _by_kind(rows: Iterable[GateRow]) -> tuple[list[GateRow], list[GateRow]]:
    """The rows with a margin, and those with a required improvement."""
    kept = list(rows)
    return [row for row in kept if row.improve_by is None], [row for row in kept if row.improve_by is not None]


def _drop(row: GateRow, gate: Gate) -> str:
    difference = row.comparison.difference
    change = "" if difference is None else f" ({difference.value:+.3g}, {format_interval(difference.interval)})"
    return f"{_name(row, gate)}{change}"


def _passed(gate: Gate, a: str, b: str) -> str:
    with_margin, improved = _by_kind(row for row in gate.rows if row.is_needed)
    sentences = []
    if with_margin:
        names = join_names(_name(row, gate) for row in with_margin)
        sentences.append(f"{a} is not worse than {b} by more than the margin on {names}")
    if improved:
        names = join_names(f"{_name(row, gate)} by more than {row.improve_by:g}" for row in improved)
        sentences.append(f"{a} is better than {b} on {names}")
    others = "" if all(row.is_needed for row in gate.rows) else ", and no single task shows such a drop"
    if improved and others:
        others = ", and no other score fails"
    return f"{'. '.join(sentences)}{others}."


def _undecided(gate: Gate, a: str, b: str) -> str:
    open_rows = [row for row in gate.rows if row.is_needed and row.decision == "undecided"]
    if not open_rows:
        return f"no score shows that {a} is worse than {b} by more than the margin."
    rows, improved = _by_kind(row for row in open_rows if row.comparison.difference is not None)
    sentences = _open_margins(rows, gate, a, b) if rows else []
    if improved:
        names = join_names(f"{_name(row, gate)} by more than {row.improve_by:g}" for row in improved)
        start = "The" if sentences else "the"
        sentences.append(f"{start} data do not show whether {a} is better than {b} on {names}.")
        if n := max((row.n_additional_questions or 0 for row in improved), default=0):
            questions = f"{n:,} additional {'question' if n == 1 else 'questions'}"
            sentences.append(f"If the true difference is the observed one, {questions} would decide in 80 % of runs.")
    if unknown := [_name(row, gate) for row in open_rows if row.comparison.difference is None]:
        text = _not_estimable("difference", unknown)
        sentences.append(f"{text if sentences else text[0].lower() + text[1:]}.")
    return " ".join(sentences)


def _open_margins(rows: Sequence[GateRow], gate: Gate, a: str, b: str) -> list[str]:
    names = join_names(_name(row, gate) for row in rows)
    sentences = [f"the data do not show whether {a} is worse than {b} by more than the margin on {names}."]
    if worse := [_name(row, gate) for row in rows if row.comparison.verdict == "worse"]:
        sentences.append(f"{a} is worse on {join_names(worse)}, but possibly by less than the margin.")
    powers = [row.power_to_pass for row in rows if row.power_to_pass is not None]
    if powers:
        sentences.append(f"If {a} were exactly as good as {b}, {percent(min(powers))} of such runs would pass.")
    needed = [
        f"{n:,} additional {noun}{'' if n == 1 else 's'}"
        for noun, numbers in (
            ("question", [row.n_additional_questions for row in rows]),
            ("baseline run", [row.n_additional_runs for row in rows]),
        )
        if (n := max((number or 0 for number in numbers), default=0))
    ]
    if needed:
        sentences.append(f"With {' or '.join(needed)}, 80 % would.")
    elif any(row.std_error_runs is not None for row in rows) and powers and min(powers) < _ENOUGH:
        sentences.append(
            "Neither more questions nor more baseline runs alone would raise this to 80 % with this margin."
        )
    return sentences


_RELATIONS = {"at_least": "at least", "at_most": "at most"}
_REASONS: Mapping[Decision, Callable[[Gate, str, str], str]] = {
    "fail": _failed,
    "pass": _passed,
    "undecided": _undecided,
}


def _name(row: GateRow, gate: Gate) -> str:
    one = row.comparison
    has_namesakes = sum(other.comparison.task == one.task for other in gate.rows) > 1
    return task_title(one.task, one.metric, one.filter) if has_namesakes else one.task


def _requirements_section(gate: Gate, digits: int, answer: str) -> Section:
    rows = [row.estimate for row in gate.requirements]
    signs = {"at_least": "≥", "at_most": "≤"}
    needed = ["-" if row.n_to_decide is None else f"+{row.n_to_decide:,}" for row in gate.requirements]
    columns = [
        Cells("Task", [row.task for row in rows], is_number=False, wraps=True),
        Cells("Metric", [metric_name(row.metric, row.filter) for row in rows], is_number=False),
        Cells("Score", [format_number(row.value, digits) for row in rows]),
        Cells(
            level_header(rows),
            [format_interval(row.interval, digits) for row in rows],
            name="interval",
        ),
        Cells("Required", [f"{signs[row.requirement]} {row.bound:g}" for row in gate.requirements]),
        *count_cells(
            [str(row.n_questions or "-") for row in rows],
            [row.n_clusters for row in rows],
            [row.cluster_key for row in rows],
            spare=1,
        ),
        Cells("N to decide", needed, spare=2, in_paper=False),
        Cells("Decision", [row.decision for row in gate.requirements], is_number=False, styles=_COLOURS),
    ]
    legend = {
        "N to decide": "N to decide: additional questions that decide in 80 % of runs if the true score equals the "
        "observed one.",
        "Decision": _only_uncorrected(gate.requirements, gate, _required_name),
        "": _error_rates(gate, "scores within their bounds", "scores beyond them"),
    }
    return Section(f"Required scores of {rows[0].system}", columns, (), answer, legend)


def _section(gate: Gate, digits: int, answer: str) -> Section:
    rows = [row.comparison for row in gate.rows]
    differences = [row.difference for row in rows]
    drops = ["never" if row.can_fail is False else format_number(row.minimum_failing_drop, 3) for row in gate.rows]
    decisions = [row.decision if row.is_needed else f"({row.decision})" for row in gate.rows]
    margins = [
        f"{row.comparison.margin:g}" if row.improve_by is None else f"> +{row.improve_by:g}" for row in gate.rows
    ]
    columns = [
        Cells("Task", [row.task for row in rows], is_number=False, wraps=True),
        Cells("Metric", [metric_name(row.metric, row.filter) for row in rows], is_number=False),
        Cells("New", [format_number(row.value_a, digits) for row in rows]),
        Cells("Baseline", [format_number(row.value_b, digits) for row in rows]),
        Cells("Change", [format_number(one.value if one else None, digits) for one in differences], spare=2),
        Cells(
            difference_header(rows),
            [format_interval(one.interval if one else None, digits) for one in differences],
            name="interval",
        ),
        Cells("Margin", margins, spare=3),
        *_run_cells(gate, digits),
        *count_cells(
            [str(row.n_matched or "-") for row in rows],
            [row.n_clusters for row in rows],
            [row.cluster_key for row in rows],
        ),
        Cells("Pass rate if equal", [percent(row.power_to_pass) for row in gate.rows], spare=4, in_paper=False),
        Cells("Failing drop", drops, spare=4, in_paper=False),
        Cells("Decision", decisions, is_number=False, styles=_COLOURS),
    ]
    title = f"new: {rows[0].system_a}, baseline: {rows[0].system_b}"
    if_hidden = {"Change": f"{difference_header(rows)}: interval of the change from the baseline."}
    return Section(title, columns, (), answer, _legend(gate), if_hidden=if_hidden)


def _run_cells(gate: Gate, digits: int) -> list[Cells]:
    """Numbers of runs, and the parts of the standard error."""
    if all(row.std_error_runs is None for row in gate.rows):
        return []
    return [
        Cells("Runs", [f"{row.n_new_runs}, {row.n_baseline_runs}" for row in gate.rows], spare=3),
        Cells("SE questions", [format_number(row.std_error_questions, digits) for row in gate.rows], spare=1),
        Cells("SE runs", [format_number(row.std_error_runs, digits) for row in gate.rows], spare=1),
    ]


def _legend(gate: Gate) -> dict[str, str]:
    has_never = any(row.can_fail is False for row in gate.rows)
    never = "; never: even the lowest possible scores would not fail" if has_never else ""
    optional = "" if all(row.is_needed for row in gate.rows) else _OPTIONAL
    return {
        "Pass rate if equal": "Pass rate if equal: share of such runs that would pass if the new system were exactly "
        "as good as the baseline.",
        "Failing drop": f"Failing drop: true drop at which 80 % of such runs would fail{never}.",
        "Margin": "Margin: > +D requires an improvement of more than D, and a score fails if it is shown to be smaller."
        if any(row.improve_by is not None for row in gate.rows)
        else "",
        "Runs": "Runs: numbers of runs of the new system and of the baseline.",
        "SE runs": "SE questions, SE runs: standard error of the change due to the questions and their answers, and "
        "due to differences between whole runs.",
        "Decision": " ".join(filter(None, [optional, _only_uncorrected(gate.rows, gate, _name)])),
        "": _error_rates(gate, *_good_and_bad(gate)),
    }


def _only_uncorrected(rows: Sequence[_Row], gate: Gate, name: Callable[[_Row, Gate], str]) -> str:
    """A sentence on the scores that would fail if they were tested alone; empty if there are none."""
    names = [
        name(row, gate)
        for row in rows
        if row.decision != "fail" and row.unadjusted_p is not None and row.unadjusted_p <= gate.alpha
    ]
    tests = counted(_n_tests(gate), "score")
    return f"Without correction for {tests} by Holm's method, {join_names(names)} would fail." if names else ""


def _n_tests(gate: Gate) -> int:
    """Number of tests that Holm's method corrects for."""
    p_values = [row.adjusted_p for row in gate.rows] + [row.adjusted_p for row in gate.requirements]
    return sum(p is not None for p in p_values)


def _good_and_bad(gate: Gate) -> tuple[str, str]:
    """Words for the systems that should pass, and for those that should fail."""
    with_margin, improved = _by_kind(gate.rows)
    if not improved:
        return "equally good systems", "systems worse than the margin"
    return (
        ("systems that meet all requirements", "systems that violate one")
        if with_margin
        else ("systems with the required improvement", "systems without it")
    )


def _error_rates(gate: Gate, good: str, bad: str) -> str:
    k = _n_tests(gate)
    rate = f"{100 * gate.alpha:.3g} %"
    corrected = f" (corrected for {counted(k, 'score')} by Holm's method)" if k > 1 else ""
    return f"At most {rate} of {good} fail{corrected}, and at most {rate} of {bad} pass."


KIND = ResultKind(Gate, gates_document)
