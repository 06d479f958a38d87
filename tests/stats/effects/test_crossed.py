"""Crossed effects: lme4's components, limits that must agree, unbalanced tables, few levels, consistency, coverage."""

import gzip
import json
from functools import cache

import numpy as np
import pytest
from scipy import stats

from benchmarks.reference.link_scale import Link, crossed_latent_sds
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats import clustered_posterior, crossed_posterior, student_posterior
from harness_uq.stats.effects.crossed import CrossedPosterior
from harness_uq.stats.effects.design import read_design
from harness_uq.stats.effects.variance_mixture import (
    VarianceMixture,
    chi_squared,
    effect_variance,
    point_mass,
    real_posterior,
)
from harness_uq.stats.effects.variances import estimate_variances, strata
from tests.conftest import ROOT

LME4 = ROOT / "tests/reference/lme4"
FACTORS = ("question", "seed", "system", "passage")


def crossed_labels(n_questions: int, n_seeds: int) -> dict[str, np.ndarray]:
    question, seed = np.divmod(np.arange(n_questions * n_seeds), n_seeds)
    return {"question": question, "seed": seed}


@cache
def lme4_data() -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    with gzip.open(LME4 / "data.csv.gz", "rt") as lines:
        for line in list(lines)[1:]:
            name, *rest = line.rstrip("\n").rsplit(",", 5)
            found.setdefault(name, []).append(rest)
    return found


@cache
def lme4_values() -> dict[str, dict[frozenset[str], float]]:
    found: dict[str, dict[frozenset[str], float]] = {}
    for line in (LME4 / "values.csv").read_text().splitlines()[1:]:
        name, term, sd = line.rsplit(",", 2)
        found.setdefault(name, {})[frozenset(term.replace("Residual", "residual").split(":"))] = float(sd)
    return found


def lme4_table(name: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Scores and factors of a data set."""
    rows = np.array(lme4_data()[name])
    return rows[:, 0].astype(float), {factor: rows[:, i + 1] for i, factor in enumerate(FACTORS) if rows[0, i + 1]}


def fitted(name: str) -> CrossedPosterior:
    scores, factors = lme4_table(name)
    return crossed_posterior(scores, factors, new=("passage" if "passage" in factors else "question",))


@pytest.mark.parametrize("name", sorted(name for name in lme4_values() if name.startswith("gauss")))
def test_components_of_real_scores_are_those_of_lmer(name: str) -> None:
    """lme4 1.1-31, tests/reference/lme4/crossed.R: balanced, incomplete, with interactions, nested."""
    expected = lme4_values()[name]
    found = {frozenset(c.name.split(" × ")): c.sd for c in fitted(name).components}
    assert set(found) == set(expected)
    for term, sd in expected.items():
        assert found[term] == pytest.approx(sd, rel=1e-3, abs=2e-5), term


LINKS: dict[str, Link] = {name: "probit" if name.startswith("probit") else "logit" for name in lme4_values()}


@pytest.mark.parametrize("name", sorted(name for name in LINKS if not name.startswith("gauss")))
def test_sds_on_the_scale_of_the_link_are_near_those_of_glmer(name: str) -> None:
    """Within 15 %: glmer maximises the likelihood, so that K seeds give sqrt(1 - 1/K) of the sd (.95 at K = 10), by
    Laplace's approximation, which pulls questions of few trials down; ours are moments, free of both."""
    found = crossed_latent_sds(*lme4_table(name), fitted(name), LINKS[name])
    for term, sd in lme4_values()[name].items():
        (factor,) = term
        assert found[factor] == pytest.approx(sd, rel=0.15)


def test_mean_squares_of_a_balanced_table_are_those_of_the_textbook() -> None:
    y = np.array([[9.0, 6.0], [4.0, 2.0], [2.0, 1.0]])  # by hand: rows 7.5, 3, 1.5; columns 5, 3; mean 4
    design = read_design(crossed_labels(3, 2), 6)
    table = strata(design, y.ravel() - 4.0)
    np.testing.assert_allclose(table.squares, [6.0, 39.0, 1.0], atol=1e-12)  # seed, question, residual
    assert table.df.tolist() == [1.0, 2.0, 2.0]
    found = estimate_variances(design, table, y.ravel() - 4.0)
    np.testing.assert_allclose([*found.terms, found.residual], [(6 - 0.5) / 3, (19.5 - 0.5) / 2, 0.5])


def test_likelihood_by_mean_squares_and_by_the_mixed_model_agree() -> None:
    rng = np.random.default_rng(4)
    labels = crossed_labels(30, 4)
    y = rng.normal(size=30)[labels["question"]] + 0.05 * rng.normal(size=4)[labels["seed"]] + rng.normal(size=120)
    full, lacking = crossed_posterior(y, labels), np.arange(120) != 17
    near = crossed_posterior(y[lacking], {k: v[lacking] for k, v in labels.items()})
    for one, other in zip(full.components, near.components, strict=True):
        assert one.sd == pytest.approx(other.sd, abs=0.08)


def reference_cases() -> list[dict[str, list[float]]]:
    path = ROOT.parent / "shared/reference/posteriors.json"
    if not path.exists():
        return []
    cases = json.loads(path.read_text())["cases"]
    return [c for c in cases if c["kind"] == "clustered" and c["prior"] == "icc" and np.count_nonzero(c["sizes"]) > 1]


CLUSTERS = [
    ([9, 5, 10, 3, 8], [10] * 5),
    ([10] * 5, [10] * 5),
    ([0] * 4, [3] * 4),
    ([3, 0, 1], [4, 1, 9]),
    *((case["successes"], case["sizes"]) for case in reference_cases()),
]


@pytest.mark.parametrize(("successes", "sizes"), CLUSTERS)
@pytest.mark.parametrize("kind", ["quantile", "hdi"])
def test_one_factor_is_as_wide_as_the_clustered_posterior(successes, sizes, kind) -> None:
    """Within 10 %: the plain mean is the centre, not the mean of clusters weighted by precision."""
    s, n = np.array(successes, int), np.array(sizes, int)
    right = np.concatenate([np.arange(size) < some for some, size in zip(s, n, strict=True)]).astype(float)
    crossed = crossed_posterior(right, {"passage": np.repeat(np.arange(len(n)), n)}, new=("passage",))
    ends, expected = crossed.interval(0.95, kind), clustered_posterior(s, n).interval(0.95, kind)
    assert (ends[1] - ends[0]) / (expected[1] - expected[0]) == pytest.approx(1, abs=0.1)


def test_one_score_a_question_is_the_beta_posterior() -> None:
    right = np.repeat([1.0, 0.0], [21, 9])
    found = crossed_posterior(right, {"question": np.arange(30)})
    p = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
    np.testing.assert_allclose(found.quantile(p), stats.beta(22, 10).ppf(p), atol=2e-4)


def test_one_factor_of_real_scores_is_students_t_on_its_means() -> None:
    y = np.random.default_rng(0).normal(size=(12, 3)).cumsum(axis=1)
    found = crossed_posterior(y.ravel(), {"question": np.repeat(np.arange(12), 3)})
    expected = student_posterior(y.mean(axis=1))
    np.testing.assert_allclose(found.interval(), expected.interval(), rtol=0.01, atol=0.01)


def test_swapping_right_and_wrong_mirrors() -> None:
    labels = crossed_labels(40, 3)
    right = (np.random.default_rng(1).random(120) < 0.8).astype(float)
    one, other = (crossed_posterior(y, labels, new=("question", "seed")) for y in (right, 1 - right))
    np.testing.assert_allclose(one.interval(), 1 - np.array(other.interval())[::-1], atol=1e-5)


def test_labels_and_order_of_rows_do_not_matter() -> None:
    labels = crossed_labels(40, 3)
    rng = np.random.default_rng(2)
    right, order = (rng.random(120) < 0.6).astype(float), rng.permutation(120)
    one = crossed_posterior(right, labels, new=("question", "seed"))
    renamed = {"seed": [f"s{k}" for k in labels["seed"][order]], "question": -labels["question"][order]}
    other = crossed_posterior(right[order], renamed, new=("seed", "question"))
    np.testing.assert_allclose(one.interval(), other.interval(), rtol=1e-9)


def test_bounds_stretch_the_answer() -> None:
    labels = crossed_labels(20, 4)
    y = np.random.default_rng(3).beta(4, 2, 80)
    one = crossed_posterior(y, labels, new=("question", "seed"), bounds=(0.0, 1.0))
    other = crossed_posterior(10 + 5 * y, labels, new=("question", "seed"), bounds=(10.0, 15.0))
    np.testing.assert_allclose(other.interval(), 10 + 5 * np.array(one.interval()), rtol=1e-9)
    assert other.components[0].sd == pytest.approx(5 * one.components[0].sd)


def test_a_factor_that_stays_adds_nothing_and_one_that_is_new_does() -> None:
    labels = crossed_labels(200, 4)
    rng = np.random.default_rng(5)
    logit = rng.normal(size=200)[labels["question"]] + np.array([-1.0, -0.3, 0.3, 1.0])[labels["seed"]]
    right = (rng.random(800) < 1 / (1 + np.exp(-logit))).astype(float)
    stays, new = (crossed_posterior(right, labels, new=which) for which in (("question",), ("question", "seed")))
    assert stays.sd == pytest.approx(right.reshape(200, 4).mean(axis=1).std(ddof=1) / np.sqrt(200), rel=0.05)
    assert new.sd > 3 * stays.sd
    assert new.uncertainty["seed"] > 0.8
    assert sum(new.uncertainty.values()) == pytest.approx(1)


def test_given_questions_leave_only_the_noise_within_them() -> None:
    labels = crossed_labels(200, 10)
    rng = np.random.default_rng(6)
    p = rng.beta(0.3, 0.3, 200)[labels["question"]]
    found = crossed_posterior((rng.random(2000) < p).astype(float), labels, new=("seed",))
    whole = np.sqrt(np.sum(p * (1 - p))) / 2000
    assert whole < found.sd < 2.5 * whole
    assert set(found.uncertainty) == {"seed", "residual"}


def test_passages_that_hold_questions_are_recognised() -> None:
    passage, seed = np.repeat(np.arange(30), 12), np.tile(np.arange(3), 120)
    question = np.repeat(np.arange(120), 3)
    rng = np.random.default_rng(7)
    right = (rng.random(360) < rng.beta(2, 1, 30)[passage]).astype(float)
    factors = {"passage": passage, "question": question, "seed": seed}
    found = crossed_posterior(right, factors, new=("passage", "question"))
    alone = crossed_posterior(right, {"passage": passage}, new=("passage",))
    assert [c.name for c in found.components] == ["seed", "passage", "passage × seed", "question", "residual"]
    assert found.not_identifiable == ("question × seed",)
    np.testing.assert_allclose(found.interval(), alone.interval(), rtol=0.05)
    np.testing.assert_allclose(crossed_posterior(right, factors, new=("passage",)).interval(), found.interval())


def test_new_questions_of_given_passages_are_judged_within_them() -> None:
    rng = np.random.default_rng(8)
    passage = np.repeat(np.arange(20), 30)
    right = (rng.random(600) < np.where(passage < 10, 0.95, 0.05)).astype(float)
    factors = {"passage": passage, "question": np.arange(600)}
    within = crossed_posterior(right, factors)
    assert within.sd == pytest.approx(np.sqrt(0.95 * 0.05 / 600), rel=0.15)
    assert crossed_posterior(right, factors, new=("passage", "question")).sd > 8 * within.sd


def test_an_incomplete_table_is_near_the_complete_one() -> None:
    labels = crossed_labels(300, 6)
    rng = np.random.default_rng(9)
    logit = 1 + rng.normal(size=300)[labels["question"]] + 0.5 * rng.normal(size=6)[labels["seed"]]
    right, kept = (rng.random(1800) < 1 / (1 + np.exp(-logit))).astype(float), rng.random(1800) < 0.8
    full = crossed_posterior(right, labels, new=("question", "seed"))
    some = crossed_posterior(right[kept], {k: v[kept] for k, v in labels.items()}, new=("question", "seed"))
    assert some.sd == pytest.approx(full.sd, rel=0.25)
    assert some.mean == pytest.approx(full.mean, abs=0.03)


def test_large_incomplete_tables_take_moments_that_agree_with_the_likelihood() -> None:
    labels = crossed_labels(1200, 5)
    rng = np.random.default_rng(10)
    y = rng.normal(size=1200)[labels["question"]] + rng.normal(size=5)[labels["seed"]] + rng.normal(size=6000)
    kept = rng.random(6000) < 0.9
    some = crossed_posterior(y[kept], {k: v[kept] for k, v in labels.items()})
    full = crossed_posterior(y, labels)
    assert (some.variance_method, full.variance_method) == ("moments", "reml")
    for one, other in zip(some.components, full.components, strict=True):
        assert one.sd == pytest.approx(other.sd, rel=0.05)


def test_components_of_copies_add_up_to_the_variance_of_a_score() -> None:
    """Two runs that score alike, passages of unequal size: no residual, where the likelihood has no maximum."""
    rng = np.random.default_rng(16)
    passage = np.repeat(np.arange(30), rng.integers(2, 8, 30))
    right = (rng.random(len(passage)) < rng.beta(2, 1, 30)[passage]).astype(float)
    twice = {"passage": np.tile(passage, 2), "question": np.tile(np.arange(len(passage)), 2)}
    run = np.repeat([0, 1], len(passage))
    found = crossed_posterior(np.tile(right, 2), twice | {"run": run}, new=("passage", "run"))
    sds = {c.name: c.sd for c in found.components}
    assert sum(sd**2 for sd in sds.values()) == pytest.approx(right.var(), rel=0.1)
    assert sds["run"] == pytest.approx(0, abs=1e-6)
    for component in found.components:
        low, high = component.sd_interval()
        assert low <= component.sd * 1.05 + 1e-6
        assert high >= component.sd * 0.95


def test_the_interval_closes_on_the_plain_score_whatever_the_difficulties() -> None:
    """Easy and hopeless questions, where a fitted Beta or normal would settle beside the score."""
    rng = np.random.default_rng(11)
    labels = crossed_labels(4000, 40)
    p = np.where(rng.random(4000) < 0.05, 0.0, 0.97)
    right = (rng.random((4000, 40)) < p[:, None]).astype(float).ravel()
    found = crossed_posterior(right, labels, new=("question", "seed"))
    assert found.mean == pytest.approx(right.mean(), abs=1e-3)
    assert found.sd == pytest.approx(right.reshape(4000, 40).mean(axis=1).std() / np.sqrt(4000), rel=0.1)


def test_all_right_is_the_clustered_posterior() -> None:
    found = crossed_posterior(np.ones(60), crossed_labels(20, 3), new=("question", "seed"))
    np.testing.assert_allclose(found.interval(), clustered_posterior([3] * 20, [3] * 20).interval())


@pytest.mark.parametrize(
    ("factors", "new", "error", "text"),
    [
        (
            {"question": [1, 2, 3, 4], "seed": [1, 1, 1, 1]},
            ("question", "seed"),
            NotEstimableError,
            "seed has a single level",
        ),
        ({"question": [1, 2, 3, 4]}, ("prompt",), DataError, "prompt"),
        ({"question": [1, 2, 3, 4]}, (), DataError, "none"),
        ({"question": [1, 2, 3]}, ("question",), DataError, "one label per question"),
        ({"question": [1, 1, 2, 2], "copy": [5, 5, 6, 6]}, ("question",), DataError, "are identical"),
        ({}, ("question",), DataError, "1 to 5 factors"),
    ],
)
def test_what_cannot_be_answered_says_why(factors, new, error, text) -> None:
    with pytest.raises(error, match=text):
        crossed_posterior([1, 0, 1, 1], factors, new=new)


@pytest.mark.parametrize(
    ("y", "options", "error"),
    [
        ([0.5, 1.0], {"family": "binary"}, DataError),
        ([0.5, 2.0], {"family": "bounded", "bounds": (0.0, 1.0)}, DataError),
        ([0.5, 0.7], {"family": "bounded"}, DataError),
        ([0.5, 0.7], {"family": "probit"}, DataError),
        ([0.5, 0.5], {}, NotEstimableError),
    ],
)
def test_scores_outside_their_family_are_refused(y, options, error) -> None:
    with pytest.raises(error):
        crossed_posterior(y, {"question": [1, 2]}, **options)


def test_latent_sds_are_for_right_and_wrong_only() -> None:
    data = [0.5, 0.7, 0.1], {"question": [1, 2, 3]}
    with pytest.raises(NotEstimableError, match="real"):
        crossed_latent_sds(*data, crossed_posterior(*data))


@pytest.mark.parametrize(("scale", "least", "most"), [(1.0, 1.0, 1.3), (0.08, 0.85, 1.0)])
def test_two_levels_far_apart_give_about_students_t_of_one_degree_of_freedom(scale, least, most) -> None:
    """Means .4 apart over 100 rows each: half of the mass within t_1's quartile, .2 × 1, of the mean.

    The prior of the sd falls more slowly than 1 / sd below a quarter of the sd of a score (here estimated at .28, wider
    than t) and ends at ten times that of a score (.08: the effect is all that varies).
    """
    spread = effect_variance(square=100 * 0.4**2 / 2, df=1, noise=1e-6, size=100.0, scale=scale).scaled(1 / 2)
    low, high = real_posterior(0.0, spread.plus(point_mass(1e-7))).interval(0.5)
    assert least < high / (0.2 * stats.t(1).ppf(0.75)) < most
    assert low == pytest.approx(-high, rel=1e-6)


def test_levels_that_hardly_differ_leave_their_effect_mostly_nil() -> None:
    """A mean square as small as noise alone makes it: posterior odds of no effect above the prior's 2 to 3."""
    seen = effect_variance(square=0.5, df=2, noise=0.5, size=500.0, scale=1.0)
    assert seen.weights[seen.values == 0].sum() > 0.75
    far = effect_variance(square=50.0, df=2, noise=0.5, size=500.0, scale=1.0)
    assert far.weights[far.values == 0].sum() < 1e-9


def test_sums_of_unknown_variances_keep_mean_and_mass() -> None:
    one, other = chi_squared(1.0, 8.0), chi_squared(0.3, 20.0)
    total = one.plus(other)
    assert total.weights.sum() == pytest.approx(1)
    assert total.mean == pytest.approx(one.mean + other.mean, rel=2e-3)
    assert one.share_of(other) + other.share_of(one) == pytest.approx(1)
    assert point_mass(2.0).share_of(point_mass(6.0)) == pytest.approx(0.25)
    assert VarianceMixture(np.array([1.0, 2.0]), np.array([0.5, 0.5])).scaled(3.0).mean == pytest.approx(4.5)


def test_twice_the_nodes_move_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness_uq.stats.effects import variance_mixture

    labels = crossed_labels(100, 3)
    right = (np.random.default_rng(13).random(300) < 0.7).astype(float)
    before = crossed_posterior(right, labels, new=("question", "seed")).interval()
    monkeypatch.setattr(variance_mixture, "_BINS", 192)
    monkeypatch.setattr(variance_mixture, "_NODES", 1601)
    monkeypatch.setattr(variance_mixture, "_SHARES", np.concatenate([[0.0], np.geomspace(1e-3, 1e2, 240)]))
    after = crossed_posterior(right, labels, new=("question", "seed")).interval()
    np.testing.assert_allclose(after, before, atol=0.01 * (before[1] - before[0]))


@pytest.mark.slow
def test_new_seeds_are_covered_where_questions_alone_are_not() -> None:
    """100 questions × 3 seeds of sd .6, normal on the logit scale: not the Beta of the model; 300 data sets."""
    rng = np.random.default_rng(14)
    labels = crossed_labels(100, 3)
    held, naive = 0, 0
    for _ in range(300):
        logit = rng.normal(size=100)[labels["question"]] + 0.6 * rng.normal(size=3)[labels["seed"]]
        right = (rng.random(300) < 1 / (1 + np.exp(-logit))).astype(float)
        low, high = crossed_posterior(right, labels, new=("question", "seed")).interval()
        held += low <= 0.5 <= high
        low, high = crossed_posterior(right, labels).interval()
        naive += low <= 0.5 <= high
    assert stats.binomtest(held, 300, 0.95, alternative="less").pvalue > 1e-3
    assert naive < 0.8 * 300


@pytest.mark.parametrize("family", ["binary", "bounded", "real"])
def test_tiny_incomplete_tables_give_an_interval_or_say_why(family: str) -> None:
    rng = np.random.default_rng(15)
    for n in [3, 4, 5, 8, 30] * 6:
        factors = {"question": rng.integers(0, max(n // 2, 2), n), "seed": rng.integers(0, 3, n)}
        scores = {"binary": rng.random(n) < 0.7, "bounded": rng.beta(4, 1, n), "real": rng.normal(size=n)}[family]
        bounds = (0.0, 1.0) if family == "bounded" else None
        try:
            found = crossed_posterior(scores, factors, new=("question", "seed"), bounds=bounds)
        except (DataError, NotEstimableError) as error:
            assert len(str(error)) > 30  # noqa: PT017
            continue
        low, high = found.interval()
        assert np.isfinite([low, high, found.mean, found.sd]).all()
        assert low < high
        assert family == "real" or (low >= 0 and high <= 1)
