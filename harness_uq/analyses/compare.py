"""Compare systems on each task, on groups of questions, and over several tasks."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from harness_uq.analyses.breakdown import compare_groups
from harness_uq.analyses.comparison.compare_sides import compare_sides
from harness_uq.analyses.overall.compare import compare_overall
from harness_uq.data.log_filter import Selection
from harness_uq.data.selection import systems_in_order
from harness_uq.data.task_log import log_of_array
from harness_uq.inference.compared_runs import Side, named_alike, tables_named_alike
from harness_uq.inference.labels import HumanLabels, compare_with_labels
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.human_labels import human_labels, selection_with_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.comparison import SINGLE_SYSTEM
from harness_uq.messages.errors import DataError, NotEstimableError, unknown_name
from harness_uq.options import Options, resolve, resolve_arrays
from harness_uq.options_typed import CompareKeywords, CompareScoresKeywords
from harness_uq.results.breakdown import DifferenceBreakdown
from harness_uq.results.comparison import Comparison
from harness_uq.results.result_list import ResultList

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

    from harness_uq.io.human_labels import Label


@overload
def compare(
    a: Runs,
    b: "Runs | None" = None,
    options: Options | None = None,
    *,
    by: None = None,
    baseline: str | None = None,
    labels: "str | Path | Sequence[Label] | None" = None,
    inclusion_probabilities: str | None = None,
    grader_shift: float = 0.1,
    plugins: Plugins | None = None,
    **keywords: "Unpack[CompareKeywords]",
) -> ResultList[Comparison]: ...


@overload
def compare(
    a: Runs,
    b: "Runs | None" = None,
    options: Options | None = None,
    *,
    by: str | Sequence[str],
    baseline: str | None = None,
    plugins: Plugins | None = None,
    **keywords: "Unpack[CompareKeywords]",
) -> ResultList[DifferenceBreakdown]: ...


def compare(
    a: Runs,
    b: "Runs | None" = None,
    options: Options | None = None,
    *,
    by: str | Sequence[str] | None = None,
    baseline: str | None = None,
    labels: "str | Path | Sequence[Label] | None" = None,
    inclusion_probabilities: str | None = None,
    grader_shift: float = 0.1,
    plugins: Plugins | None = None,
    **keywords: Any,
) -> ResultList[Any]:
    """Compare two systems on every task, metric and filter that their runs share.

    Parameters
    ----------
    a, b : runs of one system each: paths or results in memory, as for `read_logs`. If a task has several runs, the
        newest finished run without a sample limit is used. Without `b`, `a` contains the runs of two systems: a list of
        two, or a folder, list or mapping. The first system is A; `model=(A, B)` selects two systems in this order
    options : options of the comparison
    by : field of the questions, such as a category, or several fields, as for `estimate`
    baseline : name of the system with which every other system in `a` is compared, instead of `b`
    labels : human labels that correct the scores of a grader: a CSV file with the columns `id`, `system` and `score`,
        the metric of the runs that contains them, or labels. The comparisons then refer to the scores that a person
        would give
    inclusion_probabilities : column of the file of labels with the probability with which each answer was drawn for
        labeling; by default `probability`, if there is one
    grader_shift : if only one system has labels, the largest assumed difference between the systems of the grader's
        sensitivity, specificity and their sum, in [0, 1]
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line: `method`, `level`, `scope`, `seed`, `margin` (and
        `margins` by task), `cluster`, `range`, `use_samples`, `task`, `metric`, `filter` and `model`; also `power`, and
        `overall`, `weights`, `normalize`, `chance` and `missing_tasks` as for `estimate`. They take precedence over
        `options`

    Returns
    -------
    One comparison per task, metric and filter, then one per group of tasks. If the difference cannot be estimated, it
    is None and a warning gives the reason. Each has its verdict alone and the one after correction for all tasks.
    With `by`, one `DifferenceBreakdown` per field, task, metric and filter instead, which begins with the groups on
    which the first system loses most. Verdicts are corrected for all groups of the same task (Holm), so that equal
    systems differ on any group of a task with probability at most 1 - level.
    The attribute `overall` of the list is the `Overall` result with the difference of each system from the other one or
    the baseline, if it is requested; None if there is only one task. The margin of the task `overall` applies to it.

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if parameters exclude each other, one argument contains several systems, `a` alone not two, no run
        belongs to the baseline, or the options of the overall result do not fit the logs, as for `estimate`
    NotEstimableError : if two systems have no task and metric in common, or there is only one system
    StructureError : if a margin is at least as large as the range of the scores, no task has a field of `by`, or the
        field has too many values
    TypeError : if an option does not exist

    Notes
    -----
    With right-or-wrong answers, and with the weights of a group or of the numbers of questions, the interval of a
    single overall difference comes from the questions of all tasks, pooled as in the comparison of a group. Otherwise
    the interval is d_j -+ c_j s_j, with the difference d_j and standard deviation s_j of system j in the joint draws of
    all systems, where c_j is the quantile of |error| / s_j.

    The simultaneous interval is the single interval, stretched by c / c_j. Here c is the quantile of the largest
    |error| / s_j over all systems, as in Dunnett's test. With one system both intervals are the same.

    References
    ----------
    Dunnett (1955), J. Am. Stat. Assoc. 50, 1096-1121.
    """
    chosen, selected = resolve(
        "compare",
        options,
        keywords if by is None else {**keywords, "by": by},
        labels=labels,
        inclusion_probabilities=inclusion_probabilities,
    )
    offered = plugins or load_plugins()
    pairs = list(_pairs(a, b, baseline, selection_with_labels(selected, labels), chosen, offered))
    result = ResultList[Any]()
    for pair in pairs:
        if chosen.by:
            result += compare_groups(pair, chosen.by, chosen, offered)
        elif labels is None:
            result += compare_sides(*pair, chosen, offered)[0]
        else:
            human = human_labels(labels, (*pair[0].logs, *pair[1].logs), inclusion_probabilities)
            result += compare_with_labels(pair, HumanLabels(human, grader_shift), chosen, offered)
    if chosen.requests_overall:
        logs, others = [log for side, _ in pairs for log in side.logged], pairs[0][1].logged
        result.overall = compare_overall(
            logs, others, chosen, offered, labels=labels, inclusion_probabilities=inclusion_probabilities
        )
    return result


def _pairs(
    a: Runs, b: "Runs | None", baseline: str | None, selection: Selection, options: Options, plugins: Plugins
) -> Iterator[tuple[Side, Side]]:
    """The systems of each comparison."""
    if b is not None and baseline is not None:
        raise DataError("compare accepts either b or baseline. Remove one of the two arguments.")
    models = selection.filter.models
    if b is None and baseline is None and isinstance(a, list | tuple) and len(a) == 2 and len(models) != 2:
        a, b = cast("Sequence[Runs]", a)
    if b is not None:
        both = named_alike([task_logs(runs, plugins, selection) for runs in (a, b)])
        side_a, side_b = (
            Side.read(runs, name, plugins, options.structure) for runs, name in zip(both, "AB", strict=True)
        )
        yield side_a, side_b
        return
    logs = tables_named_alike(task_logs(a, plugins, selection))
    systems = systems_in_order(logs, models)
    if baseline is not None and baseline not in systems:
        raise DataError(unknown_name("baseline", str(baseline), systems))
    if len(systems) == 1:
        raise NotEstimableError(SINGLE_SYSTEM(system=systems[0]))
    if baseline is None:
        if len(systems) != 2:
            raise DataError(
                f"The logs contain {len(systems)} systems: {', '.join(systems)}. Select two with model=(A, B), or "
                f"compare all with one by baseline={systems[0]!r}."
            )
        baseline = systems[1]
    sides = {
        name: Side.read([log for log in logs if log.system == name], name, plugins, options.structure)
        for name in systems
    }
    yield from ((side, sides[baseline]) for name, side in sides.items() if name != baseline)


def compare_scores(
    a: "ArrayLike",
    b: "ArrayLike",
    *,
    clusters: "ArrayLike | None" = None,
    options: Options | None = None,
    metric: str = "score",
    **keywords: "Unpack[CompareScoresKeywords]",
) -> Comparison:
    """Compare two arrays of scores of the same questions.

    Parameters
    ----------
    a, b : scores of the systems A and B: (n_questions,) or (n_questions, n_trials), as for `estimate_scores`. The
        numbers of trials may differ
    clusters : labels (n_questions,), as for `estimate_scores`
    options : options of the comparison
    metric : name of the metric in the result
    **keywords : `method`, `level`, `margin`, `power`, `scope` and `seed` as for `compare`, and `range`, the
        smallest and largest possible score. They take precedence over `options`

    Raises
    ------
    DataError : if the arrays have a different number of questions, clusters have a different shape, or a value is not a
        finite number
    TypeError : if an option does not exist

    Examples
    --------
    >>> row = compare_scores([1, 1, 1, 0, 1, 1], [1, 0, 0, 0, 1, 0])
    >>> row.value_a - row.value_b, row.verdict
    (0.5, 'undecided')
    """
    chosen = resolve_arrays("compare_scores", options, keywords, metric)
    log_a, log_b = (log_of_array(x, name, clusters=clusters, metric=metric) for x, name in ((a, "A"), (b, "B")))
    if len(log_a.questions) != len(log_b.questions):
        raise DataError(
            f"a and b must have one row per question; got {len(log_a.questions)} and {len(log_b.questions)} rows"
        )
    plugins = load_plugins()
    side_a, side_b = (Side.read(log, log.system, plugins, chosen.structure) for log in (log_a, log_b))
    return compare_sides(side_a, side_b, chosen, plugins)[0][0]
