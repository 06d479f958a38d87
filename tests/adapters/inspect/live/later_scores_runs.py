"""Run Inspect with HARNESS_UQ set, and score or edit the logs later: `python later_scores_runs.py FOLDER`.

FOLDER/parameters contains a run with `accuracy(to_float=...)`. FOLDER/scored contains a run without scores that was
scored later, FOLDER/rescored the same log with intervals, and FOLDER/edited that log with an edited score.
"""

import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai import eval as inspect_eval
from inspect_ai import score as score_log
from inspect_ai.dataset import Sample
from inspect_ai.log import edit_score, read_eval_log, write_eval_log
from inspect_ai.scorer import Score, ScoreEdit, accuracy, scorer, stderr

from harness_uq.commands.main import main as harness_uq

OPTIONS = {"model": "mockllm/model", "display": "none", "log_realtime": False, "log_level": "error"}


def graded(state):
    return Score(value="I" if int(state.sample_id) % 10 == 0 else "C")


@scorer(metrics=[accuracy(), stderr()])
def plain():
    async def score(state, target):
        return graded(state)

    return score


@scorer(metrics=[accuracy(to_float=lambda value: 1 - float(value)), stderr()])
def inverted():
    async def score(state, target):
        return graded(state)

    return score


@task
def answered(scorers):
    dataset = [Sample(input=f"Question {number}?", target="t", id=number) for number in range(1, 41)]
    return Task(dataset=dataset, solver=[], scorer=scorers)


def main(folder: Path) -> None:
    inspect_eval(answered([plain(), inverted()]), log_dir=str(folder / "parameters"), **OPTIONS)
    (unscored,) = inspect_eval(answered([plain()]), score=False, log_dir=str(folder / "unscored"), **OPTIONS)
    for name in ("scored", "rescored", "edited"):
        (folder / name).mkdir()
    scored = score_log(read_eval_log(unscored.location), plain(), display="none")
    write_eval_log(scored, str(folder / "scored" / "log.eval"))
    assert not harness_uq(["rescore", str(folder / "scored"), "--output-dir", str(folder / "rescored")])
    log = read_eval_log(str(next((folder / "rescored").rglob("*.eval"))))
    edit_score(log, 10, "plain", ScoreEdit(value="C"))
    write_eval_log(log, str(folder / "edited" / "log.eval"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
