"""A look at a run in the making."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """One score of one run at one moment.

    Attributes
    ----------
    system, task, metric, filter : what is evaluated
    n_scored : questions with a score
    n_counted : of these, the first in line up to one without; only they count
    n_planned : questions in all
    value : mean over those that count; None where none does
    low, high : interval, one of a sequence that holds together with probability `level`; None where there is none
    level : coverage
    why : why there is no interval, or what it takes for granted; empty where there is nothing to say
    """

    system: str
    task: str
    metric: str
    filter: str
    n_scored: int
    n_counted: int
    n_planned: int
    value: float | None
    low: float | None
    high: float | None
    level: float
    why: str

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form, schema 1."""
        return asdict(self)
