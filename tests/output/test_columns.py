import pytest

from harness_uq.output.words import interval as format_interval
from harness_uq.output.words import number as format_number
from harness_uq.results.estimate import Interval


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.5000"), (123456.7, "123,457"), (1e12, "1.000e+12"), (-9e307, "-9.000e+307")]
)
def test_large_numbers_are_written_with_an_exponent(value, text):
    assert format_number(value) == text


def test_ends_of_an_interval_too():
    assert format_interval(Interval(-1e200, 2.0, 0.95, "confidence")) == "[-1.000e+200, 2.0000]"
