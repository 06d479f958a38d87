"""Parts of logs by name or pattern: a group brings its members, and a pattern that stands for nothing is an error."""

import numpy as np
import pytest

from harness_uq.errors import DataError
from harness_uq.logs.data import Scores, TaskLog
from harness_uq.logs.selection import Selection
from tests.logs.toy import TOY, task_log

LOGS = [
    task_log([1, 0], task="drop"),
    task_log([1, 0], task="mmlu_law"),
    task_log([1, 0], task="mmlu_art", system="other [4-bit]"),
    task_log([1, 0], task="mmlu", subtasks=("mmlu_law", "mmlu_art")),
]


def names(selection: Selection, logs: list[TaskLog] = LOGS) -> list[str]:
    return [log.task for log in selection.of(logs)]


def test_nothing_named_is_everything() -> None:
    assert names(Selection()) == [log.task for log in LOGS]


def test_a_group_brings_its_members_and_a_member_not_its_group() -> None:
    assert names(Selection(tasks=("mmlu",))) == ["mmlu_law", "mmlu_art", "mmlu"]
    assert names(Selection(tasks=("mmlu_l*",))) == ["mmlu_law"]


def test_a_name_with_brackets_stands_for_itself() -> None:
    assert names(Selection(models=("other [4-bit]",))) == ["mmlu_art"]


def test_metrics_and_filters_leave_the_other_data_out_and_then_the_log() -> None:
    table = np.ones((2, 1))
    log = TaskLog(
        system="model",
        task="toy",
        source=TOY,
        questions=LOGS[0].questions,
        data=(Scores("acc", "none", table), Scores("f1", "none", table), Scores("f1", "strict", table)),
    )
    (found,) = Selection(metrics=("f1",), filters=("str*",)).of([log])
    assert [(data.metric, data.filter) for data in found.data] == [("f1", "strict")]
    assert Selection(metrics=("bleu",)).of([log]) == ()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Selection(tasks=("mnlu*",)), "no task matches 'mnlu*'; there are drop, mmlu, mmlu_art, mmlu_law"),
        (Selection(metrics=("acc", "F1")), "no metric matches 'F1'; there are acc"),
        (Selection(filters=("strict",)), "no filter matches 'strict'; there are none"),
        (Selection(models=("gpt",)), "no model matches 'gpt'; there are model, other [4-bit]"),
    ],
)
def test_what_stands_for_nothing_is_an_error_that_says_what_there_is(asked: Selection, said: str) -> None:
    with pytest.raises(DataError) as error:
        asked.check(LOGS)
    assert str(error.value) == said
