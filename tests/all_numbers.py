"""Every number that the program finds in some logs, as JSON: `python -m tests.all_numbers FOLDER… > numbers.json`.

Two commits whose outputs agree to 12 digits find the same. Texts, paths and times are left out.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path

import harness_uq
from harness_uq import DataError, NotEstimableError, Options, TaskLog

LEFT_OUT = {"messages", "status", "source", "method_reason", "verdict_text", "next_step", "answer"}
SCOPES = ("population", "benchmark")
ESTIMATES = [Options(scope=scope) for scope in SCOPES] + [Options(method="wilson"), Options(estimand="pass@2")]


def numbers(folder: Path) -> dict[str, object]:
    """All results of the logs under a folder."""
    # Inspect names its logs by the second they were written in, so that the order of files is that of chance
    logs = sorted(harness_uq.read_logs(folder, need_scores=True).logs, key=lambda log: (log.system, log.task))
    return {
        "estimates": [[_kept(row.to_dict()) for row in harness_uq.estimate(logs, how)] for how in ESTIMATES],
        "structure": [_structure(found) for found in harness_uq.detect_structure(logs)],
        "comparisons": dict(_comparisons(logs)),
        "rankings": [_tried(partial(harness_uq.rank, logs, Options(scope=scope))) for scope in SCOPES],
        "plans": _tried(partial(harness_uq.plan, logs, Options(difference=0.05))),
    }


def _comparisons(logs: Iterable[TaskLog]) -> Iterator[tuple[str, object]]:
    by_system: dict[str, list[TaskLog]] = {}
    for log in logs:
        by_system.setdefault(log.system, []).append(log)
    for a, b in combinations(by_system, 2):
        for scope in SCOPES:
            found = partial(harness_uq.compare, by_system[a], by_system[b], Options(scope=scope))
            yield f"{a} / {b} / {scope}", _tried(found)


def _tried(find) -> object:
    try:
        return [_kept(row.to_dict()) for row in find()]
    except (DataError, NotEstimableError) as error:
        return type(error).__name__


def _structure(found) -> dict[str, object]:
    return {
        "task": found.log.task,
        "clusters": found.clusters.fact.value,
        "metrics": [[*key, s.score_type, s.bounds, s.n_clusters, s.n_scores] for key, s in found.metrics.items()],
    }


def _kept(value: object) -> object:
    if isinstance(value, dict):
        return {name: _kept(item) for name, item in value.items() if name not in LEFT_OUT}
    if isinstance(value, list | tuple):
        return [_kept(item) for item in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


if __name__ == "__main__":
    found = {Path(name).name: numbers(Path(name)) for name in sys.argv[1:]}
    json.dump(found, sys.stdout, separators=(",", ":"), sort_keys=True)
