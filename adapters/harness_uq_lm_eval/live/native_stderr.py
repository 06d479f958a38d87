"""Standard errors that lm-eval would have printed without a bootstrap, computed by its own functions.

A live run disables lm-eval's bootstrap, which disables all of its standard errors. Those with a closed form (of a mean
and of `acc_all`) and those of groups are restored first, so that a later failure leaves lm-eval's own results.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias, cast

from harness_uq_lm_eval.json_access import Table, items, table
from harness_uq_lm_eval.results_block import NOT_AVAILABLE, Results

Row: TypeAlias = dict[str, object]


class Task(Protocol):
    """The part of an lm-eval task that is used here."""

    def aggregation(self) -> Mapping[str, Callable[..., object]]:
        """Aggregation of the values of the questions, by metric."""


class Group(Protocol):
    """The part of an lm-eval group, since 0.4.12, that is used here."""

    @property
    def name(self) -> str:
        """Name of the group."""

    def aggregate(self, task_metrics: Mapping[str, Row]) -> Row:
        """Row of the group in the results, from the rows of its tasks."""


def tasks_of(task_dict: Mapping[object, object]) -> dict[str, Task]:
    """Tasks by name: under `tasks` since lm-eval 0.4.12, at the leaves of nested groups before."""
    if "tasks" in task_dict:
        return dict(table(task_dict, "tasks"))  # type: ignore[arg-type]
    return dict(_leaves(task_dict))


def _leaves(task_dict: Mapping[object, object]) -> Iterator[tuple[str, Task]]:
    for name, value in task_dict.items():
        child = value[1] if isinstance(value, tuple) else value
        if isinstance(child, Mapping):
            yield from _leaves(child)
        elif child is not None:
            yield str(name), cast("Task", child)


def restore_stderr(results: Results, task_dict: Mapping[object, object]) -> None:
    """Write the standard errors with a closed form into the rows of tasks, then those of groups."""
    for name, task in tasks_of(task_dict).items():
        row = table(results, "results").get(name)
        if isinstance(row, dict):
            row.update(closed_form_stderr(task, items(table(results, "samples").get(name))))
    for name, row in _group_rows(results, task_dict).items():
        for part in ("results", "groups"):
            written = table(results, part).get(name)
            if isinstance(written, dict):
                written.update({key: error for key, error in row.items() if key in written and "_stderr," in key})


def closed_form_stderr(task: Task, samples: Sequence[object]) -> dict[str, float]:
    """`<metric>_stderr,<filter>` of all metrics whose standard error has a closed form."""
    from lm_eval.api import metrics

    columns: dict[tuple[str, str], list[object]] = defaultdict(list)
    for sample in map(table, samples):
        for metric in items(sample.get("metrics")):
            columns[str(metric), str(sample.get("filter"))].append(sample[str(metric)])
    functions, std_errors = task.aggregation(), {}
    # `acc_all` has no function of its own since 0.5
    closed_forms = [metrics.mean_stderr, getattr(metrics, "acc_all_stderr", metrics.mean_stderr)]
    for (metric, filter_name), values in columns.items():
        stderr = metrics.stderr_for_metric(metric=functions.get(metric, metrics.mean), bootstrap_iters=1)
        if stderr in closed_forms and len(values) > 1:
            std_errors[f"{metric}_stderr,{filter_name}"] = stderr(values)
    return std_errors


def _group_rows(results: Results, task_dict: Mapping[object, object]) -> dict[str, Row]:
    # before lm-eval 0.4.12 only the rows of groups are known, not the groups
    groups = cast("dict[str, Group]", dict(table(task_dict, "groups")))
    rows: dict[str, Row] = {name: dict(table(row)) for name, row in table(results, "results").items()}
    if groups:
        with _silence("lm_eval.api.group"):
            return {name: group.aggregate(rows) for name, group in groups.items()}
    return {name: _pooled(name, rows, results) for name in table(results, "groups")}


def _pooled(group: str, rows: Mapping[str, Row], results: Results) -> Row:
    """Standard errors of a group as lm-eval 0.4.11 computes them, which ignores the weights of the group."""
    from lm_eval.api.metrics import pooled_sample_stderr

    leaves = list(_leaf_names(group, table(results, "group_subtasks")))
    std_errors: Row = {}
    for key in rows[group]:
        metric, comma, filter_name = key.partition(",")
        if comma and not metric.endswith("_stderr"):
            error_key = f"{metric}_stderr,{filter_name}"
            errors = [rows[leaf].get(error_key, NOT_AVAILABLE) for leaf in leaves if key in rows[leaf]]
            sizes = [table(results, "n-samples", leaf).get("effective") for leaf in leaves if key in rows[leaf]]
            std_errors[error_key] = NOT_AVAILABLE if NOT_AVAILABLE in errors else pooled_sample_stderr(errors, sizes)
    return std_errors


def _leaf_names(group: str, subtasks: Table) -> Iterator[str]:
    for child in map(str, items(subtasks.get(group))):
        if items(subtasks.get(child)):
            yield from _leaf_names(child, subtasks)
        else:
            yield child


@contextmanager
def _silence(logger_name: str) -> Iterator[None]:
    """Disable a logger: lm-eval has already logged these warnings once."""
    logger = logging.getLogger(logger_name)
    disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = disabled
