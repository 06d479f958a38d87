"""Run both scripted systems on the example tasks with the real lm-evaluation-harness and `--uq bayes`, offline.

Run as `python examples/run_lm_eval.py --output DIR`; it writes DIR/lm-eval/<system>/{results,samples}_*.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from systems.behaviour import ABILITIES

TASKS = Path(__file__).resolve().parent / "tasks"
TASK_NAMES = (
    "demo_passages",
    "demo_word_problems",
    "demo_exam",
    "demo_copying",
    "demo_divides",
    "demo_perplexity",
)

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
QUIET = {"LMEVAL_LOG_LEVEL": "ERROR", "TQDM_DISABLE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}


def main(argv: list[str] | None = None) -> int:
    """Write the logs of both systems under the given folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the logs")
    run(parser.parse_args(argv).output)
    return 0


def run(output: Path) -> Path:
    """Evaluate both systems and return the folder of their logs, which replace those of an earlier run."""
    logs, cache = output.resolve() / "lm-eval", output.resolve() / "hf-cache"
    set_environment(cache)
    for name, ability in ABILITIES.items():
        shutil.rmtree(logs / name, ignore_errors=True)
        run_command_line(name, ability, logs)
    shutil.rmtree(cache, ignore_errors=True)
    return logs


def set_environment(cache: Path) -> None:
    """Keep the libraries offline, quiet and inside the given folder; they read this once, when imported."""
    os.environ |= {**OFFLINE, **QUIET, "HF_HOME": str(cache)}


def run_command_line(name: str, ability: float, logs: Path) -> None:
    """Evaluate one system as `harness-uq lm-eval run` does; here, where the model `scripted` is registered."""
    import systems.lm_eval_model  # noqa: F401
    from harness_uq.commands.main import main as harness_uq

    options = {
        "--model": "scripted",
        "--model_args": f"path={name},ability={ability}",
        "--tasks": ",".join(TASK_NAMES),
        "--include_path": str(TASKS),
        "--output_path": str(logs),
        "--uq": "bayes",
    }
    arguments = [part for option in options.items() for part in option]
    if code := harness_uq(["lm-eval", "run", *arguments, "--log_samples"]):
        raise SystemExit(code)


if __name__ == "__main__":
    sys.exit(main())
