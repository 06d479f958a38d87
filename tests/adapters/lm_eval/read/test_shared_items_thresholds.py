"""Thresholds of the agreement at which running numbers identify shared items."""

import pytest

from tests.adapters.lm_eval.read.test_shared_items import ids, items


def are_joined(first: list[str], second: list[str]) -> bool:
    """Whether two tasks with equally many questions, numbered from 0, share their items."""
    numbers = ids(*range(len(first)))
    return items({"a": numbers, "b": numbers}, {"a": first, "b": second})["a"] != ()


@pytest.mark.parametrize(("n_yes", "joined"), [(35, True), (36, False), (48, False)])
def test_full_agreement_counts_where_it_lies_six_standard_errors_above_chance(n_yes: int, joined: bool) -> None:
    # if a share p of 50 targets is "yes", the agreement by chance is c = p^2 + (1 - p)^2, and z = sqrt(50 (1 - c) / c):
    # 6.02 for 35 of 50, 5.81 for 36 and 2.04 for 48
    targets = ["yes"] * n_yes + ["no"] * (50 - n_yes)
    assert are_joined(targets, targets) == joined


@pytest.mark.parametrize(("n_agreeing", "joined"), [(45, True), (44, False)])
def test_nine_in_ten_targets_must_agree(n_agreeing: int, joined: bool) -> None:
    targets = [str(i % 5) for i in range(50)]
    others = [target if i < n_agreeing else "other" for i, target in enumerate(targets)]
    assert are_joined(targets, others) == joined


@pytest.mark.parametrize(("n_shared", "joined"), [(10, True), (9, False)])
def test_half_of_the_identifiers_must_be_shared(n_shared: int, joined: bool) -> None:
    first = [f"x{7**i}" for i in range(20)]
    second = [name if i < n_shared else f"y{7**i}" for i, name in enumerate(first)]
    assert (items({"a": ids(*first), "b": ids(*second)})["a"] != ()) == joined


@pytest.mark.parametrize(("step", "joined"), [(10, False), (11, True)])
def test_identifiers_are_running_numbers_up_to_a_tenfold_range(step: int, joined: bool) -> None:
    # 20 identifiers between 0 and 195, or between 0 and 214
    labels = [f"x{int(i * (step + 0.3))}" for i in range(20)]
    assert (items({"a": ids(*labels), "b": ids(*labels)})["a"] != ()) == joined
