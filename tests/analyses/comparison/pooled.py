"""Comparisons with a row over the questions of all tasks, as gates compute them."""

from collections.abc import Sequence

from harness_uq.analyses.comparison.compare_sides import compare_sides
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison


def rows_with_pooled_tasks(
    a: Sequence[TaskLog], b: Sequence[TaskLog], options: Options | None = None
) -> list[Comparison]:
    chosen, plugins = options or Options(), load_plugins()
    sides = [Side.read(list(logs), name, plugins, chosen.structure) for logs, name in ((a, "A"), (b, "B"))]
    return compare_sides(*sides, chosen, plugins, pools_tasks=True)[0]
