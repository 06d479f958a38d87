"""Estimates of scores: the class with its columns, footnotes and figure rows."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, cast

from harness_uq.data.estimands import MethodInfo, Scope, is_of_trials
from harness_uq.data.task_log import HarnessResult, Source
from harness_uq.messages import Message
from harness_uq.messages.catalogue.estimation import (
    MISSING_SCORES,
    MISSING_SCORES_BOUNDS,
    MISSING_SCORES_COUNTED,
    MISSING_SCORES_MATTER,
)
from harness_uq.output.declared import INTERNAL, Declared, Result
from harness_uq.output.document import Column, Grid, GridCell, Kind, Section, cells_of, legend_of, question_columns
from harness_uq.output.figures.forest import plot_forest
from harness_uq.output.figures.marks import SCORE_SCALE, UNIT, Mark, Span, ends
from harness_uq.output.table_notes import footnotes, sentences, warnings_of
from harness_uq.output.words import (
    decimals_of,
    interval,
    interval_header,
    join_names,
    metric_name,
    number,
    task_title,
    time_text,
    times_trials,
    two_decimals,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from harness_uq.data.structure import Structure
    from harness_uq.stats.common.validate_arrays import FloatArray

IntervalKind = Literal["confidence", "quantile", "hdi"]

NOTHING_REPORTED = HarnessResult(None)
SCOPE_MEANINGS = {
    "population": "expected score on new questions of the same kind",
    "benchmark": "expected score on exactly these questions over repeated trials",
    "full": "score on the whole benchmark, of which the run used a part",
}
_MANY_MISSING = 0.01
_MOST_NAMED = 8


class Posterior(Protocol):
    """Distribution of the estimand given the data."""

    @property
    def mean(self) -> float:
        """Posterior mean."""

    @property
    def sd(self) -> float:
        """Posterior standard deviation."""

    def quantile(self, p: "ArrayLike") -> "FloatArray":
        """Value below which the estimand lies with probability `p`."""

    def cdf(self, x: "ArrayLike") -> "FloatArray":
        """Probability that the estimand is at most `x`."""

    def interval(self, level: float = 0.95, kind: Literal["quantile", "hdi"] = "quantile") -> tuple[float, float]:
        """Credible interval (low, high)."""


@dataclass(frozen=True, slots=True)
class Interval(Declared):
    """An interval with its level and kind: `quantile` and `hdi` are credible intervals, `confidence` is frequentist."""

    low: float
    high: float
    level: float
    kind: IntervalKind

    @property
    def width(self) -> float:
        """Width, `high - low`."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Estimate(Result):
    """Estimate of one score with its uncertainty.

    Attributes
    ----------
    method_reason : why this method was used; None if the score is not estimable
    value : mean score as the harness computes it; None if it is unknown
    posterior_mean : mean of the posterior; None for frequentist methods
    std_error : posterior standard deviation, or standard error of a frequentist method; None if not estimable
    interval : None if the score is not estimable
    n_questions, n_trials, n_scores : number of scored questions, largest number of trials of one, number of scores
    identified_range : lowest and highest score of these questions, if trials without a score may have any score; None
        if the score is known. The value is then the score without these trials
    n_missing : number of trials without a score; None if the log does not contain the trials
    endings : number of trials by how they ended, such as `error` or `token limit`; empty if the log does not tell
    harness : value and standard error that the harness reported
    variance_between, variance_within : variance of the means of questions (or clusters), and of the trials (or
        questions) within them; None if unknown
    posterior : posterior distribution; not part of the JSON form
    diagnostics : numerical diagnostics such as `importance_ess` or `mc_error`
    info : description of the method; None if there is none; not part of the JSON form
    messages : notes, warnings, and why there is no interval
    """

    needed: ClassVar = "interval"

    system: str
    task: str
    metric: str
    filter: str
    estimand: str
    scope: Scope
    method: str
    value: float | None
    std_error: float | None
    interval: Interval | None
    source: Source
    n_questions: int | None = None
    n_trials: int | None = None
    n_scores: int | None = None
    posterior_mean: float | None = None
    n_clusters: int | None = None
    cluster_key: str | None = None
    icc: float | None = None
    design_effect: float | None = None
    effective_questions: float | None = None
    variance_between: float | None = None
    variance_within: float | None = None
    identified_range: tuple[float, float] | None = None
    n_missing: int | None = None
    endings: Mapping[str, int] = field(default_factory=dict)
    harness: HarnessResult = NOTHING_REPORTED
    structure: "Structure | None" = field(default=None, repr=False, metadata=INTERNAL)
    posterior: Posterior | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    method_reason: str | None = None
    info: MethodInfo | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)

    @property
    def subject(self) -> tuple[str, str]:
        """System and run in footnotes."""
        return self.system, time_text(self.source.time)


def finite_or_none(value: float | None) -> float | None:
    """`value` as a JSON number; None if it is missing, NaN or infinite."""
    return float(value) if value is not None and math.isfinite(value) else None


def level_header(rows: Iterable[Estimate]) -> str:
    """Header of the column of intervals."""
    return interval_header((row.interval for row in rows), "95% interval")


def estimate_columns(rows: Sequence[Estimate]) -> list[Column]:
    """Every column of these estimates; those that are empty or the same in each row are not shown by default."""
    metrics = set(map(_metric, rows))
    scores = {(row.system, *row.key, row.scope, row.estimand) for row in rows}
    questions, clusters = question_columns(rows, lambda row: times_trials(row.n_questions, row.n_trials), spare=1)
    return [
        # shown if some estimates differ only in the time of their run
        Column("Run", "source.time", time_text, is_number=False, is_shown=len(scores) < len(rows), in_paper=False),
        Column("Task", "task", wraps=True),
        Column("Metric", _metric, in_paper=len(metrics) > 1, in_title=True),
        Column("Value", "value", number),
        Column(level_header(rows), "interval", interval, name="interval"),
        Column(
            *("SE", "std_error", number),
            spare=1,
            in_paper=False,
            legend=_error_legend(rows),
        ),
        Column(
            *("Harness value", lambda row: _of_harness(row).value, number, "harness"),
            is_shown=any(map(_differs, rows)),
            spare=2,
            in_paper=False,
        ),
        Column(
            *("Harness SE", lambda row: _of_harness(row).std_error, number),
            spare=1,
            in_paper=False,
            legend="that of the harness.",
        ),
        replace(questions, in_paper=True),
        replace(clusters, is_number=False, is_shown=any(row.n_clusters for row in rows)),
        Column(
            *("ICC", "icc", two_decimals),
            spare=3,
            in_paper=False,
            legend="correlation within a cluster or question.",
        ),
        Column(
            *("Deff", "design_effect", two_decimals),
            spare=2,
            in_paper=False,
            legend="design effect, the factor by which clusters or trials of a question increase the variance.",
        ),
        Column("Scope", "scope", is_shown=len({row.scope for row in rows}) > 1, in_paper=False),
        Column("Method", _method, spare=4, in_paper=False),
    ]


def _metric(row: Estimate) -> str:
    """The metric and its filter, unless this names the mean of the trials and the estimand is another one."""
    is_named_mean = is_of_trials(row.estimand) and row.filter == "mean"
    return metric_name(row.metric, "none" if is_named_mean else row.filter)


def _of_harness(row: Estimate) -> HarnessResult:
    """What the harness reported for the same estimand; it reports means of trials, unless the filter has its name."""
    is_same = not is_of_trials(row.estimand) or row.estimand.replace("@", "_at_") in row.filter
    return row.harness if is_same else NOTHING_REPORTED


def _error_legend(rows: Iterable[Estimate]) -> str:
    """The meaning of the standard errors: that of a credible interval is the standard deviation of the posterior."""
    is_credible = {row.interval.kind != "confidence" for row in rows if row.interval is not None}
    if is_credible == {False}:
        return "standard error."
    if len(is_credible) > 1:
        return "standard error or posterior standard deviation."
    return "standard error (posterior standard deviation)."


def estimate_decimals(row: Estimate, digits: int) -> int:
    """Number of decimals of an estimate."""
    return decimals_of(row.metric, row.value, digits)


def _differs(row: Estimate) -> bool:
    """Whether the harness reported a value that the logged scores do not give."""
    reported = _of_harness(row).value
    return reported is not None and row.value is not None and abs(reported - row.value) > 1e-6


def _method(row: Estimate) -> str:
    if row.interval is None:
        return "-"
    return f"{row.method}, {row.interval.kind}" if row.interval.kind != "confidence" else row.method


def _sections(rows: Sequence[Estimate], digits: int) -> list[Section]:
    """A table per system; each run of a system has its harness and version in the title."""
    applicable = _applicable(rows)
    without = dict.fromkeys(task_title(*row.key) for row in rows if row.key not in {one.key for one in applicable})
    rows, columns = applicable, estimate_columns(applicable)
    systems: dict[str, list[Estimate]] = {}
    for row in rows:
        version = f" {row.source.version}" if row.source.version else ""
        systems.setdefault(f"{row.system} ({row.source.harness}{version})", []).append(row)
    sections = [
        Section(
            title,
            cells_of(columns, members, lambda row: estimate_decimals(row, digits)),
            answer=missing_sentence(members),
            group="System",
        )
        for title, members in systems.items()
    ]
    note = ""
    if without:
        more = f" and {len(without) - _MOST_NAMED} more" if len(without) > _MOST_NAMED else ""
        names = "; ".join(list(without)[:_MOST_NAMED])
        note = f"No {rows[0].estimand} (too few trials, or no score of single trials): {names}{more}."
    return [*sections[:-1], *(replace(last, legend=_legend(rows, columns, note)) for last in sections[-1:])]


def _applicable(rows: Sequence[Estimate]) -> Sequence[Estimate]:
    """The rows whose metrics have the estimand in some system, if it is an event in several trials such as pass@4.

    All rows if it is another estimand, or if no metric has it.
    """
    having = {row.key for row in rows if row.interval is not None}
    if not having or not all(is_of_trials(row.estimand) for row in rows):
        return rows
    return [row for row in rows if row.key in having]


def _legend(rows: Sequence[Estimate], columns: Sequence[Column], note: str) -> dict[str, str]:
    """The meaning of the columns by header; the estimand has an empty header, with a note on it."""
    by_scope: dict[str, dict[str, dict[str, None]]] = {}
    for row in rows:
        if row.interval:
            name = row.estimand if is_of_trials(row.estimand) else ""
            by_scope.setdefault(row.scope, {}).setdefault(name, {})[_metric(row)] = None
    scopes = []
    for scope, estimands in by_scope.items():
        single = f" {name}" if len(estimands) == 1 and (name := next(iter(estimands))) else ""
        others = [f"{name} for {join_names(metrics)}" for name, metrics in estimands.items() if name and not single]
        scopes.append(f"Estimand{single}: {'; '.join([f'{SCOPE_MEANINGS[scope]} ({scope})', *others])}.")
    legend = {"": " ".join([*scopes, *([note] if note else [])])} | legend_of(columns)
    if any(row.interval and row.interval.kind == "hdi" for row in rows):
        legend["Method"] = "hdi: highest-density credible interval."
    return legend


def _methods(rows: Sequence[Estimate]) -> list[str]:
    """The methods of the intervals as one sentence, with their tasks if there are several."""
    tasks: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.interval is not None:
            tasks.setdefault(f"{row.method}, {row.interval.kind}", {})[row.task] = None
    if len(tasks) == 1:
        return [f"Method of the intervals: {next(iter(tasks))}."]
    parts = [f"{method} ({', '.join(names)})" for method, names in tasks.items()]
    return [f"Methods of the intervals: {'; '.join(parts)}."] if parts else []


def missing_sentence(rows: Iterable[Estimate]) -> str:
    """How many samples have no score and how they ended, if this is more than 1 % of a task's samples; else empty.

    A task counts with the metric that has the most scores, because some metrics apply to a part of the questions only.
    Of several tasks, the one with the largest share is described.
    """
    fewest: dict[str, Mapping[str, Any]] = {}
    kinds = (MISSING_SCORES, MISSING_SCORES_BOUNDS, MISSING_SCORES_COUNTED, MISSING_SCORES_MATTER)
    codes = [kind.code for kind in kinds]
    nothing: dict[str, Any] = {"n_missing": 0, "n_trials": 1}
    for row in rows:
        counts = next((message.params for message in row.messages if message.code in codes), nothing)
        if row.task not in fewest or counts["n_missing"] < fewest[row.task]["n_missing"]:
            fewest[row.task] = counts
    many = [counts for counts in fewest.values() if counts["n_missing"] > _MANY_MISSING * counts["n_trials"]]
    if not many:
        return ""
    most = max(many, key=lambda counts: counts["n_missing"] / counts["n_trials"])
    n, treatments = most["n_missing"], cast("Sequence[str]", most.get("treatments", ("left out of the mean",)))
    without = f"{n:,} of {most['n_trials']:,} samples {'has' if n == 1 else 'have'} no score{most['causes']}"
    return f"{without}: {' and '.join(treatments)}."


def _grid(rows: Sequence[Estimate], digits: int) -> Grid:
    """Systems by tasks; if a system ran a task several times, its last run is used."""
    cells = {
        (row.system, task_title(*row.key)): GridCell(number(row.value, digits), interval(row.interval, digits))
        for row in rows
    }
    notes = [f"{level_header(rows)}s are below the scores.", *sentences(warnings_of(rows))]
    return Grid(cells, "Scores with intervals.", notes)


def _shares(row: Estimate) -> list[float | None] | None:
    found = row.structure
    return None if found and found.score_type != "record" and found.bounds != UNIT else [row.value]


def estimate_marks(rows: Sequence[Estimate]) -> list[Mark]:
    """Scores with the intervals of the harness; runs that differ only in their time are labelled with it."""
    counts = Counter((row.system, *row.key) for row in rows)
    marks = []
    for row in rows:
        bounds = row.structure.bounds if row.structure is not None else None
        time = time_text(row.source.time) if row.source.time and counts[row.system, *row.key] > 1 else ""
        marks.append(
            Mark(
                group=task_title(*row.key),
                label=f"{row.system}, {time}" if time else row.system,
                value=row.value,
                span=ends(row.interval),
                level=row.interval.level if row.interval else None,
                scale=SCORE_SCALE if bounds == UNIT else row.metric,
                bounds=bounds,
                reference=_harness_span(row),
                posterior=row.posterior,
                system=row.system,
            )
        )
    return marks


def _harness_span(row: Estimate) -> Span | None:
    """The harness's value ± z standard errors at the level of our interval; None if it reports no standard error."""
    value, std_error = _of_harness(row).value, _of_harness(row).std_error
    if value is None or std_error is None or row.interval is None:
        return None
    half = NormalDist().inv_cdf((1 + row.interval.level) / 2) * std_error
    return value - half, value + half


Estimate.KIND = Kind(
    "estimates",
    Estimate,
    _sections,
    "Scores with intervals.",
    lambda rows: footnotes(_applicable(rows)),
    notes=_methods,
    displayed=(
        *("system", "task", "metric", "filter", "value", "interval_low", "interval_high", "n_questions"),
        *("n_clusters", "design_effect", "scope", "method"),
    ),
    grid=_grid,
    shares=_shares,
    scaled=("value", "std_error", "interval", "harness.value", "harness.std_error"),
    marks=estimate_marks,
    figure=plot_forest,
)
