"""Compact letter display: two systems share a letter if and only if the data do not separate them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def group_letters(separated: NDArray[np.bool_]) -> list[str]:
    """Assign letters to each system.

    `separated`: bool (n_systems, n_systems), symmetric; whether the data separate two systems. Returns: One string per
    system, such as `ab`, with letters in the order of the systems. After `z` follow `aa`, `ab`…, joined by `.`.

    Each letter stands for a clique of systems that are not separated, and every pair that is not separated is in some
    clique. Finding the smallest such cover is NP-hard. This greedy algorithm starts a clique from each pair that is not
    yet covered and repeatedly adds the system that covers most such pairs (Gramm et al. 2007, Comput. Stat. Data Anal.
    52, 725-736). There are at most as many letters as pairs. If systems are separated exactly when their scores differ
    by more than a threshold, the cover is minimal.

    >>> group_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    columns = sorted(_cliques(~separated))
    names = [_name(k) for k in range(len(columns))]
    joint = "" if len(names) <= len(_ALPHABET) else "."
    members = [set(column) for column in columns]
    letter_sets = [
        [name for name, column in zip(names, members, strict=True) if i in column] for i in range(len(separated))
    ]
    return [joint.join(letters) for letters in letter_sets]


def tie_groups(low: ArrayLike, high: ArrayLike) -> list[str]:
    """Assign the same letter to systems whose ranges of ranks from `low` to `high` overlap.

    >>> tie_groups([1, 1, 3], [2, 3, 3])
    ['a', 'ab', 'b']
    """
    is_before = np.asarray(high)[:, None] < np.asarray(low)
    return group_letters(is_before | is_before.T)


def _cliques(alike: NDArray[np.bool_]) -> list[list[int]]:
    """Return maximal cliques, with sorted members, that cover every system and every pair that is not separated."""
    n = len(alike)
    cliques: list[list[int]] = []
    is_held: NDArray[np.bool_] = np.zeros((n, n), bool)
    for i, j in np.argwhere(np.triu(alike | np.eye(n, dtype=bool))).tolist():
        if not is_held[i, j]:
            clique = _grown(sorted({i, j}), alike, is_held)
            is_held[np.array(clique)[:, None], clique] = True
            cliques.append(clique)
    return cliques


def _grown(clique: list[int], alike: NDArray[np.bool_], is_held: NDArray[np.bool_]) -> list[int]:
    """Extend a clique until it is maximal; ties in the number of newly covered pairs go to the first system."""
    clique = clique.copy()
    fits: NDArray[np.bool_] = np.all(alike[clique], axis=0)
    fits[clique] = False
    fresh = np.sum(~is_held[clique], axis=0)  # pairs with the clique that no other clique covers
    while fits.any():
        added = int(np.where(fits, fresh, -1).argmax())
        clique.append(added)
        fits &= alike[added]
        fits[added] = False
        fresh += ~is_held[added]
    return sorted(clique)


def _name(k: int) -> str:
    text = ""
    while True:
        k, rest = divmod(k, len(_ALPHABET))
        text = _ALPHABET[rest] + text
        if k == 0:
            return text
        k -= 1
