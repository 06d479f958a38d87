"""Run the cells of a simulation with labels and write their results."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def run_cells(description: str, run_cell: Callable[..., dict], cells: Sequence[tuple], reps: int, name: str) -> None:
    """Run each cell with its number as the seed, and write `results/NAME.json`.

    `--reps` and `--output` replace the number of data sets per cell and the file.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--reps", type=int, default=reps)
    parser.add_argument("--output", type=Path, default=RESULTS / f"{name}.json")
    args = parser.parse_args()
    results = []
    for seed, cell in enumerate(cells):
        results.append(run_cell(*cell, args.reps, seed))
        print(json.dumps(results[-1]), flush=True)
    args.output.write_text(json.dumps({"cells": results}, indent=1) + "\n")
