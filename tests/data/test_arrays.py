"""Labels of any make become the same codes."""

import numpy as np
import pytest

from harness_uq.data.arrays import label_codes

LABELS = ["b", "a", "b", "N/A", "c", "", "a"]


@pytest.mark.parametrize("make", [list, np.array, lambda labels: np.array(labels, dtype=object)])
def test_labels_are_numbered_as_they_come_and_placeholders_are_unknown(make):
    np.testing.assert_array_equal(label_codes(make(LABELS), 7), [0, 1, 0, -1, 2, -1, 1])


def test_whole_numbers_are_labels():
    np.testing.assert_array_equal(label_codes(np.array([7, -3, 7, 0]), 4), [0, 1, 0, 2])


def test_a_masked_number_is_unknown():
    np.testing.assert_array_equal(label_codes(np.ma.array([7, 3, 7], mask=[False, True, False]), 3), [0, -1, 0])
