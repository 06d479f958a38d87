"""The example tasks for Inspect AI: `inspect eval examples/inspect_tasks.py -T system=scripted-large`."""

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    choice,
    exact,
    match,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, multiple_choice, solver

import systems.inspect_provider  # noqa: F401 - registers the provider `scripted`
from systems.questions import Question, load

# each task names its model, since the option --model is resolved before this file is read


@task
def passages(system: str = "scripted-small") -> Task:
    """Multiple choice, several questions about each passage."""
    return Task(
        dataset=MemoryDataset([_passage_sample(question) for question in load("passages")]),
        solver=multiple_choice(),
        scorer=choice(),
        model=_model(system),
    )


@task
def word_problems(system: str = "scripted-small") -> Task:
    """A number to work out, four trials of each question."""
    return Task(
        dataset=MemoryDataset([_sample(question) for question in load("word_problems")]),
        solver=seeded(),
        scorer=match(numeric=True),
        epochs=Epochs(4, "mean"),
        model=_model(system),
    )


@task
def conversions(system: str = "scripted-small") -> Task:
    """A number and its unit, scored each for itself."""
    return Task(
        dataset=MemoryDataset([_sample(question) for question in load("exam_units")]),
        solver=seeded(),
        scorer=number_and_unit(),
        model=_model(system),
    )


@task
def copying(system: str = "scripted-small") -> Task:
    """A word to repeat: both systems are right every time."""
    return Task(
        dataset=MemoryDataset([_sample(question) for question in load("copying")]),
        solver=seeded(),
        scorer=exact(),
        model=_model(system),
    )


@solver
def seeded() -> Solver:
    """Generate with the number of the trial as the seed."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generate(state, seed=state.epoch)

    return solve


@scorer(metrics={"number": [accuracy(), stderr()], "unit": [accuracy(), stderr()]})
def number_and_unit() -> Scorer:
    """Whether the number and whether the unit is right."""

    async def score(state: TaskState, target: Target) -> Score:
        said, right = state.output.completion.split(), target.text.split()
        marks = [CORRECT if given == wanted else INCORRECT for given, wanted in zip(said, right, strict=True)]
        return Score(value=dict(zip(("number", "unit"), marks, strict=True)), answer=state.output.completion)

    return score


def _model(system: str) -> Model:
    return get_model(f"scripted/{system}")


def _sample(question: Question) -> Sample:
    return Sample(id=question.id, input=question.question, target=question.answer_text)


def _passage_sample(question: Question) -> Sample:
    return Sample(
        id=question.id,
        input=f"{question.passage}\n\n{question.question}",
        choices=list(question.choices),
        target="ABCD"[int(question.answer)],
        metadata={"passage": question.passage_id, "category": question.category},
    )
