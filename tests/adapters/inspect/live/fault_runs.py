"""Run Inspect with HARNESS_UQ set and a part of ours broken: `python fault_runs.py FOLDER MODULE:NAME=FAULT…`.

A process for each, and for `none` one with nothing broken and without HARNESS_UQ. What it printed stands in
FOLDER/<place>.txt, the status, the value and the names of the metrics in FOLDER/<place>.json.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path

from fork_imports import prepare_forks
from inspect_ai import eval as inspect_eval
from live_runs import FIXED
from live_tasks import plain

FAULTS = {"KeyError": KeyError("injected"), "MemoryError": MemoryError("injected"), "OSError": OSError(28, "injected")}


def main(folder, places):
    prepare_forks()
    for module in {place.partition(":")[0] for place in places if place != "none"}:
        import_module(module)
    for place in places:
        if (child := os.fork()) == 0:
            run(folder, place)
            os._exit(0)
        os.waitpid(child, 0)


def run(folder, place):
    with (folder / f"{place}.txt").open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        if place == "none":
            del os.environ["HARNESS_UQ"]
        else:
            break_part(place)
        (log,) = inspect_eval(plain(), log_dir=str(folder / place), **{**FIXED, "display": "plain"})
        sys.stdout.flush()
        sys.stderr.flush()
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    (folder / f"{place}.json").write_text(json.dumps({"status": log.status, "metrics": metrics}))


def break_part(place):
    (module, name), error = place.partition("=")[0].split(":"), FAULTS[place.partition("=")[2]]

    def fails(*args, **kwargs):
        raise error

    setattr(import_module(module), name, fails)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
