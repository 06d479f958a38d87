"""Targets that end an active evaluation before its last round."""

from dataclasses import dataclass
from math import isfinite

from harness_uq.errors import DataError
from harness_uq.results.estimate import Interval


@dataclass(frozen=True, slots=True)
class Target:
    """What the interval must achieve for the evaluation to end.

    Attributes
    ----------
    width : float or None
        Largest width of the interval.
    at_least : float or None
        Score that the interval must exclude, so that it is decided whether the system reaches it.
    level : float
        Nominal coverage of the interval.
    """

    width: float | None = None
    at_least: float | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.width is not None and not 0 < self.width < float("inf"):
            raise DataError(f"width must be a positive number; got {self.width}")
        if self.at_least is not None and not isfinite(self.at_least):
            raise DataError(f"at_least must be a number; got {self.at_least}")
        if not 0 < self.level < 1:
            raise DataError(f"level must lie strictly between 0 and 1, such as 0.95; got {self.level}")

    def check_range(self, low: float, high: float) -> None:
        """Check that scores from `low` to `high` can miss the target.

        Raises
        ------
        DataError
            If they cannot.
        """
        if self.width is not None and self.width >= high - low:
            raise DataError(f"width must be smaller than the range of the scores, {high - low:g}; got {self.width:g}")
        if self.at_least is not None and not low <= self.at_least <= high:
            raise DataError(f"at_least must be a score in [{low:g}, {high:g}]; got {self.at_least:g}")

    @property
    def is_set(self) -> bool:
        """Whether there is a target."""
        return self.width is not None or self.at_least is not None

    def is_met(self, interval: Interval) -> bool:
        """Whether the interval meets one of the targets."""
        is_narrow = self.width is not None and interval.width <= self.width
        return is_narrow or (self.at_least is not None and not interval.low <= self.at_least <= interval.high)
