"""The decision of a gate, and what its data could have shown."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from harness_uq import DataError, Options, TaskLog, compare, gate
from harness_uq.results.gate import ScoreName
from tests.data.toy import task_log
from tests.message_checks import raises_message

IDS = [str(i) for i in range(400)]


def log(n_right: int, n: int = 400, *, first_wrong: bool = False, **other: object) -> TaskLog:
    """`n_right` of n questions right, the last ones wrong, or the first."""
    scores = [1] * n_right + [0] * (n - n_right)
    return task_log(scores[::-1] if first_wrong else scores, ids=IDS[:n], **other)


def options(margin: float = 0.05, level: float = 0.95, **margins: float) -> Options:
    return Options(margin=margin, level=level, margins=margins)


NEW, OLD = {"system": "new"}, {"system": "old"}


@pytest.mark.parametrize(
    ("n_new", "margin", "decision"),
    [(300, 0.05, "pass"), (200, 0.05, "fail"), (285, 0.05, "undecided"), (310, 0.0, "pass"), (300, 0.0, "undecided")],
)
def test_one_score_passes_above_the_margin_and_fails_below_it(n_new: int, margin: float, decision: str) -> None:
    found = gate(log(n_new, **NEW), log(300, **OLD), options(margin))
    (row,) = found.rows
    assert found.decision == row.decision == decision
    interval = row.comparison.difference.interval
    assert (interval.low > -margin, interval.high < -margin) == (decision == "pass", decision == "fail")


def test_where_less_is_better_a_rise_fails() -> None:
    better = {"metric": "loss", "higher_is_better": {"loss": False}}
    assert gate(log(380, **NEW, **better), log(300, **OLD, **better), options()).decision == "fail"
    assert gate(log(220, **NEW, **better), log(300, **OLD, **better), options()).decision == "pass"


@pytest.mark.slow
def test_one_bad_task_fails_the_gate_though_all_tasks_together_do_not() -> None:
    tasks = {"system": "new"}, {"system": "old"}
    new = [log(300, task=f"t{i}", **tasks[0]) for i in range(9)] + [log(20, 40, task="small", **tasks[0])]
    old = [log(300, task=f"t{i}", **tasks[1]) for i in range(9)] + [log(40, 40, task="small", **tasks[1])]
    found = gate(new, old, options())
    decisions = {row.comparison.task: row.decision for row in found.rows}
    assert (found.decision, decisions["small"], decisions["overall"]) == ("fail", "fail", "pass")


def test_a_single_task_need_not_pass_where_all_together_do() -> None:
    new = [log(30, 40, task=f"t{i}", **NEW) for i in range(10)]
    old = [log(30, 40, task=f"t{i}", **OLD) for i in range(10)]
    found = gate(new, old, options())
    assert found.decision == "pass"
    assert {row.decision for row in found.rows if not row.is_needed} == {"undecided"}
    assert [row.comparison.task for row in found.rows if row.is_needed] == ["overall"]


@pytest.mark.slow
def test_failures_are_by_holm_over_all_rows() -> None:
    """Six questions lost and none won, P(not worse) = .0032 (Beta(6.5, .5) above 1/2): fails alone, not among 11."""
    new, old = log(94, 100, task="t", **NEW), log(100, 100, task="t", **OLD)
    alone = gate(new, old, options(0.0))
    p = alone.rows[0].comparison.prob_noninferior
    assert p == pytest.approx(stats.beta.cdf(0.5, 6.5, 0.5))
    assert alone.decision == "fail"
    others = [[log(70, 100, task=f"u{i}", **system) for i in range(9)] for system in (NEW, OLD)]
    together = gate([new, *others[0]], [old, *others[1]], options(0.0))
    (row,) = [row for row in together.rows if row.comparison.task == "t"]
    assert len(together.rows) == 11
    assert row.adjusted_p > 0.025
    assert together.decision == "undecided"


def test_each_metric_has_its_margin() -> None:
    def both(n_acc: int, n_f1: int, system: dict[str, str]) -> TaskLog:
        found = log(n_acc, **system)
        f1 = log(n_f1, metric="f1").data[0]
        return replace(found, data=(*found.data, f1))

    found = gate(both(300, 200, NEW), both(300, 300, OLD), options(0.05, f1=0.4))
    assert [(row.comparison.metric, row.comparison.margin, row.decision) for row in found.rows] == [
        ("acc", 0.05, "pass"),
        ("f1", 0.4, "pass"),
    ]
    with raises_message(DataError, "unknown-margin-metric", metric="bleu", known=("acc",)):
        gate(log(1, 2, **NEW), log(1, 2, **OLD), options(bleu=1.0))
    with pytest.raises(DataError, match="Invalid margin"):
        options(acc=-1.0)


def test_a_task_that_the_new_runs_lack_is_no_pass() -> None:
    found = gate(log(300, task="t", **NEW), [log(300, task="t", **OLD), log(300, task="u", **OLD)], options())
    assert (found.decision, found.missing) == ("undecided", (ScoreName("u", "acc", "none"),))
    more = gate([log(300, task="t", **NEW), log(300, task="u", **NEW)], log(300, task="t", **OLD), options())
    assert (more.decision, more.missing) == ("pass", ())


def test_a_score_that_cannot_be_compared_is_undecided() -> None:
    found = gate(task_log([0.3], metric="x", **NEW), task_log([0.4], metric="x", **OLD), options())
    assert found.decision == "undecided"
    assert found.rows[0].adjusted_p is None


def test_power_is_that_of_the_normal_test_of_the_margin() -> None:
    found = gate(log(290, **NEW), log(300, **OLD, first_wrong=True), options(0.05))
    (row,) = found.rows
    se = row.comparison.difference.std_error
    assert row.power_to_pass == pytest.approx(stats.norm.cdf(0.05 / se - stats.norm.ppf(0.95)))
    assert row.minimum_failing_drop == pytest.approx(0.05 + (stats.norm.ppf(0.95) + stats.norm.ppf(0.8)) * se)
    total = ((stats.norm.ppf(0.95) + stats.norm.ppf(0.8)) * se / 0.05) ** 2 * 400
    assert row.n_additional_questions == pytest.approx(total - 400, abs=1)


@pytest.mark.slow
def test_an_equal_passes_as_often_as_is_said() -> None:
    """60 new systems that answer each question right with the probability that the old one does."""
    rng = np.random.default_rng(5)
    rates = rng.uniform(0.3, 0.9, 300)
    found = []
    for _ in range(60):
        new, old = (task_log((rng.random(300) < rates).astype(int), ids=IDS[:300], **system) for system in (NEW, OLD))
        result = gate(new, old, options(0.08))
        found.append((result.decision == "pass", result.rows[0].power_to_pass))
    passed, power = np.mean(found, axis=0)
    assert abs(passed - power) < 4 * np.sqrt(power * (1 - power) / len(found))


@pytest.mark.parametrize(("n", "can_fail"), [(4, False), (5, True), (40, True)])
def test_a_gate_that_cannot_fail_says_so(n: int, can_fail: bool) -> None:
    """All of n questions lost: equal systems can do so with probability 1/2^n, which is 0.063 at 4 and 0.031 at 5."""
    found = gate(log(n, n, **NEW), log(n, n, **OLD), options(0.0))
    assert (found.can_fail, found.rows[0].can_fail) == (can_fail, can_fail)
    assert gate(log(0, n, **NEW), log(n, n, **OLD), options(0.0)).decision == ("fail" if can_fail else "undecided")


@pytest.mark.parametrize("kind", ["clusters", "graded", "trials"])
def test_a_gate_can_fail_if_the_worst_scores_do(kind: str) -> None:
    """Also where the posterior decides: the observed scores must not enter the interval of the worst ones."""
    rng = np.random.default_rng(1)
    shape, fields = ((60, 3) if kind == "trials" else 60), {"passage": [f"p{k // 2}" for k in range(60)]}
    draw = rng.random(shape) if kind == "graded" else (rng.random(shape) < 0.7).astype(float)
    given = {"ids": IDS[:60], "fields": fields if kind == "clusters" else {}}
    chosen = {"margin": 0.05, "range": {"acc": (0.0, 1.0)}, **({"cluster": "passage"} if kind == "clusters" else {})}
    found = gate(task_log(draw, **NEW, **given), task_log(draw[::-1], **OLD, **given), **chosen)
    assert found.rows[0].can_fail
    assert gate(task_log(0 * draw, **NEW, **given), task_log(draw[::-1], **OLD, **given), **chosen).decision == "fail"


def test_a_margin_as_large_as_the_score_cannot_fail() -> None:
    assert not gate(log(300, **NEW), log(300, **OLD), options(0.8)).can_fail


def test_of_scores_without_a_known_range_it_is_unknown_whether_they_can_fail() -> None:
    rng = np.random.default_rng(0)
    new, old = (task_log(rng.normal(size=50), metric="reward", **system) for system in (NEW, OLD))
    assert gate(new, old, options()).rows[0].can_fail is None


def test_the_json_form_has_every_field() -> None:
    document = gate(log(300, **NEW), log(300, **OLD), options()).to_dict()
    fields = ("missing", "rows", "requirements", "flipped", "messages")
    assert set(document) == {"decision", "on_undecided", "outcome", "alpha", "can_fail", *fields}
    assert {
        "decision",
        "is_needed",
        "adjusted_p",
        "unadjusted_p",
        "power_to_pass",
        "minimum_failing_drop",
        "n_additional_questions",
        "can_fail",
    } < set(document["rows"][0])


@pytest.mark.parametrize("kind", ["binary", "clusters", "trials", "graded", "missing", "unmatched"])
def test_the_row_of_a_gate_is_that_of_compare(kind: str) -> None:
    """Random data of each kind; the difference, its interval and its posterior agree to 1e-9."""
    for seed in range(3):
        rng = np.random.default_rng([seed, len(kind)])
        logs = [random_log(kind, system, rng) for system in ("new", "old")]
        (of_gate,) = gate(*logs, margin=0.05, level=0.9).rows
        (row,) = compare(*logs, margin=0.05, level=0.9)
        one = of_gate.comparison
        intervals = [x.posterior_interval or x.difference.interval for x in (one, row)]
        ends = [(x.difference.value, i.low, i.high) for x, i in zip((one, row), intervals, strict=True)]
        assert ends[0] == pytest.approx(ends[1], rel=1e-9, abs=1e-12)
        points = np.linspace(-0.5, 0.5, 7)
        np.testing.assert_allclose(one.posterior.cdf(points), row.posterior.cdf(points), rtol=1e-9, atol=1e-12)
        assert (one.method, one.n_matched) == (row.method, row.n_matched)
        assert one.posterior_interval is not None or one.verdict == row.verdict


def random_log(kind: str, system: str, rng: np.random.Generator) -> TaskLog:
    n, chance = 24, rng.uniform(0.2, 0.8)
    values = (rng.random((n, 3 if kind == "trials" else 1)) < chance).astype(float)
    if kind == "graded":
        values = rng.beta(2, 2, (n, 1))
    if kind == "missing":
        values[rng.choice(n, 3, replace=False)] = np.nan
    ids = [str(i) for i in range(n)] if kind != "unmatched" or system == "new" else [str(i) for i in range(6, n + 6)]
    fields = {"passage_id": [str(i // 4) for i in range(n)]} if kind == "clusters" else None
    return task_log(values, system=system, ids=ids, fields=fields)
