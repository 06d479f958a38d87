"""Run both scripted systems on the example tasks with the real Inspect AI and `--uq bayes`, offline.

Run as `python examples/run_inspect.py --output DIR`; it writes DIR/inspect/<system>/*.eval.
"""

import argparse
import shutil
import sys
from pathlib import Path

from systems.behaviour import ABILITIES

TASKS = Path(__file__).resolve().parent / "inspect_tasks.py"
TASK_NAMES = ("passages", "word_problems", "conversions", "copying")


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
    """Evaluate one system on every task as `harness-uq inspect eval` does."""
    from harness_uq.commands.main import main as harness_uq

    options = {"-T": f"system={name}", "--log-dir": str(folder), "--display": "plain", "--uq": "bayes"}
    arguments = [part for option in options.items() for part in option]
    tasks = [f"{TASKS}@{task}" for task in TASK_NAMES]
    if code := harness_uq(["inspect", "eval", *tasks, *arguments, "--no-log-realtime"]):
        raise SystemExit(code)


if __name__ == "__main__":
    sys.exit(main())
