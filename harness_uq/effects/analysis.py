"""Crossed effects on logged runs: components, the score over new levels, and what more levels are worth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.logs.data import FloatArray, IntArray, Scores, TaskData, TaskLog
from harness_uq.logs.factors import Factor, find_factors, model_of
from harness_uq.logs.newest import Chosen
from harness_uq.matching.scores import MatchedScores, match_scores
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.reading import Runs, task_logs
from harness_uq.results.effects import Component, Effects
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.effects.components import VarianceComponent
from harness_uq.stats.effects.crossed import CrossedPosterior, crossed_posterior
from harness_uq.stats.trials.checks import identical_trials
from harness_uq.structure.facts import StructureOptions

METHOD = "crossed"
QUESTION = "question"
_FEW = 4
_MORE = 2


@dataclass(frozen=True, slots=True)
class EffectOptions:
    """What to ask.

    Attributes
    ----------
    new : factors whose levels are a sample of those to come; None for all that are found, and the questions
    factors : factor by name to the setting it stands for: one that the log names, or `task`, `path` or `run`
    level : of intervals, in (0, 1)
    structure : what the user says about clusters and ranges
    """

    new: tuple[str, ...] | None = None
    factors: Mapping[str, str] = field(default_factory=dict)
    level: float = 0.95
    structure: StructureOptions = field(default_factory=StructureOptions)

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise DataError(f"level must lie strictly between 0 and 1, such as 0.95; got {self.level}")


def effects(logs: Runs, options: EffectOptions | None = None, *, plugins: Plugins | None = None) -> list[Effects]:
    """What the scores of each model depend on, by task, metric and filter.

    Parameters
    ----------
    logs : paths of logged runs, or task logs already read; at least two of one model and task
    options : what to ask
    plugins : the installed ones by default

    Returns
    -------
    One result a model, task, metric and filter of which there are two logs or more

    Raises
    ------
    DataError : a factor asked for that no log has
    NotEstimableError : if no model has two logs of a task, or none can be used
    """
    chosen = options or EffectOptions()
    fits, reasons = _fits(logs, chosen, plugins or load_plugins())
    found = [_effects(fit, chosen) for fit in fits]
    return [replace(found[0], warnings=(*found[0].warnings, *reasons)), *found[1:]]


def estimates_over(
    logs: Runs, options: EffectOptions | None = None, *, plugins: Plugins | None = None
) -> list[Estimate]:
    """Scores over new levels, a row a model, task, metric and filter; parameters and errors as of `effects`."""
    chosen = options or EffectOptions()
    fits, reasons = _fits(logs, chosen, plugins or load_plugins())
    found = [_estimate(fit, chosen) for fit in fits]
    return [replace(found[0], warnings=(*found[0].warnings, *reasons)), *found[1:]]


def _fits(logs: Runs, options: EffectOptions, plugins: Plugins) -> "tuple[list[_Fit], list[str]]":
    found, reasons = [], []
    for entries in _by_model(task_logs(logs, plugins), across_tasks="task" in options.factors.values()):
        try:
            found.append(_fit(entries, options, plugins))
        except NotEstimableError as error:
            reasons.append(f"{model_of(entries[0].log)} on {entries[0].log.task}: {error}")
    if not found:
        raise NotEstimableError("; ".join(reasons) or "no model has two logs of one task")
    return found, reasons


def _by_model(logs: Sequence[TaskLog], *, across_tasks: bool) -> Iterator[list[Chosen]]:
    groups: dict[tuple[str, ...], list[Chosen]] = {}
    for log in logs:
        for data in log.data:
            if isinstance(data, Scores) and not log.subtasks:
                task = "" if across_tasks else log.task
                groups.setdefault((model_of(log), task, data.metric, data.filter), []).append(Chosen(log, data))
    yield from (entries for entries in groups.values() if len(entries) > 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Scores of one model in long form, the factors in which its logs differ, and the posterior of their mean."""

    matched: MatchedScores
    factors: tuple[Factor, ...]
    scores: FloatArray
    labels: Mapping[str, IntArray]
    posterior: CrossedPosterior

    @property
    def log(self) -> TaskLog:
        return self.matched.common.entries[0].log

    @property
    def data(self) -> TaskData:
        return self.matched.common.entries[0].data

    @property
    def unit(self) -> str:
        return self.matched.clusters.key or QUESTION

    @property
    def task(self) -> str:
        return ", ".join(dict.fromkeys(entry.log.task for entry in self.matched.common.entries))

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.matched.warnings, *_copies(self.matched), *_few_levels(self.posterior.new, self.labels))


def _fit(entries: Sequence[Chosen], options: EffectOptions, plugins: Plugins) -> _Fit:
    matched = match_scores(entries, options.structure, plugins)
    factors = find_factors([entry.log for entry in matched.common.entries], options.factors)
    scores, labels = _long_form(matched, factors)
    unit = matched.clusters.key or QUESTION
    new = options.new or (unit, *(factor.name for factor in factors))
    posterior = _posterior(matched, scores, labels, tuple(unit if name == QUESTION else name for name in new))
    return _Fit(matched, factors, scores, labels, posterior)


def _effects(fit: _Fit, options: EffectOptions) -> Effects:
    alone = _posterior(fit.matched, fit.scores, fit.labels, (fit.unit,))
    return Effects(
        model=model_of(fit.log),
        task=fit.task,
        metric=fit.data.metric,
        filter=fit.data.filter,
        value=float(fit.scores.mean()),
        interval=_interval(fit.posterior, options.level),
        interval_alone=_interval(alone, options.level),
        new=fit.posterior.new,
        unit=fit.unit,
        n_questions=fit.matched.common.n_questions,
        n_scores=len(fit.scores),
        evidence={factor.name: factor.evidence for factor in fit.factors},
        components=tuple(_component(part, options.level) for part in fit.posterior.components),
        uncertainty=fit.posterior.uncertainty,
        untold=fit.posterior.untold,
        is_share=fit.matched.bounds == (0.0, 1.0) or fit.matched.is_binary,
        sentence=_sentence(fit.posterior, fit.labels),
        notes=fit.matched.notes,
        warnings=fit.warnings,
    )


def _estimate(fit: _Fit, options: EffectOptions) -> Estimate:
    n_logs = len(fit.matched.common.entries)
    evidence = (f"{factor.name}: {factor.evidence}" for factor in fit.factors)
    return Estimate(
        system=model_of(fit.log),
        task=fit.task,
        metric=fit.data.metric,
        filter=fit.data.filter,
        estimand="mean",
        scope="population",
        method=METHOD,
        method_reason=f"asked for over new levels of {', '.join(fit.posterior.new)}",
        value=float(fit.scores.mean()),
        posterior_mean=fit.posterior.mean,
        std_error=fit.posterior.sd,
        interval=_interval(fit.posterior, options.level),
        source=fit.log.source,
        n_questions=fit.matched.common.n_questions,
        n_trials=fit.matched.n_trials,
        n_cells=len(fit.scores),
        n_clusters=fit.matched.clusters.n_clusters,
        cluster_key=fit.matched.clusters.key,
        posterior=fit.posterior,
        notes=(f"over {n_logs} logs", *evidence, *fit.matched.notes),
        warnings=fit.warnings,
    )


def _long_form(matched: MatchedScores, factors: Sequence[Factor]) -> tuple[FloatArray, dict[str, IntArray]]:
    """Scores row by row, and the levels of each."""
    values, questions, logs = [], [], []
    for i, trials in enumerate(matched.trials):
        rows, columns = np.nonzero(np.isfinite(trials))
        values.append(trials[rows, columns])
        questions.append(rows)
        logs.append(np.full(len(rows), i))
    question, log = np.concatenate(questions), np.concatenate(logs)
    labels = {QUESTION: question}
    if matched.clusters.key is not None and matched.clusters.labels is not None:
        labels[matched.clusters.key] = matched.clusters.labels[question]
    for factor in factors:
        labels[factor.name] = np.unique(factor.levels, return_inverse=True)[1][log]
    return np.concatenate(values), labels


def _posterior(
    matched: MatchedScores, scores: FloatArray, labels: Mapping[str, IntArray], new: tuple[str, ...]
) -> CrossedPosterior:
    bounds = None if matched.is_binary else matched.bounds
    return crossed_posterior(scores, labels, new=dict.fromkeys(new), bounds=bounds)


def _interval(posterior: CrossedPosterior, level: float) -> Interval:
    low, high = posterior.interval(level)
    return Interval(low, high, level, "quantile")


def _component(part: VarianceComponent, level: float) -> Component:
    return Component(part.name, part.n_levels, part.sd, part.sd_interval(level), part.share, part.share_interval(level))


def _copies(matched: MatchedScores) -> Iterator[str]:
    if identical_trials(matched.means.T):
        yield (
            f"the {len(matched.means)} runs score every question alike: copies, cached answers or a fixed seed would "
            "look the same, and show nothing of how runs differ"
        )


def _few_levels(new: Sequence[str], labels: Mapping[str, IntArray]) -> Iterator[str]:
    for name in new:
        n = len(np.unique(labels[name]))
        if n < _FEW:
            yield f"{n} levels of {name} tell little of how {plural(name)} differ, which the interval allows for"


def _sentence(posterior: CrossedPosterior, labels: Mapping[str, IntArray]) -> str:
    """Whose the uncertainty is, and what two more levels of the greatest are worth in questions."""
    further = {name: share for name, share in posterior.uncertainty.items() if name in posterior.new}
    unit = next(iter(posterior.uncertainty))
    others = {name: share for name, share in further.items() if name != unit}
    if not others:
        return f"All of the uncertainty about new {plural(unit)} is {plural(unit)}."
    name, share = max(others.items(), key=lambda item: item[1])
    about = " and ".join(f"new {plural(part)}" for part in further)
    opening = f"Of the uncertainty about {about}, {share:.0%} is {plural(name)}"
    k, n = len(np.unique(labels[name])), len(np.unique(labels.get(unit, labels[QUESTION])))
    gain, rest = share * _MORE / (k + _MORE), posterior.uncertainty[unit]
    if unit not in further:
        return f"{opening}."
    if gain >= 0.95 * rest:
        return f"{opening}: two more {plural(name)} are worth more than any number of {plural(unit)}."
    worth = n * gain / (rest - gain)
    if worth < 1:
        return f"{opening}: two more {plural(name)} are worth less than one more {unit}."
    return f"{opening}: two more {plural(name)} are worth {worth:,.0f} more {plural(unit)}."


def plural(name: str) -> str:
    """The name of several.

    >>> plural("prompt"), plural("shots"), plural("back end")
    ('prompts', 'shots', 'back ends')
    """
    return name if name.endswith("s") else f"{name}s"
