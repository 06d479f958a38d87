"""A judge's scores of a run, corrected by a person's: of a table of labels, or of another metric of the same log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.errors import DataError, LogError, NotEstimableError, StructureError
from harness_uq.estimands import parse_estimand
from harness_uq.estimating.analysis import Options, clusters_of, make_problem, not_estimable
from harness_uq.estimating.finding import build, credible
from harness_uq.logs.data import FloatArray, Scores, TaskLog
from harness_uq.logs.labels import Label, grades
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.protocols import Problem
from harness_uq.plugins.reading import Runs, task_logs
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate
from harness_uq.stats.labels.judge import judge_corrected_posterior
from harness_uq.stats.labels.worth import JudgeWorth, judge_worth
from harness_uq.structure.detection import detect
from harness_uq.structure.facts import Clusters

METHOD = "judge-corrected"
ABOUT = About(
    title="A judge's mean, corrected by a person's labels",
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
FEW_LABELS = 20

Human = str | Sequence[Label]


@dataclass(frozen=True, slots=True, eq=False)
class _Grades:
    """A person's grades of the questions of a task, in the form of `Scores`, and the labels' probabilities."""

    scores: Scores
    probabilities: FloatArray | None


def correct(
    logs: Runs, human: Human, options: Options | None = None, *, plugins: Plugins | None = None
) -> list[Estimate]:
    """The score that a person would give, of every task, metric and filter that a judge scored.

    Parameters
    ----------
    logs : paths of logged runs, or task logs already read
    human : name of the metric that holds the person's scores, or labels
    options : how to estimate; scope `population` and estimand `mean`
    plugins : what to choose from; the installed ones by default

    Returns
    -------
    One estimate a system, task, metric and filter, the person's own metric and groups of tasks left out. Where the
    labels do not suffice its interval is None and a warning says why.

    Raises
    ------
    DataError : if another scope or estimand is asked for
    """
    chosen, offered = options or Options(), plugins or load_plugins()
    if chosen.scope != "population" or chosen.estimand != "mean":
        raise DataError(
            "a judge is corrected for the mean score on new questions: scope population and estimand mean; "
            f"got {chosen.scope} and {chosen.estimand}"
        )
    return [row for log in task_logs(logs, offered) if not log.subtasks for row in _rows(log, human, chosen, offered)]


def _rows(log: TaskLog, human: Human, options: Options, plugins: Plugins) -> Iterator[Estimate]:
    clusters = clusters_of(log, options.structure, plugins)
    for data in log.data:
        if not isinstance(data, Scores) or data.metric == human:
            continue
        try:
            row = _corrected(log, data, _grades(log, data, human), clusters, options)
        except (DataError, LogError, NotEstimableError, StructureError) as error:
            row = not_estimable(log, data, parse_estimand("mean", "population"), str(error))
        yield replace(row, notes=(*row.notes, *log.notes), warnings=(*row.warnings, *log.warnings))


def _grades(log: TaskLog, judge: Scores, human: Human) -> _Grades:
    if not isinstance(human, str):
        values, chances = grades(human, log.task, log.questions.ids)
        return _Grades(replace(judge, values=values[:, None], clusters=None), chances)
    found = [data for data in log.data if isinstance(data, Scores) and data.metric == human]
    if not found:
        raise NotEstimableError(f"the log has no metric {human!r} with a person's scores")
    same = [data for data in found if data.filter == judge.filter]
    return _Grades((same or found)[0], None)


def _corrected(log: TaskLog, judge: Scores, human: _Grades, clusters: Clusters, options: Options) -> Estimate:
    kept = judge.is_scored
    f, h = _matched(judge.values[kept], human.scores.values[kept])
    if (n_lost := int((human.scores.is_scored & ~kept).sum())) and not np.isfinite(h).any():
        raise NotEstimableError(f"all {n_lost} labelled questions lack a score of {judge.metric!r}")
    if not np.isfinite(h).any():
        raise NotEstimableError("no question of this task has a label")
    bounds = detect(replace(human.scores, clusters=None), clusters, options.structure.of_task(log.task)).bounds
    if bounds is None:
        raise NotEstimableError("labels of unknown range cannot be used; --range METRIC=LO,HI gives one")
    problem = make_problem(log, judge, clusters, options)
    units = problem.data.clusters if isinstance(problem.data, Scores) else None
    chance = None if human.probabilities is None else human.probabilities[kept]
    worth = judge_worth(f, h, clusters=units, probabilities=chance)
    rng = np.random.default_rng(options.seed)
    posterior = judge_corrected_posterior(
        f, h, clusters=units, probabilities=chance, low=bounds[0], high=bounds[1], rng=rng
    )
    value = float(np.clip(worth.estimate, *bounds))
    found = credible(
        problem,
        posterior,
        value,
        diagnostics=_diagnostics(worth),
        notes=tuple(_notes(worth, chance is None)),
        warnings=tuple(_warnings(problem, worth)),
    )
    return replace(build(problem, METHOD, found), method_reason="a person's scores were given", about=ABOUT)


def _matched(judge: FloatArray, human: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Grades in one shape: a trial each, or one a question."""
    if human.shape == judge.shape:
        return judge, np.where(np.isfinite(judge), human, np.nan)
    if human.shape[1] == 1:
        return judge, human[:, 0]
    raise NotEstimableError(
        f"{human.shape[1]} trials were labelled and {judge.shape[1]} judged: they cannot be matched"
    )


def _diagnostics(worth: JudgeWorth) -> dict[str, float]:
    named = {
        "n_labels": float(worth.n_labels),
        "effective_labels": worth.effective_labels,
        "judge_mean": worth.judge_mean,
        "human_mean": worth.human_mean,
        "judge_weight": worth.weight,
        "judge_agreement": worth.agreement,
    }
    return {name: value for name, value in named.items() if value is not None}


def _notes(worth: JudgeWorth, is_plain_sample: bool) -> Iterator[str]:
    yield (
        f"the judge's own mean is {worth.judge_mean:.4f}, the labels' {worth.human_mean:.4f}; the corrected "
        f"{worth.estimate:.4f} is about what the person would give"
    )
    if worth.effective_labels is not None:
        yield f"{worth.n_labels} labels, with the judge worth {worth.effective_labels:.0f} without"
    if worth.is_no_better:
        yield (
            f"the judge agrees with {worth.agreement:.0%} of the labels, no more than the model is right; such a judge "
            "saves at most half of the labels, however many questions it scores"
        )
    if is_plain_sample:
        yield "labelled questions are taken for a random sample; a column `probability` says with which they were drawn"


def _warnings(problem: Problem, worth: JudgeWorth) -> Iterator[str]:
    if worth.n_labels < FEW_LABELS:
        yield f"{worth.n_labels} labels: the interval rests in good part on its prior; {FEW_LABELS} are few"
    if worth.effective_labels is None:
        yield "all labels are alike: how the judge errs on the others is not seen"
    if problem.structure.n_clusters is not None and problem.structure.n_clusters < 10:
        yield f"{problem.structure.n_clusters} clusters: the interval rests in good part on its prior"
