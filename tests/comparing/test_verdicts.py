"""The four verdicts, their boundaries and their sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq.comparing.verdicts import Evidence, amount, judge

TINY = 1e-9


def verdict(low: float, high: float, margin: float = 0.0) -> str:
    return judge(Evidence(low, high, "new", "old", margin=margin))[0]


def sentence(low: float, high: float, **other: object) -> str:
    return judge(Evidence(low, high, "new", "old", **other))[1]


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [
        (TINY, 0.1, 0.0, "better"),
        (0.0, 0.1, 0.0, "could not tell"),
        (-0.1, -TINY, 0.0, "not better"),
        (-0.1, 0.0, 0.0, "could not tell"),
        (-0.1, 0.1, 0.0, "could not tell"),
        (0.02, 0.05, 0.01, "better"),
        (0.01, 0.05, 0.01, "better"),
        (0.001, 0.01, 0.01, "better"),
        (0.001, 0.01 - TINY, 0.01, "too close to call"),
        (-0.01 + TINY, 0.01 - TINY, 0.01, "too close to call"),
        (-0.01, 0.005, 0.01, "not better"),
        (-0.05, 0.01 - TINY, 0.01, "not better"),
        (-0.05, 0.01, 0.01, "could not tell"),
        (-0.005, -0.001, 0.01, "too close to call"),
        (-0.05, -0.02, 0.01, "not better"),
        (-0.005, 0.02, 0.01, "could not tell"),
    ],
)
def test_each_verdict_begins_strictly_beyond_its_boundary(
    low: float, high: float, margin: float, expected: str
) -> None:
    assert verdict(low, high, margin) == expected


def test_better_says_by_how_much() -> None:
    assert sentence(0.012, 0.061) == "new is better than old, by 1.2 to 6.1 points."


def test_better_says_whether_by_more_than_the_margin() -> None:
    assert sentence(0.012, 0.061, margin=0.01).endswith("1.2 to 6.1 points: more than the margin of 1 point.")
    # the margin itself has not been passed
    assert sentence(0.01, 0.061, margin=0.01).endswith("whether by more than the margin of 1 point is open.")


def test_not_better_names_the_winner_where_there_is_one() -> None:
    assert sentence(-0.061, -0.012) == "old is better than new, by 1.2 to 6.1 points."
    assert sentence(-0.061, -0.012, margin=0.01).endswith("more than the margin of 1 point.")


def test_not_better_by_more_than_the_margin_says_what_may_be_lost() -> None:
    text = sentence(-0.04, 0.005, margin=0.01)
    assert text == (
        "new is not better than old by more than the margin of 1 point; it may be worse by up to 4 points. "
        "There is no reason here to prefer it."
    )


def test_too_close_says_what_to_choose_by() -> None:
    expected = "whatever difference there is, it is smaller than the margin of 1 point. Choose by cost, speed"
    assert expected in sentence(-0.004, 0.006, margin=0.01)
    assert "new is ahead, but by less than the margin" in sentence(0.001, 0.006, margin=0.01)
    assert "old is ahead, but by less than the margin" in sentence(-0.006, -0.001, margin=0.01)


def test_could_not_tell_says_what_would_have_shown_and_what_to_do() -> None:
    text = sentence(-0.087, 0.031, detectable=0.084)
    assert "new may be up to 3.1 points better or 8.7 points worse" in text
    assert "Only a difference of 8.4 points or more would have shown, in 80 of 100 such runs." in text
    assert "`harness-uq plan`" in text


def test_could_not_tell_says_that_a_is_at_least_not_worse() -> None:
    assert sentence(-0.005, 0.03, margin=0.01).startswith(
        "new is not worse than old by more than the margin of 1 point"
    )
    assert sentence(-0.01, 0.03, margin=0.01).startswith("These data could not tell new from old")


def test_scores_outside_the_unit_interval_are_told_in_their_own_unit() -> None:
    assert sentence(0.5, 1.25, in_points=False) == "new is better than old, by 0.5 to 1.25."
    assert amount(0.0004, in_points=True) == "0.04 points"


@given(low=st.floats(-1, 1), width=st.floats(1e-6, 1), margin=st.one_of(st.just(0.0), st.floats(1e-4, 0.3)))
def test_swapping_the_systems_mirrors_the_verdict(low: float, width: float, margin: float) -> None:
    here, there = verdict(low, low + width, margin), verdict(-low - width, -low, margin)
    mirrored = {"too close to call": {"too close to call"}, "better": {"not better"}}
    if here in mirrored:
        assert there in mirrored[here]
    else:
        # `not better` may mean worse, or only not better by the margin: then the other side is open
        assert there in {"better", "not better", "could not tell"}
