"""Comparisons of two systems, and the questions on which they differ: classes, columns, headlines and figure rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from harness_uq.data.estimands import MethodInfo, Scope
from harness_uq.messages import Message
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.messages.message import join_words
from harness_uq.output.declared import INTERNAL, Declared, Result
from harness_uq.output.document import Column, Kind, Section, question_columns, table
from harness_uq.output.figures.forest import plot_difference
from harness_uq.output.figures.marks import PAIR, SCORE_SCALE, Mark, difference_scale, ends
from harness_uq.output.table_notes import footnotes, missing_caveat, totals_sentence
from harness_uq.output.words import (
    counted,
    decimals_of,
    decisive_interval,
    further,
    interval_header,
    join_names,
    listed,
    metric_name,
    number,
    percent,
    probability,
    task_title,
    three_decimals,
    times_trials,
    two_decimals,
)
from harness_uq.results.estimate import Interval, Posterior

Verdict = Literal["better", "worse", "equivalent", "undecided"]

VERDICTS: tuple[Verdict, ...] = ("better", "equivalent", "undecided", "worse")
VERDICT_COLOURS = {"better": "green", "worse": "red", "equivalent": "cyan", "undecided": "yellow"}
_FEW = 3


@dataclass(frozen=True, slots=True)
class Difference(Declared):
    """Difference A - B with its uncertainty."""

    value: float
    std_error: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Numbers of questions that both systems, only A, only B and neither answered correctly."""

    both_right: int
    only_a: int
    only_b: int
    both_wrong: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question on which two systems differ.

    `id`: its identifier in the log of A. `value_a`, `value_b`: mean scores over its trials. `probability`: posterior
    probability that the systems differ in their probability of a right answer; None if B has one answer to each
    question, or if scores are not 0 or 1. `is_flaky`: whether identical runs of either system often answer it
    differently; None if this is unknown.
    """

    id: str
    value_a: float
    value_b: float
    probability: float | None = None
    is_flaky: bool | None = None


@dataclass(frozen=True, slots=True)
class Disagreements(Declared):
    """The questions of a task, metric and filter on which two systems differ most, sorted by the difference.

    `n_a_better`, `n_b_better`: number of questions on which A or B has the better score. `questions`: some or all of
    the questions on which the scores differ.
    """

    record_rows: ClassVar = "questions"

    task: str
    metric: str
    filter: str
    n_questions: int
    n_a_better: int
    n_b_better: int
    questions: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """Comparison of system A with system B on one task, metric and filter; a gate has such rows over all tasks, too.

    Attributes
    ----------
    task : name of the task; `overall` for the questions of all tasks in a gate
    method : method for the difference, such as `dirichlet`, `latent-normal` or `independent`
    value_a, value_b : mean scores on the matched questions
    difference : A - B; None if it is not estimable
    prob_positive : P(A > B | data); None for frequentist methods
    odds_ratio : posterior median of the odds ratio; None if the scores are not 0 or 1
    correlation : correlation of the question scores of the two systems
    table : number of questions with both correct, only A, only B, and both wrong; None if the scores are not 0 or 1, or
        if questions were repeated
    n_matched, n_unmatched_a, n_unmatched_b : numbers of questions
    variance_reduction : share of the variance of the difference that pairing removed, at most 1; negative if it added
    margin : smallest difference of interest, >= 0
    minimum_detectable_effect : difference that these data would have detected with 80 % power
    prob_noninferior : P(A is not worse than B by more than the margin | data); for t the one-sided p-value
    p_value : of the two-sided test of no difference (McNemar's exact test for a table, otherwise t); None if not tested
    higher_is_better : False for metrics such as perplexity, for which the smaller value is better
    verdict, verdict_text : the verdict of the interval, and a sentence that states it
    verdict_corrected : the verdict after correction by Holm's method for all tasks of the comparison; groups of tasks
        and the result over all tasks are corrected for their own number. Equal to `verdict` if there is nothing to
        correct for
    verdict_p_value : p-value of the hypothesis that the verdict rejects, of this row alone: twice the tail of the
        posterior beyond 0 or the margin, and among several rows at least `p_value`. It is not that of another test, so
        it can be smaller than `p_value` in the only row. None if the difference is not estimable
    verdict_p_adjusted : the same after the correction, from which `verdict_corrected` follows; never smaller
    posterior_interval : interval of the posterior, if the interval of the difference is that of an exact test (with a
        margin, for independent questions with one right-or-wrong answer each) or includes the variation between runs
    next_step : a sentence on what would decide the comparison; empty if it is decided, or if this is unknown
    n_additional_questions : number of further questions with which a difference of the size of the margin (without a
        margin: of the observed size) would be detected with 80 % power; None if decided or unknown
    identical_runs_note : the reason if A and B are the same log or have the same scores on every question; else None
    identified_range : smallest and largest difference on these questions, if trials without a score may have any score;
        None if the difference is known. The difference is then that without these trials
    subtasks : tasks of a group; empty for a single task and over all tasks; not part of the JSON form
    info : description of the method of both scores, if the difference was computed from them
    in_points : whether differences are stated in percentage points; not part of the JSON form
    messages : notes, warnings, and why there is no difference
    """

    needed: ClassVar = "difference"

    task: str
    metric: str
    filter: str
    system_a: str
    system_b: str
    scope: Scope
    method: str
    value_a: float | None
    value_b: float | None
    difference: Difference | None
    verdict: Verdict
    verdict_text: str
    next_step: str = ""
    n_additional_questions: int | None = None
    prob_positive: float | None = None
    odds_ratio: float | None = None
    correlation: float | None = None
    table: PairedCounts | None = None
    n_matched: int | None = None
    n_unmatched_a: int | None = None
    n_unmatched_b: int | None = None
    n_trials: int | None = None
    n_clusters: int | None = None
    cluster_key: str | None = None
    variance_reduction: float | None = None
    margin: float = 0.0
    minimum_detectable_effect: float | None = None
    prob_noninferior: float | None = None
    p_value: float | None = None
    verdict_corrected: Verdict = field(kw_only=True)
    verdict_p_value: float | None = None
    verdict_p_adjusted: float | None = None
    posterior_interval: Interval | None = None
    higher_is_better: bool = True
    identical_runs_note: str | None = None
    identified_range: tuple[float, float] | None = None
    in_points: bool = field(default=True, repr=False, compare=False, metadata=INTERNAL)
    posterior: Posterior | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)
    subtasks: tuple[str, ...] = field(default=(), repr=False, compare=False, metadata=INTERNAL)
    info: MethodInfo | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)
    messages: tuple[Message, ...] = ()

    @property
    def subject(self) -> tuple[str]:
        """The pair of systems in footnotes."""
        return (f"{self.system_a} against {self.system_b}",)

    @property
    def depends_on_missing(self) -> bool:
        """Whether the verdict depends on how trials without a score are counted (UQ207)."""
        return any(message.code == VERDICT_DEPENDS_ON_MISSING.code for message in self.warnings)

    @property
    def answer(self) -> str:
        """The verdict as a sentence, whether it depends on missing scores, and the next step."""
        caveat = "The verdict depends on how missing scores are counted." if self.depends_on_missing else ""
        return " ".join(text for text in (self.verdict_text, caveat, self.next_step) if text)


def comparison_answer(rows: Sequence[Comparison]) -> str:
    """The headline: that both sides are the same run, or the verdict.

    The verdict is that of each row if there are at most three, else the number of rows with each verdict. `rows`: of
    one pair of systems, at least one.
    """
    note = rows[0].identical_runs_note
    outcome = "" if note and all(row.verdict == "undecided" for row in rows) else _outcome(rows)
    sentences = [totals_sentence(rows), note, outcome]
    return "\n".join(sentence for sentence in sentences if sentence)


def _outcome(rows: Sequence[Comparison]) -> str:
    if len(rows) == 1:
        return comparison_sentence(rows[0])
    if _are_listed(rows):
        return "\n".join(f"{row_name(row, rows)}: {comparison_sentence(row)}" for row in rows)
    sentences = [_verdict_counts(rows), single_tasks_caveat(rows), _nearest(rows)]
    return " ".join(sentence for sentence in sentences if sentence)


def single_tasks_caveat(rows: Sequence[Comparison]) -> str:
    """A sentence on the single tasks whose verdicts depend on missing scores; empty if there are none."""
    return missing_caveat(row_name(row, rows) for row in rows if row.depends_on_missing)


def reasons(rows: Sequence[Comparison]) -> list[str]:
    """The reasons for the verdicts in the order of the rows; rows with the same reason share a sentence."""
    if _are_listed(rows):
        return []
    by_reason: dict[str, list[Comparison]] = {}
    for row in rows:
        if reason := _reason(row):
            by_reason.setdefault(reason, []).append(row)
    return [f"{join_names(row_name(row, rows) for row in members)}: {reason}" for reason, members in by_reason.items()]


def comparison_title(row: Comparison) -> str:
    """As `task_title`."""
    return task_title(row.task, row.metric, row.filter)


def row_name(row: Comparison, rows: Sequence[Comparison]) -> str:
    """The task of the row, with its metric if several rows have the same task."""
    n_rows = sum(other.task == row.task for other in rows)
    return comparison_title(row) if n_rows > 1 else row.task


def _are_listed(rows: Sequence[Comparison]) -> bool:
    return len(rows) <= _FEW


def _verdict_counts(rows: Sequence[Comparison]) -> str:
    """Sentences with the number of rows for each verdict, and with those that hold after correction."""
    n_tasks = len({row.task for row in rows})
    what = counted(len(rows), "task") if n_tasks == len(rows) else f"{len(rows)} scores of {counted(n_tasks, 'task')}"
    return " ".join(
        filter(
            None, [f"Of {what}, {join_words(verdict_counts(row.verdict for row in rows))}.", verdicts_that_hold(rows)]
        )
    )


def verdict_counts(verdicts: Iterable[Verdict]) -> list[str]:
    """How many of the verdicts are which.

    >>> verdict_counts(["worse", "better", "worse"])
    ['1 is better', '2 are worse']
    """
    counts = Counter(verdicts)
    return [f"{counts[one]} {'is' if counts[one] == 1 else 'are'} {one}" for one in VERDICTS if counts[one]]


def verdicts_that_hold(rows: Sequence[Comparison]) -> str:
    """A sentence on how many verdicts hold after correction, with the names of the others; empty if none is decided."""
    decided = [row for row in rows if row.verdict != "undecided"]
    others = [row for row in decided if row.verdict_corrected != row.verdict]
    if len(rows) == 1 or not decided:
        return ""
    n_tested = sum(not row.subtasks for row in rows) or len(rows)  # groups repeat the questions of their tasks
    n_held, corrected = len(decided) - len(others), f"after correction for {counted(n_tested, 'score')}"
    if not others:
        which = {1: "This holds", 2: "Both of these hold"}.get(n_held, f"All {n_held} of these hold")
        return f"{which} {corrected}."
    names = listed([row_name(row, rows) for row in others])
    if not n_held:
        return f"{corrected.capitalize()}, {names} {'is' if len(others) == 1 else 'are'} undecided."
    holds, does = "holds" if n_held == 1 else "hold", "does" if len(others) == 1 else "do"
    return f"{n_held} of these {len(decided)} {holds} {corrected}; {names} {does} not."


def comparison_sentence(row: Comparison) -> str:
    """The verdict alone as a sentence, and that it does not remain after correction."""
    if row.verdict == row.verdict_corrected:
        return row.answer
    corrected = "After correction for all comparisons, this is undecided."
    return replace(row, verdict_text=f"{row.verdict_text} {corrected}", next_step="").answer


def _nearest(rows: Sequence[Comparison]) -> str:
    """The undecided row that needs the fewest additional questions; empty if that is unknown."""
    needed = [(n, row_name(row, rows)) for row in rows if (n := row.n_additional_questions)]
    n, name = min(needed, default=(0, ""))
    return f"{name} needs the fewest additional questions to be decided: about {n:,}." if name else ""


def _reason(row: Comparison) -> str:
    """The reason for the verdict; empty if the table shows it."""
    if row.difference is None:
        return f"{row.verdict}, not estimable: {row.reason.text}" if row.reason else ""
    sign = 1 if row.higher_is_better else -1
    low, high = sorted(sign * end for end in (row.difference.interval.low, row.difference.interval.high))
    margin = f"the margin of {row.margin:g}"
    match row.verdict:
        case "equivalent":
            return f"equivalent: the difference is smaller than {margin}. Choose by cost, speed or another test."
        case "undecided":
            return _open(low, high, row, margin)
    if not row.margin:
        return ""
    if max(low, -high) > row.margin:
        return f"{row.verdict} by more than {margin}."
    return f"{row.verdict}, but possibly by less than {margin}."


def _open(low: float, high: float, row: Comparison, margin: str) -> str:
    if low > -row.margin:
        return f"undecided: not worse by more than {margin}, but the data do not show whether it is better."
    if high < row.margin:
        return f"undecided: not better by more than {margin}, but the data do not show whether it is worse."
    return ""


def difference_header(rows: Sequence[Comparison]) -> str:
    """Header of the column with the intervals of differences."""
    return interval_header(row.difference.interval if row.difference else None for row in rows)


def at_margin(rows: Sequence[Comparison]) -> str:
    """A sentence on intervals of exact tests at the margin, which differ from those without it; empty without any."""
    if not any(row.margin and row.posterior_interval is not None for row in rows):
        return ""
    return (
        f"{difference_header(rows)}: with a margin, independent right-or-wrong answers have the interval of an exact "
        "test, which is wider than the interval without a margin."
    )


def _interval(row: Comparison, digits: int) -> str:
    """The interval with as many decimals as its position relative to 0 and the margin needs."""
    ends = None if row.difference is None else row.difference.interval
    return decisive_interval(ends, (0.0, row.margin, -row.margin), digits)


def discordant(row: Comparison) -> str:
    """Numbers of questions that only A and only B answered correctly."""
    return f"{row.table.only_a}:{row.table.only_b}" if row.table else "-"


def pairs_of(rows: Sequence[Comparison]) -> dict[tuple[str, str], list[Comparison]]:
    """The comparisons of each pair of systems."""
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for row in rows:
        pairs.setdefault((row.system_a, row.system_b), []).append(row)
    return pairs


def _sections(rows: Sequence[Comparison], digits: int) -> Iterator[Section]:
    """A headline, a table and the reasons for each pair of systems."""
    for (a, b), members in pairs_of(rows).items():
        lines, header = reasons(members), difference_header(members)
        lower = [row.metric for row in members if not row.higher_is_better]
        required = f"Lower scores are better for {join_names(lower)}." if lower else "", at_margin(members)
        yield table(
            f"A: {a}, B: {b}",
            _columns(members),
            members,
            lambda row: decimals_of(row.metric, row.value_b, digits),
            lines=["", *lines] if lines else [],
            answer=comparison_answer(members),
            legend={"": " ".join(text for text in required if text)},
            if_hidden={"A − B": f"{header}: interval of the difference A − B."},
        )


def _columns(rows: Sequence[Comparison]) -> list[Column]:
    has_metrics = len({(row.metric, row.filter) for row in rows}) > 1
    sought = "the margin" if any(row.margin for row in rows) else "the observed one"
    return [
        Column("Task", "task", wraps=True),
        Column(
            *("Metric", lambda row: metric_name(row.metric, row.filter)),
            spare=0 if has_metrics else 1,
            in_paper=has_metrics,
            wraps=True,
            in_title=True,
        ),
        Column("A", "value_a", number),
        Column("B", "value_b", number),
        Column("A − B", "difference.value", number, "difference", spare=1),
        Column(difference_header(rows), lambda row: row, _interval, "interval"),
        Column(
            *("P(A > B)", "prob_positive", probability, "probability"),
            spare=4,
            legend="posterior probability that A scores higher than B.",
        ),
        Column(
            *("P(not worse)", lambda row: row.prob_noninferior if row.margin else None, probability, "noninferior"),
            spare=8,
            in_paper=False,
            legend="probability that A is not worse than B by more than the margin.",
        ),
        Column(
            *("Only A:B", discordant),
            name="only",
            is_number=True,
            spare=6,
            in_paper=False,
            legend="number of questions that only A and only B answered correctly.",
        ),
        Column(
            *("Odds ratio", "odds_ratio", two_decimals),
            spare=7,
            in_paper=False,
            legend="odds of a correct answer of A divided by those of B.",
        ),
        Column(
            *("Var. reduction", "variance_reduction", percent, "variance-reduction"),
            spare=8,
            in_paper=False,
            legend="share of the variance that pairing by question removes.",
        ),
        *question_columns(rows, _questions, spare=2),
        Column("Method", "method", spare=9, in_paper=False),
        Column(
            *("MDE", "minimum_detectable_effect", three_decimals),
            spare=5,
            in_paper=False,
            legend="minimum detectable effect, the difference that 80 % of such runs would detect.",
        ),
        Column(
            *("N needed", lambda row: row.n_additional_questions or None, further),
            spare=3,
            in_paper=False,
            legend=f"additional questions to detect a difference as large as {sought} with 80 % power.",
        ),
        Column("Verdict", "verdict", styles=VERDICT_COLOURS),
    ]


def _questions(row: Comparison) -> str:
    if row.n_matched is None:
        counts = (row.n_unmatched_a, row.n_unmatched_b)
        return "-" if None in counts else f"{counts[0]}, {counts[1]} unmatched"
    return times_trials(row.n_matched, row.n_trials)


def comparison_marks(rows: Sequence[Comparison]) -> list[Mark]:
    """Differences of systems by task."""
    return [_mark(row) for row in rows]


def pair_marks(rows: Sequence[Comparison]) -> list[Mark]:
    """The differences of one pair of systems, labelled with the task instead of the pair."""
    return [replace(mark, label=mark.group, group="") for mark in comparison_marks(rows)]


def _mark(row: Comparison) -> Mark:
    difference = row.difference
    values = [value for value in (row.value_a, row.value_b) if value is not None]
    is_share = row.in_points and len(values) == 2 and min(values) >= 0 and max(values) <= 1
    scale = SCORE_SCALE if is_share and row.higher_is_better else row.metric
    return Mark(
        group=comparison_title(row),
        label=f"{row.system_a}{PAIR}{row.system_b}",
        value=difference.value if difference else None,
        span=ends(difference.interval) if difference else None,
        level=difference.interval.level if difference else None,
        scale=difference_scale(scale, higher_is_better=row.higher_is_better),
        bounds=(-1.0, 1.0) if is_share else None,
        zero=0.0,
        margin=row.margin,
        posterior=row.posterior,
        system=row.system_a,
        is_decided=row.verdict != "undecided",
        baseline=row.system_b,
    )


_FLAKY = {True: "yes", False: "no", None: "-"}
_PROBABILITIES = (
    Column("P(differ)", "probability", probability),
    Column("Flaky", lambda one: _FLAKY[one.is_flaky]),
)
_OF_TRIALS = (
    "P(differ): posterior probability that the systems differ in their probability of a right answer. Flaky: identical "
    "runs of one of the systems often answer the question differently."
)
_DISAGREEMENTS = (
    Column("Question", "id", wraps=True),
    Column("A", "value_a", number),
    Column("B", "value_b", number),
)


def _disagreements(rows: Sequence[Disagreements], digits: int) -> Iterator[Section]:
    for row in rows:
        has_probabilities = any(question.probability is not None for question in row.questions)
        columns = (*_DISAGREEMENTS, *(_PROBABILITIES if has_probabilities else ()))
        title = (
            f"{task_title(row.task, row.metric, row.filter)}: A and B differ on {row.n_a_better + row.n_b_better} of "
            f"{counted(row.n_questions, 'question')}; A is better on {row.n_a_better}, B on {row.n_b_better}"
        )
        legend = {"": _OF_TRIALS} if has_probabilities else {}
        yield table(title, columns, row.questions, digits, legend=legend)


Comparison.KIND = Kind(
    "comparisons",
    Comparison,
    _sections,
    "Differences between systems.",
    footnotes,
    displayed=(
        *("system_a", "system_b", "task", "metric", "value_a", "value_b", "difference_value"),
        *("difference_interval_low", "difference_interval_high", "prob_positive", "verdict"),
    ),
    shares=lambda row: (row.value_a, row.value_b),
    scaled=(
        *("value_a", "value_b", "minimum_detectable_effect", "margin"),
        *("difference.value", "difference.std_error", "difference.interval"),
    ),
    marks=comparison_marks,
    differences=comparison_marks,
    figure=plot_difference,
)
Disagreements.KIND = Kind("disagreements", Disagreements, _disagreements, "Questions on which the systems differ.")
