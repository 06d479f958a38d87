"""Decisions whether a new system passes against a baseline, what broke, and the self-test of the decision."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeVar

from harness_uq.messages import HasMessages, Message
from harness_uq.messages.errors import DataError
from harness_uq.output.declared import INLINE, Declared
from harness_uq.output.document import Column, GateCase, GateCases, Kind, Section, question_columns, table
from harness_uq.output.figures.forest import plot_difference
from harness_uq.output.table_notes import footnotes, message_lists, totals_sentence
from harness_uq.output.words import (
    count,
    count_of,
    counted,
    decisive_interval,
    further,
    interval,
    join_names,
    listed,
    metric_name,
    number,
    percent,
    task_title,
    three_decimals,
)
from harness_uq.results.comparison import Comparison, Verdict, difference_header
from harness_uq.results.estimate import Estimate, Interval, level_header
from harness_uq.results.history import FlakyQuestion

Decision = Literal["pass", "fail", "undecided"]
RequirementKind = Literal["at_least", "at_most"]

_ENOUGH = 0.8
_OPTIONAL = "Scores with a decision in parentheses can fail the gate, but do not have to pass."
_COLOURS = {"pass": "green", "fail": "red", "undecided": "yellow"}
_RELATIONS = {"at_least": "at least", "at_most": "at most"}
_SIGNS = {"at_least": "≥", "at_most": "≤"}
_MOST_QUESTIONS, _MOST_NAMED, _MOST_TASKS = 10, 5, 3


@dataclass(frozen=True, slots=True)
class FlippedQuestion(Declared):
    """A question that the new system answers worse or better than the baseline.

    `share_new`, `share_baseline`: mean scores, which are shares of right answers if higher values are better; that of
    the baseline includes its history. `probability`: posterior probability that its probability of a right answer
    changed; None if the baseline, with its history, has one answer to each question.
    """

    question: str
    share_new: float
    share_baseline: float
    probability: float | None


@dataclass(frozen=True, slots=True)
class FlippedQuestions(Declared):
    """Questions of one score whose answers changed.

    `n_worse`, `n_better`: numbers of questions that the new system answers worse or better, without flaky ones.
    `n_flaky`: number of questions to which identical runs of the baseline often give different answers. `worse`,
    `better`: these questions, with the strongest evidence first. `flaky`: the flakiest questions first; empty if the
    baseline, with its history, has one answer to each question.
    """

    task: str
    metric: str
    filter: str
    n_worse: int
    n_better: int
    n_flaky: int
    worse: tuple[FlippedQuestion, ...]
    better: tuple[FlippedQuestion, ...]
    flaky: tuple[FlakyQuestion, ...]


@dataclass(frozen=True, slots=True)
class GateRow(Declared):
    """Decision on one score.

    - `comparison`: comparison of the new system (A) with the baseline (B), with the margin of this score.
    - `decision`: `fail` if the new system is worse than the baseline by more than the margin; `pass` if it is not worse
      by more than the margin; `undecided` if neither can be concluded. It follows from the interval of the row.
    - `decision_corrected`: the same with correction for the number of scores, which decides about the gate.
    - `is_needed`: whether the gate passes only if this row passes.
    - `adjusted_p`: p-value, adjusted by Holm's method over all rows, of the hypothesis that the new system is not worse
      than the baseline by more than the margin.
    - `unadjusted_p`: the same without the adjustment.
    - `power_to_pass`: probability that a system as good as the baseline would pass; None if unknown.
    - `minimum_failing_drop`: drop below the baseline that would fail with 80 % power; None if unknown.
    - `n_additional_questions`: number of further questions with which a system as good as the baseline would pass with
      80 % probability; None if the row is decided, or if the number is unknown.
    - `can_fail`: whether the worst possible scores would fail; None if the range of the scores is unknown.
    - `improve_by`: required improvement, if the new system must be better than the baseline. `decision` is then `pass`
      if it is better by more, and `fail` if it is better by less or worse; None if it must not be worse by more than
      the margin.
    - `n_new_runs`, `n_baseline_runs`: numbers of runs of the new system and of the baseline, whose variation is part of
      the decision if either is larger than 1.
    - `std_error_questions`, `std_error_runs`: standard error of the difference due to the questions and their answers,
      and due to differences between whole runs; None if each system has one run.
    - `n_additional_runs`: number of further runs of the baseline with which a system as good as the baseline would pass
      with 80 % probability; None if none are necessary, or if the number is unknown.
    """

    comparison: Comparison = field(metadata=INLINE)
    decision: Decision
    decision_corrected: Decision
    is_needed: bool
    adjusted_p: float | None = None
    unadjusted_p: float | None = None
    power_to_pass: float | None = None
    minimum_failing_drop: float | None = None
    n_additional_questions: int | None = None
    can_fail: bool | None = None
    improve_by: float | None = None
    n_new_runs: int = 1
    n_baseline_runs: int = 1
    std_error_questions: float | None = None
    std_error_runs: float | None = None
    n_additional_runs: int | None = None


@dataclass(frozen=True, slots=True)
class RequirementRow(Declared):
    """Decision on a required bound of one score.

    `requirement`: `at_least` or `at_most`. `bound`: smallest or largest score that meets it. `decision`: `pass` if the
    data show that the requirement is met, `fail` if they show that it is violated; `undecided` if neither can be
    concluded. `decision_corrected`: the same with correction for the number of tests, which decides about the gate.
    `p_met`: p-value of the hypothesis that the requirement is violated. `adjusted_p`: p-value of the hypothesis that
    the requirement is met, adjusted by Holm's method over all tests. `unadjusted_p`: the same without the adjustment.
    `n_to_decide`: number of further questions with which a true score equal to the observed one would be decided with
    80 % probability; None if it is unknown. `posterior_interval`: interval of the posterior, if that of the estimate is
    the exact one of the test.
    """

    estimate: Estimate = field(metadata=INLINE)
    requirement: RequirementKind
    bound: float
    decision: Decision
    decision_corrected: Decision
    p_met: float | None = None
    adjusted_p: float | None = None
    unadjusted_p: float | None = None
    n_to_decide: int | None = None
    posterior_interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class ScoreName:
    """The task, metric and filter of a score."""

    task: str
    metric: str
    filter: str


@dataclass(frozen=True, slots=True)
class Gate(Declared, HasMessages):
    """Decision of a gate over all scores.

    Attributes
    ----------
    decision : `fail` if any row or requirement fails; `pass` if every required row and every requirement passes and no
        task is missing
    alpha : upper bound of the error rates: of a failure if no score is worse by more than its margin, and of a pass if
        a required score is
    rows : one row per score that is compared with the baseline; empty without a baseline
    requirements : one row per score with a required bound
    missing : task, metric and filter of scores of the baseline that the new runs lack
    flipped : questions whose answers changed, for each score of right and wrong answers
    on_undecided : what an undecided gate counts as; None if it is neither a pass nor a failure
    messages : notes and warnings
    """

    json_properties: ClassVar = ("can_fail", "outcome")
    record_rows: ClassVar = "rows"
    not_in_records: ClassVar = ("requirements", "flipped")
    record_prefix: ClassVar = "gate_"

    decision: Decision
    alpha: float
    rows: tuple[GateRow, ...]
    missing: tuple[ScoreName, ...] = ()
    requirements: tuple[RequirementRow, ...] = ()
    flipped: tuple[FlippedQuestions, ...] = ()
    on_undecided: Literal["pass", "fail"] | None = None
    messages: tuple[Message, ...] = ()

    @property
    def outcome(self) -> Decision:
        """The decision, or what an undecided gate counts as; the exit code follows from it."""
        return self.on_undecided or "undecided" if self.decision == "undecided" else self.decision

    @property
    def can_fail(self) -> bool:
        """Whether any score could have failed; True if this is unknown."""
        return bool(self.requirements) or any(row.can_fail is not False for row in self.rows)


@dataclass(frozen=True, slots=True)
class SelfTest(Declared):
    """How often a gate fails a system that is compared with itself.

    `kind`: how the data of one system are divided into two sides: `runs`, `epochs` or `halves`. `n`, `n_failed`,
    `n_passed`: numbers of simulated gates, of failed gates and of passed gates. `interval`: Clopper-Pearson interval of
    the failure rate. `alpha`: nominal failure rate. `systems`: systems whose logs were used.
    """

    json_properties: ClassVar = ("rate",)

    kind: str
    n: int
    n_failed: int
    n_passed: int
    interval: Interval
    alpha: float
    systems: tuple[str, ...]

    @property
    def rate(self) -> float:
        """Share of the gates that failed."""
        return self.n_failed / self.n

    @property
    def is_within_alpha(self) -> bool:
        """Whether the interval of the failure rate is compatible with a rate of at most alpha."""
        return self.interval.low <= self.alpha


_Row = TypeVar("_Row", GateRow, RequirementRow)


def gate_answer(gate: Gate) -> str:
    """The decision of the gate and its reason, as sentences; those that explain the decision come first."""
    parts = [_comparison_answer(gate)] if gate.rows else []
    parts += [_requirement_answer(decision, gate) for decision in _REASONS]
    explained = sorted((part for part in parts if part[1]), key=lambda part: part[0] != gate.decision)
    decision = gate.decision.upper() + (_counts_as(gate) if gate.decision == "undecided" else "")
    return f"{decision}: {' '.join(text for _, text in explained)}"


def _counts_as(gate: Gate) -> str:
    """What an undecided test or gate counts as, as the end of a phrase; empty if it is neither a pass nor a failure."""
    if gate.on_undecided is None:
        return ""
    noun = "pass" if gate.on_undecided == "pass" else "failure"
    return f", counts as a {noun} (--on-undecided {gate.on_undecided})"


def _comparison_answer(gate: Gate) -> tuple[Decision, str]:
    """The decision on the comparisons alone, and its reason."""
    decisions = [row.decision_corrected for row in gate.rows]
    needed = [row.decision_corrected for row in gate.rows if row.is_needed]
    is_passed = not gate.missing and all(one == "pass" for one in needed)
    decision: Decision = "fail" if "fail" in decisions else "pass" if is_passed else "undecided"
    a, b = gate.rows[0].comparison.system_a, gate.rows[0].comparison.system_b
    note = gate.rows[0].comparison.identical_runs_note
    reason = note if note and decision == "undecided" else _REASONS[decision](gate, a, b)
    sentences = [reason, _only_uncorrected(gate.rows, gate, _name)]
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
    return decision, " ".join(filter(None, sentences))


def _requirement_answer(decision: Decision, gate: Gate) -> tuple[Decision, str]:
    """A sentence about the requirements with this decision; empty if there are none."""
    rows = [row for row in gate.requirements if row.decision_corrected == decision]
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
    sentences.append(_only_uncorrected(rows, gate, _required_name))
    return decision, " ".join(filter(None, sentences))


def _bounds_met(rows: Sequence[RequirementRow], gate: Gate) -> str:
    """The statement that the scores of these rows meet their bounds."""
    bounds = [(_required_name(row, gate), f"{_RELATIONS[row.requirement]} {row.bound:g}") for row in rows]
    if len(bounds) == 1:
        name, bound = bounds[0]
        return f"score on {name} is {bound}"
    return f"scores on {join_names(f'{name} ({bound})' for name, bound in bounds)} meet their requirements"


def _not_estimable(what: str, names: Sequence[str]) -> str:
    """The start of a sentence that scores or differences are not estimable."""
    if len(names) == 1:
        return f"The {what} on {names[0]} is not estimable"
    return f"The {what}s on {join_names(names)} are not estimable"


def _violation(row: RequirementRow, gate: Gate) -> str:
    relation = "below" if row.requirement == "at_least" else "above"
    one = row.estimate
    score = number(one.value, 4) + ("" if one.interval is None else f", {interval(one.interval, 4)}")
    return f"the score on {_required_name(row, gate)} ({score}) is {relation} {row.bound:g}"


def _required_name(row: RequirementRow, gate: Gate) -> str:
    one = row.estimate
    has_namesakes = sum(other.estimate.task == one.task for other in gate.requirements) > 1
    return task_title(one.task, one.metric, one.filter) if has_namesakes else one.task


def _failed(gate: Gate, a: str, b: str) -> str:
    rows = [row for row in gate.rows if row.decision_corrected == "fail"]
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
    change = "" if difference is None else f" ({difference.value:+.3g}, {interval(difference.interval)})"
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
    optional = ", and no other score fails" if improved else ", and no single task shows such a drop"
    others = "" if all(row.is_needed for row in gate.rows) else optional
    return f"{'. '.join(sentences)}{others}."


def _undecided(gate: Gate, a: str, b: str) -> str:
    open_rows = [row for row in gate.rows if row.is_needed and row.decision_corrected == "undecided"]
    if not open_rows:
        return f"no score shows that {a} is worse than {b} by more than the margin."
    rows, improved = _by_kind(row for row in open_rows if row.comparison.difference is not None)
    sentences = _open_margins(rows, gate, a, b) if rows else []
    if improved:
        names = join_names(f"{_name(row, gate)} by more than {row.improve_by:g}" for row in improved)
        start = "The" if sentences else "the"
        sentences.append(f"{start} data do not show whether {a} is better than {b} on {names}.")
        if n := max((row.n_additional_questions or 0 for row in improved), default=0):
            questions = count_of(n, "additional question")
            sentences.append(f"If the true difference is the observed one, {questions} would decide in 80 % of runs.")
    if unknown := [_name(row, gate) for row in open_rows if row.comparison.difference is None]:
        text = _not_estimable("difference", unknown)
        sentences.append(f"{text if sentences else text[0].lower() + text[1:]}.")
    return " ".join(sentences)


def _open_margins(rows: Sequence[GateRow], gate: Gate, a: str, b: str) -> list[str]:
    names = join_names(_name(row, gate) for row in rows)
    sentences = [f"the data do not show whether {a} is worse than {b} by more than the margin on {names}."]
    is_open = (row for row in rows if row.comparison.verdict == "worse" and row.decision != "fail")
    if worse := [_name(row, gate) for row in is_open]:
        sentences.append(f"{a} is worse on {join_names(worse)}, but possibly by less than the margin.")
    powers = [row.power_to_pass for row in rows if row.power_to_pass is not None]
    if powers:
        sentences.append(f"If {a} were exactly as good as {b}, {percent(min(powers))} of such runs would pass.")
    needed = [
        count_of(n, f"additional {noun}")
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


_REASONS: Mapping[Decision, Callable[[Gate, str, str], str]] = {
    "fail": _failed,
    "pass": _passed,
    "undecided": _undecided,
}


def _name(row: GateRow, gate: Gate) -> str:
    one = row.comparison
    has_namesakes = sum(other.comparison.task == one.task for other in gate.rows) > 1
    return task_title(one.task, one.metric, one.filter) if has_namesakes else one.task


def _sections(gates: Sequence[Gate], digits: int) -> Iterator[Section]:
    """For each gate, a table of the compared scores, one of the scores with a required bound, and what broke."""
    for gate in gates:
        yield Section("", answer=gate_answer(gate))
        if gate.rows:
            yield _compared_scores(gate, digits)
        if gate.requirements:
            yield _required_scores(gate, digits)
        yield from _broken_questions(gate)


def _footnotes(gates: Sequence[Gate]) -> dict[str, list[str]]:
    compared: list[Any] = [row.comparison for gate in gates for row in gate.rows]
    notes = footnotes([*compared, *(row.estimate for gate in gates for row in gate.requirements)])
    return {heading: [*notes[heading], *texts] for heading, texts in message_lists(gates).items()}


def _metric_column(part: str) -> Column:
    return Column(
        "Metric", lambda row: metric_name(getattr(row, part).metric, getattr(row, part).filter), spare=1, in_title=True
    )


def _required_scores(gate: Gate, digits: int) -> Section:
    rows = [row.estimate for row in gate.requirements]
    columns = [
        Column("Task", "estimate.task", wraps=True),
        _metric_column("estimate"),
        Column("Score", "estimate.value", number),
        Column(
            level_header(rows),
            lambda row: row,
            lambda row, digits: decisive_interval(row.estimate.interval, (row.bound,), digits),
            name="interval",
        ),
        Column("Required", lambda row: f"{_SIGNS[row.requirement]} {row.bound:g}", is_number=True),
        *question_columns(gate.requirements, "estimate.n_questions", count, spare=1, part=lambda row: row.estimate),
        Column("N to decide", "n_to_decide", further, spare=2, in_paper=False),
        Column("Decision", "decision", styles=_COLOURS),
    ]
    legend = {
        "N to decide": "N to decide: additional questions that decide in 80 % of runs if the true score equals the "
        "observed one.",
        "": f"{_of_tests(level_header(rows), [row.posterior_interval for row in gate.requirements])}"
        f"{_error_rates(gate, 'scores within their bounds', 'scores beyond them')}",
    }
    title = f"Required scores of {rows[0].system}"
    return table(title, columns, gate.requirements, digits, legend=legend)


def _compared_scores(gate: Gate, digits: int) -> Section:
    rows = [row.comparison for row in gate.rows]
    header = difference_header(rows)
    columns = [
        Column("Task", "comparison.task", wraps=True),
        _metric_column("comparison"),
        Column("New", "comparison.value_a", number, spare=2),
        Column("Baseline", "comparison.value_b", number, spare=2),
        Column("Change", "comparison.difference.value", number, spare=1),
        Column(header, lambda row: row, _tested_interval, "interval"),
        Column("Margin", _margin, is_number=True, spare=1),
        *(_RUN_COLUMNS if any(row.std_error_runs is not None for row in gate.rows) else ()),
        *question_columns(gate.rows, "comparison.n_matched", count, spare=3, part=lambda row: row.comparison),
        Column("Pass rate if equal", "power_to_pass", percent, spare=4, in_paper=False),
        Column("Failing drop", _failing_drop, is_number=True, spare=4, in_paper=False),
        Column("Decision", lambda row: row.decision if row.is_needed else f"({row.decision})", styles=_COLOURS),
    ]
    title = f"new: {rows[0].system_a}, baseline: {rows[0].system_b}"
    legend = _legend(gate)
    legend[""] = f"{_of_tests(header, [row.posterior_interval for row in rows])}{legend['']}"
    if_hidden = {"Change": f"{header}: interval of the change from the baseline."}
    return table(title, columns, gate.rows, digits, legend=legend, if_hidden=if_hidden)


_RUN_COLUMNS = (
    Column("Runs", lambda row: f"{row.n_new_runs}, {row.n_baseline_runs}", is_number=True, spare=3),
    Column("SE questions", "std_error_questions", number, spare=3),
    Column("SE runs", "std_error_runs", number, spare=3),
)


def _of_tests(header: str, posteriors: Sequence[Interval | None]) -> str:
    """What intervals of other tests than those of posteriors mean, if there are any."""
    return f"{header}: what the test does not reject. " if any(posteriors) else ""


def _tested_interval(row: GateRow, digits: int) -> str:
    """The interval with as many decimals as its position relative to the margin needs."""
    one = row.comparison
    bound = -one.margin if row.improve_by is None else row.improve_by
    ends = None if one.difference is None else one.difference.interval
    return decisive_interval(ends, (bound if one.higher_is_better else -bound,), digits)


def _margin(row: GateRow) -> str:
    return f"{row.comparison.margin:g}" if row.improve_by is None else f"> +{row.improve_by:g}"


def _failing_drop(row: GateRow) -> str:
    return "never" if row.can_fail is False else number(row.minimum_failing_drop, 3)


def _legend(gate: Gate) -> dict[str, str]:
    can_fail = all(row.can_fail is not False for row in gate.rows)
    never = "" if can_fail else "; never: even the lowest possible scores would not fail"
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
        "": " ".join(filter(None, [optional, _error_rates(gate, *_good_and_bad(gate))])),
    }


def _only_uncorrected(rows: Sequence[_Row], gate: Gate, name: Callable[[_Row, Gate], str]) -> str:
    """A sentence on the scores that fail alone, but not after correction; empty if there are none."""
    names = [name(row, gate) for row in rows if row.decision == "fail" != row.decision_corrected]
    if not names:
        return ""
    scores, are = counted(_n_tests(gate), "score"), "is" if len(names) == 1 else "are"
    return f"{listed(names)} would fail alone, but {are} undecided after correction for {scores}."


def _n_tests(gate: Gate) -> int:
    """Number of tests that Holm's method corrects for."""
    p_values = [row.adjusted_p for row in gate.rows] + [row.adjusted_p for row in gate.requirements]
    return sum(p is not None for p in p_values)


def _good_and_bad(gate: Gate) -> tuple[str, str]:
    """Words for the systems that should pass, and for those that should fail."""
    with_margin, improved = _by_kind(gate.rows)
    if not improved:
        return "equally good systems", "systems worse than the margin"
    if with_margin:
        return "systems that meet all requirements", "systems that violate one"
    return "systems with the required improvement", "systems without it"


def _error_rates(gate: Gate, good: str, bad: str) -> str:
    k = _n_tests(gate)
    rate = f"{100 * gate.alpha:.3g} %"
    corrected = f" (corrected for {counted(k, 'score')} by Holm's method)" if k > 1 else ""
    return f"At most {rate} of {good} fail{corrected}, and at most {rate} of {bad} pass."


def _broken_questions(gate: Gate) -> Iterator[Section]:
    """Questions of the tasks that fail; if only the overall score fails, of all tasks."""
    failed = {(row.comparison.task, row.comparison.metric) for row in gate.rows if row.decision_corrected == "fail"}
    of_tasks = [one for one in gate.flipped if (one.task, one.metric) in failed]
    shown = of_tasks or [one for one in gate.flipped if ("overall", one.metric) in failed]
    worst = sorted((one for one in shown if one.n_worse), key=lambda one: one.n_better - one.n_worse)
    if unknown := [one for one in worst if one.worse[0].probability is None]:
        yield _named(unknown)
    for one in [one for one in worst if one.worse[0].probability is not None][:_MOST_TASKS]:
        yield _worse(one, task_title(one.task, one.metric, one.filter))
        if one.flaky:
            yield _flaky(one, task_title(one.task, one.metric, one.filter))


_NAMED = (
    Column("Task", "task", wraps=True),
    Column("Metric", lambda one: metric_name(one.metric, one.filter)),
    Column("Worse", "n_worse", is_number=True),
    Column("Better", "n_better", is_number=True),
    Column("Questions that are worse", lambda one: _first_questions(one), wraps=True),
)
_WORSE = (
    Column("Question", "question", wraps=True),
    Column("Baseline", "share_baseline", percent),
    Column("New", "share_new", percent),
    Column("P(changed)", "probability", three_decimals),
)
_FLAKY = (
    Column("Question", "question", wraps=True),
    Column("Right", "share", percent),
    Column("Flakiness", "flakiness", three_decimals),
)


def _first_questions(one: FlippedQuestions) -> str:
    names = ", ".join(row.question for row in one.worse[:_MOST_NAMED])
    return names + (f" and {one.n_worse - _MOST_NAMED} more" if one.n_worse > _MOST_NAMED else "")


def _named(tasks: Sequence[FlippedQuestions]) -> Section:
    """One table of all tasks, whose questions have one answer of the baseline each."""
    legend = (
        "Several baseline runs, or further runs (`--history`), separate regressions from questions whose answers vary "
        "between identical runs."
    )
    return table("What broke", _NAMED, tasks, 4, legend={"": legend}, is_optional=True)


def _worse(one: FlippedQuestions, name: str) -> Section:
    legend = {"": "P(changed): posterior probability that the question's probability of a right answer changed."}
    title = (
        f"What broke on {name}: {counted(one.n_worse, 'question')} worse{_first(one.n_worse)} ({one.n_better} better)"
    )
    return table(title, _WORSE, one.worse[:_MOST_QUESTIONS], 4, legend=legend, is_optional=True)


def _flaky(one: FlippedQuestions, name: str) -> Section:
    legend = {"": "Flakiness: probability that two runs of the baseline answer differently, at most 0.5."}
    title = f"{counted(one.n_flaky, 'flaky question')} of {name}{_first(one.n_flaky)}"
    return table(title, _FLAKY, one.flaky[:_MOST_QUESTIONS], 4, legend=legend, is_optional=True)


def _first(n: int) -> str:
    return f", the first {_MOST_QUESTIONS}" if n > _MOST_QUESTIONS else ""


def gate_cases(gate: Gate, digits: int) -> GateCases:
    """Every comparison, required bound and missing score, and the decision."""
    return GateCases(gate_answer(gate), [*_compared(gate, digits), *_required(gate, digits), *_missing(gate)])


def _compared(gate: Gate, digits: int) -> Iterator[GateCase]:
    for row in gate.rows:
        one = row.comparison
        bound = one.margin if row.improve_by is None else row.improve_by
        relation = f"{'not worse' if row.improve_by is None else 'better'} by more than {bound:g}"
        name = f"{metric_name(one.metric, one.filter)} {relation}"
        sides = ((one.system_a, one.value_a), (one.system_b, one.value_b))
        values = ", ".join(f"{system}: {number(value, digits)}" for system, value in sides)
        difference = "not estimable"
        if one.difference is not None:
            difference = f"{number(one.difference.value, digits)} {interval(one.difference.interval, digits)}"
        text = f"{values}, difference: {difference}{_broken(gate, row) if row.decision_corrected == 'fail' else ''}"
        yield _case(gate, (one.task, name), row.decision_corrected, text, is_needed=row.is_needed)


def _broken(gate: Gate, row: GateRow) -> str:
    """The questions that broke, in a sentence."""
    one = row.comparison
    flipped = next((each for each in gate.flipped if (each.task, each.metric, each.filter) == one.key), None)
    if flipped is None or not flipped.worse:
        return ""
    return f". Questions that are worse: {_first_questions(flipped)}"


def _required(gate: Gate, digits: int) -> Iterator[GateCase]:
    for row in gate.requirements:
        one = row.estimate
        name = f"{metric_name(one.metric, one.filter)} {_RELATIONS[row.requirement]} {row.bound:g}"
        text = f"{one.system}: {number(one.value, digits)} {interval(one.interval, digits)}"
        yield _case(gate, (one.task, name), row.decision_corrected, text)


def _missing(gate: Gate) -> Iterator[GateCase]:
    for one in gate.missing:
        text = "The new runs have no score, but the baseline has one."
        yield _case(gate, (one.task, f"{metric_name(one.metric, one.filter)} present"), "undecided", text)


def _case(gate: Gate, names: tuple[str, str], decision: Decision, text: str, *, is_needed: bool = True) -> GateCase:
    """A test. If it is undecided, its outcome is `error`, unless an undecided gate counts as something, or `skipped` if
    the gate does not need it.
    """
    if decision != "undecided":
        return GateCase(*names, decision, text, is_needed)
    if not is_needed:
        return GateCase(*names, "skipped", f"undecided, and not necessary for a pass: {text}", is_needed)
    outcomes: Mapping[str | None, Literal["fail", "error", "skipped"]]
    outcomes = {"pass": "skipped", "fail": "fail", None: "error"}
    return GateCase(*names, outcomes[gate.on_undecided], f"undecided{_counts_as(gate)}: {text}")


_SELF_TESTS = {
    "runs": "pairs of whole runs",
    "epochs": "trials of each question on two sides",
    "halves": "halves of the questions, or of their clusters",
}


def _self_tests(tests: Sequence[SelfTest], digits: int) -> Iterator[Section]:
    for test in tests:
        columns = [
            Column("Gates", "n", is_number=True),
            Column("Failed", "n_failed", is_number=True),
            Column("Passed", "n_passed", is_number=True),
            Column("Undecided", lambda one: one.n - one.n_failed - one.n_passed, is_number=True),
            Column("False failures", lambda one: f"{100 * one.rate:.3g} %", is_number=True),
            Column(f"{100 * test.interval.level:.3g}% interval", _failure_rates, name="interval", is_number=True),
            Column("Nominal rate", lambda one: f"at most {100 * one.alpha:.3g} %", is_number=True),
        ]
        against = "themselves" if len(test.systems) > 1 else "itself"
        gates = f"{counted(test.n, 'gate')} ({_SELF_TESTS[test.kind]})"
        title = f"Self-test of {join_names(test.systems)} against {against}: {gates}"
        yield table(title, columns, [test], digits, answer=_self_test_answer(test))


def _failure_rates(test: SelfTest) -> str:
    return f"[{100 * test.interval.low:.3g}, {100 * test.interval.high:.3g}] %"


def _self_test_answer(test: SelfTest) -> str:
    nominal = f"{100 * test.alpha:.3g} %"
    if test.is_within_alpha:
        sentences = [f"The rate of false failures is consistent with the nominal rate of at most {nominal}."]
    else:
        sentences = [f"On these logs the gate fails equal systems more often than the nominal rate of {nominal}."]
    if not test.n_passed:
        sentences.append("No equal system passed: at this margin such logs fail or remain undecided.")
    return " ".join(sentences)


def _figure(gates: Sequence[Gate], **options: Any) -> Any:
    """The differences with the decision of the gate as their verdict: white scores are those undecided."""
    verdicts: dict[Decision, Verdict] = {"pass": "equivalent", "fail": "worse", "undecided": "undecided"}
    rows = [replace(row.comparison, verdict=verdicts[row.decision]) for gate in gates for row in gate.rows]
    if not rows:
        raise DataError("there are no results to draw")
    return plot_difference(rows, **options)


Gate.KIND = Kind(
    *("gates", Gate, _sections, "Gate.", _footnotes),
    notes=lambda gates: [gate_answer(gate) for gate in gates],
    tests=gate_cases,
    figure=_figure,
)
SelfTest.KIND = Kind("self_tests", SelfTest, _self_tests, "Self-test of the gate.")
