"""The rivals of the corrected judge are the published ones."""

import numpy as np
import pytest

from benchmarks.calibration.scenarios.labels import ppi_interval, rogan_gladen_interval
from harness_uq.messages.errors import NotEstimableError

NONE = float("nan")


def test_ppi_is_that_of_ppi_python() -> None:
    rng = np.random.default_rng(0)
    human = (rng.random(20_000) < 0.7) * 1.0
    judge = np.where(rng.random(20_000) < 0.8, human, 1 - human)
    labels = np.where(np.arange(20_000) < 4000, human, NONE)
    # ppi-python 0.2.3: ppi_mean_ci(human[:4000], judge[:4000], judge[4000:], alpha=0.05)
    assert ppi_interval(judge, labels, 0.95) == pytest.approx((0.69038082, 0.71455191), abs=1e-5)


def test_a_perfect_judge_leaves_rogan_and_gladen_the_plain_interval() -> None:
    judge = np.array([1.0] * 30 + [0.0] * 10)
    labels = np.where(np.arange(40) % 4 == 0, judge, NONE)
    half = 1.959964 * np.sqrt(0.75 * 0.25 / 40)
    assert rogan_gladen_interval(judge, labels, 0.95) == pytest.approx((0.75 - half, 0.75 + half), abs=1e-6)


def test_rogan_and_gladen_have_no_answer_where_all_labels_are_alike() -> None:
    with pytest.raises(NotEstimableError):
        rogan_gladen_interval(np.ones(5), np.array([1.0, 1.0, NONE, NONE, NONE]), 0.95)
