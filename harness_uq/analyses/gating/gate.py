"""Decide whether a system is worse than a baseline by more than a margin, and whether its scores keep to bounds.

A score fails if Holm's procedure over all scores rejects "not worse by more than the margin" at alpha = 1 - level. It
passes if "worse by at least the margin" is rejected at alpha. Required bounds of scores are tested in the same way, and
Holm's procedure covers them too. The gate fails if any test fails, so that it fails with probability at most alpha if
no score is worse by more than the margin and every bound is kept. It passes if every required score and every bound
passes, which needs no correction (an intersection-union test, Berger 1982).

The tests are those of `inference.decisions`. An exact test at alpha decides like an interval of level 1 - 2 alpha,
that is 90 % for a level of 95 %.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Unpack

from harness_uq.analyses.comparison.questions import flipped_questions
from harness_uq.analyses.comparison.validate_margins import check_difference
from harness_uq.analyses.gating.compared_scores import ComparedScore, Sides, groups_of_one_side, with_groups
from harness_uq.analyses.gating.gate_power import PowerInputs, n_to_decide, with_power, worst_hypotheses
from harness_uq.analyses.gating.requirements import (
    RequiredScore,
    Requirement,
    check_selected,
    named_metrics,
    reads_resources,
    required_scores,
    requirements_of,
    with_named_metrics,
)
from harness_uq.analyses.gating.runs import HistoryRuns, RunCounts, read_side
from harness_uq.data.panel import Panel, pair_panel
from harness_uq.data.selection import ScoreKey
from harness_uq.data.structure import known_range
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.compared_runs import Side, common_keys, sides_named_alike
from harness_uq.inference.decisions import (
    Decided,
    Family,
    advantage_limits,
    interval_of_test,
    score_interval_of_test,
    with_interval,
)
from harness_uq.inference.labels import HumanLabels
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.scenarios import with_open_decision
from harness_uq.io.human_labels import human_labels, selection_with_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs
from harness_uq.messages.catalogue.comparison import MIXED_SCALES, ONE_BASELINE_RUN, UNKNOWN_MARGIN_METRIC
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError, unknown_name
from harness_uq.messages.message import Message
from harness_uq.options import OVERALL, Options, resolve
from harness_uq.options_typed import GateKeywords
from harness_uq.results.comparison import Comparison
from harness_uq.results.gate import Decision, FlippedQuestions, Gate, GateRow, RequirementRow, ScoreName
from harness_uq.stats.pairs.run_variation import DistributionOverRuns

if TYPE_CHECKING:
    from pathlib import Path

    from harness_uq.io.human_labels import Label

_SIMILAR = 2.0
_NEAR = 1e-4  # distance of limits from the margin, if the search for them ends beyond it


@dataclass(frozen=True, slots=True)
class GateDesign:
    """What a gate tests.

    `compare`: options of the comparisons; their `margin` applies to metrics that `margins` does not name. `margins`:
    smallest drop that matters by metric, >= 0. `requirements`: bounds on scores of the new system. `overall`: whether
    only the overall result of the tasks decides. Requirements apply in both cases. `labels`: human labels that correct
    the scores of a grader in the comparisons. `improve_by`: required improvements, by task or metric, or under None for
    all scores. They replace the margins of these scores. `by`: fields of the questions whose groups are tested, too.
    """

    compare: Options
    margins: Mapping[str, float] = field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
    overall: bool = False
    labels: HumanLabels | None = None
    improve_by: Mapping[str | None, float] = field(default_factory=dict)
    by: Sequence[str] = ()

    @classmethod
    def of(cls, options: Options) -> "GateDesign":
        """What the options require; all margins count as margins of tasks until `with_margins` divides them."""
        improve_by = options.improve_by
        by_name = improve_by if isinstance(improve_by, Mapping) else {} if improve_by is None else {None: improve_by}
        requirements = requirements_of(options.at_least, options.at_most)
        return cls(options, {}, requirements, options.overall, None, dict(by_name.items()), options.by)

    @property
    def alpha(self) -> float:
        """Largest probability of a false failure, and of a false pass: 1 - level."""
        return 1 - self.compare.level

    def improvement_of(self, task: str, metric: str) -> float | None:
        """The required improvement of a score: that of its task, its metric, or all scores; None if there is none."""
        names = [name for name in (task, metric, None) if name in self.improve_by]
        return self.improve_by[names[0]] if names else None

    def with_margins(self, logs: Iterable[TaskLog]) -> "GateDesign":
        """The design in which the name of a margin that is not a task is that of a metric."""
        tasks = {OVERALL, *(log.task for log in logs)}
        margins = self.compare.margins
        of_tasks = {name: margin for name, margin in margins.items() if name in tasks}
        of_metrics = {name: margin for name, margin in margins.items() if name not in tasks}
        return replace(self, compare=replace(self.compare, margins=of_tasks), margins=of_metrics)

    def without_policies(self) -> "GateDesign":
        """The design for logs to which the policies for missing scores have been applied."""
        return replace(self, compare=replace(self.compare, structure=self.compare.structure.without_policies))


def gate(
    new: Runs,
    baseline: "Runs | None" = None,
    options: Options | None = None,
    *,
    labels: "str | Path | Sequence[Label] | None" = None,
    inclusion_probabilities: str | None = None,
    grader_shift: float = 0.1,
    history: "Runs | None" = None,
    plugins: Plugins | None = None,
    **keywords: "Unpack[GateKeywords]",
) -> Gate:
    """Decide whether a system is worse than a baseline by more than a margin, and whether its scores keep to bounds.

    Parameters
    ----------
    new, baseline : runs of one system each: paths or results in memory, as for `read_logs`. Without a baseline, only
        bounds are tested. If several elements of a list contain a task, these are repeated runs of the system, and the
        variation between them is part of the decision. A folder counts as one run: its newest
    options : options of the gate
    labels, inclusion_probabilities, grader_shift : human labels that correct the scores of a grader, as for `compare`.
        Every task must then pass
    history : further runs of the baseline's system, from which the lists of changed and flaky questions learn how often
        answers vary without a change. They do not enter the decision
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line, which take precedence over `options`: `margin` (and
        `margins` by task or metric), `level`, `scope`, `seed`, `cluster`, `range`, `use_samples`, `task`, `metric`,
        `filter` and `model`; `method` and `power` as for `compare`; and the following
    at_least, at_most : bounds of the new system's scores, for all tasks, or by `TASK` or `TASK:METRIC`, where TASK may
        be a pattern. Without a metric, the bound applies to one metric of the task.
        METRIC may be a resource such as `cost` or `output_tokens`, or `error_rate`, the share of trials that ended with
        an error
    improve_by : improvement over the baseline that is required instead of the margin, for all scores or by task or
        metric. 0 requires any improvement
    by : field of the questions, or several, whose groups are tested as further tasks `TASK, FIELD: GROUP`. Groups can
        fail the comparison with the baseline, but need not pass it
    overall : whether to decide only by the overall result of the tasks, with the margin of `overall`; `weights`,
        `normalize`, `chance` and `missing_tasks` define how the tasks are combined
    token_prices : TOML file of prices of tokens, for requirements on costs

    Raises
    ------
    LogError : if a path gives no log
    DataError : if there is neither a baseline nor a bound, or a baseline without a margin; if one argument holds
        several systems; or if a margin or a bound names a task or metric that does not exist or is not selected
    NotEstimableError : if the two have no task and metric in common
    StructureError : if no task has a field of `by`, or if a margin, a required improvement or a bound does not fit the
        range of the scores
    TypeError : if an option does not exist
    """
    offered = plugins or load_plugins()
    resolved, selected = resolve(
        "gate",
        options,
        keywords,
        baseline=baseline,
        history=history,
        labels=labels,
        inclusion_probabilities=inclusion_probabilities,
    )
    chosen = GateDesign.of(resolved)
    if baseline is not None and "margin" not in keywords:
        require_margin(resolved, options, "gate")
    if baseline is None and not chosen.requirements:
        raise DataError("gate requires a baseline, or a bound of a score such as at_least=0.8")
    compared = named_metrics([*resolved.margins, *chosen.improve_by])
    named = compared | named_metrics(one.metric for one in chosen.requirements)
    selection = replace(selection_with_labels(selected, labels), resources=reads_resources(named))
    own, own_counts = read_side(new, "the new system", offered, chosen.compare.structure, selection)
    if selection.filter.tasks:
        named_tasks = [one.task for one in chosen.requirements if one.task is not None]
        check_selected("A requirement", named_tasks, [log.task for log in own.logs])
    counts, others = RunCounts(), None
    if baseline is not None:
        others, counts = read_side(baseline, "the baseline", offered, chosen.compare.structure, selection)
        own, others = sides_named_alike(own, others)
    further = HistoryRuns()
    if history is not None and others is not None:
        compared_logs = own_counts.sources | counts.sources
        further = HistoryRuns.read(history, others, compared_logs, offered, chosen.compare.structure, selection)
    logs = [log for side in (own, others) if side for log in side.logs]
    if (own_counts.by_score or counts.by_score) and (labels is not None or chosen.overall):
        raise DataError(
            "a gate with human labels or an overall result uses one run of each system, but several are given"
        )
    if labels is not None:
        chosen = replace(chosen, labels=HumanLabels(human_labels(labels, logs, inclusion_probabilities), grader_shift))
    settings = chosen.with_margins(logs)
    job = _Job(settings, offered, (own_counts, counts), named, compared, further)
    first, scores = job.decide(own, others)
    decided = with_open_decision(
        first,
        (own, others),
        settings.compare,
        offered,
        lambda *sides: _with_tested_limits(*job.decide(*sides)),
        lambda: job.decide_as_logged(own, others),
        has_overall=settings.overall,
    )
    return decided if others is None else job.with_power(decided, scores, own, others)


def require_margin(options: Options, given: Options | None, function: str) -> None:
    """Check that a margin or an improvement is given, by a keyword or by options. Raises DataError if it is not."""
    if given is None and not options.margins and not options.margin and options.improve_by is None:
        raise DataError(
            f"{function} requires a margin, the largest drop of a score that is allowed, such as margin=0.01"
        )


def decide(new: Side, baseline: Side | None, options: GateDesign, plugins: Plugins) -> Gate:
    """The decision alone; without a baseline, on the requirements only. Raises DataError or NotEstimableError as
    `gate`.
    """
    return _Job(options, plugins).decide(new, baseline)[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """One gate.

    `counts`: numbers of runs of the new system and of the baseline. `named`: resources and rates that options name.
    `compared`: those of them that are compared with the baseline. `history`: further runs of the baseline's system.
    """

    options: GateDesign
    plugins: Plugins
    counts: tuple[RunCounts, RunCounts] = (RunCounts(), RunCounts())
    named: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()
    history: HistoryRuns = field(default_factory=HistoryRuns)

    def decide(self, new: Side, baseline: Side | None) -> tuple[Gate, list[ComparedScore]]:
        """The decision on sides to which the policies for missing scores have been applied, and the comparisons."""
        return self._decide(new, baseline, self.options.without_policies())

    def decide_as_logged(self, new: Side, baseline: Side | None) -> Gate:
        """The decision before policies for missing scores are applied."""
        as_logged = [side and replace(side, logs=side.logged) for side in (new, baseline)]
        return self._decide(as_logged[0] or new, as_logged[1], self.options)[0]

    def _decide(self, new: Side, baseline: Side | None, options: GateDesign) -> tuple[Gate, list[ComparedScore]]:
        scores = [] if baseline is None else self._compared(new, baseline, new.logs, options)
        comparisons = [one.row for one in scores]
        _check_names(options, comparisons, new)
        others = () if baseline is None else baseline.logs
        own = with_groups(
            with_named_metrics(new, self.named) if self.named else new, options, self.plugins, others=others
        )
        counts = self.counts[0].with_groups(log.task for log in own.logs)
        required = [
            one.with_runs(counts.variation(one.row.key, own, self.plugins))
            for one in required_scores(own, options.requirements, options.compare, self.plugins)
        ]
        hypotheses = [one.hypothesis for one in scores] + [one.hypothesis for one in required]
        decided = Family(hypotheses).decide(options.alpha)
        pooled = {row.key[1:] for row in comparisons if row.task == OVERALL and row.prob_noninferior is not None}
        rows = tuple(_row(*one, pooled) for one in zip(scores, decided[: len(scores)], strict=True))
        bounded = tuple(
            _required_row(*one, options.alpha) for one in zip(required, decided[len(scores) :], strict=True)
        )
        missing = () if baseline is None else _missing_scores(new, baseline)
        has_one_run = bool(scores) and all(one.over_runs is None for one in scores)
        notes = (ONE_BASELINE_RUN(),) if has_one_run and options.labels is None else ()
        notes = (*scale_messages(options, comparisons, new), *notes)
        if baseline is not None:
            notes = (*groups_of_one_side(new, baseline, options.by), *notes)
        decision = _whole_decision(rows, bounded, missing)
        return Gate(decision, options.alpha, rows, missing, bounded, messages=notes), scores

    def _compared(self, new: Side, baseline: Side, logs: Sequence[TaskLog], options: GateDesign) -> list[ComparedScore]:
        if self.named:
            logs = with_named_metrics(replace(new, logs=tuple(logs)), self.compared).logs
            new, baseline = (with_named_metrics(side, self.compared) for side in (new, baseline))
        return Sides(new, baseline, self.counts).compared(logs, options, self.plugins)

    def with_power(self, decided: Gate, scores: Sequence[ComparedScore], new: Side, baseline: Side) -> Gate:
        """The gate with what its data could have shown."""
        options = self.options.without_policies()
        worst = {}
        if options.labels is None:
            worst = worst_hypotheses(
                scores, new, options.compare, lambda logs: self._compared(new, baseline, logs, options)
            )
        adjusted = [row.adjusted_p for row in decided.rows] + [row.adjusted_p for row in decided.requirements]
        inputs = PowerInputs(
            alpha=options.alpha,
            n_tested=sum(p is not None for p in adjusted),
            can_plan=options.labels is None,
            worst=worst,
        )
        over_runs = {one.row.key: one.over_runs for one in scores}
        matched = {one.row.key: one.matched.members[0] for one in scores if one.matched and not one.matched.is_pooled}
        decided = replace(
            decided, rows=tuple(with_power(row, over_runs.get(row.comparison.key), inputs) for row in decided.rows)
        )
        return replace(
            _with_tested_limits(decided, scores),
            flipped=tuple(self._flipped(new, baseline, matched)),
            messages=(*decided.messages, *self.history.messages),
        )

    def _flipped(self, new: Side, baseline: Side, matched: Mapping[ScoreKey, Panel]) -> Iterator[FlippedQuestions]:
        for own, other in common_keys(new, baseline)[0]:
            runs = new.chosen[own], baseline.chosen[other]
            if runs[0].log.subtasks:
                continue
            try:
                panel = matched.get(own) or pair_panel(*runs, self.options.compare.structure, self.plugins)
            except (DataError, NotEstimableError, StructureError):
                continue  # the comparison reports why the questions do not match
            if (flipped := flipped_questions(panel, self.history.by_score.get(other, ()))) is not None:
                yield flipped


def _row(compared: ComparedScore, decided: Decided, pooled: Set[tuple[str, ...]]) -> GateRow:
    row, runs = compared.row, compared.over_runs
    is_needed = row.task == OVERALL or row.key[1:] not in pooled
    return GateRow(
        # the gate has a number of further questions of its own
        replace(row, next_step=""),
        decided.decision_alone,
        decided.decision,
        is_needed and not compared.is_group,
        decided.adjusted_p,
        decided.p_met,
        improve_by=compared.improve_by,
        n_new_runs=1 if runs is None else runs.n_runs[0],
        n_baseline_runs=1 if runs is None else runs.n_runs[1],
        std_error_questions=None if runs is None else runs.questions.sd,
        std_error_runs=None if runs is None else runs.run_sd,
    )


def _required_row(required: RequiredScore, decided: Decided, alpha: float) -> RequirementRow:
    requirement = required.requirement
    # the number is known only if nothing but the questions varies
    is_open = decided.decision_alone == "undecided" and required.over_runs is None
    tested = None if required.over_runs else score_interval_of_test(required.row, alpha)
    return RequirementRow(
        replace(required.row, interval=tested) if tested else required.row,
        requirement.kind,
        requirement.bound,
        decided.decision_alone,
        decided.decision,
        decided.p_violated,
        decided.adjusted_p,
        decided.p_met,
        n_to_decide(required.row, requirement.bound, alpha) if is_open else None,
        required.row.interval if tested else None,
    )


def _with_tested_limits(decided: Gate, scores: Sequence[ComparedScore]) -> Gate:
    """The gate whose rows have the intervals of their tests."""
    over_runs = {one.row.key: one.over_runs for one in scores}
    rows = (_with_limits(row, over_runs.get(row.comparison.key), decided.alpha) for row in decided.rows)
    return replace(decided, rows=tuple(rows))


def _with_limits(row: GateRow, over_runs: DistributionOverRuns | None, alpha: float) -> GateRow:
    """The row with the interval of the differences that its test does not reject, on the side that was decided.

    The search for the limits stops at a distance from them, where p-values of tables may also jump.
    """
    one, p_met = row.comparison, row.unadjusted_p
    interval = None if one.identified_range else interval_of_test(one, alpha, over_runs)
    if interval is None or p_met is None:
        return row
    threshold = -one.margin if row.improve_by is None else row.improve_by
    low, high = advantage_limits(with_interval(one, interval))
    low = max(low, threshold + _NEAR) if row.decision == "pass" else min(low, threshold)
    high = min(high, threshold - _NEAR) if p_met <= alpha else max(high, threshold)
    low, high = (low, high) if one.higher_is_better else (-high, -low)
    return replace(row, comparison=with_interval(one, replace(interval, low=low, high=high)))


def _whole_decision(rows: Sequence[GateRow], required: Sequence[RequirementRow], missing: Sequence[object]) -> Decision:
    """The decision of the gate."""
    bounds = [row.decision_corrected for row in required]
    if "fail" in (*(row.decision_corrected for row in rows), *bounds):
        return "fail"
    needed = {*(row.decision_corrected for row in rows if row.is_needed), *bounds}
    return "pass" if not missing and needed <= {"pass"} else "undecided"


def _check_names(options: GateDesign, rows: Sequence[Comparison], new: Side) -> None:
    """Check that margins and required improvements name scores that are compared, and fit their ranges. Raises
    DataError if one names no such score, and StructureError if a required improvement is not smaller than the range of
    its scores.
    """
    metrics = {row.metric for row in rows}
    if unknown := sorted(set(options.margins) - metrics):
        raise DataError(UNKNOWN_MARGIN_METRIC(metric=unknown[0], known=sorted(metrics) or ["none"]))
    names = metrics | {row.task for row in rows}
    if wrong := sorted(name for name in options.improve_by if name is not None and name not in names):
        raise DataError(unknown_name("task or metric of a required improvement", wrong[0], names, plural="names"))

    for (task, metric, _), run in new.chosen.items():
        improvement = options.improvement_of(task, metric) or 0.0
        check_difference("required improvement", improvement, run, options.compare.structure)


def _missing_scores(new: Side, baseline: Side) -> tuple[ScoreName, ...]:
    """Scores of the baseline that the new runs lack."""
    matched, _ = common_keys(new, baseline)
    there = {key for _, key in matched}
    return tuple(ScoreName(*key) for key in baseline.chosen if key not in there)


# ---------------------------------------------------------------- scales of the metrics that share a margin


class _Scale(NamedTuple):
    """Width of the range of a metric; if it is unknown, the largest score, which the width may exceed."""

    size: float
    is_known: bool
    text: str


def scale_messages(options: GateDesign, rows: Sequence[Comparison], new: Side) -> Iterator[Message]:
    """Yield a warning if the margin for all scores applies to metrics of different scales; so for improvements."""
    improved = [row for row in rows if options.improvement_of(row.task, row.metric) is not None]
    with_margin = [row for row in rows if row not in improved]
    named = (options.margins.keys() | options.compare.margins.keys(), options.improve_by.keys())
    sizes = (options.compare.margin, options.improve_by.get(None, 0.0))
    kinds = (("margin", "--margin"), ("required improvement", "--improve-by"))
    for (kind, option), size, covered, names in zip(kinds, sizes, (with_margin, improved), named, strict=True):
        general = [row for row in covered if not {row.task, row.metric} & names]
        scales = _scales(general, new, options)
        if size and (different := _different(scales)):
            listed = [f"{metric} ({scales[metric].text})" for metric in different]
            yield MIXED_SCALES(kind=kind, size=size, scales=listed, option=option, metric=different[1])


def _scales(rows: Sequence[Comparison], new: Side, options: GateDesign) -> dict[str, _Scale]:
    """The scale of each metric on its first task."""
    scales: dict[str, _Scale] = {}
    for row in rows:
        run = new.chosen.get(row.key)
        if run is None or row.metric in scales:
            continue
        bounds = known_range(run.data, options.compare.structure.of_task(row.task).ranges)
        values = [value for value in (row.value_a, row.value_b) if value is not None]
        if bounds is not None:
            scales[row.metric] = _Scale(bounds[1] - bounds[0], True, f"{bounds[0]:g} to {bounds[1]:g}")
        elif values:
            scales[row.metric] = _Scale(max(map(abs, values)), False, f"score {values[0]:.4g}")
    return scales


def _different(scales: Mapping[str, _Scale]) -> tuple[str, str] | None:
    """The metrics with the smallest known and with the largest scale; None if their scales are similar."""
    known = [metric for metric, scale in scales.items() if scale.is_known]
    if not known:
        return None
    smallest = min(known, key=lambda metric: scales[metric].size)
    largest = max(scales, key=lambda metric: scales[metric].size)
    return (smallest, largest) if scales[largest].size > _SIMILAR * scales[smallest].size else None
