"""Runs that put the same questions in other words say so."""

from dataclasses import replace

from harness_uq import TaskLog, compare, rank
from harness_uq.data.task_log import RunMetadata
from tests.data.toy import task_log
from tests.message_checks import has, params_of


def asked(system: str, prompts: list[str], shots: int) -> TaskLog:
    log = task_log([1, 0, 1, 1], system=system, facts=RunMetadata(settings={"num_fewshot": shots, "seed": 1}))
    return replace(log, questions=replace(log.questions, prompt_hashes=tuple(prompts)))


def test_other_prompts_are_counted_and_the_settings_named() -> None:
    a, b = asked("a", ["p", "q", "r", "s"], 0), asked("b", ["p", "q2", "r2", "s2"], 5)
    for (result,) in (compare(a, b), rank([a, b])):
        params = params_of(result, "prompts-differ")
        assert (params["n_different"], params["n_questions"]) == (3, 4)
        assert "num_fewshot" in params["settings"]


def test_the_same_prompts_say_nothing() -> None:
    a, b = asked("a", ["p", "q", "r", "s"], 5), asked("b", ["p", "q", "r", "s"], 5)
    assert not has(compare(a, b)[0], "prompts-differ")
