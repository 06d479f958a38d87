import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq_inspect.read.reducers import SINGLE_TRIAL_IDENTITIES, mean_of_trials, reducer_named

NAMES = ["mean", "median", "mode", "max", "majority", "at_least_2", "pass_at_2", "pass_k_2", "pass_at_1", "pass_k_3"]
MATRIX = np.array([[1, 1, 0, 0], [1, 0, 0, np.nan], [np.nan] * 4])


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("mean", [1 / 2, 1 / 3, np.nan]),
        ("median", [0.5, 0, np.nan]),
        ("mode", [1, 0, np.nan]),  # the first of several values that are equally common
        ("majority", [np.nan, np.nan, np.nan]),  # two of four are no majority
        ("max", [1, 1, np.nan]),
        ("at_least_2", [1, 0, np.nan]),
        ("pass_at_2", [1 - 1 / 6, 1 - 1 / 3, np.nan]),  # pairs without a correct trial: 1 of 6, 1 of 3
        ("pass_k_2", [1 / 6, 0, np.nan]),
        ("pass_at_4", [1, np.nan, np.nan]),  # undefined with fewer than k scored epochs
    ],
)
def test_reducers_agree_with_values_computed_by_hand(name, by_hand):
    np.testing.assert_allclose(reducer_named(name)(MATRIX), by_hand, atol=1e-12)


@pytest.mark.parametrize("name", ["collect", "top_5", "my_package/mine", "pass_at_", "at_least_x"])
def test_a_reducer_that_is_not_built_in_is_unknown(name):
    assert reducer_named(name) is None


@pytest.mark.parametrize("name", NAMES)
def test_reducers_without_effect_on_a_single_trial_are_listed(name):
    column = np.array([[0.3], [1.0], [0.0], [2.0]])
    assert (name in SINGLE_TRIAL_IDENTITIES) == np.array_equal(reducer_named(name)(column), column[:, 0])


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=4))
@pytest.mark.parametrize("name", NAMES)
def test_reducers_agree_with_inspects_own(inspect_scorer, name, rows):
    from inspect_ai.scorer._reducer.registry import create_reducers

    (theirs,) = create_reducers([name])
    expected = [theirs([inspect_scorer.Score(value=value) for value in row]).value for row in rows]
    np.testing.assert_allclose(reducer_named(name)(np.array(rows)), expected, atol=1e-12)


def test_a_mean_is_over_the_scored_trials_of_each_question():
    np.testing.assert_array_equal(mean_of_trials(np.array([[1.0, 0.0], [np.nan, 1.0]])), [0.5, 1.0])
