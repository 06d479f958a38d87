"""Colours and markers of systems, which figures and the HTML report share."""

from collections.abc import Iterable
from dataclasses import dataclass

# Okabe & Ito (2008) without yellow, which is too pale on white, and five colours that differ from these and from each
# other by at least 16 units of CIELAB, in normal vision and in the simulated vision of Machado et al. (2009) without
# red, green or blue cones
SYSTEM_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1a1a1a"),
    *("#8700F0", "#692D00", "#001E96", "#4B0F5A", "#9678FF"),
)
SYSTEM_MARKERS = ("o", "s", "D", "^", "v", "P")


@dataclass(frozen=True, slots=True)
class Mark:
    """Positions of the colour and of the marker of a system in `SYSTEM_COLOURS` and `SYSTEM_MARKERS`."""

    colour: int
    marker: int


def mark_of(k: int) -> Mark:
    """The mark of the system number `k`; those of the first 72 differ."""
    return Mark(k % len(SYSTEM_COLOURS), (k + k // len(SYSTEM_COLOURS)) % len(SYSTEM_MARKERS))


def system_marks(systems: Iterable[str]) -> dict[str, Mark]:
    """The mark of each system, by its place in alphabetical order, so that all figures of the same systems agree."""
    return {system: mark_of(k) for k, system in enumerate(sorted(set(systems)))}
