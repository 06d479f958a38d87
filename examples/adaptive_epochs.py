"""Ask until the interval is narrow enough: the word problems with up to 8 epochs, stopped by `stop_when`, offline.

Run as `python examples/adaptive_epochs.py --output DIR`; it writes DIR/adaptive/<system>/*.eval and prints what each
system needed, a few trials more or fewer from run to run: those under way when the decision falls are finished.
"""

import argparse
import sys
from pathlib import Path

from systems.behaviour import ABILITIES

WIDTH, MAX_EPOCHS = 0.17, 8


def main(argv: list[str] | None = None) -> int:
    """Evaluate both systems under the same rule and print their trials and intervals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the logs")
    folder = parser.parse_args(argv).output.resolve() / "adaptive"
    for name in ABILITIES:
        print(evaluate(name, folder / name))
    return 0


def evaluate(name: str, folder: Path) -> str:
    """One line on what the system needed."""
    from inspect_ai import eval as inspect_eval
    from inspect_ai import task_with

    from harness_uq_inspect import stop_when
    from inspect_tasks import word_problems

    task = task_with(word_problems(system=name), epochs=MAX_EPOCHS, early_stopping=stop_when(width=WIDTH))
    (log,) = inspect_eval(task, log_dir=str(folder), max_samples=5, display="none", log_level="error")
    if log.results is None or log.results.early_stopping is None:
        raise RuntimeError(f"{name}: the run ended without results ({log.status})")
    planned, skipped = log.results.total_samples, len(log.results.early_stopping.early_stops)
    return f"{name}: {planned - skipped} of {planned} trials; {log.results.early_stopping.metadata['reason']}"


if __name__ == "__main__":
    sys.exit(main())
