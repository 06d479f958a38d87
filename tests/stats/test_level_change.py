"""The alarm for a change of the score over runs, and evidence about single questions."""

import json

import numpy as np
import pytest
from scipy import integrate, stats

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.sequential import level_change as module
from harness_uq.stats.sequential.level_change import level_change
from harness_uq.stats.trials.question_changes import question_changes
from tests.conftest import ROOT


def runs(n_runs: int = 40, n: int = 300, change: int | None = None, drop: float = 0.1, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    p = rng.beta(1.0, 0.6, n)
    scores = rng.random((n_runs, n)) < p
    if change is not None:
        scores[change:] &= rng.random((n_runs - change, n)) >= drop
    return scores.astype(float)


def test_a_drop_is_reported_and_dated():
    found = level_change(runs(change=20))
    assert found.alarm is not None
    assert 20 <= found.alarm <= 26
    assert abs(found.start - 20) <= 1


def test_a_rise_is_reported_like_a_drop():
    scores = runs(change=20)
    mirrored = level_change(1 - scores)
    assert (mirrored.alarm, mirrored.start) == (level_change(scores).alarm, level_change(scores).start)
    assert mirrored.log_e == pytest.approx(level_change(scores).log_e)


def test_the_alarm_does_not_depend_on_later_runs():
    scores = runs(change=20)
    found = level_change(scores)
    until = level_change(scores[: found.alarm + 1])
    assert (until.alarm, until.start) == (found.alarm, found.start)
    assert level_change(scores[: found.alarm]).alarm is None
    assert found.log_e[: found.alarm + 1] == pytest.approx(until.log_e)


def test_equal_runs_show_no_change():
    scores = np.repeat(runs(n_runs=1), 30, axis=0)
    found = level_change(scores)
    assert found.alarm is None
    assert found.run_sd == 0.0
    assert (found.log_e <= 0).all()


def test_variation_between_runs_is_seldom_a_change():
    rng = np.random.default_rng(1)
    found = []
    for seed in range(30):
        scores = runs(n_runs=60, seed=seed)
        for row in scores:
            row[rng.random(300) < abs(rng.normal(0, 0.03))] = 0.0
        found.append(level_change(scores))
    assert sum(one.alarm is not None for one in found) <= 4
    assert np.median([one.run_sd for one in found]) > 0.005


def test_contrasts_have_the_variance_of_a_mean_and_are_uncorrelated():
    rng = np.random.default_rng(2)
    contrasts = np.array([module._contrasts(rng.normal(0, 2.0, 6)) for _ in range(20_000)])
    assert np.cov(contrasts.T) == pytest.approx(4 * np.eye(5), abs=0.15)


def test_the_factor_of_a_change_is_the_ratio_of_likelihoods():
    # reference: numerical integration over the change of the normal likelihood of the contrasts
    h, variance = np.array([0.3, -1.2, -0.8, -1.5]), 0.7
    log_factors = module._log_changes(h, variance)
    t = np.arange(2, 6)
    for k in t:
        shape = np.where(t >= k, (k - 1) / np.sqrt(t * (t - 1)), 0.0)
        factors = []
        for size in (1.5, 4.0):
            scale = size * variance**0.5

            def ratio(d: float, shape: np.ndarray = shape, scale: float = scale) -> float:
                logs = stats.norm.logpdf(h, d * shape, variance**0.5) - stats.norm.logpdf(h, 0, variance**0.5)
                return float(np.exp(logs.sum()) * stats.norm.pdf(d, 0, scale))

            factors.append(integrate.quad(ratio, -40, 40, limit=400)[0])
        prior = 31 / ((k + 29) * (k + 30))
        assert np.exp(log_factors[k - 2]) == pytest.approx(prior * np.mean(factors), rel=1e-6)
    priors = 31 / ((t + 29) * (t + 30))
    assert np.exp(log_factors[-1]) == pytest.approx(1 - priors.sum())


def test_trial_variance_is_that_of_the_binomial_trials():
    rng = np.random.default_rng(3)
    p = rng.beta(1.0, 0.6, 400)
    found = level_change(rng.random((200, 400)) < p)
    assert found.trial_sd == pytest.approx(np.sqrt((p * (1 - p)).mean() / 400), rel=0.05)


@pytest.mark.parametrize(
    ("scores", "error"),
    [
        (np.zeros(5), DataError),
        (np.full((3, 4), np.nan), DataError),
        (np.zeros((1, 4)), NotEstimableError),
        (np.zeros((4, 1)), NotEstimableError),
    ],
)
def test_what_cannot_be_analyzed_is_refused(scores, error):
    with pytest.raises(error):
        level_change(scores)


@pytest.mark.slow
def test_the_limit_holds_for_normal_contrasts():
    table = json.loads((ROOT / "benchmarks/results/history_limit.json").read_text())
    for cell in table["cells"]:
        for alpha, largest in cell["quantiles"].items():
            assert largest <= module._LIMIT / float(alpha)


def test_false_alarms_and_delays_of_sixty_runs():
    table = json.loads((ROOT / "benchmarks/results/history.json").read_text())
    highest = 0.05 + 2 * (0.05 * 0.95 / table["replications"]) ** 0.5
    unchanged = [cell for cell in table["cells"] if not cell["drop"]]
    assert len(unchanged) == 13
    assert all(cell["history"]["alarm"] <= highest for cell in unchanged)
    assert all(cell["nightly"]["alarm"] > 0.3 for cell in unchanged)
    delays = {
        (cell["n"], cell["kind"], cell["run_sd"]): cell["history"]["delay"] for cell in table["cells"] if cell["drop"]
    }
    assert delays[300, "mixed", 0.0] <= 6
    assert delays[300, "settled", 0.0] <= 2
    assert delays[1000, "mixed", 0.01] <= 4


def planted(seed: int) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """300 questions over 20 runs: 30 flaky ones, and 15 that fail from run 18 on."""
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(300) < 0.75, 0.98, 0.02)
    flaky = np.arange(300) < 30
    p[flaky] = rng.uniform(0.3, 0.7, 30)
    broken = (np.arange(300) >= 30) & (np.arange(300) < 45)
    p[broken] = 0.98
    later = np.where(broken, 0.05, p)
    counts = rng.binomial(17, p), np.full(300, 17), rng.binomial(3, later), np.full(300, 3)
    return counts, flaky, broken


def test_regressions_are_found_among_flaky_questions():
    true_positives = reported = planted_changes = flaky_found = flaky_reported = 0
    for seed in range(40):
        counts, flaky, broken = planted(seed)
        found = question_changes(*counts)
        changed = found.probability >= 0.9
        true_positives += (changed & broken).sum()
        reported += changed.sum()
        planted_changes += broken.sum()
        unstable = found.flakiness >= 0.25
        flaky_found += (unstable & flaky).sum()
        flaky_reported += unstable.sum()
    assert true_positives / reported > 0.95
    assert true_positives / planted_changes > 0.9
    assert flaky_found / flaky_reported > 0.9
    assert flaky_found / (40 * 30) > 0.95


def test_flakiness_of_many_runs_is_that_of_the_share():
    right, n = np.array([0, 200, 500, 1000]), np.full(4, 1000)
    found = question_changes(right, n, [0, 1, 1, 2], np.full(4, 2))
    share = right / n
    assert found.flakiness == pytest.approx(2 * share * (1 - share), abs=0.01)


def test_nothing_changes_without_runs_after():
    found = question_changes([3, 0, 5], [5, 5, 5], [0, 0, 0], [0, 0, 0])
    assert found.probability == pytest.approx([found.share] * 3)


@pytest.mark.parametrize("counts", [([6], [5], [0], [0]), ([-1], [5], [0], [0]), ([1, 1], [5], [0], [0])])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(DataError):
        question_changes(*counts)
