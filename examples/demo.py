"""Run both harnesses on the example tasks, then print intervals for the logged scores: `make demo`.

Run as `python examples/demo.py --output demo-runs`.
"""

import argparse
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import perf_counter

import run_inspect
import run_lm_eval

HARNESSES = {"lm-evaluation-harness": run_lm_eval.run, "Inspect AI": run_inspect.run}


def main(argv: list[str] | None = None) -> int:
    """Write the logs under the given folder and estimate from them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo-runs"), help="folder for the logs (%(default)s)")
    output = parser.parse_args(argv).output
    write_logs(output)
    return estimate(output)


def write_logs(output: Path) -> None:
    """Run both harnesses; of what they print, the last system's tables with intervals are shown."""
    for harness, run in HARNESSES.items():
        print(f"{harness}: two scripted systems on the example tasks ...", flush=True)
        start = perf_counter()
        printed = StringIO()
        with redirect_stdout(printed):
            run(output)
        print(f"    done in {perf_counter() - start:.0f} s", flush=True)
        is_lm_eval = run is run_lm_eval.run
        command = "lm-eval run" if is_lm_eval else "inspect eval"
        shown = (_last_lm_eval_table if is_lm_eval else _last_inspect_tables)(printed.getvalue())
        print(f"\n$ harness-uq {command} ... --uq bayes\n\n{shown}\n", flush=True)


def _last_lm_eval_table(printed: str) -> str:
    """What lm-eval printed for the last system: a line about the model, and its tables."""
    return printed[printed.rindex("scripted (") :].strip()


def _last_inspect_tables(printed: str) -> str:
    """The tables with intervals of the last system, without their legends."""
    tables = re.findall(r"scripted/\S+ +\(inspect .*?\n(?=\nEstimand)", printed, re.DOTALL)
    return "\n".join(tables[-len(run_inspect.TASK_NAMES) :])


def estimate(output: Path) -> int:
    """Show the command that a user would type, and what it prints."""
    from harness_uq.commands.main import main as harness_uq

    print(f"\n$ harness-uq estimate {output}\n", flush=True)
    return harness_uq(["estimate", str(output)])


if __name__ == "__main__":
    sys.exit(main())
