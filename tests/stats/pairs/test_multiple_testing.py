"""Corrections for many tests, against statsmodels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from harness_uq.messages.errors import DataError
from harness_uq.stats.pairs.multiple_testing import adjust_p_values


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_p_values_agree_with_statsmodels(p: list[float]) -> None:
    assert adjust_p_values(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)
    assert adjust_p_values(p, "bh") == pytest.approx(multipletests(p, method="fdr_bh")[1], abs=1e-12)
    assert adjust_p_values(p, "bonferroni") == pytest.approx(multipletests(p, method="bonferroni")[1], abs=1e-12)


def test_adjustment_keeps_the_shape() -> None:
    p = np.array([[0.01, 0.2], [0.04, 0.03]])
    assert adjust_p_values(p).shape == adjust_p_values(p, "bh").shape == (2, 2)


def test_says_what_is_no_probability() -> None:
    with pytest.raises(DataError, match=r"lie in \[0, 1\]; got 1.2"):
        adjust_p_values([0.2, 1.2])
