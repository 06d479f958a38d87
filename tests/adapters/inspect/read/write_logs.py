"""Logs that Inspect AI writes without calling a model, each with what Inspect itself reads from it.

    python write_logs.py FOLDER         # writes FOLDER/<case>.eval and FOLDER/<case>.json

Every trial's score follows from its question and epoch. In the `.json` stand the scores that Inspect printed and, for
each scorer, the question × epoch matrix by Inspect's own reader and conversion; null where there is no score.
"""

import json
import math
import sys
import tempfile
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import ProvenanceData, edit_score, invalidate_samples, read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import Score, ScoreEdit, accuracy, mean, scorer, stderr, value_to_float
from inspect_ai.solver import solver

N_QUESTIONS = 12
REDUCERS = ["mean", "median", "mode", "max", "majority", "at_least_2", "pass_at_2", "pass_k_2"]
PIXEL = "data:image/png;base64,iVBORw0KGgo="


@solver
def failing_on(*questions):
    """End the second epoch of these questions with an error."""

    async def solve(state, generate):
        if number(state) in questions and state.epoch == 2:
            raise ValueError("no answer")
        state.output.completion = "done"
        return state

    return solve


def number(state):
    return int(str(state.sample_id).partition("_")[0])


@scorer(metrics=[accuracy(), stderr(cluster="passage")])
def letters():
    """C, I, P or N; every fifth trial has no score."""

    async def score(state, target):
        k = (number(state) + 2 * state.epoch) % 5
        return None if k == 4 else Score(value="CIPN"[k])

    return score


@scorer(metrics={"*": [accuracy(), stderr()]})
def aspects():
    async def score(state, target):
        return Score(value={"tone": number(state) / 16, "fact": (number(state) + state.epoch) % 2})

    return score


@scorer(metrics=[mean(), stderr()])
def gaps():
    """A fraction; question 3 and the first epoch of question 4 have no score."""

    async def score(state, target):
        is_gap = number(state) == 3 or (number(state) == 4 and state.epoch == 1)
        return Score(value=math.nan if is_gap else number(state) / 8)

    return score


@scorer(metrics=[accuracy(), stderr()])
def labels():
    async def score(state, target):
        return Score(value="ABCD"[number(state) % 4])

    return score


@scorer(metrics=[accuracy(), stderr()])
def right():
    async def score(state, target):
        return Score(value="C" if (number(state) * state.epoch) % 3 else "I")

    return score


def make_task(*scorers, passage="p{}", fails=(), **options):
    samples = [
        Sample(
            id=f"{i}_en",
            input=make_input(i),
            target="t",
            metadata={"passage": passage.format(i // 3), "deep": {"i": i}},
        )
        for i in range(N_QUESTIONS)
    ]
    dataset = MemoryDataset(samples, name="questions")
    return Task(dataset=dataset, solver=failing_on(*fails), scorer=list(scorers), name="toy", **options)


def make_input(i):
    """A text that summaries truncate, or a message with an image."""
    if i % 2:
        return f"Question {i}? " * 600
    return [ChatMessageUser(content=[ContentText(text=f"Question {i}?"), ContentImage(image=PIXEL)])]


def main(folder):
    declared = {"uq": {"cluster": "passage"}}
    scorers = letters(), aspects(), gaps(), labels()
    log = run(
        folder / "mixed.eval", make_task(*scorers, fails=(5, 7), metadata=declared), epochs=3, fail_on_error=False
    )
    write_eval_log(log, str(folder / "mixed_as_json.json"))
    run(folder / "reducers.eval", make_task(right()), epochs=Epochs(5, REDUCERS))
    run(folder / "no_samples.eval", make_task(right()), epochs=4, log_samples=False)
    run(folder / "unreduced.eval", make_task(letters(), fails=(5,)), epochs=Epochs(3, []), fail_on_error=False)
    run(folder / "failed.eval", make_task(right(), fails=(0,)), epochs=2, max_samples=1)
    log = run(folder / "long_metadata.eval", make_task(right(), passage="word " * 400 + "{}"))
    (fourth,) = [one.uuid for one in log.samples if one.id == "4_en"]
    changed = invalidate_samples(log, [fourth], ProvenanceData(author="a"))
    write_eval_log(changed, str(folder / "invalidated.eval"))
    log = run(folder / "plain.eval", make_task(right()))
    edit_score(log, "3_en", "right", ScoreEdit(value="C"), recompute_metrics=False)
    write_eval_log(log, str(folder / "edited.eval"))


def run(path, task, **options):
    """Evaluate, write the log and the content that Inspect reads from it, and return the log."""
    with tempfile.TemporaryDirectory() as folder:
        fixed = {"model": "mockllm/model", "display": "none", "log_level": "error", "log_realtime": False}
        inspect_eval(task, log_dir=folder, **fixed, **options)
        next(Path(folder).iterdir()).rename(path)
    log = read_eval_log(str(path))
    path.with_suffix(".json").write_text(json.dumps(read_by_inspect(log)))
    return log


def read_by_inspect(log):
    scores = log.results.scores if log.results else []
    return {
        "status": log.status,
        "scores": [score.model_dump(mode="json") for score in scores],
        "matrices": {score.name: matrix(log, score) for score in scores},
    }


def matrix(log, printed):
    to_float = value_to_float()
    rows = {str(question): row for row, question in enumerate(log.eval.dataset.sample_ids)}
    found = [[None] * log.eval.config.epochs for _ in rows]
    for one in log.samples or ():
        score = (one.scores or {}).get(printed.scorer)
        if score is not None:
            value = score.value if printed.name == printed.scorer else score.value[printed.name]
            if not (isinstance(value, float) and math.isnan(value)):
                found[rows[str(one.id)]][one.epoch - 1] = to_float(value)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
