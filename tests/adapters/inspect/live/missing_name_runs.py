"""Run Inspect without one of the names that harness_uq uses: `python missing_name_runs.py FOLDER MODULE:NAME…`.

Each name has a process of its own. FOLDER/<module>:<name>.txt holds what the process printed, and
FOLDER/<module>:<name>.json the status and the metrics of the log.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from fork_imports import prepare_forks
from inspect_ai import eval as inspect_eval
from live_runs import FIXED
from live_tasks import plain


def main(folder, seams):
    prepare_forks()
    for seam in seams:
        if (child := os.fork()) == 0:
            run_without(folder, seam)
            os._exit(0)
        os.waitpid(child, 0)


def run_without(folder, seam):
    with (folder / f"{seam}.txt").open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        take_away(*seam.split(":"))
        (log,) = inspect_eval(plain(), log_dir=str(folder / seam), **FIXED)
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    (folder / f"{seam}.json").write_text(json.dumps({"status": log.status, "metrics": metrics}))


def take_away(module, name):
    """Hide the name from harness_uq, but not from Inspect itself."""
    known = import_module(module)
    without = ModuleType(module)
    vars(without).update({key: value for key, value in vars(known).items() if key != name})

    def of_inspect(key):
        if key == name and not sys._getframe(1).f_globals["__name__"].startswith("harness_uq"):
            return getattr(known, key)
        raise AttributeError(key)

    without.__getattr__ = of_inspect
    sys.modules[module] = without


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
