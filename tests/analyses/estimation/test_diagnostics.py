"""What a careful reader asks, in the estimates themselves: gaps, batches, copies, weights, the other prior."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import expit, logit

from harness_uq.analyses.estimate import estimate, estimate_scores
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import HarnessResult, Scores, Source, TaskLog
from harness_uq.inference.diagnostics import BATCH_EFFECT_P
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.options import Options
from harness_uq.plugin_api import Estimate, Interval, MethodInfo, MethodResult, Problem
from harness_uq.stats.trials.diagnostics import cochran_q
from tests.data.toy import task_log
from tests.message_checks import has, params_of

NAN = float("nan")


def test_questions_without_a_score_are_counted_with_the_scores_they_allow() -> None:
    # 6 of 8 scored, 5 right: 5/8 were the others wrong, 7/8 were they right
    row = estimate_scores([1, 1, 0, NAN, NAN, 1, 1, 1])
    assert row.n_questions == 6
    assert has(row, "missing-scores-matter", n_missing=2, n_trials=8, worst=0.625)
    assert not has(row, "missing-scores-bounds")


@pytest.mark.parametrize("scores", [[0, NAN], [1, NAN], [0, 0, 0, 0, NAN, NAN], [1] * 9 + [NAN] * 3])
def test_both_intervals_of_a_score_with_gaps_are_of_one_kind_and_contain_their_values(scores: list[float]) -> None:
    params = params_of(estimate_scores(scores), "missing-scores-matter")
    as_wrong = estimate_scores(np.nan_to_num(scores)).interval
    assert (params["worst_low"], params["worst_high"]) == (as_wrong.low, as_wrong.high)
    assert params["low"] <= params["value"] <= params["high"]
    assert params["worst_low"] <= params["worst"] <= params["worst_high"]
    assert params["lowest"] <= params["low"] <= params["high"] <= params["highest"]


def test_gaps_are_counted_where_identical_trials_leave_only_one_column() -> None:
    row = estimate_scores([[1, 1], [NAN, NAN], [0, NAN], [1, 1]])
    assert has(row, "missing-scores-matter", n_missing=3, n_trials=8)
    assert has(row, "identical-trials")


def test_gaps_in_scores_of_another_range_speak_of_the_range() -> None:
    options = Options(structure=StructureOptions(ranges={"score": (0.0, 10.0)}))
    params = params_of(estimate_scores([4, 6, NAN, 5.5], options=options), "missing-scores-bounds")
    assert (params["low"], params["high"]) == (3.875, 6.375)
    assert (params["worst_case"], params["best_case"]) == ("the lowest possible", "the highest possible")
    assert has(estimate_scores([4, 6, NAN, 5.5]), "missing-scores", n_missing=1, n_trials=4)


def test_complete_scores_say_nothing_of_gaps() -> None:
    row = estimate_scores([1, 0, 1, 1])
    assert not has(row, "missing-scores")
    assert not has(row, "missing-scores-bounds")


def test_a_bad_batch_is_reported() -> None:
    rng = np.random.default_rng(0)
    values = (rng.random((200, 3)) < [0.8, 0.8, 0.5]).astype(float)
    # the expected scores 0.8, 0.8 and 0.5 have variance 0.03, and trials around them 0.19
    params = params_of(estimate_scores(values), "non-exchangeable-trials")
    assert params["intra_batch_correlation"] == pytest.approx(0.03 / 0.22, abs=0.06)
    assert params["p_value"] < 1e-6
    values = (rng.random((200, 3)) < 0.8).astype(float)
    assert not has(estimate_scores(values), "non-exchangeable-trials")


def test_batches_on_the_logit_scale_are_reported_in_most_data_sets_and_their_absence_in_few() -> None:
    """100 questions × 8 trials, success rates Beta(2, 2), batch error 0.5: reported in 0.95 of 4,000 data sets."""
    rng = np.random.default_rng(24)
    shares = []
    for error in (0.0, 0.5):
        logits = logit(rng.beta(2, 2, (150, 100, 1))) + error * rng.standard_normal((150, 1, 8))
        tables = (rng.random((150, 100, 8)) < expit(logits)).astype(float)
        shares.append(np.mean([cochran_q(table).p_value < BATCH_EFFECT_P for table in tables]))
    assert shares[0] <= 0.15
    assert shares[1] >= 0.88


def test_under_ten_clusters_the_other_prior_stands_beside() -> None:
    right = np.array([9, 5, 10, 3, 8])
    values = np.concatenate([np.r_[np.ones(s), np.zeros(10 - s)] for s in right])
    row = estimate_scores(values, clusters=np.repeat(range(5), 10))
    params = params_of(row, "cluster-prior")
    # reference posteriors.json, first case, 2.5 and 97.5 %
    assert (params["low"], params["high"]) == pytest.approx((0.385, 0.863), abs=5e-4)
    assert not has(estimate_scores(np.tile(values, 2), clusters=np.repeat(range(10), 10)), "cluster-prior")


def group_logs(*sizes: int, weights: str) -> list[TaskLog]:
    rng = np.random.default_rng(5)
    logs = [task_log((rng.random(n) < 0.8).astype(float), task=f"t{i}") for i, n in enumerate(sizes)]
    means = [float(log.data[0].values.mean()) for log in logs]
    value = np.average(means, weights=sizes if weights == "size" else None)
    group = TaskLog(
        system="model",
        task="all",
        source=Source("toy.json", "lm-eval"),
        questions=logs[0].questions.__class__(()),
        data=(Scores("acc", "none", np.empty((0, 1))),),
        reported={("acc", "none"): HarnessResult(float(value))},
        subtasks=tuple(log.task for log in logs),
    )
    return [*logs, group]


def group_row(method: str, *sizes: int, weights: str = "size"):
    rows = estimate(group_logs(*sizes, weights=weights), Options(method=method))
    return next(row for row in rows if row.task == "all")


def test_the_weights_of_a_groups_tasks_are_printed_with_their_worth() -> None:
    # (10 + 20 + 70)^2 / (10^2 + 20^2 + 70^2) = 1.85
    row = group_row("bayes", 10, 20, 70)
    assert has(row, "task-weights-by-size", n_tasks=3)
    assert has(group_row("bayes", 10, 20, 70, weights="equal"), "equal-task-weights", n_tasks=3)


def test_tasks_as_a_sample_of_tasks_are_wider_than_exactly_these() -> None:
    sizes = (40,) * 6
    new, fixed = group_row("new-tasks", *sizes), group_row("group", *sizes)
    assert new.method == "new-tasks"
    assert new.value == pytest.approx(fixed.value)
    assert new.interval.width > fixed.interval.width
    assert has(new, "tasks-as-sample")
    assert has(new, "few-tasks", n_tasks=6)


def test_new_tasks_weights_the_means_of_tasks() -> None:
    from harness_uq.stats.effects.new_tasks import new_tasks_posterior

    logs = group_logs(10, 20, 70, weights="size")
    means = [log.data[0].values.mean() for log in logs[:-1]]
    expected = new_tasks_posterior(means, [10, 20, 70], 100).interval(0.95, "hdi")
    row = group_row("new-tasks", 10, 20, 70)
    assert (row.interval.low, row.interval.high) == pytest.approx(expected, abs=1e-8)


def test_new_tasks_refuses_single_tasks() -> None:
    row = estimate_scores([1, 0, 1], options=Options(method="new-tasks"))
    assert has(row, "group-required")


def test_the_warning_on_unknown_ranges_says_whether_a_tail_is_seen() -> None:
    """Calm scores are warned of too: a sample without the rare ones looks like them."""
    calm = estimate_scores([0.1, 1.9, 3.2, 1.1, 2.4, -0.7, 2.8, 0.5, 1.6, 2.1])
    tailed = estimate_scores([0.1, 0.2, 0.1, 0.4, 0.2, 0.1, 0.3, 0.2, 0.1, 9.0])
    assert has(calm, "possible-long-tail", n_units=10)
    assert has(tailed, "long-tail", n_units=10)


# ---------------------------------------------------------------- clusters


@dataclass(frozen=True)
class _Range:
    """The range of the scores as the interval."""

    info: MethodInfo
    name: str = "range"

    def why_unsupported(self, problem: Problem) -> None:
        return None

    def estimate(self, problem: Problem) -> Estimate:
        return MethodResult(0.5, Interval(0.0, 1.0, problem.level, "confidence"), 0.5).estimate(problem, self.name)


@pytest.mark.parametrize("uses_clusters", [True, False])
def test_only_methods_that_declare_it_are_said_to_use_clusters(uses_clusters: bool) -> None:
    method, installed = _Range(MethodInfo("Range", uses_clusters=uses_clusters)), load_plugins()
    plugins = replace(installed, estimators={**installed.estimators, "range": method})
    log = task_log([1, 1, 1, 1, 0, 0, 0, 1] * 8, fields={"passage": [i // 4 for i in range(64)]})
    (row,) = estimate(log, method="range", cluster="passage", plugins=plugins)
    assert has(row, "clusters-used") == uses_clusters
    assert (row.design_effect is not None) == uses_clusters


def test_clusters_are_not_used_for_exactly_these_questions() -> None:
    log = task_log(np.tile([[1, 0], [1, 1], [0, 0]], (20, 1)), fields={"passage": [i // 4 for i in range(60)]})
    (row,) = estimate(log, scope="benchmark", cluster="passage")
    assert row.interval is not None
    assert not has(row, "clusters-used")
