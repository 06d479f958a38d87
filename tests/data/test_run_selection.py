"""Runs of a system that differ in a setting: the one that counts is named, and so is what is in no interval."""

from dataclasses import replace

from harness_uq.data.run_selection import SelectedRun, messages_of_systems, select_runs
from harness_uq.data.task_log import RunMetadata, Source
from harness_uq.messages import Message
from tests.data.toy import task_log
from tests.message_checks import has, made, params_of


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
