"""The table that lm-eval prints, with a column of intervals."""

import functools
import logging
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from harness_uq_lm_eval.block import BLOCK, entries_of, interval_of
from harness_uq_lm_eval.jsontree import Table, real, table

MakeTable: TypeAlias = Callable[..., str]

# goes in front of each task's name, since two tasks may be displayed alike
_MARK = re.compile(r"⟦(\d+)⟧")
_logger = logging.getLogger("harness_uq")


def with_intervals(original: MakeTable) -> MakeTable:
    """`make_table` that adds the intervals of the block; any failure gives lm-eval's own table."""

    @functools.wraps(original)
    def make_table(result_dict: Mapping[str, object], *args: object, **kwargs: object) -> str:
        if BLOCK in result_dict:
            try:
                return _with_column(original, result_dict, *args, **kwargs)
            except Exception as error:
                _logger.warning("the intervals are in the results, but not in the table: %s", error)
        return original(result_dict, *args, **kwargs)

    return make_table


def _with_column(original: MakeTable, results: Table, *args: object, **kwargs: object) -> str:
    column = str(args[0] if args else kwargs.get("column", "results"))
    names = list(table(results, column))
    marked = {**results, column: {name: _marked(i, name, table(results, column, name)) for i, name in enumerate(names)}}
    lines = [line for line in original(marked, *args, **kwargs).splitlines() if line.strip()]
    if len({line.count("|") for line in lines}) > 1:
        raise ValueError("a name in the table holds the sign |")
    cells, task = [_header(results), ":--"], ""
    for line in lines[2:]:
        parts = line.split("|")
        if found := _MARK.search(parts[1]):
            task = names[int(found[1])]
        cells.append(_interval(results, task, parts[5].strip(), parts[3].strip()))
    if not any(cells[2:]):
        return original(results, *args, **kwargs)
    return "\n".join(_joined([_MARK.sub("", line.split("|")[1]) for line in lines], lines, cells)) + "\n"


def _marked(place: int, name: str, row: Table) -> Table:
    alias = str(row.get("alias", name))
    bare = alias.lstrip(" ")
    return {**row, "alias": f"{alias[: len(alias) - len(bare)]}⟦{place}⟧{bare}"}


def _header(results: Table) -> str:
    level = real(table(results, BLOCK).get("level")) or 0.95
    return f"{100 * level:g}% CI"


def _interval(results: Table, task: str, metric: str, filter_name: str) -> str:
    ends = interval_of(entries_of(results).get((task, metric, filter_name), {}))
    return f"[{ends[0]:.4f}, {ends[1]:.4f}]" if ends else ""


def _joined(first: list[str], lines: list[str], cells: list[str]) -> list[str]:
    """Lines with their first cell as wide as its texts now are, and the new cells at the end."""
    names = [name.rstrip() for name in first]
    width = max(len(name) for place, name in enumerate(names) if place != 1)
    last = max(map(len, cells))
    joined = []
    for place, (name, line, cell) in enumerate(zip(names, lines, cells, strict=True)):
        middle = "|".join(line.split("|")[2:-1])
        is_rule = place == 1
        opening = "-" * width if is_rule else name.strip().center(width) if place == 0 else name.ljust(width)
        ending = "-" * last if is_rule else cell.center(last) if place == 0 else cell.ljust(last)
        joined.append(f"|{opening}|{middle}|{ending}|")
    return joined
