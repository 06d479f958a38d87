"""Estimate scores from task logs: detect the structure, build the problem, apply an estimator."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

from harness_uq.data.missing_scores import Extreme, MissingPolicies
from harness_uq.data.task_log import (
    Scores,
    TaskData,
    TaskLog,
)
from harness_uq.inference.evidence import with_best_evidence
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import estimate_data
from harness_uq.inference.scenarios import EstimateAt, identified, with_sensitivity
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.options import Options, resolve, resolve_arrays
from harness_uq.options_typed import EstimateKeywords, EstimateScoresKeywords
from harness_uq.results.estimate import Estimate
from harness_uq.results.result_list import ResultList

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

    from harness_uq.inference.subset import Probabilities
    from harness_uq.io.human_labels import Label


def estimate(
    logs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    labels: "str | Path | Sequence[Label] | None" = None,
    reference_runs: "Runs | None" = None,
    inclusion_probabilities: "str | Path | Probabilities | None" = None,
    **keywords: Unpack[EstimateKeywords],
) -> ResultList[Estimate]:
    """Estimate the scores of every task, metric and filter.

    Parameters
    ----------
    logs : paths of logged runs, results in memory, lists of these, or a mapping from names of systems to them, as
        for `read_logs`
    options : options of the estimates
    plugins : plugins to use; by default the installed ones
    labels : human labels that correct the scores of a grader: a CSV file, a metric of the logs, or labels
    reference_runs : runs of other systems on all questions, which adjust for questions that were not run (with
        `scope="full"`)
    inclusion_probabilities : with `reference_runs`, the file that `harness-uq subset` wrote, or its content; with a
        file of labels, its column with the probability of each label (by default `probability`, if there is one)
    **keywords : options with the names of the command line: `method`, `level`, `scope`, `estimand`, `interval`,
        `seed`, `cluster`, `range` (such as `{"bleu": (0, 100)}`), `use_samples`, `missing`, `treat`, `column` (names of
        the columns of tables by role, such as `{"score": "right"}`), and `task`, `metric`, `filter` and `model`, which
        select parts of the logs. They take precedence over `options`

    Returns
    -------
    One estimate per system, task, metric and filter. If the data are insufficient, its interval is None and a warning
    gives the reason.

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if `labels` and `reference_runs` are combined, or used with an option that they do not support
    HarnessUqError : if the requested method does not exist
    TypeError : if an option does not exist
    """
    options, selection = resolve("estimate", options, keywords)
    plugins = plugins or load_plugins()
    if labels is not None or reference_runs is not None or inclusion_probabilities is not None:
        from harness_uq.inference.auxiliary_data import AuxiliaryData  # which uses the estimates of this module

        auxiliary = AuxiliaryData(labels, reference_runs, inclusion_probabilities)
        return ResultList(auxiliary.estimate(logs, selection, options, plugins))
    selected = task_logs(logs, plugins, selection)
    read = with_best_evidence(selected, plugins, options.structure)
    rows = ResultList[Estimate]()
    extremes = _Extremes(selected, options, plugins)
    for i, log in enumerate(read):
        for k, data in enumerate(log.data):
            row = estimate_data(log, data, read, options, plugins)
            if _has_missing(log, data, read):
                row = extremes.applied(row, data, partial(extremes.at, i, k))
            rows.append(replace(row, messages=(*row.messages, *log.messages)))
    return rows


@dataclass(slots=True, eq=False)
class _Extremes:
    """Estimates with the worst and the best possible scores of the trials without a score.

    `logged`: the logs as they were read.
    """

    logged: Sequence[TaskLog]
    options: Options
    plugins: Plugins
    read: dict[Extreme, list[TaskLog]] = field(default_factory=dict)

    def applied(self, row: Estimate, data: TaskData, at: EstimateAt) -> Estimate:
        """The estimate for the policy `bounds`, or with a warning that it depends on the default policy."""
        policies, level = self.options.structure.missing, self.options.level
        if policies.has_bounds:
            return identified(row, at, level)
        if policies.is_default and isinstance(data, Scores) and data.missing is not None:
            return with_sensitivity(row, data.missing, at, level)
        return row

    def at(self, i: int, k: int, extreme: Extreme, level: float) -> Estimate:
        """Estimate the metric `k` of log `i` with equal tails."""
        if extreme not in self.read:
            policies = self.options.structure.missing
            chosen = (MissingPolicies("bounds") if policies.is_default else policies).at(extreme)
            structure = replace(self.options.structure, missing=chosen)
            self.read[extreme] = with_best_evidence(self.logged, self.plugins, structure)
        log = self.read[extreme][i]
        options = replace(self.options, level=level, interval="quantile")
        return estimate_data(log, log.data[k], self.read[extreme], options, self.plugins)


def _has_missing(log: TaskLog, data: TaskData, logs: Sequence[TaskLog]) -> bool:
    """Whether trials of the metric, or of a task of the group, have no score."""
    if isinstance(data, Scores):
        return data.missing is not None
    members = (member for member in logs if member.system == log.system and member.task in log.subtasks)
    return any(isinstance(item, Scores) and item.missing is not None for member in members for item in member.data)


def estimate_scores(
    values: "ArrayLike",
    *,
    clusters: "ArrayLike | None" = None,
    options: Options | None = None,
    metric: str = "score",
    **keywords: Unpack[EstimateScoresKeywords],
) -> Estimate:
    """Estimate from an array of scores, without a log.

    Parameters
    ----------
    values : (n_questions,) or (n_questions, n_trials), an array, frame or series of numpy, pandas or polars; NaN, None
        or a mask marks a missing trial
    clusters : labels (n_questions,) of passages, dialogues and so on; each question with a missing label is a separate
        cluster; None if questions are independent
    options : options of the estimate
    metric : name of the metric in the result
    **keywords : `method`, `level`, `scope`, `estimand`, `interval` and `seed` as for `estimate`, and `range`, the
        smallest and largest possible score. They take precedence over `options`

    Raises
    ------
    DataError : if values or clusters have a different shape, or a value is not a finite number
    TypeError : if an option does not exist

    Examples
    --------
    >>> estimate_scores([1, 1, 1, 1, 1, 1, 1, 0, 1, 1], level=0.9).value
    0.9
    """
    from harness_uq.data.task_log import log_of_array

    chosen = resolve_arrays("estimate_scores", options, keywords, metric)
    return estimate(log_of_array(values, "array", clusters=clusters, metric=metric), chosen)[0]
