"""Comparison of the default methods with those of an earlier version, by family of cells."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.calibration.results import CellResult
from benchmarks.calibration.verdicts import FLOOR, coverage_of, default_of, is_warned

FORMER = "former default"


def beside(cells: Sequence[CellResult], earlier: Sequence[CellResult]) -> list[CellResult]:
    """Cells with the earlier default as an additional method, if it is known and has a different result."""
    earlier_default = {cell.key: default_of(cell) for cell in earlier}
    return [
        replace(cell, methods={**cell.methods, FORMER: earlier_default[cell.key]})
        if cell.key in earlier_default and earlier_default[cell.key] != default_of(cell)
        else cell
        for cell in cells
    ]


def before_and_after(cells: Sequence[CellResult]) -> list[tuple[str, ...]]:
    """Rows of the table with the head `HEAD`, one per family of cells that has a former default."""
    both = [cell for cell in cells if FORMER in cell.methods]
    families = dict.fromkeys((cell.setting, cell.family) for cell in both)
    return [_row([cell for cell in both if (cell.setting, cell.family) == family]) for family in families]


HEAD = (
    "cells",
    "number",
    "mean coverage",
    "lowest coverage",
    "cells below 0.90",
    "cells below 0.90 without a warning",
    "mean width, now / before",
)


def _row(cells: Sequence[CellResult]) -> tuple[str, ...]:
    before = np.array([coverage_of(cell, FORMER) for cell in cells])
    now = np.array([coverage_of(cell) for cell in cells])
    unwarned_before = np.array([cell.methods[FORMER].warned < 0.5 for cell in cells])
    unwarned_now = np.array([not is_warned(cell) for cell in cells])
    return (
        f"{cells[0].setting}: {cells[0].family}",
        str(len(cells)),
        f"{before.mean():.3f} → {now.mean():.3f}",
        f"{before.min():.3f} → {now.min():.3f}",
        f"{np.sum(before < FLOOR)} → {np.sum(now < FLOOR)}",
        f"{np.sum((before < FLOOR) & unwarned_before)} → {np.sum((now < FLOOR) & unwarned_now)}",
        f"{_mean_width(cells, None) / _mean_width(cells, FORMER):.2f}",
    )


def _mean_width(cells: Sequence[CellResult], method: str | None) -> float:
    results = [default_of(cell) if method is None else cell.methods[method] for cell in cells]
    return float(np.mean([result.width[cell.at_nominal] or 0.0 for result, cell in zip(results, cells, strict=True)]))
