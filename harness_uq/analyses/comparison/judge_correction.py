"""Compare two systems by a grader's scores, corrected with human labels of their answers."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness_uq.analyses.comparison.sides import Side, common_keys
from harness_uq.data.arrays import FloatArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.estimands import MethodInfo
from harness_uq.data.panel import Panel, pair_panel, panel_of_scores
from harness_uq.data.selection import SelectedRun, higher_is_better, messages_of_systems
from harness_uq.data.structure import detect
from harness_uq.data.task_log import Scores
from harness_uq.inference.contrasts import (
    ComparisonContext,
    Contrast,
    comparison_row,
    independent_contrast,
    paired_contrast,
    undecided_row,
)
from harness_uq.inference.decisions import with_corrected_verdicts
from harness_uq.inference.judge_correction import (
    ENOUGH_LABELS,
    METHOD,
    METHOD_INFO,
    Human,
    corrected_estimate,
    grades_of,
)
from harness_uq.inference.marginals import posterior_of
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import (
    GRADER_DIFFERENCE,
    GRADER_ERRORS,
    GRADER_ERRORS_ASSUMED_EQUAL,
    GRADER_SHIFTS_DIFFERENCE,
    GRADER_UNINFORMATIVE,
    LABELS_DRAWN_SEPARATELY,
    LABELS_OF_DIFFERENT_QUESTIONS,
    LABELS_OF_ONE_SYSTEM,
    LABELS_WITHOUT_SYSTEM,
)
from harness_uq.messages.catalogue.estimation import FEW_LABELS, NO_LABELS, RANGE_REQUIRED
from harness_uq.messages.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.stats.labels.effective_labels import assess_judge, corrected_correlation
from harness_uq.stats.labels.equal_errors import one_sided_correction
from harness_uq.stats.labels.grader_errors import grader_errors
from harness_uq.stats.labels.judge import correlated_difference, judge_corrected_difference
from harness_uq.stats.labels.label_arrays import mean_of_trials

_FEWEST_LABELS = 3
_ONE_SYSTEM = MethodInfo(
    title="Difference of two graded scores, corrected with human labels of one system's answers",
    formula="θ<sub>A</sub> − θ<sub>B</sub> with θ = (p + c − 1) / (s + c − 1) for each system",
    text=(
        "p is the share of answers that the grader scores as right, s its sensitivity and c its specificity. The "
        "interval contains the intervals for all differences of s, c and s + c between the systems up to a limit."
    ),
    sources=("rubin1981",),
)


@dataclass(frozen=True, slots=True, eq=False)
class HumanLabels:
    """Human labels for a comparison.

    Attributes
    ----------
    source : name of the metric with the human scores, or labels
    max_shift : largest difference of the grader's sensitivity, specificity and their sum between the systems if only
        one system has labels, in [0, 1]
    """

    source: Human
    max_shift: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.max_shift <= 1:
            raise DataError(f"grader_shift must lie in [0, 1]; got {self.max_shift}")


@dataclass(frozen=True, slots=True, eq=False)
class _Labeled:
    """Scores of the grader and of people on the matched questions, of both systems.

    Attributes
    ----------
    panel : the matched questions
    data : the grader's scores in both runs
    judge, human : float (2, n_questions); means over trials, NaN without a label
    bounds : range of a label
    probabilities : for each system float (n_questions,); probabilities with which its answers were labeled; None if all
        are equal
    """

    panel: Panel
    data: list[Scores]
    judge: FloatArray
    human: FloatArray
    bounds: tuple[float, float]
    probabilities: tuple[FloatArray | None, FloatArray | None]

    @property
    def has_label(self) -> NDArray[np.bool_]:
        """Which answers have a label; shape (2, n_questions)."""
        return np.asarray(np.isfinite(self.human))

    @property
    def has_probabilities(self) -> bool:
        """Whether the answers of either system were labeled with unequal probabilities."""
        return any(chance is not None for chance in self.probabilities)

    @property
    def are_drawn_together(self) -> bool:
        """Whether both answers to a question have a label with the same probability.

        Without probabilities, the questions with both labels are a random sample in any case.
        """
        a, b = self.probabilities
        if a is None or b is None:
            return a is b
        in_a, in_b = self.has_label
        return np.array_equal(in_a, in_b) and np.array_equal(a[in_a], b[in_b])


def compare_with_labels(
    sides: tuple[Side, Side], labels: HumanLabels, options: Options, plugins: Plugins
) -> list[Comparison]:
    """Compare the human scores of two systems on every task, metric and filter that a grader scored.

    Returns
    -------
    One comparison per task, metric and filter, without the metric of human scores and without groups of tasks. If the
    labels are insufficient, its difference is None and a message gives the reason.

    Raises
    ------
    DataError : if the scope is not `population`, or labels do not name the system
    NotEstimableError : if the systems have no task and metric in common
    """
    if options.scope != "population":
        raise DataError("a comparison with human labels requires scope 'population'")
    matched, notes = common_keys(*sides)
    names = sides[0].system, sides[1].system
    if not isinstance(labels.source, str) and (
        n_unnamed := sum(label.system is None and label.has_score for label in labels.source)
    ):
        raise DataError(LABELS_WITHOUT_SYSTEM(n_labels=n_unnamed, systems=names))
    job = _Job(names, labels, options, plugins)
    rows = []
    for key_a, key_b in matched:
        runs = sides[0].chosen[key_a], sides[1].chosen[key_b]
        if not runs[0].log.subtasks and key_a[1] != labels.source:
            row = job.compared(runs)
            # the number of questions that would suffice is unknown, because labels limit the precision, too
            rows.append(replace(row, next_step="", n_additional_questions=None, messages=(*row.messages, *notes)))
    return with_corrected_verdicts(rows, options.level)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """The inputs of one call of `compare_with_labels`."""

    names: tuple[str, str]
    labels: HumanLabels
    options: Options
    plugins: Plugins

    def compared(self, runs: tuple[SelectedRun, SelectedRun]) -> Comparison:
        """Compare one task, metric and filter, in the way that the labels allow."""
        first, _ = runs
        context = ComparisonContext(
            key=(first.log.task, first.data.metric, first.data.filter),
            names=self.names,
            values=(None, None),
            higher_is_better=higher_is_better(first.log, first.data.metric),
            messages=messages_of_systems(runs, self.names, self.options.scope),
        )
        try:
            labeled = self._labeled(runs)
            context = _with_facts(context, labeled)
            n_a, n_b = (int(row.sum()) for row in labeled.has_label)
            if not n_a and not n_b:
                raise NotEstimableError(NO_LABELS())
            if not n_a or not n_b:
                return self._one_system(labeled, context, 0 if n_a else 1)
            if not labeled.are_drawn_together:
                return self._weighted_apart(labeled, context)
            if labeled.has_label.all(axis=0).sum() >= _FEWEST_LABELS:
                return self._paired(labeled, context)
            return self._apart(labeled, context)
        except (DataError, LogError, NotEstimableError, StructureError) as error:
            return undecided_row(context, self.options, refusal_of(error))

    def _labeled(self, runs: tuple[SelectedRun, SelectedRun]) -> _Labeled:
        panel = pair_panel(*runs, self.options.structure, self.plugins)
        data: list[Scores] = []
        judge, human, messages = [], [], list(panel.messages)
        chances: list[FloatArray | None] = []
        bounds: tuple[float, float] | None = None
        for run, rows in zip(runs, panel.rows, strict=True):
            if not isinstance(run.data, Scores):
                raise NotEstimableError(RANGE_REQUIRED(method=METHOD))
            data.append(run.data)
            given = grades_of(run.log, run.data, self.labels.source)
            judge.append(mean_of_trials(run.data.values[rows]))
            human.append(mean_of_trials(given.scores.values[rows]))
            messages += given.messages
            chances.append(None if given.probabilities is None else given.probabilities[rows])
            if given.scores.is_scored.any():
                clusters = clusters_of(run.log, self.options.structure, self.plugins)
                structure = self.options.structure.of_task(run.log.task)
                bounds = bounds or detect(replace(given.scores, clusters=None), clusters, structure).bounds
        if bounds is None:
            has_labels = any(np.isfinite(row).any() for row in human)
            raise NotEstimableError(RANGE_REQUIRED(method=METHOD) if has_labels else NO_LABELS())
        panel = replace(panel, messages=tuple(messages))
        return _Labeled(panel, data, np.stack(judge), np.stack(human), bounds, (chances[0], chances[1]))

    def _paired(self, labeled: _Labeled, context: ComparisonContext) -> Comparison:
        """Compare on questions with labels of both systems, adjusted by the grader's differences on all questions."""
        (f_a, f_b), both = labeled.judge, np.asarray(labeled.has_label.all(axis=0))
        h_a, h_b = np.where(both, labeled.human, np.nan)
        chance = labeled.probabilities[0]
        units, (low, high) = labeled.panel.units, labeled.bounds
        posterior = judge_corrected_difference(
            f_a,
            f_b,
            h_a,
            h_b,
            clusters=units,
            probabilities=chance,
            low=low,
            high=high,
            rng=np.random.default_rng(self.options.seed),
        )
        worth = assess_judge(f_a - f_b, h_a - h_b, clusters=units, probabilities=chance)
        # with the weight of the difference for both systems, their values differ by the corrected difference
        label_mean = assess_judge(f_b, h_b, clusters=units, probabilities=chance).human_mean
        value_b = label_mean + worth.weight * float(f_b.mean() - f_b[both].mean())
        n_labels = int(both.sum())
        note = GRADER_DIFFERENCE(
            raw=worth.judge_mean, labeled=worth.human_mean, corrected=worth.estimate, n_labels=n_labels
        )
        few = [FEW_LABELS(n_labels=n_labels, enough=ENOUGH_LABELS)] if n_labels < ENOUGH_LABELS else []
        messages = (note, *self._error_note(labeled), *self._bias_note(labeled, both), *few)
        result = Contrast(posterior, METHOD, messages=messages, info=METHOD_INFO)
        return comparison_row(result, replace(context, values=(value_b + worth.estimate, value_b)), self.options)

    def _apart(self, labeled: _Labeled, context: ComparisonContext) -> Comparison:
        """Compare corrected scores as independent ones, because hardly any question has labels of both systems."""
        rows = self._corrected_rows(labeled)
        n_a, n_b = (int(row.sum()) for row in labeled.has_label)
        messages = (LABELS_OF_DIFFERENT_QUESTIONS(n_a=n_a, n_b=n_b), *self._error_note(labeled))
        result = replace(independent_contrast(*rows), method=METHOD, messages=messages, info=METHOD_INFO)
        return comparison_row(result, replace(context, values=(rows[0].value, rows[1].value)), self.options)

    def _weighted_apart(self, labeled: _Labeled, context: ComparisonContext) -> Comparison:
        """Compare corrected scores, each weighted by the probabilities of its own labels, with their correlation."""
        rows = self._corrected_rows(labeled)
        correlation = corrected_correlation(
            labeled.judge,
            list(labeled.human),
            clusters=labeled.panel.units,
            probabilities=labeled.probabilities,
        )[0, 1]
        width = labeled.bounds[1] - labeled.bounds[0]
        posterior = correlated_difference(posterior_of(rows[0]), posterior_of(rows[1]), float(correlation), width)
        n_a, n_b = (int(row.sum()) for row in labeled.has_label)
        messages = (LABELS_DRAWN_SEPARATELY(n_a=n_a, n_b=n_b), *self._error_note(labeled))
        result = Contrast(posterior, METHOD, messages=messages, info=METHOD_INFO)
        return comparison_row(result, replace(context, values=(rows[0].value, rows[1].value)), self.options)

    def _corrected_rows(self, labeled: _Labeled) -> list[Estimate]:
        """The corrected score of each system."""
        rows = []
        for run, data in zip(labeled.panel.runs, labeled.data, strict=True):
            clusters = clusters_of(run.log, self.options.structure, self.plugins)
            rows.append(corrected_estimate(run.log, data, self.labels.source, clusters, self.options.estimation))
        return rows

    def _one_system(self, labeled: _Labeled, context: ComparisonContext, place: int) -> Comparison:
        """Compare with labels of one system's answers, for a limited difference of the grader's errors."""
        named = {"labeled": self.names[place], "unlabeled": self.names[1 - place]}
        is_binary = np.isin(labeled.judge, (0.0, 1.0)).all()
        if not is_binary or labeled.bounds != (0.0, 1.0):
            raise NotEstimableError(LABELS_OF_ONE_SYSTEM(labeled=named["labeled"]))
        human = {("human_a", "human_b")[place]: labeled.human[place]}
        found = one_sided_correction(
            *labeled.judge,
            **human,
            clusters=labeled.panel.units,
            probabilities=labeled.probabilities[place],
            max_shift=self.labels.max_shift,
            rng=np.random.default_rng(self.options.seed),
        )
        low, high = found.j_interval
        shift = self.labels.max_shift
        if low <= shift:
            raise NotEstimableError(
                GRADER_UNINFORMATIVE(labeled=named["labeled"], j=found.j, low=low, high=high, shift=shift)
            )
        low, high = found.equal.interval(self.options.level)
        warning = GRADER_ERRORS_ASSUMED_EQUAL(**named, shift=shift, low=low, high=high)
        result = Contrast(found.outer, METHOD, messages=(warning,), info=_ONE_SYSTEM)
        row = comparison_row(result, context, self.options)
        ends = found.outer.low.mean, found.outer.high.mean
        return replace(row, identified_range=ends, prob_positive=None, minimum_detectable_effect=None)

    def _bias_note(self, labeled: _Labeled, both: NDArray[np.bool_]) -> tuple[Message, ...]:
        """Warn if the grader overrates one system more than the other, compared with the labels.

        Its errors are those of the same questions for both systems. With unequal probabilities of a label there is no
        warning.
        """
        if labeled.has_probabilities or np.ptp(labeled.judge, axis=1).max() > np.ptp(labeled.bounds):
            return ()
        errors = (labeled.judge - labeled.human)[:, both]
        units, width = labeled.panel.units, labeled.bounds[1] - labeled.bounds[0]
        codes = None if units is None else np.unique(units[both], return_inverse=True)[1]
        of_errors = panel_of_scores([*errors], codes, (-width, width))
        try:
            result = paired_contrast(of_errors)
        except NotEstimableError:
            return ()
        low, high = result.posterior.interval(self.options.level)
        value = float(of_errors.differences.mean())
        # the t test limits false alarms to 5 % with few labels, for which the interval is slightly short
        is_significant = result.p_value is not None and result.p_value <= 1 - self.options.level
        if low <= 0 <= high or not is_significant:
            return ()
        overrated, other = self.names if value > 0 else self.names[::-1]
        low, high = (low, high) if value > 0 else (-high, -low)
        return (GRADER_SHIFTS_DIFFERENCE(overrated=overrated, other=other, value=abs(value), low=low, high=high),)

    def _error_note(self, labeled: _Labeled) -> tuple[Message, ...]:
        """J of the grader on each system's answers and its difference, if grades and labels are 0 or 1."""
        columns = labeled.judge, labeled.human, labeled.probabilities
        errors_a, errors_b = (grader_errors(f, h, chance) for f, h, chance in zip(*columns, strict=True))
        if errors_a is None or errors_b is None:
            return ()
        rng = np.random.default_rng(self.options.seed)
        shift = errors_a.draws(10_000, rng) - errors_b.draws(10_000, rng)
        low, high = np.quantile(shift, [(1 - self.options.level) / 2, (1 + self.options.level) / 2]).tolist()
        j_a, j_b = errors_a.j, errors_b.j
        systems = {"system_a": self.names[0], "system_b": self.names[1]}
        return (GRADER_ERRORS(**systems, j_a=j_a, j_b=j_b, shift=j_a - j_b, low=low, high=high),)


def _with_facts(context: ComparisonContext, labeled: _Labeled) -> ComparisonContext:
    panel = labeled.panel
    return replace(
        context,
        bounds=labeled.bounds,
        n_matched=labeled.judge.shape[1],
        n_unmatched=(panel.n_unmatched[0], panel.n_unmatched[1]),
        n_trials=panel.n_trials,
        cluster_key=panel.cluster_key,
        n_clusters=panel.n_units if panel.cluster_key else None,
        messages=(*context.messages, *panel.messages),
    )
