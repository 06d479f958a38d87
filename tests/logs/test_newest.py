"""Runs of a system that differ in a setting: the one that counts is named, and so is what is in no interval."""

from dataclasses import replace

from harness_uq.logs.data import RunFacts, Source
from harness_uq.logs.newest import choose_runs
from tests.logs.toy import task_log


def note_of(*settings: dict[str, object]) -> str:
    logs = [
        replace(
            task_log([1, 0, 1], system="a", facts=RunFacts(settings=held)),
            source=Source(f"{i}.json", "toy", None, f"2025-0{i}"),
        )
        for i, held in enumerate(settings, 1)
    ]
    ((chosen,),) = [list(by_key.values()) for by_key in choose_runs(logs).values()]
    (note,) = chosen.notes
    return note


def test_seeds_that_differ_are_named_with_the_command_that_measures_them() -> None:
    note = note_of({"seed": 1}, {"seed": 2}, {"seed": 3})
    assert note.startswith("3 runs of a: the newest without a limit counts, of 2025-03 (3.json); what they differ in")
    assert "(seed differs: 1, 2, 3 in 3 logs): `harness-uq effects` measures it" in note


def test_repeats_are_only_counted() -> None:
    assert note_of({"seed": 1}, {"seed": 1}) == "2 runs of a: the newest without a limit counts, of 2025-02 (2.json)"
