"""Letters of groups: few, and found in time that grows with the number of systems as a polynomial."""

import itertools

import numpy as np
import pytest

from harness_uq.inference.compact_letter_display import group_letters


def separated_pairs(n_systems: int, pairs: list[tuple[int, int]]) -> np.ndarray:
    separated = np.zeros((n_systems, n_systems), bool)
    for i, j in pairs:
        separated[i, j] = separated[j, i] = True
    return separated


def assert_letters_say(letters: list[list[str]], separated: np.ndarray) -> None:
    for i, j in itertools.combinations(range(len(separated)), 2):
        assert bool(set(letters[i]) & set(letters[j])) == (not separated[i, j]), (i, j)


@pytest.mark.parametrize("n_pairs", [11, 40])
def test_disjoint_separated_pairs_need_few_letters(n_pairs: int) -> None:
    # there are 2^n maximal sets of systems that are not separated: to list them all would never end
    separated = separated_pairs(2 * n_pairs, [(2 * k, 2 * k + 1) for k in range(n_pairs)])
    joint = group_letters(separated)
    letters = [text.split(".") for text in joint] if "." in joint[0] else [list(text) for text in joint]
    assert_letters_say(letters, separated)
    assert len({letter for found in letters for letter in found}) <= 2 * n_pairs


def test_systems_apart_by_a_distance_have_the_letters_of_their_overlapping_groups() -> None:
    place = np.array([0, 1, 2, 3, 4, 5])
    assert group_letters(np.abs(place[:, None] - place) > 2) == ["a", "ab", "abc", "bcd", "cd", "d"]


def test_a_system_apart_from_all_has_a_letter_of_its_own() -> None:
    assert group_letters(separated_pairs(3, [(0, 1), (1, 2)])) == ["a", "b", "a"]


def test_one_system_and_none() -> None:
    assert group_letters(np.zeros((1, 1), bool)) == ["a"]
    assert group_letters(np.zeros((0, 0), bool)) == []
