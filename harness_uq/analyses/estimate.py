"""Estimate the scores of logged runs, of groups of their questions, and over several tasks.

What only some options need is imported where it is needed: a live run imports as little as possible.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from harness_uq.data.task_log import TaskLog, log_of_array
from harness_uq.inference.estimates import estimate_logs
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.human_labels import selection_with_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.errors import DataError
from harness_uq.options import Options, resolve, resolve_arrays
from harness_uq.options_typed import EstimateKeywords, EstimateScoresKeywords
from harness_uq.results.breakdown import Breakdown
from harness_uq.results.estimate import Estimate
from harness_uq.results.result_list import ResultList

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from harness_uq.inference.subset import Probabilities
    from harness_uq.io.human_labels import Label


@overload
def estimate(
    logs: Runs,
    options: Options | None = None,
    *,
    by: None = None,
    plugins: Plugins | None = None,
    labels: "str | Path | Sequence[Label] | None" = None,
    reference_runs: "Runs | None" = None,
    inclusion_probabilities: "str | Path | Probabilities | None" = None,
    **keywords: "Unpack[EstimateKeywords]",
) -> ResultList[Estimate]: ...


@overload
def estimate(
    logs: Runs,
    options: Options | None = None,
    *,
    by: str | Sequence[str],
    plugins: Plugins | None = None,
    **keywords: "Unpack[EstimateKeywords]",
) -> ResultList[Breakdown]: ...


def estimate(
    logs: Runs,
    options: Options | None = None,
    *,
    by: str | Sequence[str] | None = None,
    plugins: Plugins | None = None,
    labels: "str | Path | Sequence[Label] | None" = None,
    reference_runs: "Runs | None" = None,
    inclusion_probabilities: "str | Path | Probabilities | None" = None,
    **keywords: Any,
) -> ResultList[Any]:
    """Estimate the scores of every task, metric and filter, or of groups of their questions.

    Parameters
    ----------
    logs : paths of logged runs, results in memory, lists of these, or a mapping from names of systems to them, as
        for `read_logs`
    options : options of the estimates
    by : field of the questions' documents or metadata, such as a category or a language, or several fields, each of
        which gives its own breakdown. Numbers with more than ten different values are divided into four ranges
    plugins : plugins to use; by default the installed ones
    labels : human labels that correct the scores of a grader: a CSV file, a metric of the logs, or labels
    reference_runs : runs of other systems on all questions, which adjust for questions that were not run (with
        `scope="full"`)
    inclusion_probabilities : with `reference_runs`, the file that `harness-uq subset` wrote, or its content; with a
        file of labels, its column with the probability of each label (by default `probability`, if there is one)
    **keywords : options with the names of the command line: `method`, `level`, `scope`, `estimand`, `interval`,
        `seed`, `cluster`, `range` (such as `{"bleu": (0, 100)}`), `use_samples`, `missing`, `treat`, `column` (names of
        the columns of tables by role, such as `{"score": "right"}`), and `task`, `metric`, `filter` and `model`, which
        select parts of the logs. `overall=True` also computes the overall result of several tasks, for which `weights`,
        `normalize`, `chance`, `missing_tasks` and `generalize_over="task"` define its computation; each of them implies
        `overall`. Other factors in `generalize_over`, such as `("question", "seed")`, estimate scores on their new
        levels from several runs of a system, as `effects` does. Keywords take precedence over `options`

    Returns
    -------
    One estimate per system, task, metric and filter. If the data are insufficient, its interval is None and a warning
    gives the reason. With `by`, one `Breakdown` per field, system, task, metric and filter instead, of the tasks that
    have the field: each group has the estimate from its own questions, and a partially pooled one that is shrunk
    towards the other groups, because the highest and lowest of many groups are extreme partly by chance.
    The attribute `overall` of the list is the `Overall` result if it is requested, without systems if it cannot be
    computed; None if there is only one task.

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if parameters exclude each other; an option of the overall result names a task or metric that does not
        exist; or tasks are missing and `missing_tasks` does not allow it
    StructureError : if no task has a field of `by`, or the field has too many values
    HarnessUqError : if the requested method does not exist
    TypeError : if an option does not exist
    """
    chosen, selection = resolve(
        "estimate",
        options,
        keywords if by is None else {**keywords, "by": by},
        labels=labels,
        reference_runs=reference_runs,
        inclusion_probabilities=inclusion_probabilities,
    )
    offered = plugins or load_plugins()
    read = task_logs(logs, offered, selection_with_labels(selection, labels))
    groups: list[Breakdown] = []
    if chosen.by:
        from harness_uq.analyses.breakdown import estimate_groups

        groups += estimate_groups(read, chosen.by, chosen, offered)
        if not chosen.requests_overall:
            return ResultList(groups)
    rows = estimate_rows(read, chosen, offered, labels, reference_runs, inclusion_probabilities)
    result = ResultList[Any](groups if chosen.by else rows)
    if chosen.requests_overall:
        from harness_uq.analyses.overall.estimate import combine_estimates

        result.overall = combine_estimates(rows, read, chosen)
    return result


def estimate_rows(
    logs: Sequence[TaskLog],
    options: Options,
    plugins: Plugins,
    labels: "str | Path | Sequence[Label] | None" = None,
    reference_runs: "Runs | None" = None,
    probabilities: "str | Path | Probabilities | None" = None,
) -> list[Estimate]:
    """One estimate per system, task, metric and filter; parameters as for `estimate`."""
    if labels is not None:
        if probabilities is not None and not isinstance(probabilities, str):
            raise DataError("inclusion_probabilities must be the name of a column of the file of labels.")
        from harness_uq.inference.labels import estimate_with_labels

        return estimate_with_labels(logs, labels, options, plugins, probabilities)
    if reference_runs is None and options.generalized_factors:
        from harness_uq.analyses.effects import estimates_over

        return estimates_over(logs, options, plugins=plugins)
    if reference_runs is None:
        return estimate_logs(logs, options, plugins)
    from harness_uq.inference.subset import estimate_whole, read_probabilities

    drawn = read_probabilities(probabilities) if isinstance(probabilities, str | Path) else probabilities
    return estimate_whole(logs, reference_runs, options, drawn=drawn, plugins=plugins)


def estimate_scores(
    values: "ArrayLike",
    *,
    clusters: "ArrayLike | None" = None,
    options: Options | None = None,
    metric: str = "score",
    **keywords: "Unpack[EstimateScoresKeywords]",
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
    chosen = resolve_arrays("estimate_scores", options, keywords, metric)
    log = log_of_array(values, "array", clusters=clusters, metric=metric)
    return estimate_logs([log], chosen, load_plugins())[0]
