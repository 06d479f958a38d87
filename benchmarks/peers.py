"""Timing against peers: ours and theirs in turn, medians and ratio, one JSON file of results each."""

import json
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy

RESULTS = Path(__file__).parent / "results"


def scorio_eval() -> ModuleType:
    try:
        from scorio import eval as module
    except ImportError:
        raise SystemExit("the peer is missing: pip install -r benchmarks/requirements.txt") from None
    return module


def compare(ours: Callable[[], object], theirs: Callable[[], object] | None, repeats: int = 51) -> dict[str, float]:
    """Median milliseconds of each, called in turn so that a busy machine slows both."""
    functions = [ours] if theirs is None else [ours, theirs]
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, kept in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            kept.append(1000 * (time.perf_counter() - start))
    medians = [statistics.median(kept) for kept in times]
    row = dict(zip(("ours_ms", "scorio_ms"), medians, strict=False))
    if theirs is not None:
        row["scorio_over_ours"] = medians[1] / medians[0]
    return {key: round(value, 3) for key, value in row.items()}


def report(name: str, data: str, cases: dict[str, dict[str, float]]) -> None:
    for case, row in cases.items():
        print(f"{case:>28}  " + "  ".join(f"{key} {value:,.3f}" for key, value in row.items()))
    summary = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scorio": version("scorio"),
        "machine": platform.machine(),
        "data": data,
        "unit": "median milliseconds, one process",
        "cases": cases,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(summary, indent=1) + "\n")
