"""Which column plays which part."""

import pytest

from harness_uq.io.tables.column_roles import ROLES, ScoreColumn, layout_of
from harness_uq.messages.errors import LogError
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("names", "question", "score"),
    [
        (["question", "score"], "question", "score"),
        (["Question", "Question ID", "Correct"], "Question ID", "Correct"),
        (["instance_id", "resolved", "cost"], "instance_id", "resolved"),
        (["questionId", "isCorrect"], "questionId", "isCorrect"),
        (["sample_id", "accuracy"], "sample_id", "accuracy"),
        (["id", "acc"], "id", "acc"),
        (["acc", "score", "problem_idx"], "problem_idx", "score"),
    ],
)
def test_columns_are_found_by_their_names(names: list[str], question: str, score: str) -> None:
    layout = layout_of(names, {})
    assert (layout.parts["question"], layout.scores) == (question, (ScoreColumn(score),))


def test_every_other_part_is_found_too() -> None:
    names = ["model_name", "benchmark", "metric", "filter", "epoch", "cluster_id", "higher_is_better", "item", "score"]
    layout = layout_of(names, {})
    assert layout.parts == {
        "system": "model_name",
        "task": "benchmark",
        "metric": "metric",
        "filter": "filter",
        "trial": "epoch",
        "cluster": "cluster_id",
        "higher_is_better": "higher_is_better",
        "question": "item",
    }


def test_a_name_counts_before_what_would_be_found() -> None:
    layout = layout_of(["question", "score", "truth"], {"score": "truth"})
    assert layout.scores == (ScoreColumn("truth"),)


def test_a_column_has_one_part_the_one_it_is_named_for() -> None:
    layout = layout_of(["question", "item", "score"], {"cluster": "item"})
    assert (layout.parts["question"], layout.parts["cluster"]) == ("question", "item")


@pytest.mark.parametrize("role", ["system", "metric"])
def test_several_columns_of_scores_are_each_called_after_themselves(role: str) -> None:
    layout = layout_of(["id", "gpt-4", "gpt-5", "gpt", "score"], {role: ["gpt-*", "gpt"]})
    assert [column.name for column in layout.scores] == ["gpt-4", "gpt-5", "gpt"]
    assert [getattr(column, role) for column in layout.scores] == ["gpt-4", "gpt-5", "gpt"]


def test_a_name_with_the_signs_of_a_pattern_is_a_name_first() -> None:
    layout = layout_of(["id", "QwQ*", "QwQ-32B"], {"system": ["QwQ*"], "score": "QwQ-32B"})
    assert layout.parts["system"] == "QwQ*"


@pytest.mark.parametrize(
    ("names", "asked", "message"),
    [
        (["question", "notes"], {}, "recognized as the score. .*--column score=NAME"),
        (["score"], {}, "recognized as the question.*Available columns: score"),
        ([], {}, "Available columns: none"),
        (
            ["question", "score"],
            {"score": "right"},
            "no column 'right' for the score. Available columns: question, score",
        ),
        (["question", "score"], {"points": "score"}, "Unknown role of --column: .points"),
        (["question", "score", "score"], {}, "several columns are called 'score'"),
        (["question", "score"], {"cluster": "score", "score": "score"}, "'score' is named for two parts"),
        (["question", "a", "b"], {"score": ["a", "b"]}, "one column is its score; got a, b"),
        (["question", "a", "b"], {"system": "?", "metric": "?"}, "one of system and metric, not for both"),
        (["question", "a", "b"], {"system": "?", "score": "a"}, "one of system and score, not for both"),
    ],
)
def test_what_cannot_be_is_said(names: list[str], asked: dict[str, str], message: str) -> None:
    with pytest.raises(LogError, match=message):
        layout_of(names, asked)


def test_a_list_of_very_many_columns_is_cut() -> None:
    with pytest.raises(LogError, match=r"column 19 and 80 more\.$"):
        layout_of([f"column {i}" for i in range(100)], {})


def test_the_page_names_every_part() -> None:
    page = (ROOT / "docs/howto/tables.md").read_text()
    assert [role for role in ROLES if f"| `{role}` |" not in page] == []
