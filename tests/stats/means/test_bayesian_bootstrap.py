"""Bayesian bootstrap against exact distributions, sacrebleu's scores, the delta method and its own limits."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, kstest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.means.bayesian_bootstrap import bayesian_bootstrap, corpus_statistic, resampled
from harness_uq.stats.units import records
from harness_uq.stats.units.process import UnitProcess

OUTPUTS = ["the cat sat on the mat today", "a dog barked", "it rains in the early morning", "no", "he reads many books"]
REFERENCES = [
    "the cat sat on a mat today",
    "the dog barked loudly",
    "it rains in the morning",
    "yes",
    "she reads many books",
]


def bleu_rows(outputs: list[str], references: list[str]) -> np.ndarray:
    sacrebleu = pytest.importorskip("sacrebleu")
    scores = [sacrebleu.corpus_bleu([o], [[r]]) for o, r in zip(outputs, references, strict=True)]
    return np.array([[s.sys_len, s.ref_len, *s.counts, *s.totals] for s in scores], float)


def chrf_rows(outputs: list[str], references: list[str]) -> np.ndarray:
    metric = pytest.importorskip("sacrebleu").metrics.CHRF()
    return np.array(metric._extract_corpus_statistics(outputs, [references]), float)


def ter_rows(outputs: list[str], references: list[str]) -> np.ndarray:
    sacrebleu = pytest.importorskip("sacrebleu")
    scores = [sacrebleu.corpus_ter([o], [[r]]) for o, r in zip(outputs, references, strict=True)]
    return np.array([[s.num_edits, s.ref_length] for s in scores], float)


@pytest.mark.parametrize(("name", "rows"), [("bleu", bleu_rows), ("chrf", chrf_rows), ("ter", ter_rows)])
@pytest.mark.parametrize("part", [slice(0, 5), slice(1, 4), slice(1, 2), slice(3, 4), slice(2, 5)])
def test_corpus_scores_are_those_of_sacrebleu(
    name: str, rows: Callable[[list[str], list[str]], np.ndarray], part: slice
) -> None:
    """Parts without 4-gram matches, with too short outputs and with no match at all take the special cases."""
    outputs, references = OUTPUTS[part], REFERENCES[part]
    score = getattr(pytest.importorskip("sacrebleu"), f"corpus_{name}")(outputs, [references]).score
    assert corpus_statistic(rows(outputs, references), name) == pytest.approx(score, abs=1e-9)  # type: ignore[arg-type]


def test_empty_outputs_score_nothing() -> None:
    assert corpus_statistic(np.zeros((2, 10)), "bleu") == 0.0
    assert corpus_statistic(np.zeros((2, 6)), "chrf") == 0.0
    assert corpus_statistic([[0.0, 0.0], [3.0, 0.0]], "ter") == 100.0


@settings(deadline=None)  # the first example imports lm_eval
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=12))
def test_plain_mean_and_median_are_those_of_lm_eval(x: list[int]) -> None:
    """Of an even number of scores its median is the upper of the two in the middle."""
    metrics = pytest.importorskip("lm_eval.api.metrics")
    assert corpus_statistic(x, "mean") == pytest.approx(metrics.mean(x))
    assert corpus_statistic(x, "median") == metrics.median(x)


def test_perplexity_and_bits_are_those_of_lm_eval() -> None:
    metrics = pytest.importorskip("lm_eval.api.metrics")
    rows = [(-7.5, 3), (-2.25, 5), (-11.0, 2)]
    assert corpus_statistic(rows, "perplexity") == pytest.approx(metrics.weighted_perplexity(rows), rel=1e-12)
    assert corpus_statistic(rows, "bits_per_byte") == pytest.approx(metrics.bits_per_byte(rows), rel=1e-12)


def test_mean_of_binary_records_is_a_beta_distribution() -> None:
    """Dirichlet(1, ..., 1) weights on S ones and F zeros: Beta(S, F)."""
    draws = bayesian_bootstrap(np.repeat([1.0, 0.0], [7, 3]), "mean", n_draws=20_000).draws
    assert kstest(draws, beta(7, 3).cdf).pvalue > 1e-3


def test_ratio_has_the_exact_moments() -> None:
    """Exact mean and variance of a ratio of Gamma-weighted sums, by quadrature."""
    rng = np.random.default_rng(1)
    sizes = rng.geometric(0.1, 25).astype(float)
    totals = sizes * rng.random(25)
    posterior = bayesian_bootstrap(np.column_stack([totals, sizes]), "ratio", n_draws=100_000, rng=rng)
    mean, variance = UnitProcess(totals, sizes, np.ones(25)).moments()
    assert posterior.mean == pytest.approx(mean, abs=4 * posterior.mc_error)
    assert posterior.sd == pytest.approx(np.sqrt(variance), rel=0.01)


def test_perplexity_has_the_spread_of_the_delta_method() -> None:
    """sd(log perplexity) = sqrt(sum_i (l_i + n_i log p)^2) / sum n, up to terms of order 1 / n."""
    rng = np.random.default_rng(2)
    words = rng.integers(20, 400, 2000)
    log_likelihood = -words * rng.gamma(30.0, 0.1, 2000)
    posterior = bayesian_bootstrap(np.column_stack([log_likelihood, words]), "perplexity", rng=rng)
    value = corpus_statistic(np.column_stack([log_likelihood, words]), "perplexity")
    residual = log_likelihood + words * np.log(value)
    assert posterior.mean == pytest.approx(value, rel=2e-3)
    assert posterior.sd == pytest.approx(value * np.sqrt(np.sum(residual**2)) / words.sum(), rel=0.03)


def test_clusters_spread_the_mean_as_the_cluster_robust_error() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(300), rng.integers(1, 12, 300))
    scores = rng.random(300)[clusters] + 0.3 * rng.random(len(clusters))
    posterior = bayesian_bootstrap(scores, "mean", clusters=clusters, rng=rng)
    robust = cluster_robust(scores, clusters)
    assert posterior.sd == pytest.approx(robust.std_error, rel=0.03)
    assert bayesian_bootstrap(scores, "mean", rng=rng).sd == pytest.approx(robust.std_error_iid, rel=0.03)


def test_a_function_of_sums_gives_what_the_name_gives() -> None:
    rows = np.array([[1.0, 4.0], [3.0, 5.0], [2.0, 2.0]])
    named = bayesian_bootstrap(rows, "ratio", n_draws=50)
    given_ = bayesian_bootstrap(rows, lambda sums: sums[:, 0] / sums[:, 1], n_draws=50)
    assert given_.draws.tolist() == named.draws.tolist()


def test_sums_are_on_the_scale_of_the_data() -> None:
    totals = bayesian_bootstrap(np.array([2.0, 5.0, 11.0]), lambda sums: sums[:, 0], n_draws=50_000)
    assert totals.mean == pytest.approx(18.0, abs=5 * totals.mc_error)
    assert totals.draws.max() < 33.0


@pytest.mark.parametrize("name", ["mean", "median"])
def test_blocks_of_any_size_give_the_same_draws(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    scores = [0.1, 0.5, 0.3, 0.9, 0.5]
    whole = bayesian_bootstrap(scores, name, n_draws=100)  # type: ignore[arg-type]
    monkeypatch.setattr(records, "_BLOCK", 7)
    parts = bayesian_bootstrap(scores, name, n_draws=100)  # type: ignore[arg-type]
    assert parts.draws == pytest.approx(whole.draws, rel=1e-12)


def test_equal_rows_share_a_weight_without_changing_the_distribution() -> None:
    """20,000 records in two kinds need two Gamma variables a draw; Beta(15,000, 5,000) has sd .00306."""
    posterior = bayesian_bootstrap(np.repeat([1.0, 0.0], [15_000, 5_000]), "mean", n_draws=20_000)
    assert posterior.sd == pytest.approx(beta(15_000, 5_000).std(), rel=0.02)


def test_median_has_the_binomial_distribution_function() -> None:
    """P(median <= x_(k)) is the probability that a Beta(k, n - k) weight exceeds 1/2."""
    posterior = bayesian_bootstrap(np.arange(1.0, 12.0), "median", n_draws=40_000)
    for k in (3, 5, 7):
        below = float(np.mean(posterior.draws <= k))
        assert below == pytest.approx(beta(k, 11 - k).sf(0.5), abs=0.012)


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=15).filter(lambda x: len(set(x)) > 1), st.integers(1, 9))
def test_mean_and_median_move_and_stretch_with_the_scores(x: list[int], scale: int) -> None:
    scores = np.array(x, float)
    plain = bayesian_bootstrap(scores, "mean", n_draws=20)
    moved = bayesian_bootstrap(scale * scores - 3, "mean", n_draws=20)
    assert moved.draws == pytest.approx(scale * plain.draws - 3, abs=1e-9)


def test_median_of_clusters_weights_whole_clusters() -> None:
    """Two clusters: the median is 0 or 1 as the first or the second weighs more."""
    posterior = bayesian_bootstrap([0.0, 0.0, 1.0, 1.0], "median", clusters=[0, 0, 1, 1], n_draws=4000)
    assert sorted(set(posterior.draws)) == [0.0, 1.0]
    assert posterior.mean == pytest.approx(0.5, abs=0.04)


def test_resampling_spreads_as_the_weights_do() -> None:
    rng = np.random.default_rng(4)
    scores = rng.random(200)
    clusters = np.repeat(np.arange(50), 4)
    by_weights = bayesian_bootstrap(scores, "mean", clusters=clusters, rng=rng)
    by_resampling = resampled(200, lambda index: float(scores[index].mean()), clusters=clusters, n_draws=4000, rng=rng)
    assert by_resampling.sd == pytest.approx(by_weights.sd, rel=0.06)
    assert by_resampling.mean == pytest.approx(by_weights.mean, abs=6 * by_resampling.mc_error)


def test_resampling_the_same_records_again_gives_the_same_draws() -> None:
    first, second = (resampled(9, lambda index: float(index.mean()), n_draws=50).draws for _ in range(2))
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize(
    ("scores", "name", "clusters"),
    [
        ([0.5, 0.5, 0.5], "mean", None),
        ([0.5, 0.5, 0.5], "median", None),
        ([1.0, 0.0, 1.0, 0.0], "mean", [0, 0, 1, 1]),
        ([1.0, 0.0], "mean", ["a", "a"]),
        ([1.0, 0.0], "median", ["a", "a"]),
        ([0.3], "mean", None),
        ([[1.0, 3.0], [2.0, 6.0]], "ratio", None),
    ],
)
def test_no_spread_is_not_estimable(scores: list[object], name: str, clusters: list[object] | None) -> None:
    with pytest.raises(NotEstimableError):
        bayesian_bootstrap(scores, name, clusters=clusters)  # type: ignore[arg-type]


def test_undefined_values_are_not_estimable() -> None:
    with pytest.raises(NotEstimableError, match=r"not finite in 100\.0%"):
        bayesian_bootstrap([[1.0, 0.0], [2.0, 0.0]], "ratio", n_draws=10)
    with pytest.raises(NotEstimableError, match="all draws"):
        resampled(5, lambda _: 1.0, n_draws=200)
    with pytest.raises(NotEstimableError, match="no records"):
        bayesian_bootstrap([], "mean")
    with pytest.raises(NotEstimableError, match="no records"):
        resampled(0, lambda _: 1.0)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(DataError, match="bleu needs 10 column"):
        bayesian_bootstrap([[1.0, 2.0], [3.0, 4.0]], "bleu")
    with pytest.raises(DataError, match="three columns per n-gram order; got 2"):
        bayesian_bootstrap([[1.0, 2.0], [3.0, 4.0]], "chrf")
    with pytest.raises(DataError, match="median needs 1 column"):
        bayesian_bootstrap([[1.0, 2.0], [3.0, 4.0]], "median")
    with pytest.raises(DataError, match="available are bits_per_byte, bleu, chrf, mean, median"):
        bayesian_bootstrap([1.0, 2.0], "f1")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"record 1 has \[nan\]"):
        bayesian_bootstrap([1.0, float("nan")], "mean")
    with pytest.raises(DataError, match=r"shape \(n_records, n_columns\)"):
        bayesian_bootstrap(np.zeros((2, 2, 2)), "mean")
    with pytest.raises(DataError, match="n_draws must be a whole number, 1"):
        bayesian_bootstrap([1.0, 2.0], "mean", n_draws=0)
    with pytest.raises(DataError, match="n_draws must be a whole number, 1"):
        resampled(3, lambda index: float(index.mean()), n_draws=0)
