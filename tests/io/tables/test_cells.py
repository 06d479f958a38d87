"""Cells as scores and labels."""

import math

import numpy as np
import pytest

from harness_uq.io.tables.table import direction_of, label_of, score_of
from harness_uq.messages.errors import LogError

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize("cell", [None, "", "  ", "N/A", "nan", float("nan"), pd.NA, pd.NaT, np.float64("nan")])
def test_an_empty_score_is_unknown_and_not_wrong(cell: object) -> None:
    assert math.isnan(score_of(cell))


@pytest.mark.parametrize("cell", ["error", "0,5", "85%", "inf", float("inf"), 10**400, [1], b"1x", np.complex128(1)])
def test_what_is_no_finite_number_is_refused_with_its_text(cell: object) -> None:
    with pytest.raises(LogError, match=r"is not a (finite )?number"):
        score_of(cell)


def test_a_very_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(LogError) as refused:
        score_of("x" * 1_000_000)
    assert len(str(refused.value)) < 80


@pytest.mark.parametrize("cell", [7, 7.0, "7", np.int64(7), np.float64(7), " 7 "])
def test_whole_numbers_are_one_label_however_they_were_stored(cell: object) -> None:
    assert label_of(cell) == "7"


def test_a_direction_is_true_or_false() -> None:
    assert [direction_of(cell) for cell in ("True", 0)] == [True, False]
    with pytest.raises(LogError, match="neither true nor false"):
        direction_of("0.5")
