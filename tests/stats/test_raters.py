"""Disagreement of several raters."""

import numpy as np
import pytest

from harness_uq.stats.labels.raters import rater_disagreement


def test_the_variance_share_is_one_minus_the_intraclass_correlation():
    # Shrout and Fleiss (1979), Psychological Bulletin 86, tables 2 and 4 (six targets, four judges): ICC(1,1) = 0.17
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert 1 - rater_disagreement(ratings).variance_share == pytest.approx(0.17, abs=0.005)


def test_raters_who_agree_have_no_disagreement():
    found = rater_disagreement([[1, 1, 1], [0, 0], [1]])
    assert (found.n_answers, found.agreement, found.variance_share) == (2, 1.0, 0.0)


def test_independent_raters_disagree_as_much_as_answers_do():
    labels = np.random.default_rng(3).random((4000, 3)) < 0.5
    found = rater_disagreement(labels.astype(float))
    assert found.agreement == pytest.approx(0.5, abs=0.02)
    assert found.variance_share == pytest.approx(1, abs=0.03)


def test_without_shared_answers_there_is_no_disagreement():
    assert rater_disagreement([[1.0], [0.0]]) is None
