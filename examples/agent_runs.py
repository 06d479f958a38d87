"""Write runs of two agents in the form of Terminal-Bench: 40 tasks, three runs of each agent. No agent is run.

Run as `python examples/agent_runs.py --output DIR`; it writes DIR/<agent>/run-<number>/.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

N_TASKS, N_RUNS = 40, 3
ADVANTAGES = {"alpha": 0.0, "beta": 0.6}


def main(argv: list[str] | None = None) -> int:
    """Write the runs under the given folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the runs")
    output = parser.parse_args(argv).output
    rng = np.random.default_rng(7)
    easiness = rng.normal(0.0, 2.0, N_TASKS)
    for agent, advantage in ADVANTAGES.items():
        rates = 1 / (1 + np.exp(-easiness - advantage))
        for number in range(1, N_RUNS + 1):
            write_run(output / agent / f"run-{number}", agent, rng.random(N_TASKS) < rates)
    print(f"{len(ADVANTAGES) * N_RUNS} runs in {output}")
    return 0


def write_run(folder: Path, agent: str, is_resolved: np.ndarray) -> None:
    """The metadata and the results of a run. The tests of the first task of each run cannot be parsed."""
    trials = [
        {
            "task_id": f"task-{task:02}",
            "trial_name": f"task-{task:02}.1-of-1.{folder.name}",
            "is_resolved": bool(resolved) if task else None,
            "failure_mode": "unset" if task else "parse_error",
        }
        for task, resolved in enumerate(is_resolved)
    ]
    metadata = {
        "run_id": folder.name,
        "agent_name": agent,
        "model_name": "example/model",
        "dataset_name": "example-tasks",
        "dataset_size": N_TASKS,
        "start_time": f"2026-01-0{folder.name[-1]}T00:00:00+00:00",
    }
    accuracy = sum(bool(trial["is_resolved"]) for trial in trials) / N_TASKS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    (folder / "results.json").write_text(json.dumps({"results": trials, "accuracy": accuracy}), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
