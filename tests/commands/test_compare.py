"""What `compare` refuses, says first, lists and fails on, from end to end."""

import csv
import json
import shutil

import pytest

from harness_uq import Options, compare
from harness_uq.messages.errors import StructureError
from tests.commands.test_main import output
from tests.commands.test_selection import system
from tests.message_checks import raises_message


@pytest.fixture
def two(tmp_path):
    for name, right in (("large", 38), ("small", 20)):
        system(tmp_path, name, right)
    return tmp_path


def test_the_interval_of_a_test_at_the_margin_is_explained(two, capsys):
    explanation = "with a margin, independent right-or-wrong answers have the interval of an exact test"
    assert explanation in " ".join(output(capsys, "compare", str(two), "--margin", "0.03")[1].split())
    assert explanation not in " ".join(output(capsys, "compare", str(two))[1].split())


@pytest.mark.parametrize("command", ["compare", "report"])
@pytest.mark.parametrize("margin", ["1", "toy=2"])
def test_a_margin_that_no_difference_could_pass_is_refused(two, capsys, command, margin):
    code, out, err = output(capsys, command, str(two), "--margin", margin)
    assert (code, out) == (2, "")
    d = float(margin.rpartition("=")[2])
    assert f"The margin {d:g} for metric 'acc' of task 'toy' exceeds every possible difference" in err
    assert f"Did you mean {d / 100:g}?" in err


def test_a_margin_is_refused_in_python_too_and_one_below_the_range_is_not(two):
    sides = two / "large", two / "small"
    with raises_message(StructureError, "margin-exceeds-range", margin=1.0, suggestion=0.01):
        compare(*sides, Options(margin=1.0))
    (row,) = compare(*sides, Options(margin=0.99))
    assert row.verdict == "equivalent"


def test_a_margin_for_one_task_is_stronger_than_that_for_all(two):
    sides = two / "large", two / "small"
    (row,) = compare(*sides, Options(margin=0.01, margins={"toy": 0.9}))
    assert (row.margin, row.verdict) == (0.9, "equivalent")
    (row,) = compare(*sides, Options(margin=0.01, margins={"other": 0.9}))
    assert (row.margin, row.verdict) == (0.01, "better")


@pytest.mark.parametrize("command", ["compare", "report"])
def test_a_margin_of_a_task_that_is_not_there_is_an_error(two, capsys, command):
    code, _, err = output(capsys, command, str(two), "--margin", "tyo=0.1")
    assert code == 2
    assert "Unknown task of --margin: 'tyo'. Did you mean 'toy'? Available tasks: overall, toy." in err


@pytest.mark.parametrize("command", ["estimate", "structure", "compare", "rank", "report"])
@pytest.mark.parametrize("cluster", ["passaeg", "toy=passaeg"])
def test_a_field_that_no_task_has_is_an_error_with_the_fields_there_are(two, capsys, command, cluster):
    code, out, err = output(capsys, command, str(two), "--cluster", cluster)
    assert (code, out) == (2, "")
    assert "Task 'toy' has no field 'passaeg'" in err
    assert "Available fields: q." in err


def test_rescore_refuses_such_a_field_before_it_writes(two, tmp_path, capsys):
    folder = tmp_path / "out"
    code, _, err = output(capsys, "rescore", str(two), "--cluster", "passaeg", "--output-dir", str(folder))
    assert code == 2
    assert "Available fields: q." in err
    assert not folder.exists()


def test_a_field_that_one_of_the_tasks_has_is_none_for_the_others(two, capsys):
    system(two, "large", 30, task="second")
    code, out, _ = output(capsys, "estimate", str(two), "--cluster", "q")
    assert code == 0
    assert "toy" in out


def test_the_same_log_on_both_sides_is_said_first(two, capsys):
    large = str(two / "large")
    _, out, _ = output(capsys, "compare", large, large)
    assert out.startswith(
        "Both sides of the comparison have identical scores on all 40 questions, because both sides read"
    )
    shutil.copytree(large, two / "copy")
    _, out, _ = output(capsys, "compare", f"new={large}", f"old={two / 'copy'}")
    assert out.startswith("Both sides of the comparison have identical scores on all 40 questions, perhaps because")
    _, out, _ = output(capsys, "compare", large, str(two / "small"))
    assert "identical" not in out


def test_two_perfect_scores_are_no_sign_of_one_log(two, capsys):
    for name in ("perfect", "flawless"):
        system(two, name, 40)
    _, out, _ = output(capsys, "compare", str(two / "perfect"), str(two / "flawless"))
    assert out.startswith(
        "Both sides of the comparison have identical scores on all 40 questions, because all scores are"
    )


def test_fail_if_worse_names_what_failed_and_by_how_much(two, capsys):
    sides = [str(two / name) for name in ("small", "large")]
    code, _, err = output(capsys, "compare", *sides, "--fail-if-worse")
    assert code == 3
    assert err.startswith("worse: toy: large is better than small, by ")
    assert output(capsys, "compare", *reversed(sides), "--fail-if-worse")[::2] == (0, "")


def test_questions_of_disagreement_begin_with_those_on_which_a_is_worse(two, capsys):
    sides = [str(two / name) for name in ("small", "large")]
    _, out, _ = output(capsys, "compare", *sides, "--disagreements", "3")
    assert "A and B differ on 18 of 40 questions; A is better on 0, B on 18" in out
    _, out, _ = output(capsys, "compare", *reversed(sides), "--disagreements", "3", "--format", "json")
    (found,) = json.loads(out)["disagreements"]
    assert [found[name] for name in ("task", "n_questions", "n_a_better", "n_b_better")] == ["toy", 40, 18, 0]
    unknown = {"probability": None, "is_flaky": None}  # each question has one trial
    assert found["questions"] == [{"id": str(i), "value_a": 1.0, "value_b": 0.0, **unknown} for i in (20, 21, 22)]


def test_disagreements_are_records_of_their_own_kind_in_csv(two, capsys):
    code, out, _ = output(capsys, "compare", str(two), "--disagreements", "3", "--format", "csv")
    assert code == 0
    assert [row["kind"] for row in csv.DictReader(out.splitlines())] == ["comparison", *["disagreement"] * 3]


def test_a_format_that_cannot_render_disagreements_is_a_usage_error(two, capsys):
    code, out, err = output(capsys, "compare", str(two), "--disagreements", "3", "--format", "html")
    assert (code, out) == (2, "")
    assert "Available formats: csv, json, latex, markdown, table." in err
