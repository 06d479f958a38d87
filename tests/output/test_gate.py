"""Gates in words."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from harness_uq import Interval, Options, gate
from harness_uq.data.task_log import log_of_array
from harness_uq.results.gate import SelfTest, gate_answer
from tests.analyses.gating.test_gate import NEW, OLD, log, options
from tests.output.rendering import render

SELF_TEST = SelfTest("epochs", 200, 3, 121, Interval(0.003, 0.043, 0.95, "confidence"), 0.05, ("large",))


def test_a_failure_names_the_score_and_by_how_much() -> None:
    answer = gate_answer(gate(log(200, **NEW), log(300, **OLD), options()))
    assert answer.startswith("FAIL: new is worse than old by more than the margin on toy (-0.25, [-0.288")


def test_a_pass_says_on_what_it_rests() -> None:
    tasks = [[log(300, task=f"t{i}", **system) for i in range(2)] for system in (NEW, OLD)]
    answer = gate_answer(gate(*tasks, options()))
    assert answer.startswith(
        "PASS: new is not worse than old by more than the margin on overall, and no single task shows such a drop."
    )


def test_an_undecided_gate_says_how_often_an_equal_passes_and_what_would_help() -> None:
    answer = gate_answer(gate(log(30, 40, **NEW), log(33, 40, **OLD, first_wrong=True), options(0.05)))
    assert answer.startswith("UNDECIDED: the data do not show whether new is worse than old by more than the margin")
    assert "If new were exactly as good as old, " in answer
    assert "additional questions, 80 % would." in answer


def test_a_drop_that_is_shown_but_not_beyond_the_margin_is_said() -> None:
    found = gate(log(370, **NEW), log(400, **OLD), options(0.06))
    assert found.decision == "undecided"
    assert "new is worse on toy, but possibly by less than the margin." in gate_answer(found)


def test_a_missing_task_and_a_gate_that_cannot_fail_are_said() -> None:
    found = gate(log(3, 3, task="t", **NEW), [log(3, 3, task=task, **OLD) for task in "tu"], options(0.0))
    answer = gate_answer(found)
    assert "new has no score for u, acc, but old has one." in answer
    assert "This gate cannot fail: with so few questions" in answer
    assert "never: even the lowest possible scores" in render([found], "table")


def test_a_gate_of_a_log_against_itself_says_so() -> None:
    one = log(300, **NEW)
    assert "have identical scores on all" in gate_answer(gate(one, one, options()))
    assert "identical scores" not in gate_answer(gate(log(299, **NEW), log(300, **OLD), options()))


def test_the_table_holds_power_and_the_rate_of_error() -> None:
    text = render([gate(log(300, **NEW), log(300, **OLD), options())], "table")
    assert "Pass rate if equal" in text
    assert "Failing drop" in text
    assert "At most 5 % of equally good systems fail, and at most 5 %" in text
    many = [[log(300, task=f"t{i}", **system) for i in range(2)] for system in (NEW, OLD)]
    assert "fail (corrected for 3 scores by Holm's method)" in render([gate(*many, options())], "table")


def test_markdown_holds_the_answer_the_table_and_no_markup_of_others() -> None:
    found = gate(log(300, task="a|b", **NEW), log(300, task="a|b", **OLD), options())
    text = render([found], "markdown")
    assert "**PASS: new is not worse than old" in text
    assert "| a\\|b |" in text


def test_json_is_the_gate() -> None:
    found = gate(log(300, **NEW), log(300, **OLD), Options(margin=0.05, level=0.9))
    document = json.loads(render([found], "json", errors=[{"path": "x", "message": "y"}]))
    assert document["gates"] == [json.loads(json.dumps(found.to_dict()))]
    assert document["gates"][0]["alpha"] == pytest.approx(0.1)
    assert document["errors"] == [{"path": "x", "message": "y"}]


def test_a_self_test_says_its_rate_its_interval_and_what_was_promised() -> None:
    text = render([SELF_TEST], "table")
    assert "large against itself: 200 gates (trials of each question on two sides)" in text
    assert "consistent with the nominal rate of at most 5 %" in text
    assert text.splitlines()[-1].split() == [
        "200",
        "3",
        "121",
        "76",
        "1.5",
        "%",
        "[0.3,",
        "4.3]",
        "%",
        "at",
        "most",
        "5",
        "%",
    ]
    broken = replace(SELF_TEST, n_failed=40, n_passed=0, interval=Interval(0.15, 0.26, 0.95, "confidence"))
    assert "fails equal systems more often than the nominal rate" in render([broken], "markdown")
    assert "No equal system passed" in render([broken], "markdown")
    assert json.loads(render([SELF_TEST], "json"))["self_tests"][0]["rate"] == 0.015


def test_a_score_without_an_interval_is_not_estimable() -> None:
    one, other = (
        log_of_array(np.array([score]), name, clusters=None, metric="score")
        for name, score in (("A", 0.5), ("B", 0.25))
    )
    assert "is not estimable and cannot be compared with a bound." in gate_answer(gate(one, at_least=0.4))
    answer = gate_answer(gate(one, other, margin=0.1))
    assert "the difference on" in answer
    assert answer.endswith("is not estimable.")


def test_a_score_that_fails_only_without_correction_is_named() -> None:
    """Six questions lost and none won, P(not worse) = .0032: fails alone, not among 11 (see the tests of gates)."""
    new, old = log(94, 100, task="t", **NEW), log(100, 100, task="t", **OLD)
    alone = gate(new, old, options(0.0))
    others = [[log(70, 100, task=f"u{i}", **system) for i in range(9)] for system in (NEW, OLD)]
    together = gate([new, *others[0]], [old, *others[1]], options(0.0))
    for form in ("table", "markdown", "latex"):
        assert "after correction" not in render([alone], form)
        text = " ".join(render([together], form).split())
        assert "t and overall would fail alone, but are undecided after correction for 11 scores." in text
        assert "Scores with a decision in parentheses can fail the gate, but do not have to pass." in text


def test_a_bound_that_is_violated_only_without_correction_is_named() -> None:
    """1 of 10 right with a bound of 0.4 has p = 0.046 (binomial), which is too large for two scores."""
    logs = [log(1, 10, task="t", system="new"), log(4, 10, task="u", system="new")]
    found = gate(logs, at_least={"t": 0.4, "u": 0.4})
    row = next(row for row in found.requirements if row.estimate.task == "t")
    assert row.unadjusted_p == pytest.approx(binom.cdf(1, 10, 0.4))
    assert row.adjusted_p == pytest.approx(2 * row.unadjusted_p)
    assert (row.decision, row.decision_corrected) == ("fail", "undecided")
    assert "t would fail alone, but is undecided after correction for 2 scores." in render([found], "markdown")
    (alone,) = gate(logs[:1], at_least={"t": 0.4}).requirements
    assert alone.decision == "fail"
