"""Groups of questions in a gate have the structure, the margin and the ranges of numbers of their task."""

import numpy as np
import pytest

from harness_uq import Questions, TaskLog, gate
from harness_uq.data.task_log import MetadataField, Scores, Source
from harness_uq.messages.catalogue.breakdown import GROUPS_OF_ONE_SYSTEM
from harness_uq.results.gate import Gate

SUBJECTS = ("law", "art", "war", "tax")


def passages(system: str, n_right: int, n: int = 200) -> TaskLog:
    """Passages of five questions that are all right or all wrong; each of four subjects has ten of the passages."""
    passage = np.arange(n) // 5
    fields = {
        "passage": MetadataField(passage, values=tuple(f"p{k}" for k in range(40))),
        "subject": MetadataField(passage // 10, values=SUBJECTS),
        "position": MetadataField(np.arange(n), values=tuple(map(str, range(n)))),
    }
    questions = Questions(tuple(map(str, range(n))), fields=fields)
    data = (Scores("acc", "none", (passage % 10 < n_right).astype(float)[:, None]),)
    return TaskLog(system=system, task="t", source=Source(system, "table"), questions=questions, data=data)


def groups(found: Gate, field: str) -> list[tuple[str, int, int | None, float]]:
    """Label, numbers of questions and of clusters, and margin of each group."""
    rows = [row.comparison for row in found.rows if f", {field}: " in row.comparison.task]
    return [(row.task.partition(": ")[2], row.n_matched, row.n_clusters, row.margin) for row in rows]


@pytest.mark.parametrize("cluster", [{}, {"cluster": {"t": "passage"}}])
def test_groups_have_the_clusters_of_their_task(cluster: dict[str, dict[str, str]]) -> None:
    """Five of ten passages lost are a drop of 0.5 that independent questions would show beyond doubt."""
    found = gate(passages("new", 3), passages("old", 8), margin=0.1, by="subject", **cluster)
    assert groups(found, "subject") == [(subject, 50, 10, 0.1) for subject in SUBJECTS]


def test_groups_have_the_margin_of_their_task() -> None:
    found = gate(passages("new", 7), passages("old", 8), margin=0.01, margins={"t": 0.3}, by="subject")
    assert {margin for *_, margin in groups(found, "subject")} == {0.3}


def test_groups_have_the_required_improvement_of_their_task() -> None:
    found = gate(passages("new", 9), passages("old", 3), improve_by={"t": 0.2}, margin=0.1, by="subject")
    assert [row.improve_by for row in found.rows] == [0.2] * 5


def test_groups_of_one_system_are_named() -> None:
    """The new system was not run on the last subject, so that the gate does not test it."""
    found = gate(passages("new", 7, n=150), passages("old", 8), margin=0.1, by="subject")
    (warning,) = (message for message in found.messages if message.code == GROUPS_OF_ONE_SYSTEM.code)
    assert warning.params["groups"] == ("tax",)
    assert [label for label, *_ in groups(found, "subject")] == ["law", "art", "war"]


def test_systems_with_different_questions_have_the_same_ranges() -> None:
    found = gate(passages("new", 7, n=160), passages("old", 8), margin=0.1, by="position")
    of_groups = groups(found, "position")
    assert sum(n for _, n, *_ in of_groups) == 160
    assert len(of_groups) == 4
