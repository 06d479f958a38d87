"""Groups of systems that data cannot separate, as letters: two share one exactly where they are not separated."""

import numpy as np
from numpy.typing import NDArray

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def group_letters(separated: NDArray[np.bool_]) -> list[str]:
    """Letters of each system.

    Parameters
    ----------
    separated : bool (n_systems, n_systems), symmetric; whether the data tell two systems apart

    Returns
    -------
    A text a system, such as `ab`; letters in the order of the systems. After `z` come `aa`, `ab`… joined by `.`

    Letters are cliques of systems that are not separated, and every such pair is in one. The smallest cover is NP-hard
    to find: this one grows a clique from each pair that none holds yet, by the system that adds most such pairs (Gramm
    et al. 2007, Comput. Stat. Data Anal. 52, 725-736). There are at most as many letters as pairs; where systems are
    separated exactly when their scores lie some distance apart, there are as few as can be.

    >>> group_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    columns = sorted(_cliques(~separated))
    names = [_name(k) for k in range(len(columns))]
    joint = "" if len(names) <= len(_ALPHABET) else "."
    members = [set(column) for column in columns]
    held = [[name for name, column in zip(names, members, strict=True) if i in column] for i in range(len(separated))]
    return [joint.join(letters) for letters in held]


def _cliques(alike: NDArray[np.bool_]) -> list[list[int]]:
    """Maximal cliques, members in order, that hold every system and every pair that is alike."""
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
    """A maximal clique around this one; of systems that add as many pairs that none holds, the first is taken."""
    clique = clique.copy()
    fits: NDArray[np.bool_] = np.all(alike[clique], axis=0)
    fits[clique] = False
    while fits.any():
        candidates = np.flatnonzero(fits)
        fresh = np.sum(~is_held[candidates[:, None], clique], axis=1)
        clique.append(int(candidates[np.argmax(fresh)]))
        fits &= alike[clique[-1]]
        fits[clique] = False
    return sorted(clique)


def _name(k: int) -> str:
    text = ""
    while True:
        k, rest = divmod(k, len(_ALPHABET))
        text = _ALPHABET[rest] + text
        if k == 0:
            return text
        k -= 1
