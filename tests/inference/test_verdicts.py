"""The four verdicts, their boundaries and their sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq.inference.decisions import verdict_of
from harness_uq.inference.verdicts import VerdictInputs, next_step
from harness_uq.output.words import amount

TINY = 1e-9


def verdict(low: float, high: float, margin: float = 0.0) -> str:
    return verdict_of(VerdictInputs(low, high, "new", "old", margin=margin))[0]


def sentence(low: float, high: float, **other: object) -> str:
    return verdict_of(VerdictInputs(low, high, "new", "old", **other))[1]


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [
        (TINY, 0.1, 0.0, "better"),
        (0.0, 0.1, 0.0, "undecided"),
        (-0.1, -TINY, 0.0, "worse"),
        (-0.1, 0.0, 0.0, "undecided"),
        (-0.1, 0.1, 0.0, "undecided"),
        (0.02, 0.05, 0.01, "better"),
        (0.01, 0.05, 0.01, "better"),
        (0.001, 0.01, 0.01, "better"),
        (0.001, 0.01 - TINY, 0.01, "equivalent"),
        (-0.01 + TINY, 0.01 - TINY, 0.01, "equivalent"),
        (-0.01, 0.005, 0.01, "undecided"),
        (-0.05, 0.01 - TINY, 0.01, "undecided"),
        (-0.05, 0.01, 0.01, "undecided"),
        (-0.005, -0.001, 0.01, "equivalent"),
        (-0.05, -0.02, 0.01, "worse"),
        (-0.005, 0.02, 0.01, "undecided"),
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


def test_worse_names_the_winner() -> None:
    assert sentence(-0.061, -0.012) == "old is better than new, by 1.2 to 6.1 points."
    assert sentence(-0.061, -0.012, margin=0.01).endswith("more than the margin of 1 point.")


def test_not_better_by_more_than_the_margin_says_what_may_be_lost() -> None:
    text = sentence(-0.04, 0.005, margin=0.01)
    assert text == (
        "new is not better than old by more than the margin of 1 point; it may be worse by up to 4 points, "
        "so there is no reason to prefer it."
    )


def test_equivalent_says_what_to_choose_by() -> None:
    expected = "whatever difference there is, it is smaller than the margin of 1 point. Choose by cost, speed"
    assert expected in sentence(-0.004, 0.006, margin=0.01)
    assert "new is ahead, but by less than the margin" in sentence(0.001, 0.006, margin=0.01)
    assert "old is ahead, but by less than the margin" in sentence(-0.006, -0.001, margin=0.01)


def test_undecided_says_what_is_possible() -> None:
    assert "new may be up to 3.1 points better or 8.7 points worse" in sentence(-0.087, 0.031)


def step(**other: object) -> str:
    return next_step(VerdictInputs(-0.05, 0.03, "new", "old", detectable=0.08, **other))


def test_the_next_step_says_what_would_have_shown_and_how_many_questions_show_the_rest() -> None:
    assert step(seen=-0.02, n_questions=100, n_needed=1600) == (
        "With 80 % probability, such runs detect a true difference of 8 points; detecting the observed difference of "
        "2 points takes about 1,500 more questions."
    )
    assert "detecting the margin of 4 points takes about 300 more questions" in step(
        seen=-0.02, margin=0.04, n_questions=100, n_needed=400
    )


def test_a_number_of_questions_is_rounded_up_to_two_digits() -> None:
    assert VerdictInputs(-1, 1, "a", "b", seen=0.01, n_questions=100, n_needed=6400).n_more == 6300
    assert VerdictInputs(-1, 1, "a", "b", seen=0.01, n_questions=101, n_needed=6402).n_more == 6400
    assert VerdictInputs(-1, 1, "a", "b", seen=0.079, n_questions=3, n_needed=4).n_more == 1


@pytest.mark.parametrize("other", [{"seen": 0.0, "n_questions": 9}, {"seen": 0.01}, {"seen": 0.09, "n_questions": 9}])
def test_without_a_difference_to_look_for_or_a_number_the_next_step_names_the_command(other: dict[str, object]) -> None:
    assert step(**other).endswith("Smaller differences need more data; `harness-uq plan` computes how much.")


def test_undecided_says_that_a_is_at_least_not_worse() -> None:
    assert sentence(-0.005, 0.03, margin=0.01).startswith(
        "new is not worse than old by more than the margin of 1 point"
    )
    assert sentence(-0.01, 0.03, margin=0.01) == (
        "new may be up to 3 points better or 1 point worse than old: the data do not show which is better."
    )


def test_scores_outside_the_unit_interval_are_told_in_their_own_unit() -> None:
    assert sentence(0.5, 1.25, in_points=False) == "new is better than old, by 0.5 to 1.25."
    assert amount(0.0004, in_points=True) == "0.04 points"


@given(low=st.floats(-1, 1), width=st.floats(1e-6, 1), margin=st.one_of(st.just(0.0), st.floats(1e-4, 0.3)))
def test_swapping_the_systems_mirrors_the_verdict(low: float, width: float, margin: float) -> None:
    here, there = verdict(low, low + width, margin), verdict(-low - width, -low, margin)
    mirrored = {"better": "worse", "worse": "better"}
    assert there == mirrored.get(here, here)
