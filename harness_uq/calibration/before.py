"""Defaults beside those that they replaced: what became of each family of cells."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness_uq.calibration.results import CellResult
from harness_uq.calibration.verdicts import FLOOR, coverage_of, default_of, is_warned

FORMER = "former default"


def beside(cells: Sequence[CellResult], earlier: Sequence[CellResult]) -> list[CellResult]:
    """Cells with the default of an earlier run as one more method, where it is known and was another one."""
    known = {cell.key: default_of(cell) for cell in earlier}
    return [
        replace(cell, methods={**cell.methods, FORMER: known[cell.key]})
        if cell.key in known and known[cell.key] != default_of(cell)
        else cell
        for cell in cells
    ]


def before_and_after(cells: Sequence[CellResult]) -> list[tuple[str, ...]]:
    """Rows of a table, one a family of cells with a former default, which `HEAD` heads."""
    both = [cell for cell in cells if FORMER in cell.methods]
    families = dict.fromkeys((cell.setting, cell.family) for cell in both)
    return [_row([cell for cell in both if (cell.setting, cell.family) == family]) for family in families]


HEAD = ("cells", "number", "mean coverage", "least", "under .90", "of them unwarned", "mean width, now / before")


def _row(cells: Sequence[CellResult]) -> tuple[str, ...]:
    before = np.array([coverage_of(cell, FORMER) for cell in cells])
    now = np.array([coverage_of(cell) for cell in cells])
    silent_before = np.array([cell.methods[FORMER].warned < 0.5 for cell in cells])
    silent_now = np.array([not is_warned(cell) for cell in cells])
    return (
        f"{cells[0].setting}: {cells[0].family}",
        str(len(cells)),
        f"{before.mean():.3f} → {now.mean():.3f}",
        f"{before.min():.3f} → {now.min():.3f}",
        f"{np.sum(before < FLOOR)} → {np.sum(now < FLOOR)}",
        f"{np.sum((before < FLOOR) & silent_before)} → {np.sum((now < FLOOR) & silent_now)}",
        f"{_mean_width(cells, None) / _mean_width(cells, FORMER):.2f}",
    )


def _mean_width(cells: Sequence[CellResult], method: str | None) -> float:
    results = [default_of(cell) if method is None else cell.methods[method] for cell in cells]
    return float(np.mean([result.width[cell.at_nominal] or 0.0 for result, cell in zip(results, cells, strict=True)]))
