"""Gates on graded scores that human labels correct."""

import csv
import json
from dataclasses import replace

import pytest

from harness_uq import DataError, gate
from harness_uq.data.task_log import Scores
from tests.commands.test_main import output
from tests.inference.test_labels_of_two_systems import GRADES, LABELED, TRUTH, A, B, N, human, labels_of, tables
from tests.message_checks import has

__all__ = ["tables"]


def test_labels_decide_against_a_grader_that_is_strict_with_the_better_system():
    raw, corrected = gate(A, B, margin=0.0), gate(A, B, margin=0.0, labels=labels_of("a", "b"))
    assert (raw.decision, corrected.decision) == ("undecided", "pass")
    assert gate(B, A, margin=0.0, labels=labels_of("a", "b")).decision == "fail"
    (row,) = corrected.rows
    assert row.comparison.method == "judge-corrected"
    assert row.can_fail is None


def test_more_questions_are_not_suggested_because_labels_limit_the_precision():
    (raw,), (row,) = (gate(A, B, margin=0.001, **given).rows for given in ({}, {"labels": labels_of("b")}))
    assert raw.n_additional_questions is not None
    assert row.n_additional_questions is None
    assert has(row.comparison, "grader-errors-assumed-equal")


def test_a_metric_of_labels_is_used_beside_margins_of_single_metrics():
    logs = [
        replace(log, data=(*log.data, Scores("human", "none", values[:, None])))
        for log, values in zip((A, B), human(), strict=True)
    ]
    decided = gate(*logs, margins={"acc": 0.0}, margin=0.5, labels="human")
    assert [row.comparison.metric for row in decided.rows] == ["acc"]
    assert decided.decision == "pass"


def test_bounds_and_overall_results_are_not_corrected():
    with pytest.raises(DataError, match="labels cannot be combined"):
        gate(A, B, margin=0.0, labels=labels_of("a", "b"), at_least=0.5)
    with pytest.raises(DataError, match="labels cannot be combined"):
        gate(A, B, margin=0.0, labels=labels_of("a", "b"), overall=True)


def test_the_command_decides_with_labels(tables, capsys):
    rows = (tables / "scores.csv").read_text().splitlines()
    for name in "ab":
        lines = [rows[0] + ",task", *(f"{row},toy" for row in rows[1:] if row.startswith(name))]
        (tables / f"{name}.csv").write_text("\n".join(lines))
    new, old, labels = (str(tables / name) for name in ("a.csv", "b.csv", "labels.csv"))
    given = ("gate", new, "--baseline", old, "--margin", "0")
    assert output(capsys, *given)[0] == 3
    code, out, _ = output(capsys, *given, "--labels", labels, "--notes")
    assert (code, "UQ231" in out) == (0, True)
    assert output(capsys, *given, "--labels", labels, "--at-least", "0.5")[0] == 2
    assert output(capsys, *given, "--labels", "nobody")[0] == 2


@pytest.fixture
def answers(tmp_path):
    """A table with the scores of a grader and labels of people for both systems."""
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["system", "question", "score", "label"])
        for system, graded, truth in zip("ab", GRADES, TRUTH, strict=True):
            table.writerows([system, f"q{i}", int(graded[i]), int(truth[i]) if i in LABELED else ""] for i in range(N))
    return str(path)


def test_a_table_of_both_systems_has_the_scores_and_the_labels(answers, capsys):
    given = ("gate", f"a={answers}", "--baseline", f"b={answers}", "--margin", "0")
    code, text, _ = output(capsys, *given, "--labels", answers, "--format", "json")
    (found,) = json.loads(text)["gates"][0]["rows"]
    (expected,) = gate(A, B, margin=0.0, labels=labels_of("a", "b")).rows
    assert (code, found["decision"]) == (0, "pass")
    assert found["difference"]["value"] == pytest.approx(expected.comparison.difference.value)
    assert output(capsys, *given)[0] == 3


def test_in_python_a_name_selects_one_system_of_a_table(answers):
    decided = gate({"b": answers}, {"a": answers}, margin=0.0, labels=answers)
    assert (decided.decision, decided.rows[0].comparison.n_matched) == ("fail", N)
    assert decided.rows[0].comparison.value_b == pytest.approx(TRUTH[0].mean(), abs=0.1)
