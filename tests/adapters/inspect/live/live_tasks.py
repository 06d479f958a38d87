"""Tasks for live runs; their answers are functions of question and epoch, and no model is called."""

import os
from pathlib import Path
from statistics import median

import inspect_ai.scorer
from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import SampleScore, Score, accuracy, mean, metric, scorer, stderr
from inspect_ai.solver import solver

N_QUESTIONS, N_PASSAGES = 60, 20


def number(state):
    return int(str(state.sample_id).partition("_")[0])


def is_right(question, epoch):
    """Difficulty varies most between passages, less between questions of a passage, least between trials."""
    return (question // 3 * 7 + question * 5 + epoch * 11) % 23 < 6 + question // 3 % 11


@solver
def answering(fails_on=(), once=None, cancels_at=None):
    """Answer without a model; raise on some questions, if `once` is given only until that file exists."""

    async def solve(state, generate):
        if number(state) in fails_on and not (once and Path(once).exists()):
            if once:
                Path(once).touch()
            raise ValueError("no answer")
        if number(state) == cancels_at:
            import os
            import signal

            import anyio

            os.kill(os.getpid(), signal.SIGINT)
            await anyio.sleep(30)
        state.output.completion = "done"
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def right():
    async def score(state, target):
        return Score(value="C" if is_right(number(state), state.epoch) else "I")

    return score


@scorer(metrics={"number": [accuracy(), stderr()], "unit": [accuracy(), stderr()]})
def parts():
    async def score(state, target):
        marks = (is_right(number(state) + shift, state.epoch) for shift in (0, 2))
        return Score(value=dict(zip(("number", "unit"), ("C" if mark else "I" for mark in marks), strict=True)))

    return score


@scorer(metrics=[accuracy(), stderr()])
def labels():
    async def score(state, target):
        return Score(value="ABCD"[number(state) % 4])

    return score


@scorer(metrics=[mean()])
def gaps():
    """No score on every fourth question, NaN on every fifth."""

    async def score(state, target):
        if number(state) % 4 == 0:
            return None
        return Score(value=float("nan") if number(state) % 5 == 0 else float(number(state) % 2))

    return score


@metric
def median_score():
    def compute(scores: list[SampleScore]) -> float:
        return median(score.score.as_float() for score in scores) if scores else 0.0

    return compute


@scorer(metrics=[median_score(), stderr()])
def middle():
    async def score(state, target):
        return Score(value=number(state) ** 2 / 121)

    return score


def make(*scorers, n=N_QUESTIONS, passages=True, name="toy", fails_on=(), once=None, cancels_at=None, **options):
    samples = [
        Sample(
            id=f"{i}_en",
            input=f"Question {i}?",
            target="t",
            metadata={"passage": f"p{i // 3}"} if passages else {"level": i % 2},
        )
        for i in range(n)
    ]
    solving = answering(fails_on, once, cancels_at)
    return Task(dataset=MemoryDataset(samples), solver=solving, scorer=list(scorers), name=name, **options)


@task
def clustered():
    return make(right(), name="clustered", epochs=4)


@task
def plain(once: str | None = None):
    return make(right(), passages=False, name="plain", n=12, fails_on=(9,) if once else (), once=once)


@task
def cancelled():
    return make(right(), passages=False, name="cancelled", n=20, cancels_at=15)


@task
def everything():
    scorers = right(), parts(), labels(), gaps()
    return make(*scorers, name="everything", n=24, epochs=Epochs(3, ["mean", "pass_at_2", "at_least_2", "mode"]))


@solver
def answering_at_the_second_attempt():
    """Raise in one epoch of each question, the first time it is asked."""

    async def solve(state, generate):
        flag = Path(os.environ["FLAKY"]) / str(number(state))
        if state.epoch == 1 + number(state) % 2 and not flag.exists():
            flag.parent.mkdir(exist_ok=True)
            flag.touch()
            raise ValueError("no answer")
        state.output.completion = "done"
        return state

    return solve


@task
def failing_once():
    samples = [Sample(id=f"{i}_en", input=f"Question {i}?", target="t") for i in range(12)]
    solving = answering_at_the_second_attempt()
    return Task(dataset=MemoryDataset(samples), solver=solving, scorer=[right()], name="flaky", epochs=2)


def growing():
    """A task that creates twelve questions, three at a time; None before Inspect 0.3.250."""
    if not hasattr(inspect_ai, "SampleSource"):
        return None

    class Growing(inspect_ai.SampleSource):
        n = 0

        def initial_samples(self):
            return self.make()

        async def next_samples(self):
            return self.make() if self.n < 12 else None

        def make(self):
            self.n += 3
            return [Sample(id=f"{i}_en", input=f"Question {i}?", target="t") for i in range(self.n - 3, self.n)]

    return Task(dataset=Growing(), solver=answering(), scorer=[right()], name="grown", epochs=2)


def precomputed(path):
    """A task whose headline is a score from a file; None if this version of Inspect has no such scorer."""
    if not hasattr(inspect_ai.scorer, "precomputed_scores"):
        return None
    scorers = right(), inspect_ai.scorer.precomputed_scores(path)
    return make(*scorers, passages=False, name="rated", n=12, epochs=2, headline_metric="precomputed_scores")
