"""Run a scripted system under four wordings of the prompt and three few-shot seeds: twelve runs of lm-eval, offline.

Run as `python examples/prompts.py --output DIR`; it writes DIR/<wording>-<seed>/.
"""

import argparse
import functools
import shutil
import sys
from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path

from run_lm_eval import TASKS, set_environment

WORDINGS = {
    "plain": "Read the text and answer the question.",
    "expert": "You are an expert in reading comprehension.",
    "short": "Answer in as few words as you can.",
    "riddle": "Every text is a riddle. Solve it.",
}
SEEDS = (1, 2, 3)
MODEL = "path=scripted-large,ability=1.0,sensitivity=0.6"


def main(argv: list[str] | None = None) -> int:
    """Write the logs of all runs under the given folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the logs")
    output = parser.parse_args(argv).output
    cache = output.resolve() / "hf-cache"
    set_environment(cache)
    from lm_eval import tasks

    # no search through lm-eval's own 13,000 tasks
    tasks.TaskManager = functools.partial(tasks.TaskManager, include_defaults=False)
    for wording, seed in product(WORDINGS, SEEDS):
        folder = output / f"{wording}-{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        with redirect_stdout(StringIO()):
            run(WORDINGS[wording], seed, folder)
    shutil.rmtree(cache, ignore_errors=True)
    print(f"{len(WORDINGS) * len(SEEDS)} runs in {output}")
    return 0


def run(instruction: str, seed: int, folder: Path) -> None:
    """Two examples before each question, drawn with the seed; `lm-eval run` finds the model where it is imported."""
    import systems.lm_eval_model  # noqa: F401
    from harness_uq.commands.main import main as harness_uq

    options = {
        "--model": "scripted",
        "--model_args": MODEL,
        "--tasks": "demo_passages",
        "--include_path": str(TASKS),
        "--output_path": str(folder),
        "--system_instruction": f"{instruction}\n\n",
        "--num_fewshot": "2",
        "--seed": f"0,1234,1234,{seed}",
    }
    if code := harness_uq(["lm-eval", "run", *(part for pair in options.items() for part in pair), "--log_samples"]):
        raise SystemExit(code)


if __name__ == "__main__":
    sys.exit(main())
