"""Draw docs/images/comparison.png, the plot of docs/get-started/index.md: `python docs/draw_comparison.py FILE`."""

import sys
import tempfile
from pathlib import Path

import harness_uq
from harness_uq.commands.main import main as harness_uq_command

TASKS = ("--task", "demo_exam_*", "--task", "demo_passages")


def main(file: Path) -> None:
    """Compare the systems of the example logs as the page does."""
    with tempfile.TemporaryDirectory() as folder:
        logs = harness_uq.demo(folder) / "lm-eval"
        if harness_uq_command(["compare", str(logs), *TASKS, "--plot", str(file)]):
            raise SystemExit(f"{file} was not drawn")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
