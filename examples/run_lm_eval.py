"""Run both scripted systems on the example tasks with the real lm-evaluation-harness, offline.

Run as `python examples/run_lm_eval.py --output DIR`; it writes DIR/lm-eval/<system>/{results,samples}_*.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path
from unittest import mock

from systems.behaviour import ABILITIES

TASKS = Path(__file__).resolve().parent / "tasks"
CLI_TASKS = ("demo_passages", "demo_word_problems", "demo_exam", "demo_copying")
F1_TASK = "demo_divides"
F1_DRAWS = 1000

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
QUIET = {"LMEVAL_LOG_LEVEL": "ERROR", "TQDM_DISABLE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
ONE_PROCESS = {"DISABLE_MULTIPROC": "1"}  # a pool would only slow down a thousand draws


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
        run_f1(name, ability, logs)
    shutil.rmtree(cache, ignore_errors=True)
    return logs


def set_environment(cache: Path) -> None:
    """Keep the libraries offline, quiet and inside the given folder; they read this once, when imported."""
    os.environ |= {**OFFLINE, **QUIET, **ONE_PROCESS, "HF_HOME": str(cache)}


def run_command_line(name: str, ability: float, logs: Path) -> None:
    """Evaluate one system as `lm-eval run` does; in this process, where the model `scripted` is registered."""
    import systems.lm_eval_model  # noqa: F401
    from lm_eval.__main__ import cli_evaluate

    options = {
        "--model": "scripted",
        "--model_args": f"path={name},ability={ability}",
        "--tasks": ",".join(CLI_TASKS),
        "--include_path": str(TASKS),
        "--output_path": str(logs),
    }
    arguments = [part for option in options.items() for part in option]
    with mock.patch.object(sys, "argv", ["lm-eval", "run", *arguments, "--log_samples"]):
        cli_evaluate()


def run_f1(name: str, ability: float, logs: Path) -> None:
    """Evaluate one system on the F1 task; the command line has no option for fewer than 100,000 bootstrap draws."""
    import systems.lm_eval_model  # noqa: F401
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    tracker = EvaluationTracker(output_path=str(logs))
    results = simple_evaluate(
        model="scripted",
        model_args={"path": name, "ability": ability},
        tasks=[F1_TASK],
        task_manager=TaskManager(include_path=str(TASKS), include_defaults=False),
        evaluation_tracker=tracker,
        bootstrap_iters=F1_DRAWS,
        log_samples=True,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name=F1_TASK, samples=samples[F1_TASK])


if __name__ == "__main__":
    sys.exit(main())
