"""Clusters in the posterior of a confusion matrix: pseudo-cells and widening for few clusters."""

import numpy as np
import pytest
from scipy.stats import norm, t

from harness_uq.stats.classes.clustered_confusion import (
    WidenedPosterior,
    effective_clusters,
    pseudo_cell_parts,
    widen_for_few_clusters,
)
from harness_uq.stats.classes.confusion import clustered_confusion_posterior, confusion_score
from harness_uq.stats.classes.multiclass import clustered_multiclass_posterior, multiclass_score
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, DrawsPosterior

P = np.array([0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.999])
POSITIVE, BOTH = np.array([False, True]), np.array([True, True])


def test_pseudo_cells_by_hand() -> None:
    # a mean cluster of 100 has 8 positives, 9 positive predictions; false positives 4 and 2, false negatives 4 and 0
    counts = np.array([[[90.0, 4.0], [4.0, 2.0]], [[88.0, 2.0], [0.0, 10.0]]])
    (_, rows), (masses, sizes), (single, smallest) = pseudo_cell_parts(counts, np.ones((2, 2)), POSITIVE)
    assert rows.sum(axis=0).tolist() == [178, 6, 4, 12]
    concentration = np.array([178**2 / (90**2 + 88**2), 36 / 20, 1, 144 / 104])
    assert single == pytest.approx(0.99 * 3 / (4 + 2 * concentration))
    assert masses + single == pytest.approx(np.ones(4))
    assert smallest == pytest.approx(0.75 + 0.25 / 100)
    false_positives, false_negatives = 3 + (4 - 3) * 2 / 3.8, 2 + (4 - 2) * 2 / 3
    expected = [
        100 * masses[0],
        false_positives,
        false_negatives,
        8 - false_negatives,
    ]  # the first is capped at the size of a cluster
    assert np.diag(sizes) * masses == pytest.approx(expected)


def test_pseudo_cells_of_a_rare_class_have_at_least_three_quarters_of_a_question() -> None:
    counts = np.tile([[[39.5, 0.1], [0.1, 0.3]]], (30, 1, 1))
    _, (_, sizes), (_, smallest) = pseudo_cell_parts(counts, np.ones((2, 2)), POSITIVE)
    assert np.diag(sizes)[1:] == pytest.approx([smallest] * 3)


def test_no_error_in_any_cluster_leaves_one_cluster_with_many_possible() -> None:
    # the pseudo-cells of errors have a quarter of the mass and the size of a cluster
    _, (masses, sizes), _ = pseudo_cell_parts(np.tile(np.eye(2) * 1e6, (50, 1, 1)), np.ones((2, 2)), BOTH)
    assert masses[1:3] == pytest.approx(0.25, rel=1e-5)
    assert np.diag(sizes)[1:3] == pytest.approx(2e6, rel=1e-5)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (3, 4)])
def test_clusters_of_one_question_have_the_independent_prior(shape: tuple[int, int]) -> None:
    cells = np.eye(shape[0] * shape[1]).reshape(-1, *shape)
    prior = np.random.default_rng(0).dirichlet(np.ones(cells[0].size)).reshape(shape) * 2
    _, (masses, sizes) = pseudo_cell_parts(cells, prior, np.full(shape[0], True))
    assert masses == pytest.approx(prior.ravel())
    assert sizes == pytest.approx(np.eye(cells[0].size))


def test_effective_clusters_count_questions_of_the_class() -> None:
    # positives, found or predicted: 1, 3 and 0; (1 + 3)^2 / (1 + 9) clusters of (1 + 9) / (1 + 3) questions
    counts = np.array([[[9.0, 0], [0, 1]], [[7.0, 1], [1, 1]], [[10.0, 0], [0, 0]]])
    assert effective_clusters(counts, POSITIVE) == pytest.approx((1.6, 2.5))
    number, size = effective_clusters(counts, BOTH)  # the rare class has most of the weight
    assert 1.6 < number < 2.3
    assert 2.5 < size < 4.0


def test_effective_clusters_without_questions_of_the_class() -> None:
    assert effective_clusters(np.array([[[4.0, 0], [0, 0]]]), POSITIVE) == (1.0, 1.0)


def test_a_normal_distribution_of_the_logit_becomes_students_t() -> None:
    nodes = np.linspace(-12, 12, 4001)
    base = DensityPosterior(nodes, norm.pdf(nodes, 0.4, 0.8), "logit")
    wide = WidenedPosterior(base, 7.0, np.inf)
    logits = 0.4 + 0.8 * np.sqrt(10 / 8) * t.ppf(P, 8)
    assert wide.quantile(P) == pytest.approx(1 / (1 + np.exp(-logits)), abs=1e-6)


def test_widened_posterior_is_consistent() -> None:
    wide = WidenedPosterior(BetaPosterior(8, 2, -1, 1), 5.0, 20.0, -1.0)
    assert wide.cdf(wide.quantile(P)) == pytest.approx(P, abs=1e-9)
    assert (wide.quantile([0.0, 1.0]) == [-1, 1]).all()
    x = wide.quantile((np.arange(200_000) + 0.5) / 200_000)
    assert wide.mean == pytest.approx(x.mean(), abs=1e-5)
    assert wide.sd == pytest.approx(x.std(), rel=1e-3)


def test_questions_in_different_clusters_are_not_widened() -> None:
    base = BetaPosterior(8, 2)
    assert WidenedPosterior(base, 5.0, 1.0).quantile(P) == pytest.approx(base.quantile(P))


def test_draws_are_widened_as_the_exact_posterior_is() -> None:
    base = BetaPosterior(8, 2)
    draws = DrawsPosterior(base.quantile((np.arange(20_000) + 0.5) / 20_000))
    wide = widen_for_few_clusters(draws, 6.0, 30.0)
    assert isinstance(wide, DrawsPosterior)
    assert wide.quantile(P) == pytest.approx(WidenedPosterior(base, 6.0, 30.0).quantile(P), abs=1e-4)


@pytest.mark.parametrize("metric", ["f1", "recall", "precision", "mcc", "macro_f1", "kappa"])
def test_width_and_centre_with_large_clusters_and_few_positives(metric: str) -> None:
    """10 x 50, 8 % positives: with a pseudo-cluster of the mean size the width was 2.1 to 2.6 times the jackknife's."""
    rng, widths, centres = np.random.default_rng(24), [], []
    for _ in range(12):
        positives = rng.binomial(50, 0.08, 10)
        right, wrong = rng.binomial(positives, 0.7), rng.binomial(50 - positives, 0.026)
        cells = np.stack([50 - positives - wrong, wrong, positives - right, right], axis=1)
        data = [np.repeat(np.tile(v, 10), cells.ravel()) for v in ([0, 0, 1, 1], [0, 1, 0, 1])]
        data.append(np.repeat(np.arange(10), 50))
        if metric in ("macro_f1", "kappa"):
            low, high = clustered_multiclass_posterior(*data, metric, n_classes=2, n_draws=2000).interval()
            scores = [multiclass_score(c.reshape(2, 2), metric) for c in (*(cells.sum(0) - cells), cells.sum(0))]
        else:
            low, high = clustered_confusion_posterior(*data, metric, n_draws=2000).interval()
            scores = [float(confusion_score(*c[[3, 1, 2, 0]], metric)) for c in (*(cells.sum(0) - cells), cells.sum(0))]
        jackknife = t.ppf(0.975, 9) * np.sqrt(0.9 * np.sum((scores[:-1] - np.mean(scores[:-1])) ** 2))
        widths.append([high - low, 2 * jackknife])
        centres.append(((low + high) / 2 - scores[-1]) / ((high - low) / 2))
    ours, reference = np.mean(widths, axis=0)
    assert 0.85 < ours / reference < 1.1
    assert abs(np.mean(centres)) < 0.35
