"""Gates that require an improvement, and requirements on resources and error rates."""

from dataclasses import replace

import numpy as np
import pytest

from harness_uq import DataError, TaskLog, gate
from harness_uq.analyses.gating.requirements import Requirement
from harness_uq.data.task_log import Scores
from harness_uq.data.trial_endings import TrialEndings, ending_code
from harness_uq.stats.pairs.exact_noninferiority import noninferiority_test
from tests.analyses.gating.test_gate import NEW, OLD, log
from tests.data.toy import task_log


@pytest.mark.parametrize(
    ("n_new", "required", "decision"),
    [(340, 0.02, "pass"), (300, 0.05, "fail"), (312, 0.02, "undecided"), (310, 0.0, "pass"), (290, 0.0, "fail")],
)
def test_a_required_improvement_is_passed_failed_or_undecided(n_new: int, required: float, decision: str) -> None:
    found = gate(log(n_new, **NEW), log(300, **OLD), improve_by=required)
    assert found.decision == found.rows[0].decision == decision
    assert found.rows[0].improve_by == required


def test_the_test_of_an_improvement_is_the_exact_test_of_the_baseline_against_the_new_system() -> None:
    (row,) = gate(log(285, **NEW), log(300, **OLD), improve_by=0.02).rows
    table = row.comparison.table
    swapped = noninferiority_test((table.both_right, table.only_b, table.only_a, table.both_wrong), 0.02)
    assert row.adjusted_p == pytest.approx(swapped.p_noninferior)


def test_where_less_is_better_an_improvement_is_a_drop() -> None:
    better = {"metric": "loss", "higher_is_better": {"loss": False}}
    assert gate(log(260, **NEW, **better), log(300, **OLD, **better), improve_by=0.05).decision == "pass"
    assert gate(log(340, **NEW, **better), log(300, **OLD, **better), improve_by=0.05).decision == "fail"


def test_graded_scores_use_twice_the_tail_of_their_posterior() -> None:
    rng = np.random.default_rng(0)
    values = rng.random(80)
    new, old = (
        task_log(x, metric="f1", system=name) for x, name in ((np.clip(values + 0.1, 0, 1), "new"), (values, "old"))
    )
    (row,) = gate(new, old, improve_by=0.09, range={"f1": (0, 1)}).rows
    below = float(row.comparison.posterior.cdf(0.09))
    assert row.adjusted_p == pytest.approx(min(1.0, 2 * (1 - below)))


def test_an_improvement_of_one_task_leaves_the_margin_of_the_others() -> None:
    new, old = [log(340, task="t", **NEW), log(300, task="u", **NEW)], [log(300, task=t, **OLD) for t in "tu"]
    found = gate(new, old, margin=0.05, improve_by={"t": 0.02})
    assert {row.comparison.task: row.improve_by for row in found.rows} == {"t": 0.02, "u": None, "overall": None}
    with pytest.raises(DataError, match="required improvement: 'x'"):
        gate(new, old, margin=0.05, improve_by={"x": 0.02})
    with pytest.raises(DataError, match="Invalid improve_by"):
        gate(new, old, improve_by=-0.1)


def test_an_undecided_improvement_states_how_many_questions_would_decide() -> None:
    (row,) = gate(log(312, **NEW), log(300, **OLD), improve_by=0.02).rows
    assert row.n_additional_questions > 0
    assert row.power_to_pass is None


def test_no_number_of_questions_decides_if_the_observed_improvement_is_the_required_one() -> None:
    values = np.random.default_rng(0).uniform(0.1, 0.8, 50)
    noise = np.resize([0.03, -0.03], 50)
    logs = [task_log(x, metric="f1", system=name) for name, x in (("new", values + 0.05 + noise), ("old", values))]
    (row,) = gate(*logs, improve_by=0.05, range={"f1": (0, 1)}).rows
    assert (row.decision, row.n_additional_questions) == ("undecided", None)


def with_cost(base: TaskLog, cost: float) -> TaskLog:
    costs = np.random.default_rng(1).gamma(4, cost / 4, (len(base.questions), 1))
    return replace(base, data=(*base.data, Scores("cost", "none", costs)), higher_is_better={"cost": False})


def test_a_cost_is_tested_only_if_it_is_named() -> None:
    new, old = with_cost(log(300, **NEW), 0.02), with_cost(log(300, **OLD), 0.01)
    found = gate(new, old, margin=0.05, at_most={"cost": 0.015})
    assert [row.comparison.metric for row in found.rows] == ["acc"]
    assert [(row.estimate.metric, row.decision) for row in found.requirements] == [("cost", "fail")]
    assert gate(new, old, margin=0.05, at_most={"toy:cost": 0.03}).decision == "pass"
    found = gate(new, old, margin=0.05, margins={"cost": 0.002})
    assert {row.comparison.metric: row.decision for row in found.rows} == {"acc": "pass", "cost": "fail"}


def test_the_error_rate_is_the_share_of_trials_that_ended_with_an_error() -> None:
    codes = np.array([[ending_code("error")]] * 4 + [[ending_code("completed")]] * 396)
    new = replace(log(300, **NEW), ended_by=TrialEndings(codes))
    found = gate(new, at_most={"error_rate": 0.03})
    (row,) = found.requirements
    assert (row.estimate.value, row.estimate.n_questions, found.decision) == (0.01, 400, "pass")
    assert gate(new, at_most={"toy:error_rate": 0.002}).decision == "fail"
    with pytest.raises(DataError, match="error_rate"):
        gate(log(300, **NEW), at_most={"error_rate": 0.03})


def test_bounds_of_groups_are_those_of_tasks() -> None:
    languages = ["de"] * 200 + ["en"] * 200
    new = log(300, **NEW, fields={"language": languages})
    found = gate(new, at_least={"toy, language: de": 0.9, "toy": 0.6}, by="language")
    assert {row.estimate.task: row.decision for row in found.requirements} == {
        "toy": "pass",
        "toy, language: de": "pass",
    }
    everywhere = gate(new, at_least=0.6, by="language")
    assert len(everywhere.requirements) == 3
    assert everywhere.decision == "fail"
    assert Requirement.parse("at_least", "toy, language: de:acc", 0.5).metric == "acc"
