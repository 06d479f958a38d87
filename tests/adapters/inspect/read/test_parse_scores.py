import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq_inspect.read.parse_scores import NoNumbers, Numbers, is_unscored, numbers, to_number


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *[("C", 1), ("I", 0), ("P", 0.5), ("N", 0), ("yes", 1), ("True", 1), ("NO", 0), ("false", 0)],
        *[(True, 1), (False, 0), (3, 3), (0.25, 0.25), ("8", 8), ("-1e3", -1000)],
    ],
)
def test_values_are_converted_like_by_inspect(value, number):
    assert to_number(value) == number


@pytest.mark.parametrize(
    "value", ["c", "B", "nan", "inf", "", "1 of 2", None, [1], {"a": 1}, pytest.param(10**400, id="400 digits")]
)
def test_values_that_inspect_converts_to_0_are_not_numbers(value):
    assert to_number(value) is None


@given(st.one_of(st.text(max_size=8), st.integers(), st.floats(), st.booleans(), st.sampled_from("CIPN")))
def test_numbers_agree_with_inspects_conversion(inspect_scorer, value):
    number = to_number(value)
    if number is not None:
        np.testing.assert_equal(number, inspect_scorer.value_to_float()(value))


def test_letters_declare_their_levels():
    assert numbers(["C", "I", None]).levels == (0.0, 1.0)
    assert numbers(["C", "P", math.nan]).levels == (0.0, 0.5, 1.0)
    assert numbers(["N", "I"]).levels == (0.0, 1.0)


@pytest.mark.parametrize("values", [[1, 0], ["1", "0"], ["C", 1], ["yes", "no"], [None], []])
def test_other_values_declare_no_levels(values):
    found = numbers(values)
    assert isinstance(found, Numbers)
    assert found.levels is None


def test_none_nan_and_infinity_are_cells_without_a_score():
    np.testing.assert_equal(numbers([1, None, math.nan, math.inf, 0]).values, [1, np.nan, np.nan, np.nan, 0])
    assert [is_unscored(value) for value in (None, math.nan, math.inf, 0, "nan")] == [True, True, True, False, False]


def test_categories_are_not_numbers_although_one_of_them_is_c():
    found = numbers(["A", "B", "C", "D", "C", None])
    assert isinstance(found, NoNumbers)
    assert found.reason == "categories, not numbers (A, B, C, D); a mean is not defined"


def test_only_some_of_many_categories_are_listed():
    assert numbers([f"label {i}" for i in range(9)]).reason.count("label") == 6


def test_lists_and_dictionaries_have_no_mean():
    assert "a list of values" in numbers([[1, 0], None]).reason
    assert "dictionary" in numbers([{"a": 1}]).reason
