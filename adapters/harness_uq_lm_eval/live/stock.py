"""The standard errors that lm-eval would have printed, by its own functions, where they take no bootstrap.

A live run switches lm-eval's bootstrap off, and with it every standard error. The closed forms (of a mean and of
`acc_all`) and those of groups are put back before anything else, so that a failure later leaves what lm-eval gives.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias, cast

from harness_uq_lm_eval.block import NOT_AVAILABLE, Results
from harness_uq_lm_eval.jsontree import Table, items, table

Row: TypeAlias = dict[str, object]


class Task(Protocol):
    """What is needed of an lm-eval task."""

    def aggregation(self) -> Mapping[str, Callable[..., object]]:
        """Function of the questions' values by metric."""


class Group(Protocol):
    """What is needed of an lm-eval group, 0.4.12 and later."""

    @property
    def name(self) -> str:
        """Its name."""

    def aggregate(self, task_metrics: Mapping[str, Row]) -> Row:
        """Its row, from those of its tasks."""


def tasks_of(task_dict: Mapping[object, object]) -> dict[str, Task]:
    """Tasks by name: under `tasks` since lm-eval 0.4.12, before at the leaves of nested groups."""
    if "tasks" in task_dict:
        return dict(table(task_dict, "tasks"))  # type: ignore[arg-type]
    return dict(_leaves(task_dict))


def _leaves(task_dict: Mapping[object, object]) -> Iterator[tuple[str, Task]]:
    for name, found in task_dict.items():
        leaf = found[1] if isinstance(found, tuple) else found
        if isinstance(leaf, Mapping):
            yield from _leaves(leaf)
        elif leaf is not None:
            yield str(name), cast("Task", leaf)


def groups_of(task_dict: Mapping[object, object]) -> dict[str, Group]:
    """Groups by name; none before lm-eval 0.4.12, where only their rows are known."""
    return dict(table(task_dict, "groups"))  # type: ignore[arg-type]


def put_back(results: Results, task_dict: Mapping[object, object]) -> None:
    """Write the closed forms into the rows of tasks, then those of groups."""
    for name, task in tasks_of(task_dict).items():
        row = table(results, "results").get(name)
        if isinstance(row, dict):
            row.update(closed_forms(task, items(table(results, "samples").get(name))))
    for name, row in _group_rows(results, task_dict).items():
        for part in ("results", "groups"):
            written = table(results, part).get(name)
            if isinstance(written, dict):
                written.update({key: error for key, error in row.items() if key in written and "_stderr," in key})


def closed_forms(task: Task, samples: Sequence[object]) -> dict[str, float]:
    """`<metric>_stderr,<filter>` of the metrics whose standard error has a closed form."""
    from lm_eval.api import metrics

    columns: dict[tuple[str, str], list[object]] = defaultdict(list)
    for sample in map(table, samples):
        for metric in items(sample.get("metrics")):
            columns[str(metric), str(sample.get("filter"))].append(sample[str(metric)])
    functions, found = task.aggregation(), {}
    closed = [metrics.mean_stderr, getattr(metrics, "acc_all_stderr", metrics.mean_stderr)]  # none of its own since 0.5
    for (metric, filter_name), values in columns.items():
        form = metrics.stderr_for_metric(metric=functions.get(metric, metrics.mean), bootstrap_iters=1)
        if form in closed and len(values) > 1:
            found[f"{metric}_stderr,{filter_name}"] = form(values)
    return found


def _group_rows(results: Results, task_dict: Mapping[object, object]) -> dict[str, Row]:
    groups = groups_of(task_dict)
    rows: dict[str, Row] = {name: dict(table(row)) for name, row in table(results, "results").items()}
    if groups:
        with _silent("lm_eval.api.group"):
            return {name: group.aggregate(rows) for name, group in groups.items()}
    return {name: _pooled(name, rows, results) for name in table(results, "groups")}


def _pooled(group: str, rows: Mapping[str, Row], results: Results) -> Row:
    """The row's standard errors as lm-eval 0.4.11 computes them, whatever the group's weights."""
    from lm_eval.api.metrics import pooled_sample_stderr

    leaves = list(_leaf_names(group, table(results, "group_subtasks")))
    found: Row = {}
    for key in rows[group]:
        metric, comma, filter_name = key.partition(",")
        if comma and not metric.endswith("_stderr"):
            error_key = f"{metric}_stderr,{filter_name}"
            errors = [rows[leaf].get(error_key, NOT_AVAILABLE) for leaf in leaves if key in rows[leaf]]
            sizes = [table(results, "n-samples", leaf).get("effective") for leaf in leaves if key in rows[leaf]]
            found[error_key] = NOT_AVAILABLE if NOT_AVAILABLE in errors else pooled_sample_stderr(errors, sizes)
    return found


def _leaf_names(group: str, subtasks: Table) -> Iterator[str]:
    for child in map(str, items(subtasks.get(group))):
        if items(subtasks.get(child)):
            yield from _leaf_names(child, subtasks)
        else:
            yield child


@contextmanager
def _silent(logger_name: str) -> Iterator[None]:
    """lm-eval said what it had to say the first time."""
    logger = logging.getLogger(logger_name)
    disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = disabled
