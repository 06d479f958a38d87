"""Parts of logs by name or pattern: a group brings its members, and a pattern that stands for nothing is an error."""

import numpy as np
import pytest

from harness_uq.data.score_selection import LogFilter
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.errors import DataError
from tests.data.toy import TOY, task_log
from tests.message_checks import raises_message

LOGS = [
    task_log([1, 0], task="drop"),
    task_log([1, 0], task="mmlu_law"),
    task_log([1, 0], task="mmlu_art", system="other [4-bit]"),
    task_log([1, 0], task="mmlu", subtasks=("mmlu_law", "mmlu_art")),
]


def names(selection: LogFilter, logs: list[TaskLog] = LOGS) -> list[str]:
    return [log.task for log in selection.of(logs)]


def test_nothing_named_is_everything() -> None:
    assert names(LogFilter()) == [log.task for log in LOGS]


def test_a_group_brings_its_members_and_a_member_not_its_group() -> None:
    assert names(LogFilter(tasks=("mmlu",))) == ["mmlu_law", "mmlu_art", "mmlu"]
    assert names(LogFilter(tasks=("mmlu_l*",))) == ["mmlu_law"]


def test_a_name_with_brackets_stands_for_itself() -> None:
    assert names(LogFilter(models=("other [4-bit]",))) == ["mmlu_art"]


def test_metrics_and_filters_leave_the_other_data_out_and_then_the_log() -> None:
    table = np.ones((2, 1))
    log = TaskLog(
        system="model",
        task="toy",
        source=TOY,
        questions=LOGS[0].questions,
        data=(Scores("acc", "none", table), Scores("f1", "none", table), Scores("f1", "strict", table)),
    )
    (found,) = LogFilter(metrics=("f1",), filters=("str*",)).of([log])
    assert [(data.metric, data.filter) for data in found.data] == [("f1", "strict")]
    assert LogFilter(metrics=("bleu",)).of([log]) == ()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (LogFilter(tasks=("mnlu*",)), ("task", "mnlu*", ("drop", "mmlu", "mmlu_art", "mmlu_law"))),
        (LogFilter(metrics=("acc", "F1")), ("metric", "F1", ("acc",))),
        (LogFilter(filters=("strict",)), ("filter", "strict", ("none",))),
        (LogFilter(models=("gpt",)), ("model", "gpt", ("model", "other [4-bit]"))),
    ],
)
def test_what_stands_for_nothing_is_an_error_that_says_what_there_is(
    asked: LogFilter, said: tuple[object, ...]
) -> None:
    kind, pattern, known = said
    with raises_message(DataError, "no-such-selection", kind=kind, pattern=pattern, known=known):
        asked.check(LOGS)
