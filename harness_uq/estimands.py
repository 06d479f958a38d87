"""What is estimated: the quantity, and the population it is about.

`population` is the score expected on new questions of the same kind; `benchmark` the score expected on
exactly these questions, were each tried infinitely often; `full` the score on all questions of a benchmark
of which a run used a part.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Scope = Literal["population", "benchmark", "full"]


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean score."""

    scope: Scope = "population"

    @property
    def label(self) -> str:
        """Name in reports."""
        return "mean"


@dataclass(frozen=True, slots=True)
class PassAtK:
    """Probability that at least one of `k` trials of a question is right (Chen et al. 2021)."""

    k: int
    scope: Scope = "population"

    @property
    def label(self) -> str:
        """Name in reports."""
        return f"pass@{self.k}"


@dataclass(frozen=True, slots=True)
class PassHatK:
    """Probability that all of `k` trials of a question are right."""

    k: int
    scope: Scope = "population"

    @property
    def label(self) -> str:
        """Name in reports."""
        return f"pass^{self.k}"


@dataclass(frozen=True, slots=True)
class GPassAtK:
    """Probability that at least a share `tau` of `k` trials of a question is right."""

    k: int
    tau: float
    scope: Scope = "population"

    @property
    def label(self) -> str:
        """Name in reports."""
        return f"G-pass@{self.k}({self.tau:g})"


@dataclass(frozen=True, slots=True)
class ConfusionMetric:
    """A function of the confusion matrix, such as F1."""

    name: str
    scope: Scope = "population"

    @property
    def label(self) -> str:
        """Name in reports."""
        return self.name


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of the sums of per-question records, such as perplexity."""

    name: str
    scope: Scope = "population"

    @property
    def label(self) -> str:
        """Name in reports."""
        return self.name


Estimand: TypeAlias = Mean | PassAtK | PassHatK | GPassAtK | ConfusionMetric | Statistic
