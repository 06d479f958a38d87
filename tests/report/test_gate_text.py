"""Gates in words."""

import json
from dataclasses import replace

import pytest

from harness_uq import CompareOptions, GateOptions, Interval, SelfTest, gate
from harness_uq.report.gate_text import gate_answer, gate_as, self_test_as
from tests.gating.test_analysis import NEW, OLD, log, options

SELF_TEST = SelfTest("epochs", 200, 3, 121, Interval(0.003, 0.043, 0.95, "confidence"), 0.05, ("large",))


def test_a_failure_names_the_score_and_by_how_much() -> None:
    answer = gate_answer(gate(log(200, **NEW), log(300, **OLD), options()))
    assert answer.startswith("FAIL: new is worse than old by more than the margin on toy (-0.25, [-0.29")


def test_a_pass_says_on_what_it_rests() -> None:
    tasks = [[log(300, task=f"t{i}", **system) for i in range(2)] for system in (NEW, OLD)]
    answer = gate_answer(gate(*tasks, options()))
    assert answer.startswith(
        "PASS: new is not worse than old by more than the margin on overall, and shown to be so on no single task."
    )


def test_an_undecided_gate_says_how_often_an_equal_passes_and_what_would_help() -> None:
    answer = gate_answer(gate(log(30, 40, **NEW), log(33, 40, **OLD, first_wrong=True), options(0.05)))
    assert answer.startswith("UNDECIDED: these data do not show whether new is worse than old by more than the margin")
    assert "A system as good as old would pass there in " in answer
    assert "more questions of the same make-up would make that 80." in answer


def test_a_drop_that_is_shown_but_not_beyond_the_margin_is_said() -> None:
    found = gate(log(370, **NEW), log(400, **OLD), options(0.06))
    assert found.decision == "undecided"
    assert "It is shown to be worse on toy, by how much is open." in gate_answer(found)


def test_a_missing_task_and_a_gate_that_cannot_fail_are_said() -> None:
    found = gate(log(3, 3, task="t", **NEW), [log(3, 3, task=task, **OLD) for task in "tu"], options(0.0))
    answer = gate_answer(found)
    assert "new has no score of u, acc, which old has." in answer
    assert "This gate cannot fail: the questions are so few" in answer
    assert "never: not even the worst scores would" in gate_as(found, "table")


def test_a_gate_of_a_log_against_itself_says_so() -> None:
    one = log(300, **NEW)
    assert "Both sides have the same scores on all" in gate_answer(gate(one, one, options()))
    assert "the same scores" not in gate_answer(gate(log(299, **NEW), log(300, **OLD), options()))


def test_the_table_holds_power_and_the_rate_of_error() -> None:
    text = gate_as(gate(log(300, **NEW), log(300, **OLD), options()), "table")
    assert "Equals pass" in text
    assert "Fails at" in text
    assert "at most 5 % fail, of others at most 5 % pass" in text
    many = [[log(300, task=f"t{i}", **system) for i in range(2)] for system in (NEW, OLD)]
    assert "at most 5 % fail, over 3 scores by Holm's procedure" in gate_as(gate(*many, options()), "table")


def test_markdown_holds_the_answer_the_table_and_no_markup_of_others() -> None:
    found = gate(log(300, task="a|b", **NEW), log(300, task="a|b", **OLD), options())
    text = gate_as(found, "markdown")
    assert "**PASS: new is not worse than old" in text
    assert "| a\\|b |" in text


def test_json_is_the_gate() -> None:
    found = gate(log(300, **NEW), log(300, **OLD), GateOptions(CompareOptions(margin=0.05, level=0.9)))
    document = json.loads(gate_as(found, "json", errors=[{"path": "x", "message": "y"}]))
    assert document["gates"] == [json.loads(json.dumps(found.to_dict()))]
    assert document["gates"][0]["alpha"] == pytest.approx(0.1)
    assert document["errors"] == [{"path": "x", "message": "y"}]


def test_a_self_test_says_its_rate_its_interval_and_what_was_promised() -> None:
    text = self_test_as(SELF_TEST, "table")
    assert "large against itself, 200 gates (trials of each question on two sides): 3 failed, 121 passed" in text
    assert (
        "False failures: 1.5 %, 95 % interval [0.3, 4.3] %; promised: at most 5 %. So the gate keeps its promise."
        in text
    )
    broken = replace(SELF_TEST, n_failed=40, n_passed=0, rate=Interval(0.15, 0.26, 0.95, "confidence"))
    assert "THE GATE FAILS EQUALS TOO OFTEN on these logs" in self_test_as(broken, "markdown")
    assert "No equal passed" in self_test_as(broken, "markdown")
    assert json.loads(self_test_as(SELF_TEST, "json"))["self_tests"][0]["rate"] == 0.015
