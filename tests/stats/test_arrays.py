"""Every public function of `stats` reads arrays of any make right, or refuses them by the argument's name."""

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq import DataError, stats
from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.common.validate_arrays import as_floats

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

Call = dict[str, Any]

RIGHT = [1, 0, 1, 1, 0, 1, 1, 0]
OTHER = [1, 1, 0, 1, 0, 0, 1, 0]
GRADED = [0.5, 0.25, 1.0, 0.75, 0.0, 1.0, 0.5, 0.25]
LABELS = ["a", "a", "b", "b", "c", "c", "d", "d"]
SYSTEMS = [RIGHT, OTHER]
TRIALS = [[1, 0, 1], [1, 1, 1], [0, 0, 1], [0, 1, 0]]
COUNTS: Call = {"successes": [2, 3, 1, 1, 0], "trials": [3, 3, 3, 3, 3]}
CLASSES: Call = {"targets": [0, 1, 2, 0, 1, 2, 0, 1], "predictions": [0, 1, 1, 0, -1, 2, 1, 1]}
FACTORS = {"question": [1, 1, 2, 2, 3, 3, 4, 4], "seed": [1, 2, 1, 2, 1, 2, 1, 2]}
GRADES: Call = {"judge": RIGHT, "human": GRADED, "clusters": LABELS, "probabilities": [0.5] * 8}
BETA = stats.BetaPosterior(7, 4)


def seeded() -> np.random.Generator:
    return np.random.default_rng(1)


CALLS: dict[str, Call] = {
    "adjust_p_values": {"p_values": [0.25, 0.5, 0.125]},
    "avg_at_n": {"outcomes": TRIALS, "weights": [0.0, 1.0]},
    "bayes_at_n": {"outcomes": TRIALS, "weights": [0.0, 1.0], "prior_outcomes": TRIALS},
    "bayes_at_n_posterior": {"outcomes": TRIALS, "weights": [0.0, 1.0], "prior_outcomes": TRIALS},
    "bayesian_bootstrap": {"statistics": GRADED, "statistic": "mean", "clusters": LABELS, "n_draws": 50},
    "benchmark_posterior": {**COUNTS, "model": "pooled"},
    "beta_posterior": {"successes": 3, "trials": 4},
    "beta_shape_test": COUNTS,
    "binomial_interval": COUNTS,
    "bounded_posterior": {"scores": GRADED, "low": 0, "high": 1},
    "cluster_robust": {"scores": GRADED, "clusters": LABELS, "weights": [1, 2, 1, 1, 3, 1, 1, 1]},
    "cluster_totals": {"scores": GRADED, "clusters": LABELS},
    "clustered_bounded_posterior": {"totals": [2, 1, 0], "sizes": [2, 3, 1]},
    "clustered_confusion_posterior": {"targets": RIGHT, "predictions": OTHER, "clusters": LABELS},
    "clustered_importance_posterior": {"successes": [2, 3, 1], "sizes": [3, 3, 4]},
    "clustered_multiclass_posterior": {**CLASSES, "clusters": LABELS, "n_draws": 50},
    "clustered_score_posterior": {"successes": [2, 3, 1], "sizes": [3, 3, 4], "weights": [1, 2, 1]},
    "crossed_posterior": {"scores": RIGHT, "factors": FACTORS},
    "clustered_posterior": {"successes": [2, 3, 1], "sizes": [3, 3, 4]},
    "cochran_q": {"values": TRIALS},
    "confidence_sequence": {"scores": GRADED, "clusters": LABELS},
    "confusion_matrix": CLASSES,
    "confusion_posterior": {"tp": 5, "fp": 2, "fn": 3, "tn": 4},
    "confusion_score": {"tp": [5, 1], "fp": [2, 1], "fn": [3, 1], "tn": [4, 1]},
    "corpus_statistic": {"statistics": GRADED, "statistic": "mean"},
    "detection_power": {"effect": [0.5, 0.25], "n_questions": [10, 20], "variance": [1, 2]},
    "difference_posterior": {"posterior_a": BETA, "posterior_b": BETA},
    "draw_additional": {
        "scores": [1.0, 0.5, np.nan, np.nan],
        "n": 1,
        "history": [[1, 0.5, 0, 1], [0.5, 0.5, 1, 1]],
        "probabilities": [0.5] * 4,
    },
    "draw_subset": {"n_questions": 4, "n": 2, "history": [[1, 0.5, 0, 1], [0.5, 0.5, 1, 1]], "design": "informative"},
    "effective_weights": {"weights": [1, 2, 1]},
    "expected_width": {"n_questions": [10, 20], "variance": [1, 2], "design_effect": [1, 2]},
    "finite_population_posterior": {"successes": 3, "trials": 4, "population": 9},
    "g_pass_at_k": {"outcomes": TRIALS, "k": 2, "tau": 0.5},
    "grader_errors": {"judge": RIGHT, "human": OTHER},
    "one_sided_correction": {
        "judge_a": [1, 0, 0, 1] * 30,
        "judge_b": [1, 1, 0, 1] * 30,
        "human_a": [1, 0, 0, 1] * 30,
        "clusters": ["a", "b", "c", "d", "e"] * 24,
        "n_draws": 50,
    },
    "group_posterior": {**COUNTS, "weights": [1, 2, 1, 1, 1]},
    "judge_corrected_difference": {
        "judge_a": RIGHT,
        "judge_b": OTHER,
        "human_a": GRADED,
        "human_b": RIGHT,
        "clusters": LABELS,
        "probabilities": [0.5] * 8,
        "n_draws": 50,
    },
    "judge_corrected_posterior": {**GRADES, "n_draws": 50},
    "assess_judge": GRADES,
    "identical_trials": {"values": TRIALS},
    "joint_draws": {
        "scores": SYSTEMS,
        "low": 0,
        "high": 1,
        "clusters": LABELS,
        "n_draws": 50,
    },
    "korn_graubard_wilson": {"scores": GRADED, "clusters": LABELS, "weights": [1, 2, 1, 1, 3, 1, 1, 1]},
    "maj_at_k": {"outcomes": TRIALS, "k": 2},
    "mcnemar_test": {"table": [3, 2, 1, 4]},
    "mg_pass_at_k": {"outcomes": TRIALS, "k": 2},
    "minimum_detectable_effect": {"n_questions": [10, 20], "variance": [1, 2]},
    "missing_bounds": {"values": TRIALS, "low": 0, "high": 1},
    "multiclass_posterior": {"matrix": [[3, 1, 0], [0, 4, 0], [0, 0, 2]], "n_draws": 50},
    "multiclass_score": {"matrix": [[3, 1, 0], [0, 4, 0], [0, 0, 2]]},
    "nested_score_posterior": {"successes": [2, 3, 1, 0], "trials": [3, 3, 3, 3], "clusters": ["a", "a", "b", "b"]},
    "new_tasks_posterior": {"means": GRADED, "weights": [1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 2.0], "n_questions": 80},
    "paired_difference_posterior": {
        "differences": GRADED,
        "low": 0,
        "high": 1,
        "clusters": LABELS,
        "weights": [1, 2, 1, 1, 3, 1, 1, 1],
    },
    "partial_overlap": {"shared_a": GRADED, "shared_b": RIGHT, "own_a": [0.5, 1.0], "own_b": [0.25]},
    "noninferiority_test": {"table": [3, 2, 1, 4], "margin": 0.1},
    "weighted_tasks_interval": {
        "values": [0.5, 0.75],
        "lows": [0.25, 0.5],
        "highs": [0.75, 1.0],
        "weights": [1.0, 2.0],
    },
    "paired_posterior": {"table": [3, 2, 1, 4], "model": "dirichlet"},
    "paired_confidence_sequence": {"scores_a": GRADED, "scores_b": RIGHT, "clusters": LABELS},
    "paired_t": {"differences": GRADED},
    "paired_variance": {
        "omega2": [1, 2],
        "sigma2_a": [1, 2],
        "sigma2_b": [1, 2],
        "trials_a": [1, 2],
        "trials_b": [1, 2],
        "design_effect": [1, 2],
    },
    "pass_at_k": {"outcomes": TRIALS, "k": 2},
    "pass_hat_k": {"outcomes": TRIALS, "k": 2},
    "pass_k_posterior": {**COUNTS, "k": 2, "scope": "benchmark"},
    "predict_width": {"pilot": BETA, "ratio": 2},
    "rank_posterior": {"draws": [[0.5, 0.25, 0.75], [0.25, 0.5, 1.0]]},
    "rank_sets": {"scores": SYSTEMS, "clusters": LABELS, "bounds": (0, 1)},
    "required_questions": {"effect": [0.5, 0.25], "variance": [1, 2]},
    "resampled": {"n_records": 8, "evaluate": np.mean, "clusters": LABELS, "n_draws": 50},
    "remaining_mean_posterior": {"scores": GRADED, "n_rest": 5, "low": 0, "high": 1, "clusters": LABELS},
    "pairing_gain": {"scores_a": GRADED, "scores_b": RIGHT},
    "shared_items_posterior": {
        "scores": GRADED,
        "tasks": LABELS,
        "items": [1, 2, 1, 2, 1, 2, 1, 2],
        "weights": [1, 2, 1, 1],
    },
    "hall_mean": {"scores": GRADED, "clusters": LABELS},
    "subset_estimate": {"scores": GRADED, "probabilities": [0.5] * 8, "history": SYSTEMS},
    "student_posterior": {"scores": GRADED},
    "tied_ranks": {"means": [0.5, 0.25, 0.75], "sds": [0.25, 0.125, 0.25]},
    "unbiased_pass_k_posterior": {**COUNTS, "k": 1, "clusters": ["a", "a", "b", "b", "c"]},
    "variance_components": {"values": TRIALS},
}

PUBLIC = [name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))]
OF_LABELS = {"clusters", "groups", "systems", "tasks", "items", "questions", "answers"}
ARRAYS = [(name, arg) for name, call in CALLS.items() for arg, value in call.items() if isinstance(value, list)]
NUMBERS = [case for case in ARRAYS if case[1] not in OF_LABELS]
LABELLED = [case for case in ARRAYS if case[1] in OF_LABELS]


def run(name: str, **changed: Any) -> list[float]:
    """The call of the table with some arguments changed; what it says, in numbers."""
    function = getattr(stats, name)
    rng = {"rng": seeded()} if "rng" in inspect.signature(function).parameters else {}
    return list(told(function(**{**rng, **CALLS[name], **changed})))


@cache
def as_in_the_table(name: str) -> list[float]:
    return run(name)


def step(name: str) -> int:
    """Functions that take a while are tried on every fourth make."""
    costly = ("nested_", "clustered_importance_", "clustered_confusion_", "confidence_", "paired_confidence_sequence")
    return 4 if name.startswith(costly) else 1


def told(result: Any) -> Iterator[float]:
    if isinstance(result, stats.Posterior):
        result = [result.mean, result.sd, result.quantile([0.1, 0.9])]
    elif dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result) if field.name not in OF_LABELS]
    elif hasattr(result, "__dict__") and not isinstance(result, np.ndarray):
        result = list(vars(result).values())
    if isinstance(result, list | tuple):
        for part in result:
            yield from told(part)
    elif isinstance(result, bool | int | float | np.ndarray | np.generic):
        yield from np.ravel(np.asarray(result, float)).tolist()


def outcome(name: str, **changed: Any) -> list[float] | type[Exception]:
    try:
        return run(name, **changed)
    except (DataError, NotEstimableError) as error:
        return type(error)


def test_every_public_function_is_in_the_table() -> None:
    assert sorted(CALLS) == sorted(PUBLIC)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_call_of_the_table_gives_numbers(name: str) -> None:
    assert not np.isnan(as_in_the_table(name)).any()


SAME: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "array": np.array,
    "float32": lambda x: np.array(x, np.float32),
    "big-endian": lambda x: np.array(x, ">f8"),
    "objects": lambda x: np.array(x, object),
    "masked": lambda x: np.ma.masked_array(np.array(x), mask=False),
    "every second": lambda x: np.repeat(np.array(x), 2, axis=0)[::2],
    "pandas": lambda x: (
        pd.Series(x, index=range(len(x), 0, -1)) if np.ndim(x) == 1 else pd.DataFrame(x, index=x[0][:1] * len(x))
    ),
    "polars": lambda x: pl.Series(x) if np.ndim(x) == 1 else pl.DataFrame(x, orient="row"),
    "list of columns": lambda x: [pd.Series(row, index=range(len(row), 0, -1)) if np.ndim(row) else row for row in x],
    "list of masked": lambda x: [np.ma.masked_array(row, mask=False) if np.ndim(row) else row for row in x],
}


def is_whole(values: list[Any], highest: int) -> bool:
    flat = np.ravel(values)
    return bool((flat % 1 == 0).all() and (flat >= 0).all() and (flat <= highest).all())


@pytest.mark.parametrize(("name", "arg"), NUMBERS)
def test_every_make_of_numbers_gives_the_same(name: str, arg: str) -> None:
    given, expected = CALLS[name][arg], as_in_the_table(name)
    makes = dict(SAME)
    if is_whole(given, 255):
        makes["uint8"] = lambda x: np.array(x, np.uint8)
        makes["Int64"] = lambda x: pd.array(x, dtype="Int64") if np.ndim(x) == 1 else np.array(x, np.int8)
    if is_whole(given, 1):
        makes["bools"] = lambda x: np.array(x, bool).tolist()
    for make, of in list(makes.items())[:: step(name)]:
        assert run(name, **{arg: of(given)}) == pytest.approx(expected, rel=1e-6), make


@pytest.mark.parametrize(("name", "arg"), LABELLED)
def test_every_make_of_labels_gives_the_same(name: str, arg: str) -> None:
    given, expected = CALLS[name][arg], as_in_the_table(name)
    makes = [np.array(given), np.array(given, object), np.ma.masked_array(given, mask=False)]
    if np.ndim(given) == 1:
        makes += [pd.Series(given, index=range(len(given), 0, -1)), pd.Categorical(given), pl.Series(given)]
    numbered = np.unique(given, return_inverse=True)[1].reshape(np.shape(given))
    for make in [*makes, numbered, numbered.tolist(), numbered.astype(np.float32)][:: step(name)]:
        assert run(name, **{arg: make}) == pytest.approx(expected)


def with_first(values: list[Any], entry: object) -> list[Any]:
    """The same list with another first entry."""
    return [with_first(values[0], entry) if isinstance(values[0], list) else entry, *values[1:]]


def masked(values: list[Any]) -> np.ma.MaskedArray:
    return np.ma.masked_array(np.array(values, float), mask=with_first(np.zeros(np.shape(values), bool).tolist(), True))


@pytest.mark.parametrize(("name", "arg"), NUMBERS)
def test_what_is_missing_is_missing_in_every_make(name: str, arg: str) -> None:
    given = CALLS[name][arg]
    expected = outcome(name, **{arg: with_first(given, float("nan"))})
    makes = [with_first(given, None), masked(given), with_first(given, pd.NA)]
    if np.ndim(given) == 1:
        makes += [pd.Series(with_first(given, None)), pd.array(with_first(given, None), dtype="Float64")]
        makes += [pl.Series(with_first(given, None))]
    for make in makes[:: step(name)]:
        np.testing.assert_equal(outcome(name, **{arg: make}), expected)


BAD: dict[str, Callable[[list[Any]], Any]] = {
    "NaN": lambda x: with_first(x, float("nan")),
    "inf": lambda x: with_first(x, float("inf")),
    "-inf": lambda x: with_first(x, -float("inf")),
    "all NaN": lambda x: np.full(np.shape(x), np.nan),
    "negative": lambda x: with_first(x, -1),
    "fraction": lambda x: with_first(x, 0.3),
    "1e300": lambda x: with_first(x, 1e300),
    "10^15": lambda x: with_first(x, 10**15),
    "10^30": lambda x: with_first(x, 10**30),
    "10^400": lambda x: with_first(x, 10**400),
    "text": lambda x: with_first(x, "right"),
    "number as text": lambda x: np.array(with_first(x, "1"), object),
    "complex": lambda x: with_first(x, 1j),
    "list": lambda x: with_first(x, [1, 0]),
    "dictionary": lambda x: with_first(x, {}),
    "dates": lambda x: np.full(np.shape(x), np.datetime64("2020-01-01")),
    "empty": lambda x: [],
    "no columns": lambda x: np.empty((len(x), 0)),
    "no rows": lambda x: np.empty((0, 3)),
    "scalar": lambda x: 1,
    "none": lambda x: np.array(None),
    "one less": lambda x: x[1:],
    "one more": lambda x: [*x, x[0]],
    "one": lambda x: x[:1],
    "column": lambda x: np.array(x)[:, None],
    "row": lambda x: np.array(x)[None],
    "cube": lambda x: np.array(x)[None, None],
    "zeros": lambda x: np.zeros(np.shape(x)),
    "ones": lambda x: np.ones(np.shape(x)),
}


@pytest.mark.parametrize(("name", "arg"), NUMBERS)
def test_what_cannot_be_read_is_refused_by_name(name: str, arg: str) -> None:
    problems = []
    for kind, of in BAD.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            problems += problem(name, arg, kind, of(CALLS[name][arg]))
    assert problems == []


def problem(name: str, arg: str, kind: str, value: Any) -> list[str]:
    try:
        said = run(name, **{arg: value})
    except NotEstimableError:
        return []
    except DataError as error:
        stems = [part.removesuffix("_a").removesuffix("_b").rstrip("s") for part in (arg, *CALLS[name])]
        stems += ["on [", "counts"] if arg in ("low", "high") else []
        return [] if any(stem in str(error) for stem in stems) else [f"{kind}: no argument named in {error}"]
    except Exception as error:
        return [f"{kind}: {type(error).__name__}: {error}"]
    return [f"{kind}: says NaN"] if np.isnan(said).any() else []


BAD_NUMBERS: dict[str, Any] = {
    "None": None,
    "text": "x",
    "number as text": "1",
    "NaN": float("nan"),
    "inf": float("inf"),
    "-inf": -float("inf"),
    "-1": -1,
    "0": 0,
    "fraction": 0.5,
    "2.5": 2.5,
    "10^15": 10**15,
    "10^400": 10**400,
    "True": True,
    "complex": 1j,
    "list": [1, 2],
    "empty": [],
    "object": object(),
}
BAD_TEXTS: dict[str, Any] = {"None": None, "text": "no such", "number": 1, "list": ["a"], "object": object(), "": ""}
BAD_PAIRS: dict[str, Any] = {
    "None": None,
    "one": (1,),
    "three": (0, 1, 2),
    "text": ("a", "b"),
    "NaN": (float("nan"), 1),
    "number": 1,
    "reversed": (1, 0),
    "inf": (0, float("inf")),
    "list": [1, 2],
}
BAD_GENERATORS: dict[str, Any] = {"text": "x", "seed": 1, "list": [], "object": object(), "module": np.random}


def scalars() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Function, argument and what to put in its place, where the argument is one number, text, pair or generator."""
    for name in sorted(CALLS):
        for arg, parameter in inspect.signature(getattr(stats, name)).parameters.items():
            value, kind = CALLS[name].get(arg, parameter.default), str(parameter.annotation)
            if arg == "rng":
                bad = BAD_GENERATORS
            elif isinstance(value, str):
                bad = BAD_TEXTS
            elif isinstance(value, bool | int | float) or (value is None and ("float |" in kind or "int |" in kind)):
                bad = BAD_NUMBERS
            elif isinstance(value, tuple) and arg in ("prior", "bounds"):
                bad = BAD_PAIRS
            else:
                continue
            yield (
                name,
                arg,
                {kind: one for kind, one in bad.items() if one is not None or parameter.default is not None},
            )


SCALARS = list(scalars())


def test_there_are_as_many_scalars_as_there_were() -> None:
    assert len(SCALARS) >= 135


@pytest.mark.parametrize(("name", "arg", "bad"), SCALARS, ids=[f"{name}-{arg}" for name, arg, _ in SCALARS])
def test_a_scalar_that_makes_no_sense_is_refused_by_name(name: str, arg: str, bad: dict[str, Any]) -> None:
    problems = []
    for kind, value in bad.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            problems += problem(name, arg, kind, value)
    assert problems == []


BAD_LABELS: dict[str, Callable[[list[Any]], Any]] = {
    "None": lambda x: with_first(x, None),
    "NaN": lambda x: with_first(np.unique(x, return_inverse=True)[1].reshape(np.shape(x)).tolist(), float("nan")),
    "masked": lambda x: np.ma.masked_array(x, mask=with_first(np.zeros(np.shape(x), bool).tolist(), True)),
    "NA": lambda x: np.array(with_first(x, pd.NA), object),
    "dictionary": lambda x: with_first(x, {}),
    "empty": lambda x: [],
    "one less": lambda x: x[1:],
    "one more": lambda x: [*x, x[0]],
    "row": lambda x: np.array(x)[None],
    "scalar": lambda x: "a",
}


@pytest.mark.parametrize(("name", "arg"), LABELLED)
def test_labels_that_are_none_are_refused_by_name(name: str, arg: str) -> None:
    refused = {kind: refusal(name, arg, of(CALLS[name][arg])) for kind, of in BAD_LABELS.items()}
    assert {kind: text for kind, text in refused.items() if arg not in text} == {}


def refusal(name: str, arg: str, value: Any) -> str:
    """Text of the error; empty if the function takes the value."""
    try:
        run(name, **{arg: value})
    except DataError as error:
        return str(error)
    return ""


@given(st.lists(st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(width=32)), min_size=1))
def test_numbers_are_those_given_whatever_holds_them(values: list[Any]) -> None:
    expected = np.array([np.nan if x is None else float(x) for x in values])
    for given_as in (values, tuple(values), np.array(values, object), pd.Series(values, dtype=object)):
        np.testing.assert_array_equal(as_floats(given_as, "values"), expected)
