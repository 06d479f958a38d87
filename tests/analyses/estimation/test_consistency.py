"""Every default closes on the plain score as the data grow, whatever the distribution of difficulties."""

import numpy as np
import pytest

from harness_uq.analyses.estimate import estimate_scores
from harness_uq.data.structure import StructureOptions
from harness_uq.options import Options
from harness_uq.stats.effects.task_groups import group_posterior

SHAPES = {  # shares of questions and their success rates, none of them near a Beta
    "easy and hopeless": ((0.95, 0.97), (0.05, 0.0)),
    "spike and zero": ((0.7, 0.8), (0.3, 0.0)),
    "nine of ten at .95": ((0.9, 0.95), (0.1, 0.2)),
    "two halves": ((0.5, 0.97), (0.5, 0.1)),
    "nearly all known by heart": ((0.98, 0.998), (0.02, 0.0)),
    "three kinds": ((0.5, 1.0), (0.3, 0.5), (0.2, 0.0)),
}
UNIT = StructureOptions(ranges={"score": (0.0, 1.0)})
QUESTIONS, TRIALS = 2_000, 8


def trials_of(shape, n_trials=TRIALS):
    rng = np.random.default_rng(31)
    shares, rates = np.array(SHAPES[shape]).T
    rates = rng.choice(rates, size=QUESTIONS, p=shares)
    return (rng.random((QUESTIONS, n_trials)) < rates[:, None]).astype(float)


def assert_closes_on(value, low, high):
    assert abs((low + high) / 2 - value) < (high - low) / 4


DEFAULTS = {  # method: what it is given of 2,000 questions x 8 trials
    "beta": lambda y: (y[:, 0], None),
    "clustered": lambda y: (y, None),
    "clustered, passages": lambda y: (y.reshape(-1), np.repeat(np.arange(QUESTIONS), TRIALS)),
    "nested": lambda y: (y, np.arange(QUESTIONS) // 4),
    "dirichlet-process": lambda y: (y.mean(axis=1), None),
    "clustered-dp": lambda y: (y.mean(axis=1), np.arange(QUESTIONS) // 4),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("default", DEFAULTS)
def test_the_middle_of_every_default_is_within_a_quarter_of_its_width_of_the_plain_score(default, shape):
    values, clusters = DEFAULTS[default](trials_of(shape))
    row = estimate_scores(values, clusters=clusters, options=Options(structure=UNIT))
    assert row.method == default.partition(",")[0]
    assert_closes_on(row.value, row.interval.low, row.interval.high)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sizes", ["alike", "falling"])
def test_groups_of_tasks_close_on_their_weighted_mean(shape, sizes):
    right = np.sort(trials_of(shape, 50).sum(axis=1))[::40]
    asked = np.full(50, 50) if sizes == "alike" else np.linspace(400, 20, 50).round()
    rates = right / 50
    posterior = group_posterior((rates * asked).round(), asked)
    assert_closes_on(float(np.mean((rates * asked).round() / asked)), *posterior.interval(0.95, "hdi"))


@pytest.mark.parametrize("slope", [-1.0, 1.0])
def test_clusters_whose_size_tells_their_score_close_on_the_plain_score(slope):
    rng = np.random.default_rng(32)
    z = rng.normal(size=1_000)
    sizes = np.maximum(np.rint(6 * np.exp(0.7 * z)), 1).astype(int)
    clusters = np.repeat(np.arange(1_000), sizes)
    values = (rng.random(len(clusters)) < (1 / (1 + np.exp(-1 - slope * z)))[clusters]).astype(float)
    row = estimate_scores(values, clusters=clusters)
    assert row.method == "clustered"
    assert_closes_on(row.value, row.interval.low, row.interval.high)
