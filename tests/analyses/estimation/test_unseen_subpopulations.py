"""Questions of a kind that the sample does not hold."""

import numpy as np
import pytest

from harness_uq import Estimate, estimate_scores
from harness_uq.messages import Message
from tests.message_checks import find, params_of

EASY = np.tile([1, 1, 1, 1, 1, 1, 1, 0] + [1] * 24, (10, 1)).reshape(40, 8)


def said_of(estimate: Estimate) -> list[Message]:
    return find(estimate, "unseen-subpopulation")


def test_a_hopeless_kind_that_a_small_sample_may_lack_is_said_with_the_score_it_would_give():
    params = params_of(estimate_scores(EASY), "unseen-subpopulation")
    share = 1 - 0.05 ** (1 / 40)
    assert (params["n_questions"], params["outcome"]) == (40, "failed")
    assert params["share"] == pytest.approx(share)
    assert params["score"] == pytest.approx(EASY.mean() * (1 - share))


def test_hard_questions_are_the_mirror_of_easy_ones():
    params = params_of(estimate_scores(1 - EASY), "unseen-subpopulation")
    assert params["outcome"] == "succeeded"
    assert params["score"] == pytest.approx(1 - EASY.mean() * 0.05 ** (1 / 40))


def test_nothing_is_said_once_the_sample_holds_one():
    scores = EASY.copy()
    scores[7] = 0
    assert not said_of(estimate_scores(scores))


def test_nothing_is_said_where_the_interval_reaches_as_far():
    one_trial_each = EASY[:, :1]
    assert not said_of(estimate_scores(one_trial_each))
    even = np.random.default_rng(1).binomial(1, 0.5, (40, 8))
    assert not said_of(estimate_scores(even))


@pytest.mark.parametrize("scores", [np.tile(EASY, (50, 1)), EASY[:9]], ids=["many questions", "under ten"])
def test_nothing_is_said_of_very_many_or_very_few_questions(scores):
    assert not said_of(estimate_scores(scores))


def test_passages_of_questions_are_not_trials():
    passages = np.repeat(np.arange(40), 8)
    assert not said_of(estimate_scores(EASY.ravel(), clusters=passages))
