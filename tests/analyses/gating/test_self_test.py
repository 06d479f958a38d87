"""A gate tried on equals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from harness_uq import NotEstimableError, Options, TaskLog, self_test
from harness_uq.analyses.gating.self_test import Kind
from harness_uq.data.task_log import Source
from tests.data.toy import task_log

OPTIONS = Options(margin=0.0)


def repeated(n: int, trials: int, seed: int, **other: object) -> TaskLog:
    rng = np.random.default_rng(seed)
    rates = rng.beta(1, 1, n)
    return task_log((rng.random((n, trials)) < rates[:, None]).astype(float), **other)


def runs(n: int) -> list[TaskLog]:
    return [
        repeated(40, 1, seed, source=Source(f"runs/{seed}.json", "lm-eval", time=f"2026-01-{seed + 1:02}"))
        for seed in range(n)
    ]


def test_the_rate_has_clopper_and_pearson_s_interval() -> None:
    found = self_test(repeated(60, 4, 0), OPTIONS, n=50)
    assert (found.kind, found.n, found.alpha) == ("epochs", 50, pytest.approx(0.05))
    expected = stats.binomtest(found.n_failed, 50).proportion_ci(0.95, "exact")
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))
    assert found.is_within_alpha == (found.interval.low <= 0.05)


def test_the_same_seed_gives_the_same_gates() -> None:
    log = repeated(60, 4, 0)
    assert self_test(log, OPTIONS, n=20, seed=3) == self_test(log, OPTIONS, n=20, seed=3)


@pytest.mark.parametrize(
    ("logs", "kind"),
    [
        (runs(5), "runs"),
        (runs(4), "halves"),
        ([repeated(40, 2, 0)], "epochs"),
        ([repeated(40, 1, 0)], "halves"),
    ],
)
def test_the_first_kind_that_the_logs_allow_is_taken(logs: list[TaskLog], kind: Kind) -> None:
    assert self_test(logs, OPTIONS, n=4).kind == kind


def test_every_ordered_pair_of_runs_is_a_gate_once() -> None:
    found = self_test(runs(3), OPTIONS, kind="runs")
    assert found.n == 6


def test_a_run_without_all_tasks_is_no_side() -> None:
    whole, part = runs(2)
    logs = [whole, replace(whole, task="other"), part]
    with pytest.raises(NotEstimableError, match="no system has two runs of the same tasks"):
        self_test(logs, OPTIONS, kind="runs")


@pytest.mark.parametrize(
    ("log", "kind", "message"),
    [
        (repeated(40, 1, 0), "epochs", "tried twice or more"),
        (repeated(1, 1, 0), "halves", "scores of two questions"),
    ],
)
def test_a_kind_that_the_logs_do_not_allow_is_refused(log: TaskLog, kind: Kind, message: str) -> None:
    with pytest.raises(NotEstimableError, match=message):
        self_test(log, OPTIONS, kind=kind)


@pytest.mark.slow
def test_runs_that_do_differ_are_caught() -> None:
    """Three runs that are always right and three that never are, under one name: of 30 ordered pairs 9 are worse."""
    logs = [
        replace(log, data=(replace(log.data[0], values=np.full((40, 1), float(i % 2))),))
        for i, log in enumerate(runs(6))
    ]
    found = self_test(logs, OPTIONS, kind="runs")
    assert (found.n, found.n_failed) == (30, 9)
    assert not found.is_within_alpha


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["epochs", "halves"])
def test_equals_fail_no_more_often_than_promised(kind: Kind) -> None:
    """200 gates of two scores and the row over both; benchmarks/sim_gate.py makes 1,000 on real runs."""
    logs = [repeated(60, 4 if kind == "epochs" else 1, seed, task=f"t{seed}") for seed in range(2)]
    found = self_test(logs, OPTIONS, kind=kind, n=200)
    assert stats.binomtest(found.n_failed, found.n, found.alpha, alternative="greater").pvalue > 1e-3
    assert found.n_failed > 0
