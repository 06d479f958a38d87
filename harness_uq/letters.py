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

    Piepho (2004), J. Comput. Graph. Stat. 13, 456-466: insert a separated pair by splitting every column that holds
    both, then drop columns contained in others.

    >>> group_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    n = len(separated)
    columns = {(1 << n) - 1}
    for i in range(n):
        for j in np.flatnonzero(separated[i, i + 1 :]) + i + 1:
            columns = _split(columns, 1 << i, 1 << int(j))
    ordered = sorted(columns, key=lambda column: _members(column, n))
    names = [_name(k) for k in range(len(ordered))]
    joint = "" if len(names) <= len(_ALPHABET) else "."
    return [joint.join(name for name, column in zip(names, ordered, strict=True) if column >> i & 1) for i in range(n)]


def _split(columns: set[int], first: int, second: int) -> set[int]:
    holding = {column for column in columns if column & first and column & second}
    if not holding:
        return columns
    kept = columns - holding
    fresh = {column & ~bit for column in holding for bit in (first, second)}
    candidates = sorted(fresh, key=int.bit_count, reverse=True)
    for column in candidates:
        if not any(column & ~other == 0 for other in kept):
            kept = {*kept, column}
    return kept


def _members(column: int, n: int) -> list[int]:
    return [i for i in range(n) if column >> i & 1]


def _name(k: int) -> str:
    text = ""
    while True:
        k, rest = divmod(k, len(_ALPHABET))
        text = _ALPHABET[rest] + text
        if k == 0:
            return text
        k -= 1
