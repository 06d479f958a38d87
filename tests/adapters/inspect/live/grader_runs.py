"""Grade answers with `model_graded_fact` and scripted graders: `python grader_runs.py FOLDER`.

Two models answer 60 questions, and a grader scores each answer as correct or incorrect. A second grader, which is more
lenient, scores the same answers later. FOLDER/runs contains the logs with both graders, FOLDER/rescored contains logs
with the second grader alone, and FOLDER/labels.csv has the labels of people for the answers to the first 40 questions.
FOLDER/edited contains the logs in which two people entered these labels as scores with the name `human`, and in which
one of them changed a score of the grader.
"""

import csv
import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai import eval as inspect_eval
from inspect_ai import score as score_log
from inspect_ai.dataset import Sample
from inspect_ai.log import ProvenanceData, edit_score, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import ScoreEdit, model_graded_fact
from inspect_ai.solver import generate

N, N_LABELED = 60, 40
OPTIONS = {"display": "none", "log_realtime": False, "log_level": "error"}


def truth(system, number):
    """Whether people accept the answer."""
    return (number * 7 + (3 if system == "small" else 0)) % 10 < (8 if system == "large" else 5)


def accepts(grader, system, number):
    """Whether a grader accepts the answer: both accept wrong answers of `small`, and the second one also others."""
    lenient = (system == "small" and number % 4 == 0) or (grader == "second" and number % 3 == 0)
    return truth(system, number) or lenient


def answer(text):
    """An output with token counts."""
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
    return output


def grader(name, system):
    """A model that grades the questions in their order."""
    outputs = [answer(f"GRADE: {'C' if accepts(name, system, number) else 'I'}") for number in range(N)]
    return get_model("mockllm/model", custom_outputs=outputs)


@task
def facts(scorer):
    dataset = [Sample(input=f"Question {number}?", target="fact", id=number) for number in range(N)]
    return Task(dataset=dataset, solver=[generate()], scorer=scorer)


def edited(log, system):
    """The log with the labels of people."""
    for number in range(N_LABELED):
        author = ProvenanceData(author=("Ann", "Bob")[number % 2], reason="label")
        edit_score(log, number, "human", ScoreEdit(value=int(truth(system, number)), provenance=author))
    change = ScoreEdit(value="C", provenance=ProvenanceData(author="Bob"))
    edit_score(log, 0, "model_graded_fact", change)
    return log


def main(folder: Path) -> None:
    for system in ("large", "small"):
        answering = get_model(f"mockllm/{system}", custom_outputs=[answer("answer")] * N)
        (log,) = inspect_eval(
            facts(model_graded_fact(model=grader("first", system))),
            model=answering,
            log_dir=str(folder / "first"),
            max_samples=1,
            max_connections=1,
            **OPTIONS,
        )
        second = model_graded_fact(model=grader("second", system))
        both = score_log(log, second, action="append", display="none")
        alone = score_log(log, model_graded_fact(model=grader("second", system)), action="overwrite", display="none")
        write_eval_log(both, str(folder / "runs" / f"{system}.eval"))
        write_eval_log(log, str(folder / "rescored" / f"{system}-first.eval"))
        write_eval_log(alone, str(folder / "rescored" / f"{system}-second.eval"))
        write_eval_log(edited(log, system), str(folder / "edited" / f"{system}.eval"))
    with (folder / "labels.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "system", "score"])
        for system in ("large", "small"):
            table.writerows([number, f"mockllm/{system}", int(truth(system, number))] for number in range(N_LABELED))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
