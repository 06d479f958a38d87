"""What a gate could show: power for an equally good system, further data, and the result of the worst scores."""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy import optimize, special

from harness_uq.analyses.gating.compared_scores import ComparedScore
from harness_uq.data.panel import Panel, panel_on
from harness_uq.data.selection import ScoreKey, SelectedRun, higher_is_better
from harness_uq.data.structure import StructureOptions, score_type_of
from harness_uq.data.task_log import Scores, TaskData, TaskLog
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.inference.decisions import Hypothesis, difference_hypothesis, is_exact, prob_advantage
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.options import OVERALL, Options
from harness_uq.results.comparison import Comparison, Difference, PairedCounts
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.gate import GateRow
from harness_uq.stats.design.power import detection_power, minimum_detectable_effect, required_questions
from harness_uq.stats.pairs.run_variation import DistributionOverRuns, Normal, RunVariation

POWER = 0.8
_MOST_RUNS = 50
_MOST_QUESTIONS = 100.0  # times the number of questions

CompareLogs: TypeAlias = Callable[[Sequence[TaskLog]], list[ComparedScore]]
"""Comparisons of logs of the new system with the baseline."""


@dataclass(frozen=True, slots=True)
class PowerInputs:
    """What the power of a gate depends on, besides each comparison.

    `alpha`: largest probability of a false failure. `can_plan`: whether further questions can be planned. `worst`:
    hypotheses for the worst possible scores.
    """

    alpha: float
    n_tested: int
    can_plan: bool
    worst: Mapping[ScoreKey, Hypothesis | None]

    @property
    def strict(self) -> float:
        """The level at the first and strictest step of Holm's method."""
        return self.alpha / max(self.n_tested, 1)


def with_power(row: GateRow, over_runs: DistributionOverRuns | None, inputs: PowerInputs) -> GateRow:
    """Add what the data could show: of an equally good system, and at the strictest step of Holm's procedure."""
    one = row.comparison
    worst = inputs.worst.get(one.key)
    row = replace(row, can_fail=None if worst is None else worst.p_met <= inputs.strict)
    if one.difference is None or not one.difference.std_error > 0:
        return row
    if row.improve_by is not None:
        is_open = row.decision == "undecided" and over_runs is None and inputs.can_plan
        return replace(row, n_additional_questions=_n_for_improvement(row, one.difference, inputs) if is_open else None)
    if over_runs is not None:
        return _with_power_over_runs(row, over_runs, inputs)
    tails = 1 if is_exact(one) else 2
    level, variance = 1 - inputs.alpha / tails, one.difference.std_error**2
    passing = float(detection_power(one.margin, 1, variance, level=level, alternative="one-sided"))
    strictest = 1 - inputs.strict / tails
    drop = float(minimum_detectable_effect(1, variance, level=strictest, power=POWER, alternative="one-sided"))
    is_open = row.decision == "undecided" and passing < POWER and inputs.can_plan
    return replace(
        row,
        power_to_pass=passing,
        minimum_failing_drop=one.margin + drop,
        n_additional_questions=_n_additional(one, one.margin, level) if is_open else None,
    )


def n_to_decide(row: Estimate, bound: float, alpha: float) -> int | None:
    """Number of further questions with which a true score equal to the observed one is decided; None if unknown.

    It follows from the normal approximation n = (z_alpha + z_power)^2 variance / (score - bound)^2.
    """
    if row.value is None or not row.std_error or not row.n_questions or row.value == bound:
        return None
    quantiles = float(special.ndtri(1 - alpha) + special.ndtri(POWER))
    variance = row.n_questions * row.std_error**2
    return max(math.ceil(quantiles**2 * variance / (row.value - bound) ** 2) - row.n_questions, 0)


def _n_additional(comparison: Comparison, distance: float, level: float) -> int | None:
    """Number of additional questions that show with 80 % power that a difference is not zero; None if unknown."""
    is_identical = comparison.identical_runs_note is not None
    if not distance > 0 or comparison.n_matched is None or comparison.difference is None or is_identical:
        return None
    variance = comparison.n_matched * comparison.difference.std_error**2
    try:
        needed = required_questions(distance, variance, level=level, power=POWER, alternative="one-sided")
    except NotEstimableError:
        return None  # the distance is too small to be shown with any number of questions
    return max(int(needed) - comparison.n_matched, 0)


def _n_for_improvement(row: GateRow, difference: Difference, inputs: PowerInputs) -> int | None:
    """Number of additional questions that decide about an improvement if the observed one is the true one."""
    sign = 1 if row.comparison.higher_is_better else -1
    distance = abs(sign * difference.value - (row.improve_by or 0.0))
    return _n_additional(row.comparison, distance, 1 - inputs.alpha / (1 if is_exact(row.comparison) else 2))


def _with_power_over_runs(row: GateRow, over_runs: DistributionOverRuns, inputs: PowerInputs) -> GateRow:
    margin = row.comparison.margin
    power = _PowerOverRuns.of(over_runs, margin, inputs.alpha)
    strict = over_runs.mean - float(over_runs.quantile(inputs.strict))
    row = replace(
        row,
        power_to_pass=power.to_pass(),
        minimum_failing_drop=margin + strict + float(special.ndtri(POWER)) * over_runs.sd,
    )
    if row.decision != "undecided" or power.to_pass() >= POWER:
        return row
    n = row.comparison.n_matched
    factor = power.question_factor()
    more = None if n is None or factor is None else math.ceil(n * (factor - 1))
    return replace(row, n_additional_runs=power.additional_runs(), n_additional_questions=more)


@dataclass(frozen=True, slots=True)
class _PowerOverRuns:
    """Probability that an equally good system passes, by the normal approximation of the observed difference."""

    runs: RunVariation
    n_runs: tuple[int, ...]
    question_sd: float
    margin: float
    alpha: float

    @classmethod
    def of(cls, over_runs: DistributionOverRuns, margin: float, alpha: float) -> "_PowerOverRuns":
        return cls(over_runs.runs, over_runs.n_runs, over_runs.questions.sd, margin, alpha)

    def to_pass(self, n_baseline: int | None = None, factor: float = 1.0) -> float:
        """The power with this number of runs of the baseline, and this multiple of the questions."""
        n_new, n_now = self.n_runs
        n_runs = (n_new, n_baseline or n_now)
        noise = self.runs.trial_variance / factor
        mean_square = max(self.runs.run_variance + noise, self.runs.mean_square / factor)
        expected = RunVariation(self.runs.df + n_runs[1] - n_now, mean_square, noise)
        distribution = DistributionOverRuns(Normal(0.0, self.question_sd / factor**0.5), expected, n_runs)
        critical = -float(distribution.quantile(self.alpha))
        return float(special.ndtr((self.margin - critical) / distribution.sd))

    def additional_runs(self) -> int | None:
        """Number of further runs for a power of 80 %; None if 50 runs do not suffice."""
        numbers = range(self.n_runs[1] + 1, _MOST_RUNS + 1)
        needed = bisect_left(numbers, POWER, key=self.to_pass)
        return numbers[needed] - self.n_runs[1] if needed < len(numbers) else None

    def question_factor(self) -> float | None:
        """Multiple of the questions for a power of 80 %; None if 100 times as many do not suffice."""
        if self.to_pass(factor=_MOST_QUESTIONS) < POWER:
            return None
        return float(
            optimize.brentq(lambda factor: self.to_pass(factor=factor) - POWER, 1.0, _MOST_QUESTIONS, rtol=1e-3)
        )


# ---------------------------------------------------------------- the worst possible scores


def worst_hypotheses(
    scores: Sequence[ComparedScore], new: Side, options: Options, compare_logs: CompareLogs
) -> dict[ScoreKey, Hypothesis | None]:
    """The hypothesis about each score if all answers of the new system had the worst score of the range.

    Comparisons of matched questions keep their match. Others are made again from logs with the worst scores. `scores`:
    comparisons of the new system with the baseline. `new`: logs of the new system. `compare_logs`: compares other logs
    of the new system with the baseline. Returns: The hypotheses of the scores whose range is known; None if the
    difference would not be estimable.
    """
    matched = [one for one in scores if one.is_paired and options.scope == "population"]
    found = {one.row.key: _worst_of_pair(one, options) for one in matched}
    if rest := {one.row.task for one in scores if one not in matched and _may_have_range(one.row.key, new, options)}:
        rest |= {task for log in new.logs if log.task in rest for task in log.subtasks}
        logs = [
            log
            for log in new.logs
            if OVERALL in rest or any(task == log.task or task.startswith(f"{log.task}, ") for task in rest)
        ]
        again = compare_logs(worst) if (worst := worst_logs(logs, options.structure)) else []
        found = {one.row.key: one.hypothesis for one in again} | found
    return found


def _may_have_range(key: ScoreKey, new: Side, options: Options) -> bool:
    run = new.chosen.get(key)
    return run is None or bool(run.log.subtasks) or _worst(run.data, run.log, options.structure) is not None


def _worst_of_pair(score: ComparedScore, options: Options) -> Hypothesis | None:
    if score.matched is None:
        return None
    members = [_worst_pair(member, options.structure) for member in score.matched.members]
    known = tuple(member for member in members if member is not None)
    if len(known) < len(members):
        return None
    panel = replace(score.matched, members=known).panel
    try:
        result = paired_contrast(panel, options.method)
    except (DataError, NotEstimableError):
        return None
    if panel.n_questions < 2 or not result.std_error > 0:
        return None
    table = PairedCounts(*panel.table) if panel.is_binary and panel.table else None
    row = replace(score.row, method=result.method, table=table, posterior=result.posterior, prob_noninferior=0.0)
    over_runs = score.over_runs and replace(score.over_runs, questions=result.posterior)
    if not is_exact(row):  # exact tests use neither the posterior nor its interval, which takes time
        value, level = float(np.subtract(*panel.scores)), options.level
        interval = Interval(*result.interval(level, value), level, result.kind)
        difference = Difference(value, result.std_error, interval)
        row = replace(row, difference=difference, prob_noninferior=prob_advantage(row, -row.margin))
    return difference_hypothesis(row, score.improve_by, over_runs)


def _worst_pair(panel: Panel, structure: StructureOptions) -> Panel | None:
    """The matched questions with the worst scores of the new system; None if their range is unknown."""
    new, baseline = panel.runs
    worst = _worst(new.data, new.log, structure)
    if worst is None:
        return None
    return panel_on(
        (SelectedRun(new.log, worst), baseline),
        panel.systems,
        panel.rows,
        structure,
        units=panel.units,
        cluster_key=panel.cluster_key,
        n_unmatched=panel.n_unmatched,
    )


def worst_logs(logs: Sequence[TaskLog], options: StructureOptions) -> list[TaskLog]:
    """Return the logs with the worst score of the range on every question; scores of unknown range are omitted."""
    worst_case = []
    for log in logs:
        data = [worst for item in log.data if (worst := _worst(item, log, options)) is not None]
        if data or log.subtasks:
            # the score that the harness reported for a group is not that of the worst scores of its tasks
            worst_case.append(replace(log, data=tuple(data) if data else log.data, reported={}))
    return worst_case


def _worst(data: TaskData, log: TaskLog, options: StructureOptions) -> Scores | None:
    if not isinstance(data, Scores):
        return None
    _, bounds, _ = score_type_of(data, options.ranges)
    if bounds is None:
        return None
    worst = bounds[0] if higher_is_better(log, data.metric) else bounds[1]
    return replace(data, values=np.where(np.isnan(data.values), np.nan, worst))
