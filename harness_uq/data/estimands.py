"""What is estimated: the quantity, and the population it is about.

`population` is the expected score on new questions from the population; `benchmark` the expected score on
exactly these questions, were each tried infinitely often; `full` the score on all questions of a benchmark
of which a run used a part.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from harness_uq.messages.errors import DataError, unknown_name

Scope = Literal["population", "benchmark", "full"]
PassKind = Literal["at", "hat", "g", "mg", "maj"]
EstimandKind = Literal["mean", "pass@k"]


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean score; `name` is that in reports, such as `pass@1` of an event in one trial, whose probability it is."""

    scope: Scope = "population"
    name: str = "mean"

    @property
    def label(self) -> str:
        """Name in reports."""
        return self.name


@dataclass(frozen=True, slots=True)
class PassK:
    """Probability of an event in `k` trials of a question, averaged over questions.

    `kind`: `at` (pass@k: at least one right; Chen et al. 2021), `hat` (pass^k: all right), `g` (G-pass@k: at least a
    share `tau` right), `mg` (mG-pass@k: 2/k times the sum of G-pass@k over the thresholds i/k, i = ceil(k/2) + 1 to k),
    `maj` (more than half).
    """

    kind: PassKind
    k: int
    tau: float | None = None
    scope: Scope = "population"

    @property
    def label(self) -> str:
        """Name in reports."""
        names = {"at": "pass@{}", "hat": "pass^{}", "g": "G-pass@{}", "mg": "mG-pass@{}", "maj": "maj@{}"}
        name = names[self.kind].format(self.k)
        return f"{name}:{self.tau:g}" if self.tau is not None else name

    @property
    def is_mean(self) -> bool:
        """Whether the estimand is the mean score: an event in one trial is a right answer."""
        return self.k == 1 and self.kind != "mg"


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    scope: Scope = "population"

    @property
    def label(self) -> str:
        """Name in reports."""
        return self.name


@dataclass(frozen=True, slots=True)
class ConfusionMetric(_Named):
    """A function of the confusion matrix, such as F1."""


@dataclass(frozen=True, slots=True)
class Statistic(_Named):
    """A function of the sums of per-question records, such as perplexity."""


Estimand: TypeAlias = Mean | PassK | ConfusionMetric | Statistic

_PASS_K = re.compile(r"(pass|g-pass|mg-pass|maj)([@^])(\d+)(?::(\d*\.?\d+))?", re.IGNORECASE)
_KINDS: dict[tuple[str, str], PassKind] = {
    ("pass", "@"): "at",
    ("pass", "^"): "hat",
    ("g-pass", "@"): "g",
    ("mg-pass", "@"): "mg",
    ("maj", "@"): "maj",
}


def parse_estimand(text: str, scope: Scope) -> Mean | PassK:
    """The estimand that `text` names: mean, pass@K, pass^K, G-pass@K:TAU, mG-pass@K or maj@K. Raises DataError if
    `text` is none of these, K is 0, or TAU no share of the trials.

    >>> parse_estimand("pass@4", "population").label
    'pass@4'
    """
    if text == "mean":
        return Mean(scope)
    match = _PASS_K.fullmatch(text)
    kind = _KINDS.get((match[1].lower(), match[2])) if match else None
    if match is None or kind is None or (kind == "g") != (match[4] is not None):
        estimands = ("mean", "pass@K", "pass^K", "G-pass@K:TAU", "mG-pass@K", "maj@K")
        raise DataError(unknown_name("estimand", text, estimands))
    k, tau = int(match[3]), float(match[4]) if match[4] else None
    if k < 1:
        raise DataError(f"Invalid estimand: {text!r}. K is a number of trials, 1 or more.")
    if tau is not None and not 0 < tau <= 1:
        raise DataError(f"TAU is the share of the K trials that must be right, above 0 and up to 1; got {text!r}")
    return PassK(kind, k, tau, scope)


def is_of_trials(label: str) -> bool:
    """Whether an estimand is an event in several trials of a question, by its label.

    >>> is_of_trials("pass@4"), is_of_trials("mean"), is_of_trials("f1")
    (True, False, False)
    """
    return _PASS_K.fullmatch(label) is not None


@dataclass(frozen=True, slots=True)
class MethodInfo:
    """Title, formula and sources of an interval method, and what it supports.

    Attributes
    ----------
    title : name of the method in words
    formula, text : formula and explanation as plain text, in which `<sub>` and `<sup>` are allowed
    sources : full references
    scopes : scopes that the interval refers to; in any other scope a note states that it is wider than necessary
    takes_groups : whether groups of tasks are supported
    uses_clusters : whether intervals account for the clusters of the questions; otherwise a warning states that they
        do not, if the questions have clusters
    estimands : estimands that the method supports: `mean`, and `pass@k`, which stands for every score of k trials
        (`problem.estimand` then is the requested one); others are refused

    Raises
    ------
    DataError : if there is no such estimand
    """

    title: str
    formula: str = ""
    text: str = ""
    sources: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ("population",)
    takes_groups: bool = False
    uses_clusters: bool = False
    estimands: tuple[EstimandKind, ...] = ("mean",)

    def __post_init__(self) -> None:
        for name in set(self.estimands) - set(get_args(EstimandKind)):
            raise DataError(unknown_name("estimand", name, get_args(EstimandKind)))
