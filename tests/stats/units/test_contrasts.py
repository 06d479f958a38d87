"""Batches of pairs."""

import numpy as np
import pytest

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.units.contrasts import (
    DirichletCellsPosterior,
    PairedDifferences,
    WidenedDifferencePosterior,
    contrast_posteriors,
    paired_difference_posterior,
)
from harness_uq.stats.units.process import DirichletRatioPosterior, UnitProcess, quantiles


def pairs_of_all_types() -> list[PairedDifferences]:
    rng = np.random.default_rng(3)
    signs = rng.integers(-1, 2, (3, 24)).astype(float)
    graded = rng.random((2, 24)) - rng.random((2, 24))
    clusters, weights = rng.integers(0, 6, 24), rng.random(24) + 0.2
    return [
        PairedDifferences(signs[0], 0, 1),
        PairedDifferences(100 * signs[1], 0, 100),
        PairedDifferences(graded[0], 0, 1),
        PairedDifferences(graded[1], 0, 1, clusters),
        PairedDifferences(graded[0], 0, 1, clusters, weights),
        PairedDifferences(signs[2], 0, 1, None, weights),
        PairedDifferences(signs[1], 0, 1, clusters, None, 24),
        PairedDifferences((signs[0] + signs[1] + signs[2]) / 3, 0, 1, None, None, 72),
    ]


def summary(posterior: DirichletRatioPosterior | WidenedDifferencePosterior) -> FloatArray:
    return np.array([posterior.mean, posterior.sd, *posterior.interval(0.9), posterior.prob_positive])


def test_pairs_do_not_depend_on_the_batch() -> None:
    pairs = pairs_of_all_types()
    together = contrast_posteriors([*pairs, *pairs[::-1]])
    alone = [contrast_posteriors([pair])[0] for pair in pairs]
    for one, twin, single in zip(together[: len(pairs)], together[::-1], alone, strict=False):
        np.testing.assert_allclose(summary(one), summary(single), rtol=1e-11, atol=1e-12)  # type: ignore[arg-type]
        assert summary(one).tolist() == summary(twin).tolist()  # type: ignore[arg-type]


def test_the_interval_of_a_batch_is_made_of_quantiles() -> None:
    for posterior in contrast_posteriors(pairs_of_all_types()):
        np.testing.assert_allclose(posterior.interval(0.8), posterior.quantile([0.1, 0.9]), rtol=1e-11, atol=1e-12)
        assert posterior.prob_positive == pytest.approx(1 - float(posterior.cdf(0.0)), abs=1e-12)


def test_moments_of_a_widened_difference_are_those_of_its_table() -> None:
    widened = [one for one in contrast_posteriors(pairs_of_all_types()) if isinstance(one, WidenedDifferencePosterior)]
    assert len(widened) == 2
    for posterior in widened:
        p = (np.arange(20_000) + 0.5) / 20_000
        x = posterior.quantile(p)
        assert posterior.mean == pytest.approx(x.mean(), abs=2e-4)
        assert posterior.sd == pytest.approx(x.std(), rel=2e-3)


def test_answers_to_independent_questions_give_cells() -> None:
    differences = np.array([1.0, 1.0, 0.0, -1.0])
    posterior = paired_difference_posterior(100 * differences, 0, 100)
    assert isinstance(posterior, DirichletCellsPosterior)
    unit = DirichletCellsPosterior([0, 2, 1, 1])
    np.testing.assert_allclose(posterior.interval(), 100 * np.array(unit.interval()), rtol=1e-11)
    assert posterior.odds_ratio_quantile(0.5) == unit.odds_ratio_quantile(0.5)


def test_an_empty_batch_and_invalid_pairs() -> None:
    assert contrast_posteriors([]) == []
    with pytest.raises(DataError, match="no matched question"):
        contrast_posteriors([PairedDifferences(np.array([np.nan]), 0, 1)])


def test_moments_by_integration_are_those_of_the_exact_distribution() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.uniform(0.5, 9, 12)
    units = UnitProcess(sizes * rng.random(12), sizes, rng.uniform(0.3, 2, 12))
    exact, (mean, variance) = units.exact(), units.moments()
    p = (np.arange(4000) + 0.5) / 4000
    x = quantiles([exact], p)[0]
    assert mean == pytest.approx(x.mean(), abs=1e-4)
    assert variance == pytest.approx(x.var(), rel=1e-2)
    assert units.matched_beta(0, 1).mean == pytest.approx(mean, rel=1e-12)
