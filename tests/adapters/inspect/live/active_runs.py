"""Run tasks whose samples are chosen actively: `python active_runs.py FOLDER` writes logs and FOLDER/runs.json.

The history is FOLDER/history.csv: 20 systems on 300 questions. Whether the new system is right is drawn with a fixed
seed.
"""

import builtins
import json
import os
import sys
from pathlib import Path

import numpy as np
from inspect_ai import Task, eval_retry, task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer, stderr
from inspect_ai.solver import solver

from harness_uq_inspect import ActiveSource

OPTIONS = {"model": "mockllm/model", "display": "none", "log_realtime": False, "log_level": "warning"}
N, N_ASKED = 300, 60
FAILS_AT = int(os.environ.get("ACTIVE_RUNS_FAILS_AT", 0))
STATE = builtins.__dict__.setdefault("_active_runs", {"fails_at": FAILS_AT, "ran": [], "history": None})


def answers() -> np.ndarray:
    """Scores of 21 systems; the last is the new one."""
    rng = np.random.default_rng(5)
    difficulty, ability = rng.normal(0, 2, N), rng.normal(0.5, 1, (21, 1))
    return (rng.random((21, N)) < 1 / (1 + np.exp(difficulty - ability))).astype(int)


NEW = answers()[20]


@scorer(metrics=[accuracy(), stderr()])
def right():
    async def score(state, target):
        return Score(value="C" if NEW[int(state.sample_id)] else "I")

    return score


@solver
def answering():
    async def solve(state, generate):
        STATE["ran"].append(int(state.sample_id))
        if STATE["fails_at"] == len(STATE["ran"]):
            STATE["fails_at"] = None
            raise RuntimeError("the machine stops")
        return state

    return solve


@task
def active():
    dataset = [Sample(id=number, input=f"Question {number}?", target="t") for number in range(N)]
    source = ActiveSource(dataset, STATE["history"], n_questions=N_ASKED, n_rounds=4)
    return Task(dataset=source, solver=answering(), scorer=right(), name="active")


@task
def plain():
    dataset = [Sample(id=number, input=f"Question {number}?", target="t") for number in range(N)]
    return Task(dataset=dataset, solver=answering(), scorer=right(), name="active")


def main(folder: Path) -> None:
    rows = [f"s{s},active,right,{q},{score}" for s, row in enumerate(answers()[:20]) for q, score in enumerate(row)]
    path = folder / "history.csv"
    path.write_text("\n".join(["system,task,metric,id,score", *rows]))
    STATE["history"] = str(path)
    runs = {}
    for max_samples in (1, 100):
        runs[f"max_samples={max_samples}"] = run(folder / str(max_samples), max_samples=max_samples)
    STATE["fails_at"] = 35
    runs["failed"] = run(folder / "failed", max_samples=4)
    STATE["ran"].clear()
    (retried,) = eval_retry(runs["failed"]["location"], log_dir=str(folder / "failed"), display="none")
    runs["retried"] = {"location": retried.location, "status": retried.status, "ran": list(STATE["ran"])}
    (folder / "runs.json").write_text(json.dumps(runs))


def run(folder: Path, **options: object) -> dict[str, object]:
    STATE["ran"].clear()
    (log,) = inspect_eval(active(), log_dir=str(folder), **OPTIONS, **options)
    return {"location": log.location, "status": log.status, "ran": list(STATE["ran"])}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
