"""Numbers and choices that depend on their keys alone: the same on every run, machine and Python version."""

from collections.abc import Sequence
from hashlib import sha256
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")


def uniform(*keys: object) -> float:
    """A number in (0, 1) made from the SHA-256 of the keys."""
    digest = sha256("/".join(map(str, keys)).encode()).digest()
    # 52 bits and a half fit a float exactly; with more the largest would round up to 1.0
    return (int.from_bytes(digest[:8], "big") // 2**12 + 0.5) / 2**52


def normal(*keys: object) -> float:
    """A standard normal number made from the keys."""
    return NormalDist().inv_cdf(uniform(*keys))


def pick(options: Sequence[T], *keys: object) -> T:
    """One of the options."""
    return options[int(uniform(*keys) * len(options))]


def shuffled(options: Sequence[T], *keys: object) -> list[T]:
    """The options in an order made from the keys."""
    return sorted(options, key=lambda option: uniform(*keys, option))
