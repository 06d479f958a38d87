"""Runs that put the same questions in other words say so."""

from dataclasses import replace

from harness_uq import RunFacts, TaskLog, compare, rank
from tests.logs.toy import task_log


def asked(system: str, prompts: list[str], shots: int) -> TaskLog:
    log = task_log([1, 0, 1, 1], system=system, facts=RunFacts(settings={"num_fewshot": shots, "seed": 1}))
    return replace(log, questions=replace(log.questions, prompt_hashes=tuple(prompts)))


def test_other_prompts_are_counted_and_the_settings_named() -> None:
    a, b = asked("a", ["p", "q", "r", "s"], 0), asked("b", ["p", "q2", "r2", "s2"], 5)
    said = (
        "the prompts of 3 of 4 questions differ between the runs (settings that differ: num_fewshot): so may the scores"
    )
    assert said in compare(a, b)[0].warnings
    assert said in rank([a, b])[0].warnings


def test_the_same_prompts_say_nothing() -> None:
    a, b = asked("a", ["p", "q", "r", "s"], 5), asked("b", ["p", "q", "r", "s"], 5)
    assert not any("prompts" in text for text in compare(a, b)[0].warnings)
