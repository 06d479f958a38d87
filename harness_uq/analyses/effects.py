"""Crossed random effects in logged runs: variance components, scores over new levels, and the value of more levels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.factors import Factor, common_system, find_factors, model_of
from harness_uq.data.panel import Panel, build_panel
from harness_uq.data.selection import SelectedRun
from harness_uq.data.task_log import Scores, TaskData, TaskLog
from harness_uq.inference.evidence import with_best_evidence
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.planning import (
    EFFECTS_UNAVAILABLE,
    FACTOR_USED,
    FEW_LEVELS,
    IDENTICAL_LOGS,
    LOGS_COMBINED,
    MODEL_LEFT_OUT,
)
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.messages.message import Message
from harness_uq.options import OPTIONS, Options, resolve
from harness_uq.options_typed import EffectsKeywords
from harness_uq.results.effects import Component, Effects
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.result_list import ResultList
from harness_uq.stats.effects.crossed import CrossedPosterior, crossed_posterior
from harness_uq.stats.trials.diagnostics import identical_trials

METHOD = "crossed"
QUESTION = "question"
_FEW = 4
_MORE = 2


def effects(
    logs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: "Unpack[EffectsKeywords]",
) -> ResultList[Effects]:
    """Estimate the variance components of the scores of each model, by task, metric and filter.

    Parameters
    ----------
    logs : paths of logged runs or results in memory, as for `read_logs`; at least two of the same model and task
    options : options of the analysis
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line: `generalize_over` (names of factors), `factor` (such as
        `{"prompt": "description"}`), `level`, `cluster`, `range`, `use_samples`, `task`, `metric`, `filter` and
        `model`. They take precedence over `options`

    Returns
    -------
    One result per model, task, metric and filter with at least two logs

    Raises
    ------
    DataError : if a requested factor does not exist in any log
    NotEstimableError : if no model has two logs of a task, or none can be used
    TypeError : if an option does not exist
    """
    chosen, selection = resolve("effects", options, keywords)
    offered = plugins or load_plugins()
    fits, left_out = _fits(task_logs(logs, offered, selection), chosen, offered)
    results = [_effects(fit, chosen) for fit in fits]
    return ResultList([replace(results[0], messages=(*results[0].messages, *left_out)), *results[1:]])


def estimates_over(logs: Runs, options: Options | None = None, *, plugins: Plugins | None = None) -> list[Estimate]:
    """Estimate scores over new levels, per model, task, metric and filter; parameters and errors as for `effects`."""
    chosen = options or Options()
    for name, value in (("method", "bayes"), ("scope", "population"), ("estimand", "mean"), ("interval", "quantile")):
        if getattr(chosen, name) not in (value, OPTIONS[name].default):
            raise DataError(f"generalize_over supports only {name}={value!r}.")
    fits, left_out = _fits(logs, chosen, plugins or load_plugins())
    results = [_estimate(fit, chosen) for fit in fits]
    return [replace(results[0], messages=(*results[0].messages, *left_out)), *results[1:]]


def _fits(logs: Runs, options: Options, plugins: Plugins) -> "tuple[list[_Fit], list[Message]]":
    fits, left_out = [], []
    read = with_best_evidence(task_logs(logs, plugins), plugins, options.structure.without_bounds("effects"))
    for entries in _by_model(read, across_tasks="task" in options.factor.values()):
        try:
            fits.append(_fit(entries, options, plugins))
        except NotEstimableError as error:
            log, reason = entries[0].log, error.message
            left_out.append(
                MODEL_LEFT_OUT(
                    model=common_system(entry.log for entry in entries),
                    task=log.task,
                    reason_code=reason.code,
                    reason=reason.text,
                )
            )
    if not fits:
        reasons = " ".join(message.text for message in left_out) or (
            "No system has two logs of one task. Add logs that differ in the setting whose effect you want to measure, "
            "such as the seed"
        )
        raise NotEstimableError(EFFECTS_UNAVAILABLE(reasons=reasons))
    return fits, left_out


def _by_model(logs: Sequence[TaskLog], *, across_tasks: bool) -> Iterator[list[SelectedRun]]:
    groups: dict[tuple[str, ...], list[SelectedRun]] = {}
    for log in logs:
        for data in log.data:
            if isinstance(data, Scores) and not log.subtasks:
                task = "" if across_tasks else log.task
                groups.setdefault((model_of(log), task, data.metric, data.filter), []).append(SelectedRun(log, data))
    yield from (entries for entries in groups.values() if len(entries) > 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Scores of one model in long format, the factors that differ between its logs, and the posterior of the mean."""

    panel: Panel
    factors: tuple[Factor, ...]
    scores: FloatArray
    labels: Mapping[str, IntArray]
    posterior: CrossedPosterior

    @property
    def log(self) -> TaskLog:
        return self.panel.runs[0].log

    @property
    def data(self) -> TaskData:
        return self.panel.runs[0].data

    @property
    def model(self) -> str:
        """Name of the model with the settings that all of its logs share."""
        return common_system(entry.log for entry in self.panel.runs)

    @property
    def unit(self) -> str:
        return self.panel.cluster_key or QUESTION

    @property
    def task(self) -> str:
        return ", ".join(dict.fromkeys(entry.log.task for entry in self.panel.runs))

    @property
    def messages(self) -> tuple[Message, ...]:
        messages = list(self.panel.messages)
        if identical_trials(self.panel.means.T):
            messages.append(IDENTICAL_LOGS(n_logs=len(self.panel.means)))
        messages += [
            FEW_LEVELS(n_levels=n, factor=name)
            for name in self.posterior.new
            if (n := len(np.unique(self.labels[name]))) < _FEW
        ]
        return tuple(messages)


def _fit(entries: Sequence[SelectedRun], options: Options, plugins: Plugins) -> _Fit:
    panel = build_panel(entries, options.structure, plugins)
    factors = find_factors([entry.log for entry in panel.runs], options.factor)
    scores, labels = _long_form(panel, factors)
    unit = panel.cluster_key or QUESTION
    new = options.generalize_over or (unit, *(factor.name for factor in factors))
    posterior = _posterior(panel, scores, labels, tuple(unit if name == QUESTION else name for name in new))
    return _Fit(panel, factors, scores, labels, posterior)


def _effects(fit: _Fit, options: Options) -> Effects:
    alone = _posterior(fit.panel, fit.scores, fit.labels, (fit.unit,))
    level = options.level
    return Effects(
        model=fit.model,
        task=fit.task,
        metric=fit.data.metric,
        filter=fit.data.filter,
        value=float(fit.scores.mean()),
        interval=_interval(fit.posterior, options.level),
        interval_questions_only=_interval(alone, options.level),
        new=fit.posterior.new,
        unit=fit.unit,
        n_questions=fit.panel.n_questions,
        n_scores=len(fit.scores),
        evidence={factor.name: factor.evidence for factor in fit.factors},
        components=tuple(
            Component(
                part.name, part.n_levels, part.sd, part.sd_interval(level), part.share, part.share_interval(level)
            )
            for part in fit.posterior.components
        ),
        uncertainty=fit.posterior.uncertainty,
        not_identifiable=fit.posterior.not_identifiable,
        is_share=fit.panel.bounds == (0.0, 1.0) or fit.panel.is_binary,
        sentence=_sentence(fit.posterior, fit.labels),
        messages=fit.messages,
    )


def _estimate(fit: _Fit, options: Options) -> Estimate:
    n_logs = len(fit.panel.runs)
    evidence = (FACTOR_USED(factor=factor.name, evidence=factor.evidence) for factor in fit.factors)
    return Estimate(
        system=fit.model,
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
        n_questions=fit.panel.n_questions,
        n_trials=fit.panel.n_trials,
        n_scores=len(fit.scores),
        n_clusters=fit.panel.n_units,
        cluster_key=fit.panel.cluster_key,
        posterior=fit.posterior,
        messages=(LOGS_COMBINED(n_logs=n_logs), *evidence, *fit.messages),
    )


def _long_form(panel: Panel, factors: Sequence[Factor]) -> tuple[FloatArray, dict[str, IntArray]]:
    """Return the scores in long format, and the levels of each score."""
    values, questions, logs = [], [], []
    for i, trials in enumerate(panel.values):
        rows, columns = np.nonzero(np.isfinite(trials))
        values.append(trials[rows, columns])
        questions.append(rows)
        logs.append(np.full(len(rows), i))
    question, log = np.concatenate(questions), np.concatenate(logs)
    labels = {QUESTION: question}
    if panel.cluster_key is not None and panel.units is not None:
        labels[panel.cluster_key] = panel.units[question]
    for factor in factors:
        labels[factor.name] = np.unique(factor.levels, return_inverse=True)[1][log]
    return np.concatenate(values), labels


def _posterior(
    panel: Panel, scores: FloatArray, labels: Mapping[str, IntArray], new: tuple[str, ...]
) -> CrossedPosterior:
    bounds = None if panel.is_binary else panel.bounds
    return crossed_posterior(scores, labels, new=dict.fromkeys(new), bounds=bounds)


def _interval(posterior: CrossedPosterior, level: float) -> Interval:
    low, high = posterior.interval(level)
    return Interval(low, high, level, "quantile")


def _sentence(posterior: CrossedPosterior, labels: Mapping[str, IntArray]) -> str:
    """Describe the sources of uncertainty, and express two more levels of the largest one in questions."""
    further = {name: share for name, share in posterior.uncertainty.items() if name in posterior.new}
    unit = next(iter(posterior.uncertainty))
    others = {name: share for name, share in further.items() if name != unit}
    if not others:
        return f"All of the uncertainty about new {plural(unit)} is due to {plural(unit)}."
    name, share = max(others.items(), key=lambda item: item[1])
    about = " and ".join(f"new {plural(part)}" for part in further)
    opening = f"Of the uncertainty about {about}, {100 * share:.0f} % is due to {plural(name)}"
    k, n = len(np.unique(labels[name])), len(np.unique(labels.get(unit, labels[QUESTION])))
    gain, rest = share * _MORE / (k + _MORE), posterior.uncertainty[unit]
    if unit not in further:
        return f"{opening}."
    if gain >= 0.95 * rest:
        return f"{opening}: two more {plural(name)} reduce it more than any number of {plural(unit)}."
    worth = n * gain / (rest - gain)
    if worth < 1:
        return f"{opening}: two more {plural(name)} reduce it less than one more {unit}."
    return f"{opening}: two more {plural(name)} reduce it as much as {worth:,.0f} more {plural(unit)}."


def plural(name: str) -> str:
    """Return the plural of the name of a factor; a setting, such as `task_args.cot`, has values.

    >>> plural("prompt"), plural("shots"), plural("back end"), plural("task_args.cot")
    ('prompts', 'shots', 'back ends', 'values of task_args.cot')
    """
    if "." in name:
        return f"values of {name}"
    return name if name.endswith("s") else f"{name}s"
