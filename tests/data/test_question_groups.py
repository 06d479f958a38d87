"""Groups of questions by a field: text labels, ranges of numbers, missing values."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness_uq import Questions, TaskLog, read_logs
from harness_uq.data.question_groups import MISSING, divided_logs, question_groups, usable_fields
from harness_uq.data.task_log import MetadataField, Scores, Source
from harness_uq.messages.catalogue.breakdown import GROUP_FIELD_IN_NO_TASK, TOO_MANY_GROUPS, UNKNOWN_GROUP_FIELD
from harness_uq.messages.errors import StructureError
from tests.adapters.inspect.logs import header, sample, score_totals, write_eval
from tests.adapters.lm_eval.logs import one_task, row


def log(codes: list[int], values: tuple[str, ...], name: str = "field") -> TaskLog:
    questions = Questions(
        tuple(map(str, range(len(codes)))), fields={name: MetadataField(np.array(codes), values=values)}
    )
    data = (Scores("acc", "none", np.ones((len(codes), 1))),)
    return TaskLog(system="m", task="t", source=Source("x", "table"), questions=questions, data=data)


def test_texts_are_groups_in_the_order_of_appearance() -> None:
    groups = question_groups(log([0, 1, 0, 2], ("law", "art", "war")), "field")
    assert (groups.labels, groups.codes.tolist()) == (("law", "art", "war"), [0, 1, 0, 2])


def test_questions_without_the_field_are_a_group() -> None:
    groups = question_groups(log([0, -1, 1], ("a", "b")), "field")
    assert (groups.labels, groups.codes.tolist()) == (("a", "b", MISSING), [0, 2, 1])
    assert groups.rows(MISSING).tolist() == [1]
    assert groups.rows("nosuch").tolist() == []


def test_many_numbers_are_four_ranges_with_equally_many_questions() -> None:
    groups = question_groups(log(list(range(100)), tuple(str(i / 10) for i in range(100))), "field")
    assert groups.labels == ("0 to 2.4", "2.5 to 4.9", "5 to 7.4", "7.5 to 9.9")
    assert np.bincount(groups.codes).tolist() == [25, 25, 25, 25]


def test_few_numbers_are_groups_of_their_own() -> None:
    assert question_groups(log([0, 1, 0, 2], ("1", "2", "5")), "field").labels == ("1", "2", "5")


def test_ranges_of_large_numbers_have_different_labels() -> None:
    """Rounded to six digits, all times of a day would be the same number of seconds since 1970."""
    times = tuple(str(1_700_000_000 + 60 * i) for i in range(40))
    groups = question_groups(log(list(range(40)), times), "field")
    assert groups.labels[0] == "1700000000 to 1700000540"
    assert [len(groups.rows(label)) for label in groups.labels] == [10, 10, 10, 10]


def test_logs_of_a_task_have_the_same_ranges() -> None:
    numbers = tuple(map(str, range(100)))
    logs = [log(list(range(n)), numbers[:n]) for n in (100, 60)]
    (_, first), (_, second) = divided_logs(logs, "field")[0]
    assert first.codes[:60].tolist() == second.codes.tolist()
    assert set(second.labels) < set(first.labels)
    (_, alone) = divided_logs(logs[1:], "field", logs[:1])[0][0]
    assert alone.labels == second.labels


def test_a_value_that_reads_missing_is_missing() -> None:
    groups = question_groups(log([0, -1, 1, 0], ("a", MISSING)), "field")
    assert (groups.labels, groups.codes.tolist()) == (("a", MISSING), [0, 1, 1, 0])


def test_a_task_in_which_no_question_has_a_value_lacks_the_field() -> None:
    """The columns of a table belong to all of its tasks."""
    divided, notes = divided_logs([log([0, 1], ("a", "b")), replace(log([-1, -1], ()), task="u")], "field")
    assert [one.task for one, _ in divided] == ["t"]
    assert notes[0].params["tasks"] == ("u",)


def test_combined_fields_are_unknown() -> None:
    with pytest.raises(StructureError) as caught:
        question_groups(log([0, 1, 0, 1], ("a", "b")), "field+field")
    assert caught.value.message.code == UNKNOWN_GROUP_FIELD.code


def test_equal_numbers_are_never_in_two_ranges() -> None:
    codes = [0] * 80 + list(range(1, 12))
    groups = question_groups(log(codes, tuple(map(str, range(12)))), "field")
    assert groups.labels[0] == "0"
    assert np.bincount(groups.codes)[0] == 80


def test_an_unknown_field_is_an_error_that_names_the_usable_ones() -> None:
    with pytest.raises(StructureError) as caught:
        question_groups(log([0, 1, 0, 1], ("a", "b")), "nosuch")
    assert caught.value.message.code == UNKNOWN_GROUP_FIELD.code
    assert caught.value.message.params["known"] == ("field",)


def test_a_field_that_no_task_has_is_an_error_that_names_the_fields_of_each_task() -> None:
    shared = log([0, 1, 0, 1], ("a", "b"), "subject")
    logs = [replace(shared, task=f"t{k}") for k in range(7)] + [log([0, 1, 0, 1], ("a", "b"), "level")]
    with pytest.raises(StructureError) as caught:
        divided_logs(logs, "levl")
    message = caught.value.message
    assert (message.code, message.params["known"]) == (GROUP_FIELD_IN_NO_TASK.code, ("level", "subject"))
    assert message.params["fields"] == "subject (t0, t1, t2, t3, t4 and 2 more); level (t)"
    assert "Did you mean 'level'?" in message.text


@pytest.mark.parametrize("values", [(), tuple(f"v{i}" for i in range(150))])
def test_too_many_values_are_an_error(values: tuple[str, ...]) -> None:
    with pytest.raises(StructureError) as caught:
        question_groups(log(list(range(150)), values), "field")
    assert caught.value.message.code == TOO_MANY_GROUPS.code


def test_a_part_of_a_log_has_the_questions_of_its_group() -> None:
    whole = log([0, 1, 0, 1], ("a", "b"))
    parts = dict(question_groups(whole, "field").parts(whole))
    assert {label: part.questions.ids for label, part in parts.items()} == {"a": ("0", "2"), "b": ("1", "3")}


def test_identifiers_are_no_usable_fields() -> None:
    assert usable_fields(log(list(range(40)), tuple(f"id{i}" for i in range(40)))) == []
    assert usable_fields(log(list(range(40)), tuple(map(str, range(40))))) == ["field"]


@pytest.mark.parametrize("harness", ["table", "inspect", "lm-eval"])
def test_every_reader_hands_over_the_values(harness: str, tmp_path: Path) -> None:
    subjects = ["law", "art", "law", "war"] * 3
    if harness == "table":
        path = tmp_path / "a.jsonl"
        rows = [{"id": i, "subject": subject, "score": i % 2} for i, subject in enumerate(subjects)]
        path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    elif harness == "inspect":
        samples = [sample(i, match=i % 2) for i in range(12)]
        for one, subject in zip(samples, subjects, strict=True):
            one["metadata"]["subject"] = subject
        path = write_eval(tmp_path / "a.eval", header(scores=[score_totals("match", 0.5)], total=12), samples)
    else:
        path = tmp_path
        rows = [row(i, doc={"subject": subject, "q": i}, acc=i % 2) for i, subject in enumerate(subjects)]
        one_task(path, rows, {"acc,none": 0.5}, n=12)
    (read,) = read_logs(path).logs
    groups = question_groups(read, "subject")
    assert groups.labels == ("law", "art", "war")
    assert [groups.labels[code] for code in groups.codes] == subjects
