"""Labels of a person, read from a table."""

from pathlib import Path

import numpy as np
import pytest

from harness_uq.data.task_log import TaskLog
from harness_uq.io.human_labels import Label, check_systems, check_tasks, grades, human_labels, read_labels
from harness_uq.messages.errors import DataError, LogError
from tests.data.toy import task_log
from tests.message_checks import raises_message


def written(folder: Path, text: str) -> Path:
    path = folder / "labels.csv"
    path.write_text(text)
    return path


def test_an_empty_score_is_a_question_without_a_label(tmp_path: Path) -> None:
    path = written(tmp_path, "id,score,task,probability\n7,1,toy,0.5\n8,,toy,\n9,0,,0.25\n")
    assert read_labels(path) == (Label("7", 1.0, "toy", 0.5), Label("9", 0.0, None, 0.25))


def test_a_column_of_the_table_has_the_probabilities(tmp_path: Path) -> None:
    path = written(tmp_path, "id,score,probability,p\n7,1,0.5,0.2\n8,0,0.5,1\n")
    assert read_labels(path, "p") == (Label("7", 1.0, probability=0.2), Label("8", 0.0, probability=1.0))
    with raises_message(
        DataError, "probability-column-missing", column="chance", columns=("id", "score", "probability", "p")
    ):
        read_labels(path, "chance")


@pytest.mark.parametrize("value", ["0", "-0.1", "1.2", "nan", "inf"])
def test_a_probability_must_be_positive_and_at_most_one(tmp_path: Path, value: str) -> None:
    with raises_message(DataError, "label-probability-invalid", question="7"):
        read_labels(written(tmp_path, f"id,score,probability\n7,1,{value}\n"))
    with raises_message(DataError, "label-probability-invalid", question="7"):
        Label("7", 1.0, probability=float(value))


def test_a_table_of_scores_can_have_a_column_of_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "system,question,score,label,rater\nnew,q1,1,0,x\nnew,q2,1,,\nold,q1,0,1,y\n")
    assert read_labels(path) == (
        Label("q1", 0.0, system="new", rater="x"),
        Label("q1", 1.0, system="old", rater="y"),
    )


def test_labels_of_several_raters_are_averaged() -> None:
    labels = [Label("a", score, rater=rater) for score, rater in ((1.0, "x"), (0.0, "y"), (1.0, "z"))]
    score, _ = grades([*labels, Label("b", 0.0)], "toy", ["a", "b"])
    np.testing.assert_allclose(score, [2 / 3, 0.0])


def test_labels_find_their_questions_in_any_order() -> None:
    score, chance = grades([Label("c", 1.0), Label("a", 0.0), Label("a", 1.0, "other")], "toy", ["a", "b", "c"])
    np.testing.assert_array_equal(score, [0.0, np.nan, 1.0])
    assert chance is None


@pytest.mark.parametrize(
    ("text", "name", "params"),
    [
        ("id,grade\n1,1\n", "label-columns-missing", {"columns": ("score",)}),
        ("id,score\n1,good\n", "label-not-a-number", {"line": 2}),
        ("", "label-columns-missing", {"columns": ("id", "score")}),
    ],
)
def test_a_table_that_holds_no_labels_is_refused(
    tmp_path: Path, text: str, name: str, params: dict[str, object]
) -> None:
    with raises_message(LogError, name, **params):
        read_labels(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"none\.csv: The file cannot be read"):
        read_labels(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ([Label("a", 1.0), Label("a", 0.0)], "duplicate-label"),
        ([Label("a", 1.0, rater="x"), Label("a", 0.0, rater="x")], "duplicate-label"),
        ([Label("a", 1.0, rater="x"), Label("a", 0.0)], "duplicate-label"),
        ([Label("a", 1.0), Label("a", 0.0, rater="x")], "duplicate-label"),
        ([Label("a", 1.0, None, 0.5), Label("b", 0.0)], "partial-probabilities"),
    ],
)
def test_labels_that_contradict_each_other_are_refused(labels: list[Label], name: str) -> None:
    with raises_message(LogError, name):
        grades(labels, "toy", ["a", "b"])


def two_tasks(system: str = "model") -> list[TaskLog]:
    return [task_log([1, 0, 1], system=system, task=task) for task in ("copying", "passages")]


def test_labels_of_ids_that_several_tasks_contain_must_name_the_task() -> None:
    with raises_message(DataError, "labels-of-several-tasks", n_answers=1, tasks=("copying", "passages")):
        check_tasks([Label("0", 1.0), Label("other", 1.0)], two_tasks())
    check_tasks([Label("0", 1.0, "passages")], two_tasks())
    check_tasks([Label("0", 1.0)], two_tasks()[:1])
    check_tasks([Label("other", 1.0)], two_tasks())


def test_different_tasks_of_different_systems_are_not_confused() -> None:
    logs = [two_tasks("a")[0], two_tasks("b")[1]]
    check_tasks([Label("0", 1.0, system="a"), Label("0", 1.0, system="b")], logs)
    with raises_message(DataError, "labels-of-several-tasks", n_answers=1):
        check_tasks([Label("0", 1.0, system="b"), Label("1", 1.0, system="a")], [logs[0], *two_tasks("b")])


def test_a_label_may_name_its_system_without_settings() -> None:
    logs = [task_log([1, 0], system=name) for name in ("new (t=1)", "old (t=2)")]
    (one,) = human_labels([Label("0", 1.0, system="new")], logs)
    assert one.system == "new (t=1)"
    with pytest.raises(DataError):  # which of two
        human_labels([Label("0", 1.0, system="new")], [*logs, task_log([1, 0], system="new (t=3)")])


def test_labels_that_all_belong_to_other_systems_are_an_error() -> None:
    labels = [Label("0", 1.0, system=name) for name in ("small", "large", "small")]
    with raises_message(DataError, "labels-of-other-systems", labeled=("large", "small"), systems=("scripted-large",)):
        check_systems(labels, ["scripted-large"])
    check_systems(labels, ["scripted-large", "small"])
    check_systems([*labels, Label("1", 1.0)], ["scripted-large"])
    check_systems([], ["scripted-large"])
    check_systems(labels, [])
