"""Gates and their self-tests as text, Markdown and JSON."""

from collections.abc import Mapping, Sequence
from typing import Literal

from harness_uq.plots.rows import counted, task_title
from harness_uq.report.attribution import footnotes
from harness_uq.report.cells import Section, counts_of, document_json, sections_markdown, sections_text
from harness_uq.report.columns import interval, number
from harness_uq.report.page import Cells
from harness_uq.report.words import difference_header, named
from harness_uq.results.gate import Gate, GateRow, SelfTest

Format = Literal["table", "json", "markdown"]

_COLOURS = {"pass": "green", "fail": "red", "undecided": "yellow"}
_KINDS = {
    "runs": "pairs of whole runs",
    "epochs": "trials of each question on two sides",
    "halves": "halves of the questions, or of their clusters",
}


def gate_as(found: Gate, form: Format, *, errors: Sequence[Mapping[str, str]] = (), width: int | None = None) -> str:
    """A gate in the form asked for.

    Parameters
    ----------
    form : `table` for a terminal, `markdown`, or `json` (schema 1, `{"schema": 1, "gates": [...], "errors": [...]}`)
    errors : paths that could not be read, for the JSON form
    width : characters a line of the terminal form
    """
    if form == "json":
        return document_json("gates", [found.to_dict()], errors)
    section, notes = _section(found), footnotes([row.comparison for row in found.rows])
    return sections_markdown([section], notes) if form == "markdown" else sections_text([section], notes, width)


def gate_answer(found: Gate) -> str:
    """What the gate comes to, and why."""
    a, b = found.rows[0].comparison.system_a, found.rows[0].comparison.system_b
    said = [f"{found.decision.upper()}: {_REASONS[found.decision](found, a, b)}"]
    if found.missing:
        lacking = [task_title(*key) for key in found.missing]
        said.append(f"{a} has no score of {named(lacking)}, which {b} has.")
    if same := found.rows[0].comparison.same:
        said.append(same)
    if not found.can_fail:
        said.append(
            f"This gate cannot fail: the questions are so few that even the worst scores possible would not show {a} "
            "to be worse by more than the margin."
        )
    return " ".join(said)


def _failed(found: Gate, a: str, b: str) -> str:
    rows = [row for row in found.rows if row.decision == "fail"]
    return f"{a} is worse than {b} by more than the margin on {named(_drop(row, found) for row in rows)}."


def _drop(row: GateRow, found: Gate) -> str:
    difference = row.comparison.difference
    change = "" if difference is None else f" ({difference.value:+.3g}, {interval(difference.interval)})"
    return f"{_name(row, found)}{change}"


def _passed(found: Gate, a: str, b: str) -> str:
    needed = named(_name(row, found) for row in found.rows if row.is_needed)
    others = "" if all(row.is_needed for row in found.rows) else ", and shown to be so on no single task"
    return f"{a} is not worse than {b} by more than the margin on {needed}{others}."


def _undecided(found: Gate, a: str, b: str) -> str:
    rows = [row for row in found.rows if row.is_needed and row.decision == "undecided"]
    if not rows:
        return f"{a} is shown to be worse than {b} by more than the margin on no score."
    said = [f"these data do not show whether {a} is worse than {b} by more than the margin on {_list(rows, found)}."]
    if worse := [row for row in rows if row.comparison.verdict == "worse"]:
        said.append(f"It is shown to be worse on {_list(worse, found)}, by how much is open.")
    powers = [row.pass_power for row in rows if row.pass_power is not None]
    if powers:
        said.append(f"A system as good as {b} would pass there in {_hundredths(min(powers))} of 100 such runs.")
    if more := max((row.n_more_questions or 0 for row in rows), default=0):
        said.append(f"{more:,} more questions of the same make-up would make that 80.")
    return " ".join(said)


_REASONS = {"fail": _failed, "pass": _passed, "undecided": _undecided}


def _list(rows: Sequence[GateRow], found: Gate) -> str:
    return named(_name(row, found) for row in rows)


def _name(row: GateRow, found: Gate) -> str:
    one = row.comparison
    alike = sum(other.comparison.task == one.task for other in found.rows) > 1
    return task_title(one.task, one.metric, one.filter) if alike else one.task


def _hundredths(share: float) -> str:
    return f"{min(max(round(100 * share), 0), 100)}"


def _section(found: Gate) -> Section:
    rows = [row.comparison for row in found.rows]
    columns = [
        Cells("Task", [row.task for row in rows], is_number=False),
        Cells("Metric", [task_title("", row.metric, row.filter).removeprefix(", ") for row in rows], is_number=False),
        Cells("New", [number(row.value_a) for row in rows], spare=2),
        Cells("Baseline", [number(row.value_b) for row in rows], spare=2),
        Cells("Change", [number(row.difference.value if row.difference else None) for row in rows]),
        Cells(difference_header(rows), [interval(row.difference.interval if row.difference else None) for row in rows]),
        Cells("Margin", [f"{row.margin:g}" for row in rows], spare=1),
        *counts_of(
            [str(row.n_matched or "-") for row in rows],
            [row.n_clusters for row in rows],
            [row.cluster_key for row in rows],
        ),
        Cells("Equals pass", [_percent(row.pass_power) for row in found.rows], spare=3),
        Cells("Fails at", [_fails_at(row) for row in found.rows], spare=3),
        Cells("Decision", [_decision(row) for row in found.rows], is_number=False, styles=_COLOURS),
    ]
    title = f"new: {rows[0].system_a}   baseline: {rows[0].system_b}"
    return Section(title, columns, (), gate_answer(found), _legend(found))


_ALONE = "In parentheses: of a task by itself, which may fail the gate and is not asked to pass."


def _legend(found: Gate) -> dict[str, str]:
    k = sum(row.adjusted_p is not None for row in found.rows)
    rate = f"{100 * found.alpha:.3g} %"
    over = f", over {counted(k, 'score')} by Holm's procedure" if k > 1 else ""
    never = "; never: not even the worst scores would" if any(row.can_fail is False for row in found.rows) else ""
    return {
        "Equals pass": "Equals pass: in how many of 100 such runs a system as good as the baseline would pass.",
        "Decision": "" if all(row.is_needed for row in found.rows) else _ALONE,
        "Fails at": f"Fails at: drop that would fail in 80 of 100 such runs{never}.",
        "": f"Of systems not worse by more than the margin at most {rate} fail{over}, of others at most {rate} pass.",
    }


def _decision(row: GateRow) -> str:
    return row.decision if row.is_needed else f"({row.decision})"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{_hundredths(share)} %"


def _fails_at(row: GateRow) -> str:
    return "never" if row.can_fail is False else number(row.failing_drop, 3)


def self_test_as(found: SelfTest, form: Format, *, errors: Sequence[Mapping[str, str]] = ()) -> str:
    """A self-test in the form asked for; JSON under `self_tests`."""
    if form == "json":
        return document_json("self_tests", [found.to_dict()], errors)
    kept = "the gate keeps its promise" if found.is_kept else "THE GATE FAILS EQUALS TOO OFTEN on these logs"
    undecided = found.n - found.n_failed - found.n_passed
    low, high, level = (f"{100 * x:.3g}" for x in (found.rate.low, found.rate.high, found.rate.level))
    none = " No equal passed: at this margin such logs fail or leave it undecided." if not found.n_passed else ""
    text = (
        f"Self-test: {named(found.systems)} against {'themselves' if len(found.systems) > 1 else 'itself'}, "
        f"{counted(found.n, 'gate')} ({_KINDS[found.kind]}): {found.n_failed} failed, {found.n_passed} passed, "
        f"{undecided} undecided.\n"
        f"False failures: {100 * found.n_failed / found.n:.3g} %, {level} % interval [{low}, {high}] %; "
        f"promised: at most {100 * found.alpha:.3g} %. So {kept}.{none}"
    )
    return text.replace("\n", "\n\n") if form == "markdown" else text
