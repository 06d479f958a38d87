"""Correct the scores of a grader with human labels: of one system, of two, and for the ranks of several.

Labels change what is estimated, the mean score that people would give, and not how systems are compared. The corrected
scores of several systems are correlated if they answered the same questions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness_uq.data.arrays import FloatArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.estimands import MethodInfo, parse_estimand
from harness_uq.data.panel import Panel, build_panel, pair_panel, panel_of_scores
from harness_uq.data.selection import ScoreKey, SelectedRun, higher_is_better, messages_of_systems, name_systems
from harness_uq.data.structure import Structure, detect
from harness_uq.data.task_log import IntArray, Scores, TaskLog
from harness_uq.inference.compared_runs import Side, common_keys
from harness_uq.inference.contrasts import (
    ComparisonContext,
    Contrast,
    comparison_row,
    independent_contrast,
    paired_contrast,
    undecided_row,
)
from harness_uq.inference.decisions import with_corrected_verdicts
from harness_uq.inference.joint_posterior import SeparatePosterior
from harness_uq.inference.marginals import make_problem, not_estimable, posterior_of
from harness_uq.inference.method import credible
from harness_uq.io.human_labels import (
    Label,
    answers_without_label,
    grades,
    human_labels,
    labels_of_answers,
    without_labels,
)
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue import comparison as catalogue
from harness_uq.messages.catalogue import estimation
from harness_uq.messages.catalogue.planning import LABELS_INCOMPLETE
from harness_uq.messages.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.stats.labels.effective_labels import JudgeAssessment, assess_judge, corrected_correlation
from harness_uq.stats.labels.equal_errors import one_sided_correction
from harness_uq.stats.labels.grader_errors import grader_errors
from harness_uq.stats.labels.judge import correlated_difference, judge_corrected_difference, judge_corrected_posterior
from harness_uq.stats.labels.label_arrays import mean_of_trials
from harness_uq.stats.labels.raters import rater_disagreement
from harness_uq.stats.pairs.rank_sets import RankSets, rank_sets_of_normal
from harness_uq.stats.trials.partial_identification import OuterPosterior

METHOD = "judge-corrected"
METHOD_INFO = MethodInfo(
    title="Mean score of a grader, corrected with human labels",
    formula=(
        "θ = h̄<sub>L</sub> + β (f̄ − f̄<sub>L</sub>), β = cov<sub>L</sub>(f, h) / var<sub>L</sub>(f), under Gamma(1) "
        "weights of the questions and of prior atoms at the corners {lowest f, highest f} × {lowest h, highest h}"
    ),
    text=(
        "f are the judge's scores of all questions, h the person's of those in L, drawn at random or with known "
        "probabilities. The judge's errors are in the interval; those of the person are not."
    ),
    sources=("angelopoulos2023", "rubin1981", "ferguson1973"),
)
_ONE_SYSTEM = MethodInfo(
    title="Difference of two graded scores, corrected with human labels of one system's answers",
    formula="θ<sub>A</sub> − θ<sub>B</sub> with θ = (p + c − 1) / (s + c − 1) for each system",
    text=(
        "p is the share of answers that the grader scores as right, s its sensitivity and c its specificity. The "
        "interval contains the intervals for all differences of s, c and s + c between the systems up to a limit."
    ),
    sources=("rubin1981",),
)

ENOUGH_LABELS = 20
_FEWEST_LABELS = 3  # of both systems' answers to a question, for a paired difference
_FEW_CLUSTERS = 10

Human = str | Sequence[Label]
"""Human labels: the metric of the logs that contains them, or the labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Grades:
    """Human labels of the questions of a task, averaged over raters."""

    scores: Scores
    probabilities: FloatArray | None  # (n_questions,) with which questions were labeled; None if all are equal
    messages: tuple[Message, ...] = ()
    is_binary: bool = False  # whether the label of each rater is 0 or 1, although their mean may not be

    @property
    def majority(self) -> FloatArray:
        """Labels by the majority of raters if they are 0 or 1, NaN for a tie; otherwise the mean labels."""
        values = self.scores.values
        return np.where(values == 0.5, np.nan, np.round(values)) if self.is_binary else values


def grades_of(log: TaskLog, judge: Scores, human: Human) -> Grades:
    """The human labels of the answers that a grader scored.

    Raises NotEstimableError if the log has no such metric, and LogError if a question has two labels, or only some
    labels have a probability.
    """
    if not isinstance(human, str):
        values, chances = grades(human, log.task, log.questions.ids, log.system)
        mine = labels_of_answers(human, log.task, frozenset(log.questions.ids), log.system)
        is_binary = all(label.score in (0.0, 1.0) for label in mine)
        has_shares = bool(((values > 0) & (values < 1)).any())
        bounds = (0.0, 1.0) if is_binary and has_shares else judge.bounds
        scores = replace(judge, values=values[:, None], clusters=None, bounds=bounds)
        messages = (*_missing_labels(log, human), *_rater_notes(log.system, mine))
        return Grades(scores, chances, messages, is_binary)
    candidates = [data for data in log.data if isinstance(data, Scores) and data.metric == human]
    if not candidates:
        raise NotEstimableError(estimation.NO_LABEL_METRIC(metric=human))
    same = [data for data in candidates if data.filter == judge.filter]
    return Grades((same or candidates)[0], None)


def _missing_labels(log: TaskLog, labels: Sequence[Label]) -> tuple[Message, ...]:
    n_missing, n_answers = answers_without_label(labels, log.task, frozenset(log.questions.ids), log.system)
    if n_missing in (0, n_answers):  # without any label there is no result
        return ()
    return (LABELS_INCOMPLETE(system=log.system, n_missing=n_missing, n_answers=n_answers),)


def _rater_notes(system: str, labels: Sequence[Label]) -> tuple[Message, ...]:
    by_answer: dict[str, list[float]] = {}
    for label in labels:
        by_answer.setdefault(label.id, []).append(label.score)
    found = rater_disagreement(by_answer.values())
    if found is None:
        return ()
    share = found.variance_share
    note = catalogue.LABELS_OF_SEVERAL_RATERS(
        system=system,
        n_answers=found.n_answers,
        n_raters=len({label.rater for label in labels}),
        agreement=found.agreement,
        variance="" if share is None else f" (disagreement causes {100 * share:.0f} % of the variance of a label)",
    )
    return (note,)


# ---------------------------------------------------------------- one system


def estimate_with_labels(
    logs: Sequence[TaskLog],
    labels: str | Path | Sequence[Label],
    options: Options,
    plugins: Plugins,
    inclusion_probabilities: str | None = None,
) -> list[Estimate]:
    """The human score of every system, task, metric and filter that a grader scored; groups of tasks have none.

    `labels` are a CSV file, the metric of the logs that contains them, or labels; `inclusion_probabilities` is a column
    of the file. Raises LogError if the file cannot be read, and DataError if there is no such file or metric, or a
    scope other than `population` or an estimand other than the mean is requested.
    """
    human = human_labels(labels, logs, inclusion_probabilities)
    if options.scope != "population" or options.estimand != "mean":
        raise DataError(estimation.GRADER_CORRECTION_UNSUPPORTED(scope=options.scope, estimand=options.estimand))
    rows = []
    for log in without_labels(logs, labels):
        for data in log.data if not log.subtasks else ():
            if isinstance(data, Scores) and data.metric != human:
                row = _corrected(SelectedRun(log, data), human, options, plugins)
                rows.append(replace(row, messages=(*row.messages, *log.messages)))
    return rows


def _corrected(run: SelectedRun, labels: Human, options: Options, plugins: Plugins) -> Estimate:
    """The corrected score of a run; one without an interval, with the reason, if the labels are insufficient."""
    try:
        return corrected_estimate(run, labels, options, plugins)
    except (DataError, LogError, NotEstimableError, StructureError) as error:
        return not_estimable(run.log, run.data, parse_estimand("mean", "population"), (refusal_of(error),))


def corrected_estimate(run: SelectedRun, labels: Human, options: Options, plugins: Plugins) -> Estimate:
    """Estimate the human score from a grader's scores and human labels.

    Raises NotEstimableError if the labels are insufficient, and DataError or LogError if they are invalid.
    """
    log, judge = run.log, run.data
    if not isinstance(judge, Scores):
        raise NotEstimableError(estimation.RANGE_REQUIRED(method=METHOD))
    clusters = clusters_of(log, options.structure, plugins)
    human, is_judged = grades_of(log, judge, labels), judge.is_scored
    f, h = _matched(judge.values[is_judged], human.scores.values[is_judged])
    if (n_lost := int((human.scores.is_scored & ~is_judged).sum())) and not np.isfinite(h).any():
        raise NotEstimableError(estimation.LABELED_QUESTIONS_UNSCORED(n_labels=n_lost, metric=judge.metric))
    if not np.isfinite(h).any():
        raise NotEstimableError(estimation.NO_LABELS())
    structure = options.structure.of_task(log.task)
    bounds = detect(replace(human.scores, clusters=None), clusters, structure).bounds
    if bounds is None:
        raise NotEstimableError(estimation.RANGE_REQUIRED(method=METHOD))
    problem = make_problem(log, judge, clusters, options)
    units = problem.data.clusters if isinstance(problem.data, Scores) else None
    chance = None if human.probabilities is None else human.probabilities[is_judged]
    worth = assess_judge(f, h, clusters=units, probabilities=chance)
    rng = np.random.default_rng(options.seed)
    posterior = judge_corrected_posterior(
        f, h, clusters=units, probabilities=chance, low=bounds[0], high=bounds[1], rng=rng
    )
    value = float(np.clip(worth.estimate, *bounds))
    result = credible(
        problem,
        posterior,
        value,
        diagnostics=_diagnostics(worth),
        messages=(*_notes(worth, chance is None), *human.messages, *_warnings(problem.structure, worth)),
    )
    return replace(result.estimate(problem, METHOD), method_reason="human labels were given", info=METHOD_INFO)


def _matched(judge: FloatArray, human: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bring both scores to the same shape: one per trial, or one per question."""
    if human.shape == judge.shape:
        return judge, np.where(np.isfinite(judge), human, np.nan)
    if human.shape[1] == 1:
        return judge, human[:, 0]
    raise NotEstimableError(estimation.LABELS_UNMATCHED(n_labeled=human.shape[1], n_graded=judge.shape[1]))


def _diagnostics(worth: JudgeAssessment) -> dict[str, float]:
    named = {
        "n_labels": float(worth.n_labels),
        "effective_labels": worth.effective_labels,
        "judge_mean": worth.judge_mean,
        "human_mean": worth.human_mean,
        "judge_weight": worth.weight,
        "judge_agreement": worth.agreement,
    }
    return {name: value for name, value in named.items() if value is not None}


def _notes(worth: JudgeAssessment, is_plain_sample: bool) -> Iterator[Message]:
    means = {"grader_mean": worth.judge_mean, "label_mean": worth.human_mean}
    yield estimation.GRADER_CORRECTION(**means, estimate=worth.estimate)
    if worth.effective_labels is not None:
        yield estimation.EFFECTIVE_LABELS(n_labels=worth.n_labels, effective=worth.effective_labels)
    if worth.is_no_better:
        yield estimation.WEAK_GRADER(agreement=worth.agreement)
    if is_plain_sample:
        yield estimation.LABELS_ASSUMED_RANDOM()


def _warnings(structure: Structure, worth: JudgeAssessment) -> Iterator[Message]:
    if worth.n_labels < ENOUGH_LABELS:
        yield estimation.FEW_LABELS(n_labels=worth.n_labels, enough=ENOUGH_LABELS)
    if worth.effective_labels is None:
        yield estimation.UNIFORM_LABELS()
    if structure.n_clusters is not None and structure.n_clusters < _FEW_CLUSTERS:
        yield estimation.FEW_CLUSTERS(n_clusters=structure.n_clusters, clusters=structure.cluster_key)


# ---------------------------------------------------------------- labels of several systems


@dataclass(frozen=True, slots=True, eq=False)
class _Labeled:
    """Scores of people on a panel of questions, beside those of the grader."""

    panel: Panel
    given: tuple[Grades, ...]  # of the runs
    human: FloatArray  # (S, Q); means over trials, NaN without a label
    probabilities: tuple[FloatArray | None, ...]  # S of (Q,), with which answers were labeled; None if all are equal

    @classmethod
    def of(cls, panel: Panel, labels: Human) -> "_Labeled":
        """The labels of the panel's questions."""
        given = [grades_of(run.log, run.data, labels) for run in panel.runs if isinstance(run.data, Scores)]
        both = list(zip(given, panel.rows, strict=True))
        human = np.stack([mean_of_trials(one.scores.values[rows]) for one, rows in both])
        chances = (None if one.probabilities is None else one.probabilities[rows] for one, rows in both)
        return cls(panel, tuple(given), human, tuple(chances))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the panel and of the labels."""
        return (*self.panel.messages, *(message for one in self.given for message in one.messages))

    @property
    def judge(self) -> FloatArray:
        """The grader's mean scores over trials; (S, Q)."""
        return self.panel.means

    @property
    def has_label(self) -> NDArray[np.bool_]:
        """Which answers have a label; (S, Q)."""
        return np.asarray(np.isfinite(self.human))

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

    def correlation(self) -> FloatArray:
        """Correlation of the corrected scores of the systems; (S, S)."""
        return corrected_correlation(
            self.judge, list(self.human), clusters=self.panel.units, probabilities=self.probabilities
        )


# ---------------------------------------------------------------- two systems


@dataclass(frozen=True, slots=True)
class HumanLabels:
    """Human labels for a comparison."""

    source: Human
    max_shift: float = 0.1  # largest difference of the grader's errors if only one system has labels, in [0, 1]

    def __post_init__(self) -> None:
        if not 0 <= self.max_shift <= 1:
            raise DataError(f"grader_shift must lie in [0, 1]; got {self.max_shift}")


def compare_with_labels(
    sides: tuple[Side, Side], labels: HumanLabels, options: Options, plugins: Plugins
) -> list[Comparison]:
    """Compare the human scores of two systems on every task, metric and filter that a grader scored.

    Groups of tasks and the metric of human scores have no comparison. If the labels are insufficient, its difference is
    None and a message gives the reason. Raises DataError if labels do not name the
    system, and NotEstimableError if the systems have no task and metric in common.
    """
    matched, notes = common_keys(*sides)
    names = sides[0].system, sides[1].system
    if not isinstance(labels.source, str) and (
        n_unnamed := sum(label.system is None and label.has_score for label in labels.source)
    ):
        raise DataError(catalogue.LABELS_WITHOUT_SYSTEM(n_labels=n_unnamed, systems=names))
    job = _Pairs(names, labels, options, plugins)
    rows = []
    for key_a, key_b in matched:
        runs = sides[0].chosen[key_a], sides[1].chosen[key_b]
        if not runs[0].log.subtasks and key_a[1] != labels.source:
            row = job.compared(runs)
            # the number of questions that would suffice is unknown, because labels limit the precision, too
            rows.append(replace(row, next_step="", n_additional_questions=None, messages=(*row.messages, *notes)))
    return with_corrected_verdicts(rows, options.level)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
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
            labeled = _Labeled.of(pair_panel(*runs, self.options.structure, self.plugins), self.labels.source)
            bounds = self.range_of_labels(labeled)
            context = _with_facts(context, labeled, bounds)
            result, values = self.contrast(labeled, bounds)
        except (DataError, LogError, NotEstimableError, StructureError) as error:
            return undecided_row(context, self.options, refusal_of(error))
        row = comparison_row(result, replace(context, values=values), self.options)
        if not isinstance(result.posterior, OuterPosterior):
            return row
        ends = result.posterior.low.mean, result.posterior.high.mean
        return replace(row, identified_range=ends, prob_positive=None, minimum_detectable_effect=None)

    def range_of_labels(self, labeled: _Labeled) -> tuple[float, float]:
        """The range of a label. Raises NotEstimableError without labels, or if the range is unknown."""
        for run, given in zip(labeled.panel.runs, labeled.given, strict=True):
            if given.scores.is_scored.any():
                clusters = clusters_of(run.log, self.options.structure, self.plugins)
                structure = self.options.structure.of_task(run.log.task)
                bounds = detect(replace(given.scores, clusters=None), clusters, structure).bounds
                if bounds is not None:
                    return bounds
        has_labels = labeled.has_label.any()
        raise NotEstimableError(estimation.RANGE_REQUIRED(method=METHOD) if has_labels else estimation.NO_LABELS())

    def contrast(
        self, labeled: _Labeled, bounds: tuple[float, float]
    ) -> tuple[Contrast, tuple[float | None, float | None]]:
        """The difference in the way that the labels allow, and the scores of both systems."""
        n_a, n_b = (int(row.sum()) for row in labeled.has_label)
        if not n_a and not n_b:
            raise NotEstimableError(estimation.NO_LABELS())
        if not n_a or not n_b:
            return self._one_system(labeled, bounds, 0 if n_a else 1), (None, None)
        if labeled.are_drawn_together and labeled.has_label.all(axis=0).sum() >= _FEWEST_LABELS:
            return self._paired(labeled, bounds)
        first, second = rows = [
            corrected_estimate(run, self.labels.source, self.options.estimation, self.plugins)
            for run in labeled.panel.runs
        ]
        if labeled.are_drawn_together:  # hardly any question has labels of both systems
            note = catalogue.LABELS_OF_DIFFERENT_QUESTIONS(n_a=n_a, n_b=n_b)
            result = independent_contrast(first, second)
        else:
            note = catalogue.LABELS_DRAWN_SEPARATELY(n_a=n_a, n_b=n_b)
            result = _correlated(first, second, float(labeled.correlation()[0, 1]), bounds[1] - bounds[0])
        messages = (note, *self._error_note(labeled))
        return replace(result, method=METHOD, messages=messages, info=METHOD_INFO), (rows[0].value, rows[1].value)

    def _paired(self, labeled: _Labeled, bounds: tuple[float, float]) -> tuple[Contrast, tuple[float, float]]:
        """Compare on questions with labels of both systems, adjusted by the grader's differences on all questions."""
        (f_a, f_b), both = labeled.judge, np.asarray(labeled.has_label.all(axis=0))
        h_a, h_b = np.where(both, labeled.human, np.nan)
        chance, units = labeled.probabilities[0], labeled.panel.units
        posterior = judge_corrected_difference(
            *(f_a, f_b, h_a, h_b),
            clusters=units,
            probabilities=chance,
            low=bounds[0],
            high=bounds[1],
            rng=np.random.default_rng(self.options.seed),
        )
        worth = assess_judge(f_a - f_b, h_a - h_b, clusters=units, probabilities=chance)
        # with the weight of the difference for both systems, their values differ by the corrected difference
        label_mean = assess_judge(f_b, h_b, clusters=units, probabilities=chance).human_mean
        value_b = label_mean + worth.weight * float(f_b.mean() - f_b[both].mean())
        n_labels = int(both.sum())
        note = catalogue.GRADER_DIFFERENCE(
            raw=worth.judge_mean, labeled=worth.human_mean, corrected=worth.estimate, n_labels=n_labels
        )
        few = [estimation.FEW_LABELS(n_labels=n_labels, enough=ENOUGH_LABELS)] if n_labels < ENOUGH_LABELS else []
        messages = (note, *self._error_note(labeled), *self._bias_note(labeled, both, bounds), *few)
        return Contrast(posterior, METHOD, messages=messages, info=METHOD_INFO), (value_b + worth.estimate, value_b)

    def _one_system(self, labeled: _Labeled, bounds: tuple[float, float], place: int) -> Contrast:
        """Compare with labels of one system's answers, for a limited difference of the grader's errors."""
        named = {"labeled": self.names[place], "unlabeled": self.names[1 - place]}
        is_binary = np.isin(labeled.judge, (0.0, 1.0)).all()
        if not is_binary or bounds != (0.0, 1.0):
            raise NotEstimableError(catalogue.LABELS_OF_ONE_SYSTEM(labeled=named["labeled"]))
        human = {("human_a", "human_b")[place]: labeled.human[place]}
        shift = self.labels.max_shift
        found = one_sided_correction(
            *labeled.judge,
            **human,
            clusters=labeled.panel.units,
            probabilities=labeled.probabilities[place],
            max_shift=shift,
            rng=np.random.default_rng(self.options.seed),
        )
        low, high = found.j_interval
        if low <= shift:
            raise NotEstimableError(
                catalogue.GRADER_UNINFORMATIVE(labeled=named["labeled"], j=found.j, low=low, high=high, shift=shift)
            )
        low, high = found.equal.interval(self.options.level)
        warning = catalogue.GRADER_ERRORS_ASSUMED_EQUAL(**named, shift=shift, low=low, high=high)
        return Contrast(found.outer, METHOD, messages=(warning,), info=_ONE_SYSTEM)

    def _bias_note(
        self, labeled: _Labeled, both: NDArray[np.bool_], bounds: tuple[float, float]
    ) -> tuple[Message, ...]:
        """Warn if the grader overrates one system more than the other, compared with the labels.

        Its errors are those of the same questions for both systems. With unequal probabilities of a label there is no
        warning.
        """
        has_probabilities = any(chance is not None for chance in labeled.probabilities)
        width = bounds[1] - bounds[0]
        if has_probabilities or np.ptp(labeled.judge, axis=1).max() > width:
            return ()
        errors = (labeled.judge - labeled.human)[:, both]
        units = labeled.panel.units
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
        return (
            catalogue.GRADER_SHIFTS_DIFFERENCE(overrated=overrated, other=other, value=abs(value), low=low, high=high),
        )

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
        return (catalogue.GRADER_ERRORS(**systems, j_a=j_a, j_b=j_b, shift=j_a - j_b, low=low, high=high),)


def _with_facts(context: ComparisonContext, labeled: _Labeled, bounds: tuple[float, float]) -> ComparisonContext:
    panel = labeled.panel
    return replace(
        context,
        bounds=bounds,
        n_matched=panel.n_questions,
        n_unmatched=(panel.n_unmatched[0], panel.n_unmatched[1]),
        n_trials=panel.n_trials,
        cluster_key=panel.cluster_key,
        n_clusters=panel.n_units if panel.cluster_key else None,
        messages=(*context.messages, *labeled.messages),
    )


def _correlated(a: Estimate, b: Estimate, correlation: float, width: float) -> Contrast:
    """The difference of two corrected scores; `width` is the width of the range of a label."""
    return Contrast(correlated_difference(posterior_of(a), posterior_of(b), correlation, width), METHOD)


# ---------------------------------------------------------------- ranks


class LabeledPosterior(SeparatePosterior):
    """The human scores of systems; their corrected scores are correlated.

    `pair` is the difference of exactly two systems as `compare` computes it; None if it is not known.
    """

    def __init__(
        self,
        key: ScoreKey,
        rows: Sequence[Estimate],
        correlation: FloatArray,
        options: Options,
        *,
        n_questions: int,
        messages: tuple[Message, ...],
        n_draws: int,
        pair: Contrast | None,
    ) -> None:
        super().__init__(key, rows, options, messages=messages, n_draws=n_draws)
        self.n_questions, self._correlation, self._pair = n_questions, correlation, pair

    def contrast(self, i: int, j: int) -> Contrast:
        if self._pair is not None and (i, j) == (0, 1):
            return self._pair
        a, b = self.estimates[i], self.estimates[j]
        low, high = (a.structure and a.structure.bounds) or (0.0, 1.0)
        return _correlated(a, b, self._correlation[i, j], high - low)

    def _all_pairs(self) -> FloatArray | None:
        return None

    def _draw(self, order: IntArray) -> FloatArray:
        rng, posteriors = self.rng("draws"), [posterior_of(self.estimates[k]) for k in order]
        correlation = self._correlation[np.ix_(order, order)]
        normal = rng.multivariate_normal(np.zeros(len(order)), correlation, self.n_draws, method="eigh").T
        return np.stack([one.quantile(p) for one, p in zip(posteriors, special.ndtr(normal), strict=True)])

    def _sets(self, order: IntArray) -> RankSets:
        posteriors = [posterior_of(self.estimates[k]) for k in order]
        means, sd = (np.array([getattr(one, name) for one in posteriors]) for name in ("mean", "sd"))
        covariance = self._correlation[np.ix_(order, order)] * np.outer(sd, sd)
        return rank_sets_of_normal(means, covariance, level=self.level, rng=self.rng("sets"))


def labeled_posterior(
    chosen: Sequence[SelectedRun], labels: Human, options: Options, plugins: Plugins, *, n_draws: int
) -> LabeledPosterior:
    """Compute the joint posterior of the scores that people would give to the answers of several systems.

    The posterior of each system is that of `estimate` with the same labels. The correlations are those of the systems'
    corrected means over the same questions or clusters. Systems without sufficient labels are left out. Raises
    NotEstimableError if fewer than two remain.
    """
    known: dict[str, SelectedRun] = {}
    rows, left_out = [], []
    for run in chosen:
        try:
            row = corrected_estimate(run, labels, options, plugins)
        except (NotEstimableError, StructureError) as error:
            left_out.append(catalogue.SYSTEM_NOT_ESTIMABLE(system=run.log.system, reason_code=refusal_of(error).code))
            continue
        if row.interval is not None and row.value is not None:
            known[row.system] = run
            rows.append(row)
    if len(rows) < 2:
        raise NotEstimableError(catalogue.TOO_FEW_SYSTEMS(what="human labels of their answers"))
    correlation, notes, pair = np.eye(len(rows)), tuple[Message, ...](), None
    try:
        labeled = _Labeled.of(build_panel(list(known.values()), options.structure, plugins), labels)
    except NotEstimableError as error:  # systems whose questions do not match are independent
        n_questions = min(row.n_questions or 0 for row in rows)
        notes = (catalogue.INDEPENDENT_COMPARISON(reason=str(error)),)
    else:
        # a system with few questions in common is not among those on the panel
        at = [list(known).index(system) for system in labeled.panel.systems]
        correlation[np.ix_(at, at)] = labeled.correlation()
        n_questions, notes = labeled.panel.n_questions, labeled.messages
        pair = _compared_pair(labeled, labels, options, plugins) if len(at) == len(rows) == 2 else None
    return LabeledPosterior(
        (chosen[0].log.task, chosen[0].data.metric, chosen[0].data.filter),
        rows,
        correlation,
        options,
        n_questions=n_questions,
        messages=(labels_note(rows), *left_out, *notes, *name_systems([row.warnings for row in rows], list(known))),
        n_draws=n_draws,
        pair=pair,
    )


def _compared_pair(labeled: _Labeled, labels: Human, options: Options, plugins: Plugins) -> Contrast | None:
    """The difference of two systems as `compare` computes it; None if it is not estimable."""
    a, b = labeled.panel.systems
    job = _Pairs((a, b), HumanLabels(labels), options, plugins)
    try:
        found, (value_a, value_b) = job.contrast(labeled, job.range_of_labels(labeled))
    except (DataError, LogError, NotEstimableError, StructureError):
        return None
    return None if value_a is None or value_b is None else replace(found, values=(value_a, value_b))


def labels_note(rows: Sequence[Estimate]) -> Message:
    """A note that scores were corrected with human labels."""
    n_labels = min(int(row.diagnostics["n_labels"]) for row in rows)
    return catalogue.RANKED_WITH_LABELS(n_systems=len({row.system for row in rows}), n_labels=n_labels)
