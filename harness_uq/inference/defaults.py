"""Select an estimator with a table of rules: the first matching rule applies, and states its reason.

`bayes` selects the default. `wilson`, `t` and `clt` name a family; the member depends on whether the scores are
clustered or repeated. Any other name selects exactly the estimator of that name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from harness_uq.data.estimands import ConfusionMetric, Mean, PassK, Statistic
from harness_uq.data.task_log import AggregateScore, TaskGroup
from harness_uq.io.plugins.protocols import Estimator, Problem
from harness_uq.messages.catalogue.estimation import UNKNOWN_METHOD
from harness_uq.messages.errors import HarnessUqError

FAMILIES: dict[str, tuple[str, str]] = {
    "wilson": ("wilson", "clustered-wilson"),
    "t": ("t", "clustered-t"),
    "clt": ("clt", "clustered-clt"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """An estimator to try, with the reason for choosing it.

    `reason`: reason for the choice, in one sentence.
    """

    estimator: Estimator
    reason: str


@dataclass(frozen=True, slots=True)
class _Shape:
    """The properties of a problem on which the rules depend."""

    score_type: str
    is_clustered: bool
    is_repeated: bool

    @classmethod
    def of(cls, problem: Problem) -> "_Shape":
        structure = problem.structure
        return cls(structure.score_type, structure.n_clusters is not None, structure.max_trials > 1)


def choices(problem: Problem, method: str, estimators: Mapping[str, Estimator]) -> list[Choice]:
    """Return the estimators to try in order; the first one that accepts the data is used. Raises HarnessUqError if no
    estimator has the name `method`.
    """
    if method == "bayes":
        names, reason = _default(problem)
    elif method in FAMILIES:
        shape = _Shape.of(problem)
        names = (FAMILIES[method][shape.is_clustered or shape.is_repeated],)
        reason = f"asked for: {method}"
    else:
        names, reason = (method,), f"asked for: {method}"
    unknown = [name for name in names if name not in estimators]
    if unknown:
        raise HarnessUqError(UNKNOWN_METHOD(method=unknown[0], known=method_names(estimators)))
    return [Choice(estimators[name], reason) for name in names]


def method_names(estimators: Mapping[str, Estimator]) -> list[str]:
    """Return all names that `choices` accepts, sorted."""
    return sorted({"bayes", *FAMILIES, *estimators})


def _default(problem: Problem) -> tuple[tuple[str, ...], str]:
    if problem.estimand.scope == "full":
        return ("full-benchmark",), "the run used part of the benchmark: posterior of the score on all of it"
    if isinstance(problem.data, AggregateScore):
        return ("totals", "reported-error"), "only totals are known"
    if isinstance(problem.data, TaskGroup):
        return ("group",), "several tasks: posterior of the weighted mean of their scores"
    match problem.estimand:
        case ConfusionMetric():
            return ("confusion",), "function of the confusion matrix: Dirichlet posterior on its cells"
        case Statistic():
            return ("bayesian-bootstrap",), "function of per-question sums: Bayesian bootstrap"
        case Mean(scope="benchmark"):
            return _benchmark_mean(_Shape.of(problem))
        case Mean() if problem.log.facts.n_watched is not None and problem.structure.bounds is not None:
            return ("confidence-sequence",), "a rule could end the run after any question: anytime-valid interval"
        case Mean():
            return _population_mean(_Shape.of(problem))
        case PassK(scope="benchmark"):
            return (
                "pass-k",
                "pass-k-unbiased",
            ), "exactly these questions: hierarchical posterior of their success rates"
        case _:
            return ("pass-k-unbiased",), "new questions: Dirichlet process on the questions' unbiased estimates"


def _population_mean(shape: _Shape) -> tuple[tuple[str, ...], str]:
    match shape:
        case _Shape("binary", False, False):
            return ("beta",), "independent questions, one trial each: Beta(1,1) posterior"
        case _Shape("binary", True, False):
            return ("clustered", "clustered-dp"), "questions share material: posterior of the plain score over clusters"
        case _Shape("binary", False, True):
            return (
                "clustered",
                "clustered-dp",
            ), "repeated trials: posterior of the plain score, each question a cluster"
        case _Shape("binary", True, True):
            return (
                "nested",
                "clustered-dp",
            ), "clusters of questions, each tried several times: posterior of the plain score"
        case _Shape("graded" | "bounded", False, False):
            return ("dirichlet-process",), "bounded scores, independent questions: Dirichlet-process posterior"
        case _Shape("graded" | "bounded", _, _):
            return ("clustered-dp",), "bounded scores in clusters or trials: Dirichlet-process posterior over clusters"
    return ("hall",), "scores without known bounds: Student t with Hall's correction for skewness"


def _benchmark_mean(shape: _Shape) -> tuple[tuple[str, ...], str]:
    if shape.score_type == "binary":
        return ("benchmark",), "exactly these questions: hierarchical posterior of their success rates"
    names, reason = _population_mean(shape)
    return names, f"{reason} (for scores other than 0 and 1 the wider population interval is used)"
