"""Required bounds of scores: which scores they refer to, and the error rates of their tests."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from harness_uq import DataError, Options, TaskLog, estimate, gate
from harness_uq.analyses.gating.requirements import Requirement
from harness_uq.inference.decisions import bound_hypothesis
from harness_uq.messages.errors import StructureError
from harness_uq.stats.pairs.multiple_testing import adjust_p_values
from tests.data.toy import task_log

IDS = [str(i) for i in range(400)]
ALPHA = 0.05


def log(n_right: int, n: int = 400, **other: object) -> TaskLog:
    return task_log([1] * n_right + [0] * (n - n_right), ids=IDS[:n], **other)


def p_values(n: int, bound: float) -> tuple[np.ndarray, np.ndarray]:
    """p-values of "at least the bound" and of "at most the bound", for each number of right answers."""
    rows = [estimate(log(k, n))[0] for k in range(n + 1)]
    kept, exceeded = ([bound_hypothesis(row, kind, bound) for row in rows] for kind in ("at_least", "at_most"))
    return np.array([one.p_met for one in kept]), np.array([one.p_met for one in exceeded])


@pytest.mark.parametrize(("n_right", "decision"), [(360, "pass"), (280, "fail"), (325, "undecided")])
def test_a_bound_is_kept_violated_or_undecided(n_right: int, decision: str) -> None:
    found = gate(log(n_right), at_least=0.8)
    (row,) = found.requirements
    assert (found.decision, row.decision, row.bound, row.requirement) == (decision, decision, 0.8, "at_least")
    assert found.rows == ()
    mirrored = gate(log(400 - n_right), at_most=0.2).requirements[0]
    assert (mirrored.decision, mirrored.p_met) == (decision, pytest.approx(row.p_met, rel=1e-9))


# every number of right answers is enumerated, so that the error rates are exact
@pytest.mark.slow
@pytest.mark.parametrize("bound", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [5, 20, 50, 120])
def test_the_error_rates_of_one_bound_are_at_most_5_percent(n: int, bound: float) -> None:
    below, above = p_values(n, bound)
    at_bound = stats.binom.pmf(np.arange(n + 1), n, bound)
    assert at_bound[below <= ALPHA].sum() <= ALPHA
    assert at_bound[above <= ALPHA].sum() <= ALPHA
    for worse in (bound - 0.01, bound - 0.1):  # a score below the bound passes less often
        assert stats.binom.pmf(np.arange(n + 1), n, worse)[above <= ALPHA].sum() <= ALPHA


@pytest.mark.parametrize("bound", [0.7, 0.9])
def test_the_error_rates_of_two_bounds_are_at_most_5_percent(bound: float) -> None:
    n = 20
    below, above = p_values(n, bound)
    pmf = stats.binom.pmf(np.arange(n + 1), n, bound)
    both = np.outer(pmf, pmf)
    fails = np.array([[adjust_p_values([p, q]).min() <= ALPHA for q in below] for p in below])
    assert both[fails].sum() <= ALPHA  # both scores are at their bounds
    far = np.outer(pmf, stats.binom.pmf(np.arange(n + 1), n, 1.0))  # one score meets its bound by far
    passes = np.array([[max(p, q) <= ALPHA for q in above] for p in above])
    assert far[passes].sum() <= ALPHA


def test_the_test_is_that_of_scipy() -> None:
    found = bound_hypothesis(estimate(log(45, 60))[0], "at_least", 0.8)
    assert found.p_met == pytest.approx(stats.binomtest(45, 60, 0.8, alternative="less").pvalue, rel=1e-12)
    assert found.p_violated == pytest.approx(stats.binomtest(45, 60, 0.8, alternative="greater").pvalue, rel=1e-12)


def test_clusters_make_a_bound_harder_to_show() -> None:
    clustered = task_log([1] * 360 + [0] * 40, ids=IDS, fields={"passage_id": [str(i // 20) for i in range(400)]})
    independent, dependent = (gate(runs, at_least=0.85).requirements[0] for runs in (log(360), clustered))
    assert dependent.p_met > 5 * independent.p_met


def test_without_a_posterior_the_limits_of_the_interval_have_a_p_value_of_5_percent() -> None:
    row = replace(estimate(log(300))[0], method="other", posterior=None)
    assert bound_hypothesis(row, "at_least", row.interval.low).p_violated == pytest.approx(ALPHA, rel=1e-9)
    assert bound_hypothesis(row, "at_least", row.interval.high).p_met == pytest.approx(ALPHA, rel=1e-9)
    assert bound_hypothesis(row, "at_least", row.value).p_violated == 1.0
    assert bound_hypothesis(replace(row, interval=None), "at_least", 0.5) is None


def test_bounds_and_margins_are_one_family() -> None:
    alone = gate(log(380, system="new"), log(380, system="old"), margin=0.05)
    both = gate(log(380, system="new"), log(380, system="old"), margin=0.05, at_least={"toy": 0.99})
    assert (alone.decision, both.decision) == ("pass", "fail")
    assert both.rows[0].adjusted_p == pytest.approx(min(2 * alone.rows[0].adjusted_p, 1.0))
    assert both.rows[0].decision == "pass"


def test_a_bound_applies_to_tasks_by_pattern_and_to_one_metric() -> None:
    logs = [log(390, task=name) for name in ("safety_a", "safety_b", "other")]
    found = gate(logs, at_least={"safety_*": 0.9})
    assert [row.estimate.task for row in found.requirements] == ["safety_a", "safety_b"]


def test_one_metric_in_a_fixed_order_is_required() -> None:
    keys = {
        ("t", "f1", "none"): None,
        ("t", "acc_norm", "none"): None,
        ("u", "em", "strict"): None,
        ("u", "em", "flex"): None,
    }
    assert Requirement("at_least", 0.5).select(keys) == [("t", "acc_norm", "none"), ("u", "em", "flex")]
    assert Requirement.parse("at_least", "u:em,flex", 0.5).select(keys) == [("u", "em", "flex")]
    with pytest.raises(DataError, match="Unknown metric of a requirement: 'emm'"):
        Requirement.parse("at_least", "u:emm", 0.5).select(keys)
    with pytest.raises(DataError, match="nosuch"):
        Requirement.parse("at_least", "nosuch", 0.5).select(keys)


def test_the_number_of_questions_that_decide_is_reached() -> None:
    row = gate(log(325), at_least=0.8).requirements[0]
    n = 400 + row.n_to_decide
    rng = np.random.default_rng(20261123)
    right = rng.binomial(n, 325 / 400, 20_000)
    assert (stats.binom.sf(right - 1, n, 0.8) <= ALPHA).mean() == pytest.approx(0.8, abs=0.02)


def test_a_gate_needs_a_baseline_or_a_bound() -> None:
    with pytest.raises(DataError, match="baseline, or a bound"):
        gate(log(300))
    with pytest.raises(DataError, match="number"):
        gate(log(300), at_least=float("nan"))


def test_bounds_in_options_apply_unless_bounds_are_given() -> None:
    options = Options(at_least=0.5)
    assert gate(log(300), options=options).decision == "pass"
    assert gate(log(300), options=options, at_least=0.9).decision == "fail"


@pytest.mark.parametrize("bounds", [{"at_least": 60.0}, {"at_most": {"toy": 60.0}}])
def test_a_bound_in_percent_suggests_the_bound_in_the_unit_of_the_score(bounds: dict[str, float]) -> None:
    with pytest.raises(StructureError) as error:
        gate(log(300), **bounds)
    message = error.value.message
    assert (message.code, message.params["bound"], message.params["suggestion"]) == (
        "UQ259",
        60.0,
        " Did you mean 0.6?",
    )
    with pytest.raises(StructureError) as error:
        gate(log(300), at_least=130.0)
    assert error.value.message.params["suggestion"] == ""


def test_a_bound_is_in_the_declared_range_or_the_range_is_unknown() -> None:
    assert gate(log(300), at_most=60.0, range={"acc": (0, 100)}).decision == "pass"
    assert gate(task_log(np.linspace(0, 30, 40), metric="length"), at_most=60.0).decision == "pass"
    for end in (0.0, 1.0):
        assert gate(log(300), at_least=end).requirements[0].bound == end


def test_a_required_improvement_is_smaller_than_the_range() -> None:
    with pytest.raises(StructureError) as error:
        gate(log(300, system="new"), log(300, system="old"), improve_by=2.0)
    params = error.value.message.params
    assert (params["kind"], params["suggestion"]) == ("required improvement", 0.02)


def test_a_bound_of_a_task_that_is_not_selected_is_an_error_about_the_selection() -> None:
    logs = [log(390, task=name) for name in ("safety", "other")]
    with pytest.raises(DataError) as error:
        gate(logs, at_least={"saf*": 0.9}, task="other")
    message = error.value.message
    assert (message.code, message.params["task"], message.params["selected"]) == ("UQ260", "saf*", ("other",))
    assert gate(logs, at_least={"saf*": 0.9}, task="safety").decision == "pass"


def test_a_bound_of_a_group_of_questions_refers_to_the_selected_task() -> None:
    logs = [
        log(390, task=name, fields={"language": ["de", "fr"] * 200}, system="model") for name in ("safety", "other")
    ]
    found = gate(logs, at_least={"safety, language: de": 0.9}, by="language", task="safety")
    assert [row.estimate.task for row in found.requirements] == ["safety, language: de"]
