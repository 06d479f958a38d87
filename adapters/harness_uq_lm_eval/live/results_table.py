"""Add a column of intervals to the table that lm-eval prints."""

import functools
import logging
import re
from collections.abc import Callable, Container, Mapping
from typing import TypeAlias

from harness_uq_lm_eval.json_access import Table, real, table
from harness_uq_lm_eval.results_block import BLOCK, entries_of, estimates_printed_value, interval_of

MakeTable: TypeAlias = Callable[..., str]

# index of the task, inserted before its name, because two tasks may have the same display name
_INDEX_MARK = re.compile(r"⟦(\d+)⟧")
_logger = logging.getLogger("harness_uq")


def with_intervals(original: MakeTable) -> MakeTable:
    """`make_table` with a column of intervals; if adding it fails, lm-eval's own table."""

    @functools.wraps(original)
    def make_table(result_dict: Mapping[str, object], *args: object, **kwargs: object) -> str:
        if BLOCK in result_dict:
            try:
                return _add_interval_column(original, result_dict, *args, **kwargs)
            except Exception as error:
                _logger.warning("the intervals are in the results, but not in the table: %s", error)
        return original(result_dict, *args, **kwargs)

    return make_table


def _add_interval_column(original: MakeTable, results: Table, *args: object, **kwargs: object) -> str:
    column = str(args[0] if args else kwargs.get("column", "results"))
    names = list(table(results, column))
    entries = entries_of(results)
    shown = {
        key: ends for key, entry in entries.items() if estimates_printed_value(entry) and (ends := interval_of(entry))
    }
    rows = {
        name: _mark_alias(index, name, _plain_values(name, table(results, column, name), shown))
        for index, name in enumerate(names)
    }
    lines = [line for line in original({**results, column: rows}, *args, **kwargs).splitlines() if line.strip()]
    if len({line.count("|") for line in lines}) > 1:
        raise ValueError("a name in the table holds the sign |")
    level = real(table(results, BLOCK).get("level")) or 0.95
    cells, task = [f"{100 * level:g}% interval", ":--"], ""
    for line in lines[2:]:
        parts = line.split("|")
        if index := _INDEX_MARK.search(parts[1]):
            task = names[int(index[1])]
        ends = shown.get((task, parts[5].strip(), parts[3].strip()))
        cells.append(f"[{ends[0]:.4f}, {ends[1]:.4f}]" if ends else "")
    if not any(cells[2:]):
        return original(results, *args, **kwargs)
    return "\n".join(_join_cells([_INDEX_MARK.sub("", line.split("|")[1]) for line in lines], lines, cells)) + "\n"


def _plain_values(task: str, row: Table, shown: Container[tuple[str, str, str]]) -> Table:
    """The row, with plain numbers in place of numbers whose interval is in the new column."""
    return {
        key: float(value) if isinstance(value, float) and (task, *key.split(",", 1)) in shown else value
        for key, value in row.items()
    }


def _mark_alias(index: int, name: str, row: Table) -> Table:
    alias = str(row.get("alias", name))
    bare = alias.lstrip(" ")
    return {**row, "alias": f"{alias[: len(alias) - len(bare)]}⟦{index}⟧{bare}"}


def _join_cells(first: list[str], lines: list[str], cells: list[str]) -> list[str]:
    """The lines with the first cell padded to its new width, and the new cells at the end."""
    names = [name.rstrip() for name in first]
    width = max(len(name) for row, name in enumerate(names) if row != 1)
    last_width = max(map(len, cells))
    table_lines = []
    for row, (name, line, cell) in enumerate(zip(names, lines, cells, strict=True)):
        middle = "|".join(line.split("|")[2:-1])
        is_rule = row == 1
        name_cell = "-" * width if is_rule else name.strip().center(width) if row == 0 else name.ljust(width)
        last_cell = "-" * last_width if is_rule else cell.center(last_width) if row == 0 else cell.ljust(last_width)
        table_lines.append(f"|{name_cell}|{middle}|{last_cell}|")
    return table_lines
