"""Run Inspect with samples that fail at first, and retry them: `python retried_runs.py FOLDER`.

FOLDER/retry contains a failed eval, its retry, another run of the task and a converted copy of that run. FOLDER/set
contains an eval set with two failed attempts.
"""

import builtins
import sys
from pathlib import Path

from inspect_ai import Task, eval_retry, eval_set, task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

OPTIONS = {"model": "mockllm/model", "display": "none", "log_realtime": False, "log_level": "error"}
# Inspect imports this file again for a retry
STATE = builtins.__dict__.setdefault("_retried_runs", {"failures_left": 0})


@scorer(metrics=[accuracy()])
def odd():
    async def score(state, target):
        return Score(value="CI"[int(state.sample_id) % 2])

    return score


@solver
def failing():
    async def solve(state, generate):
        if state.sample_id == 5 and STATE["failures_left"]:
            STATE["failures_left"] -= 1
            raise RuntimeError("not yet")
        return state

    return solve


@task
def retried():
    dataset = [Sample(input=f"Question {number}?", target="t", id=number) for number in range(1, 9)]
    return Task(dataset=dataset, solver=failing(), scorer=odd())


def main(folder: Path) -> None:
    log_dir = str(folder / "retry")
    STATE["failures_left"] = 1
    (failed,) = inspect_eval(retried(), log_dir=log_dir, **OPTIONS)
    (finished,) = eval_retry(failed, log_dir=log_dir, display="none")
    assert (failed.status, finished.status) == ("error", "success")
    (other,) = inspect_eval(retried(), log_dir=log_dir, **OPTIONS)
    write_eval_log(read_eval_log(other.location), str(folder / "retry" / "zz_converted.json"))
    STATE["failures_left"] = 2
    is_done, _ = eval_set(
        [retried()],
        log_dir=str(folder / "set"),
        retry_attempts=4,
        retry_wait=0.01,
        retry_cleanup=False,
        retry_immediate=False,
        **OPTIONS,
    )
    assert is_done


if __name__ == "__main__":
    main(Path(sys.argv[1]))
