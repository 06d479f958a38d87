"""Runs for the tutorial on spending less: a judge's grades and a person's, an early end, part of a benchmark. Offline.

    python examples/spend_less.py judged --output DIR                 DIR/judged/*.eval and DIR/labels.csv
    python examples/spend_less.py watched --output DIR                DIR/watched/*.eval, ended early
    python examples/spend_less.py history --output DIR                DIR/history.csv: twenty earlier systems
    python examples/spend_less.py part --output DIR --samples FILE    DIR/part/*.eval: the questions of FILE

The 300 questions are sums; a system solves one with probability sigmoid(ability - difficulty).
"""

import argparse
import csv
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match, model_graded_qa
from inspect_ai.solver import Generate, Solver, TaskState, solver

from harness_uq_inspect import stop_when
from systems.hashing import normal, shuffled, uniform

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

N, N_LABELS = 300, 60
NEW, EARLIER = 1.2, {f"earlier-{i:02d}": -1.5 + 0.12 * i for i in range(20)}
KIND, STRICT = 0.3, 0.03  # how often the judge passes a wrong answer, and fails a right one
IDS = [f"sum-{i:03d}" for i in range(N)]


def main(argv: list[str] | None = None) -> int:
    """Write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["judged", "watched", "history", "part"])
    parser.add_argument("--output", type=Path, required=True, help="folder for the logs")
    parser.add_argument("--samples", type=Path, help="with part: file of harness-uq subset")
    given = parser.parse_args(argv)
    folder = given.output.resolve()
    shutil.rmtree(folder / given.what, ignore_errors=True)
    if given.what == "judged":
        _run(folder / "judged", "new", scorer=model_graded_qa(model=_judge()))
        _write(folder / "labels.csv", _labels())
    elif given.what == "watched":
        rule = stop_when(width=0.2, valid="anytime")
        _run(folder / "watched", "new", early_stopping=rule, sample_shuffle=1, max_samples=1)
    elif given.what == "history":
        _write(folder / "history.csv", _history())
    else:
        _run(folder / "part", "new", sample_id=json.loads(given.samples.read_text(encoding="utf-8"))["sums"])
    return 0


def _run(folder: Path, system: str, *, scorer: object = None, early_stopping: object = None, **options: object) -> None:
    dataset = MemoryDataset([Sample(id=one, input=f"What is {_task(one)}?", target=str(_sum(one))) for one in IDS])
    model = get_model(f"mockllm/{system}", memoize=False)
    task = Task(
        dataset=dataset,
        solver=answering(system),
        scorer=scorer or match(numeric=True),
        model=model,
        name="sums",
        early_stopping=early_stopping,
    )
    (log,) = inspect_eval(task, log_dir=str(folder), display="none", log_level="error", **options)
    if log.status != "success":
        raise RuntimeError(f"{system}: {log.error.message if log.error else log.status}")


@solver
def answering(system: str) -> Solver:
    """Answer without a model."""

    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        question = str(state.sample_id)
        state.output = ModelOutput.from_content(system, str(_sum(question) + (0 if _is_right(system, question) else 1)))
        return state

    return solve


def _judge() -> Model:
    """A grader that is too kind: it sees which answer is graded by the question in its prompt."""

    def grade(messages: "list[ChatMessage]", *_: object) -> ModelOutput:
        question = next(one for one in IDS if f"What is {_task(one)}?" in messages[-1].text)
        errs = uniform("judge", question) < (STRICT if _is_right("new", question) else KIND)
        passes = _is_right("new", question) != errs
        output = ModelOutput.from_content("judge", f"GRADE: {'C' if passes else 'I'}")
        # without a usage Inspect counts the tokens itself, with a tokenizer that it would have to download
        output.usage = ModelUsage(input_tokens=len(messages[-1].text.split()), output_tokens=2)
        return output

    return get_model("mockllm/judge", custom_outputs=grade, memoize=False)


def _labels() -> Iterator[tuple[object, ...]]:
    """What a person says of some of the answers, drawn at random."""
    yield "id", "score"
    yield from ((one, int(_is_right("new", one))) for one in sorted(shuffled(IDS, "labels")[:N_LABELS]))


def _history() -> Iterator[tuple[object, ...]]:
    """A row for each earlier system and question."""
    yield "system", "task", "metric", "id", "score"
    yield from ((system, "sums", "match", one, int(_is_right(system, one))) for system in EARLIER for one in IDS)


def _write(path: Path, rows: Iterable[tuple[object, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def _task(question: str) -> str:
    place = IDS.index(question)
    return f"{100 + place} + {7 * place + 3}"


def _sum(question: str) -> int:
    return sum(map(int, _task(question).split(" + ")))


def _is_right(system: str, question: str) -> bool:
    ability = EARLIER.get(system, NEW)
    return uniform("answer", system, question) < 1 / (1 + exp(2.5 * normal("difficulty", question) - ability))


if __name__ == "__main__":
    sys.exit(main())
