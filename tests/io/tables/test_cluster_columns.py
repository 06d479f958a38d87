"""The other columns."""

from harness_uq import estimate, read_table
from tests.message_checks import has

QUESTIONS = range(100)


def test_a_column_that_says_that_questions_share_material_counts_by_itself() -> None:
    logs = read_table({"id": QUESTIONS, "score": [i % 2 for i in QUESTIONS], "passage": [i // 4 for i in QUESTIONS]})
    assert estimate(logs)[0].cluster_key == "passage"


def test_any_other_column_that_groups_the_questions_is_hinted_at() -> None:
    logs = read_table({"id": QUESTIONS, "score": [i % 2 for i in QUESTIONS], "ward": [i // 10 for i in QUESTIONS]})
    (row,) = estimate(logs)
    assert row.cluster_key is None
    assert has(row, "possible-cluster-fields", example="ward")


def test_answers_measurements_and_lists_are_no_fields() -> None:
    (log,) = read_table(
        {
            "id": [1, 2],
            "score": [1, 0],
            "model_response": ["a", "b"],
            "also_right": ["1", "0"],
            "p": [0.5, 0.25],
            "tags": [["x"], ["y"]],
            "ward": [3, 4],
        }
    )
    assert list(log.questions.fields) == ["ward"]


def test_a_column_that_differs_between_the_trials_of_a_question_is_no_field() -> None:
    (log,) = read_table({"id": [1, 1, 2], "score": [1, 0, 1], "grader": ["a", "b", "a"], "ward": ["x", None, "y"]})
    assert list(log.questions.fields) == ["ward"]
    assert log.questions.fields["ward"].codes.tolist() == [0, 1]
