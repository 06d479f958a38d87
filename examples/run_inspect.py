"""Run both scripted systems on the example tasks with the real Inspect AI, offline.

Run as `python examples/run_inspect.py --output DIR`; it writes DIR/inspect/<system>/*.eval.
"""

import argparse
import shutil
import sys
from pathlib import Path

from systems.behaviour import ABILITIES


def main(argv: list[str] | None = None) -> int:
    """Write the logs of both systems under the given folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the logs")
    run(parser.parse_args(argv).output)
    return 0


def run(output: Path) -> Path:
    """Evaluate both systems and return the folder of their logs, which replace those of an earlier run."""
    logs = output.resolve() / "inspect"
    for name in ABILITIES:
        shutil.rmtree(logs / name, ignore_errors=True)
        evaluate(name, logs / name)
    return logs


def evaluate(name: str, folder: Path) -> None:
    """Evaluate one system on every task."""
    from inspect_ai import eval as inspect_eval
    from inspect_tasks import TASKS

    tasks = [make(system=name) for make in TASKS]
    logs = inspect_eval(tasks, log_dir=str(folder), display="none", log_level="error", log_realtime=False)
    failed = {log.eval.task: log.error.message for log in logs if log.error}
    if failed:
        raise RuntimeError(f"Inspect ended {name} with errors: {failed}")


if __name__ == "__main__":
    sys.exit(main())
