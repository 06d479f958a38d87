"""Which run, trials, tasks, metrics and systems are selected, and which messages name what was not selected."""

from dataclasses import replace

import numpy as np
import pytest

from harness_uq import Options, Questions, estimate
from harness_uq.data.selection import LogFilter, SelectedRun, messages_of_systems, select_runs
from harness_uq.data.task_log import RunMetadata, Scores, Source, TaskLog
from harness_uq.messages import Message
from harness_uq.messages.errors import DataError
from harness_uq.stats import unbiased_pass_k_posterior
from tests.data.toy import TOY, task_log
from tests.message_checks import has, made, params_of, raises_message


def notes_of(*settings: dict[str, object]) -> tuple[Message, ...]:
    logs = [
        replace(
            task_log([1, 0, 1], system="a", facts=RunMetadata(settings=held)),
            source=Source(f"{i}.json", "toy", None, f"2025-0{i}"),
        )
        for i, held in enumerate(settings, 1)
    ]
    ((chosen,),) = [list(by_key.values()) for by_key in select_runs(logs).values()]
    return chosen.messages


def test_seeds_that_differ_are_named_with_the_command_that_measures_them() -> None:
    notes = notes_of({"seed": 1}, {"seed": 2}, {"seed": 3})
    assert has(notes, "several-runs", system="a", n_runs=3, path="3.json")
    assert has(notes, "run-variation-ignored", n_runs=3, evidence="seed has 3 values in 3 logs: 1, 2, 3")


def test_repeats_are_only_counted() -> None:
    (note,) = notes_of({"seed": 1}, {"seed": 1})
    assert has([note], "several-runs", system="a", n_runs=2, path="2.json")


def selected(system: str, *messages: Message) -> SelectedRun:
    log = replace(task_log([1, 0, 1], system=system), messages=messages)
    return SelectedRun(log, log.data[0])


def test_a_message_about_the_logs_of_some_systems_names_them() -> None:
    common, special = made("Both."), Message("XX002", "special", "note", "One.", {"n_missing": 3})
    messages = messages_of_systems([selected("a", common, special), selected("b", common)], ["A", "B"], "population")
    assert params_of(messages, "special") == {"n_missing": 3, "systems": "A"}
    assert "systems" not in params_of(messages, "made-up")


def test_many_systems_with_a_message_are_counted() -> None:
    note = made("Most.")
    runs = [selected(name, *([note] if name != "f" else [])) for name in "abcdef"]
    assert params_of(messages_of_systems(runs, list("abcdef"), "population"), "made-up") == {
        "systems": "5 of 6 systems"
    }


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


RIGHT, TRIALS = np.array([0, 1, 4, 4, 2, 3, 0, 4, 1, 2]), 4
MATRIX = (np.arange(TRIALS) < RIGHT[:, None]).astype(float)
PASS_2 = 1 - (TRIALS - RIGHT) * (TRIALS - RIGHT - 1) / (TRIALS * (TRIALS - 1))  # 1 - C(n - c, 2) / C(n, 2)


def log_of(*data: Scores) -> TaskLog:
    return TaskLog("m", "t", Source("p", "inspect"), Questions(tuple("abcdefghij")), data)


REDUCED = Scores("right", "pass_at_2", PASS_2[:, None], logged_trials=4, reduction="pass_at_2")


def test_pass_at_k_of_a_log_with_trials_has_the_posterior_of_the_trials() -> None:
    _, row = estimate(log_of(Scores("right", "mean", MATRIX, reduction="mean"), REDUCED))
    low, high = unbiased_pass_k_posterior(RIGHT, np.full(10, TRIALS), 2).interval(0.95, "hdi")
    assert (row.method, row.filter, row.estimand) == ("pass-k-unbiased", "pass_at_2", "pass@2")
    assert (row.interval.low, row.interval.high) == pytest.approx((low, high))
    assert row.value == pytest.approx(PASS_2.mean())


def test_without_trials_the_reduced_scores_are_all_there_is() -> None:
    (row,) = estimate(log_of(REDUCED))
    assert not row.method.startswith("pass-k")
    assert row.value == pytest.approx(PASS_2.mean())


def test_another_method_is_taken_at_its_word() -> None:
    rows = estimate(log_of(Scores("right", "mean", MATRIX, reduction="mean"), REDUCED), Options(method="t"))
    assert [row.method for row in rows] == ["clustered-t", "t"]
