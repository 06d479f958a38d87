"""Cluster-robust standard errors against logs, statsmodels, Inspect and the general matrix formulas."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.cluster_robust import cluster_robust, korn_graubard_wilson
from harness_uq.stats.common.student import student_posterior
from tests.reference_values import reference_values

TRUTHFULQA = "truthfulqa_gen_category_clusters/samples_truthfulqa_gen_2025-05-31T13-51-32.759677.jsonl"
NEGOTIATION = (
    "negotiationtom_group_clusters/run_a/Qwen__Qwen3-8B/samples_negotiationtom_{}_2026-07-08T16-04-34.{}.jsonl"
)


@st.composite
def clustered(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Scores of 2 to 6 clusters of 1 to 5 questions whose means are not all equal."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=6))
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    scores = np.array(draw(st.lists(st.integers(0, 20), min_size=len(clusters), max_size=len(clusters))), float)
    means = np.bincount(clusters, scores) / sizes
    if np.ptp(means) == 0:
        scores[0] += 1
    return scores, clusters


def rows(shared: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (shared / "data" / "lm_eval" / name).read_text().splitlines()]


@pytest.mark.parametrize(
    ("name", "file", "metric", "field"),
    [
        ("truthfulqa_gen bleu_acc clustered by doc.category", TRUTHFULQA, "bleu_acc", "category"),
        ("truthfulqa_gen bleu_max clustered by doc.category", TRUTHFULQA, "bleu_max", "category"),
        ("truthfulqa_gen rouge1_diff clustered by doc.category", TRUTHFULQA, "rouge1_diff", "category"),
        (
            "negotiationtom_belief acc clustered by doc.dialogue_id",
            NEGOTIATION.format("belief", "219874"),
            "acc",
            "dialogue_id",
        ),
        (
            "negotiationtom_desire acc clustered by doc.dialogue_id",
            NEGOTIATION.format("desire", "219874"),
            "acc",
            "dialogue_id",
        ),
        (
            "negotiationtom_intention exact_match clustered by doc.dialogue_id",
            NEGOTIATION.format("intention", "219874"),
            "exact_match",
            "dialogue_id",
        ),
    ],
)
def test_logged_runs_give_the_reference_standard_error(
    shared: Path, name: str, file: str, metric: str, field: str
) -> None:
    expected = reference_values("paired_clustered.json")[name]
    log = rows(shared, file)
    result = cluster_robust([row[metric] for row in log], [row["doc"][field] for row in log])
    assert (result.n_questions, result.n_clusters) == (expected["N"], expected["G"])
    assert result.mean == pytest.approx(expected["mean"], rel=1e-12)
    assert result.std_error == pytest.approx(expected["se_small_sample_G/(G-1)"], rel=1e-10)
    assert result.std_error_iid == pytest.approx(expected["se_iid_ddof1"], rel=1e-10)


def test_aime_questions_with_four_trials_give_the_reference_standard_error(shared: Path) -> None:
    """The reference lacks the factor sqrt(G / (G - 1))."""
    expected = reference_values("reference_intervals.json")["aime2_clustered_by_question"]
    with (shared / "data" / "csv" / "no_clt_paper" / "matharena_aime_II.csv").open() as file:
        log = list(csv.DictReader(file))
    questions = [row["Question"].split(".")[0] for row in log]
    assert len(expected) >= 15
    for system, reference in expected.items():
        scores = [float(row[system]) for row in log]
        result = cluster_robust(scores, questions)
        assert result.std_error == pytest.approx(reference["se"] * np.sqrt(15 / 14), rel=1e-10)


@settings(deadline=None)  # the first example imports the other library
@given(clustered(), st.booleans())
def test_cr1_is_that_of_statsmodels(data: tuple[np.ndarray, np.ndarray], weighted: bool) -> None:
    api = pytest.importorskip("statsmodels.api")
    scores, clusters = data
    weights = 1.0 + np.arange(len(scores)) if weighted else np.ones(len(scores))
    result = cluster_robust(scores, clusters, weights=weights)
    fit = api.WLS(scores, np.ones(len(scores)), weights=weights).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": True}
    )
    assert result.mean == pytest.approx(float(fit.params[0]), rel=1e-9)
    assert result.std_error == pytest.approx(float(fit.bse[0]), rel=1e-9)


@given(clustered(), st.booleans())
def test_cr2_is_the_general_matrix_formula(data: tuple[np.ndarray, np.ndarray], weighted: bool) -> None:
    """Pustejovsky & Tipton (2018), eqs. 6-11, with working covariance diag(1 / w), by eigendecomposition."""
    scores, clusters = data
    n = len(scores)
    w = 1.0 + np.arange(n) % 3 if weighted else np.ones(n)
    root = np.sqrt(w)
    hat = np.outer(root, root) / w.sum()  # of the regression of sqrt(w) s on sqrt(w)
    maker = np.eye(n) - hat
    residual = root * (scores - w @ scores / w.sum())
    vectors, pieces = [], []
    for label in np.unique(clusters):
        mine = clusters == label
        values, basis = np.linalg.eigh(maker[np.ix_(mine, mine)])
        adjusted = basis @ (basis.T @ root[mine] / np.sqrt(values)) / w.sum()
        pieces.append(adjusted @ residual[mine])
        vectors.append(maker[:, mine] @ adjusted)
    gram = np.array(vectors) @ np.array(vectors).T
    result = cluster_robust(scores, clusters, weights=w, correction="CR2")
    assert result.std_error == pytest.approx(np.sqrt(np.sum(np.square(pieces))), rel=1e-8)
    assert result.df == pytest.approx(np.trace(gram) ** 2 / np.sum(gram**2), rel=1e-8)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=20).filter(lambda x: len(set(x)) > 1))
def test_clusters_of_one_question_give_the_independent_t(x: list[int]) -> None:
    plain = student_posterior(x)
    for correction in ("CR1", "CR2"):
        result = cluster_robust(x, np.arange(len(x)), correction=correction)
        assert result.interval() == pytest.approx(plain.interval(), rel=1e-9, abs=1e-12)
        assert result.design_effect == pytest.approx(1.0, rel=1e-9)
        assert result.icc is None


def test_equal_sizes_give_the_textbook_design_effect() -> None:
    """m (C m - 1) / (m (C - 1)) times the classical 1 + (m - 1) icc, up to the two estimates' divisors."""
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(2000), 5)
    scores = rng.normal(size=2000)[clusters] + rng.normal(size=10_000)
    result = cluster_robust(scores, clusters)
    assert result.icc is not None
    assert result.icc == pytest.approx(0.5, abs=0.03)
    assert result.design_effect == pytest.approx(1 + 4 * result.icc, rel=2e-3)
    assert result.effective_questions == pytest.approx(10_000 / result.design_effect)


def test_copies_of_a_question_add_nothing() -> None:
    scores = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    one = cluster_robust(scores, np.arange(6))
    eight = cluster_robust(np.repeat(scores, 8), np.repeat(np.arange(6), 8))
    assert (eight.mean, eight.std_error, eight.df) == pytest.approx((one.mean, one.std_error, one.df))
    assert eight.icc == pytest.approx(1.0)


@given(clustered())
def test_equal_weights_change_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    plain, weighted = cluster_robust(*data), cluster_robust(*data, weights=np.full(len(data[0]), 7.0))
    assert weighted.std_error == pytest.approx(plain.std_error, rel=1e-9)
    assert weighted.std_error_iid == pytest.approx(plain.std_error_iid, rel=1e-9)


@given(clustered(), st.sampled_from(["CR1", "CR2"]))
def test_swapping_right_and_wrong_mirrors_the_interval(data: tuple[np.ndarray, np.ndarray], correction: str) -> None:
    scores, clusters = data
    low, high = cluster_robust(scores, clusters, correction=correction).interval()  # type: ignore[arg-type]
    mirrored = cluster_robust(20 - scores, clusters, correction=correction).interval()  # type: ignore[arg-type]
    assert mirrored == pytest.approx((20 - high, 20 - low), rel=1e-9, abs=1e-9)


@settings(deadline=None)  # the first example imports the other library
@given(clustered(), st.floats(0.5, 0.99))
def test_wilson_is_that_of_inspect(data: tuple[np.ndarray, np.ndarray], level: float) -> None:
    scorer = pytest.importorskip("inspect_ai.scorer")
    binary = (data[0] > 9).astype(float)
    samples = [
        scorer.SampleScore(score=scorer.Score(value=float(s)), sample_id=str(i), sample_metadata={"k": int(c)})
        for i, (s, c) in enumerate(zip(binary, data[1], strict=True))
    ]
    theirs = scorer.ci_wilson(level=level, cluster="k")(samples)
    low, high = korn_graubard_wilson(binary, data[1], level=level)
    assert (low, high) == pytest.approx((theirs["lower"], theirs["upper"]), abs=1e-9)


def test_wilson_of_clusters_that_cannot_show_their_spread_uses_all_questions() -> None:
    """n = 12, t(2) = 4.3027: t^2 / (n + t^2) = 0.6067 at 0 of 12."""
    assert korn_graubard_wilson(np.zeros(12), np.repeat([0, 1, 2], 4)) == pytest.approx((0.0, 0.60673), abs=1e-5)


@pytest.mark.parametrize("correction", ["CR1", "CR2"])
def test_coverage_with_normal_cluster_effects_is_the_level(correction: str) -> None:
    """Equal sizes and normal effects: cluster means are normal, and t with C - 1 degrees of freedom is exact."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(8), 5)
    covered = 0
    for _ in range(3000):
        scores = rng.normal(size=8)[clusters] + rng.normal(size=40)
        low, high = cluster_robust(scores, clusters, correction=correction).interval(0.9)  # type: ignore[arg-type]
        covered += low <= 0 <= high
    assert binomtest(covered, 3000, 0.9).pvalue > 1e-3


@pytest.mark.parametrize("method", [cluster_robust, korn_graubard_wilson])
def test_one_cluster_is_not_estimable(method: object) -> None:
    with pytest.raises(NotEstimableError, match="from one cluster"):
        method([1.0, 0.0, 1.0], ["a", "a", "a"])  # type: ignore[operator]


@pytest.mark.parametrize("scores", [[1.0] * 4, [1.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.2, 0.1]])
def test_clusters_of_equal_means_have_no_standard_error(scores: list[float]) -> None:
    with pytest.raises(NotEstimableError, match="same mean"):
        cluster_robust(scores, [0, 0, 1, 1])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(DataError, match=r"shape \(2,\); got \(3,\)"):
        cluster_robust([1.0, 0.0], [0, 1, 2])
    with pytest.raises(DataError, match=r"position 1 is 0\.0"):
        cluster_robust([1.0, 0.0], [0, 1], weights=[1.0, 0.0])
    with pytest.raises(DataError, match="one value per question"):
        cluster_robust([1.0, 0.0], [0, 1], weights=[1.0])
    with pytest.raises(DataError, match="correction must be"):
        cluster_robust([1.0, 0.0], [0, 1], correction="CR3")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"scores in \[0, 1\]"):
        korn_graubard_wilson([2.0, 0.0], [0, 1])
    with pytest.raises(NotEstimableError, match="no scores"):
        cluster_robust([], [])


@given(clustered(), st.floats(0.1, 10))
def test_wilson_does_not_know_the_scale_of_its_weights(data: tuple[np.ndarray, np.ndarray], scale: float) -> None:
    binary = (data[0] > 9).astype(float)
    expected = korn_graubard_wilson(binary, data[1])
    assert korn_graubard_wilson(binary, data[1], weights=np.full(len(binary), scale)) == pytest.approx(
        expected, abs=1e-9
    )


def test_wilson_of_unequal_weights_by_hand() -> None:
    """Weights 1, 1, 2, all wrong: n = 16 / 6, t(2) = 4.3027, high = t^2 / (n + t^2) = 0.87409."""
    found = korn_graubard_wilson([0, 0, 0], [0, 1, 2], weights=[1, 1, 2])
    assert found == pytest.approx((0.0, 18.51282 / (16 / 6 + 18.51282)), abs=1e-6)
