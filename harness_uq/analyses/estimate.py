"""Estimate scores from task logs: detect the structure, build the problem, apply an estimator."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from harness_uq.data.task_log import (
    Scores,
    TaskData,
    TaskLog,
)
from harness_uq.inference.evidence import OpenLogs, with_best_evidence
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import estimate_data
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
    others = OpenLogs(selected, options.structure, plugins)
    for i, log in enumerate(read):
        for k, data in enumerate(log.data):
            row = estimate_data(log, data, read, options, plugins)
            if others.are_open and _has_missing(log, data, read):
                from harness_uq.inference.scenarios import with_open_score  # which few logs need

                row = with_open_score(row, data, others, (i, k), options)
            rows.append(replace(row, messages=(*row.messages, *log.messages)))
    return rows


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
