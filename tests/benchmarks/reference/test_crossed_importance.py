"""Massively parallel importance sampling of crossed right-or-wrong answers, against sums over a grid."""

import numpy as np
import pytest
from scipy import special

from benchmarks.reference.crossed_importance import crossed_importance_posterior
from benchmarks.reference.link_scale import Link
from harness_uq.messages.errors import DataError, UnreliableError
from harness_uq.stats import crossed_posterior

INVERSE = {"logit": special.expit, "probit": special.ndtr}


def crossed_labels(n_questions: int, n_seeds: int) -> dict[str, np.ndarray]:
    question, seed = np.divmod(np.arange(n_questions * n_seeds), n_seeds)
    return {"question": question, "seed": seed}


def by_grid(right: np.ndarray, link: Link) -> tuple[float, float]:
    """Mean and sd of the posterior for two seeds: a grid of mu and log sds, Gauss-Hermite sums over all effects."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    weights = weights / weights.sum()
    mu, question, seed = np.linspace(-9, 9, 45), np.linspace(-5, 3, 20), np.linspace(-6, 3, 24)
    shape = len(mu), len(question), len(seed) + 1  # the last: seeds that do not differ
    mean, of_question, of_seed, likelihood = (np.zeros(shape) for _ in range(4))
    for i, j in np.ndindex(shape[1:]):
        spread = np.exp(question[i]) * nodes[:, None] + (np.exp(seed[j]) if j < len(seed) else 0.0) * nodes
        p = INVERSE[link](mu[:, None, None] + spread)  # (mu, question, seed)
        mean[:, i, j] = (p @ weights) @ weights
        of_question[:, i, j] = (p @ weights) ** 2 @ weights - mean[:, i, j] ** 2
        of_seed[:, i, j] = np.einsum("mqs,q->ms", p, weights) ** 2 @ weights - mean[:, i, j] ** 2
        product = np.ones((len(mu), 24, 24))
        for one, two in right:
            first, second = (p if one else 1 - p), (p if two else 1 - p)
            product *= np.einsum("mqs,mqt,q->mst", first, second, weights)
        likelihood[:, i, j] = (product @ weights) @ weights
    whole = np.maximum(mean * (1 - mean), 1e-12)
    share, x = of_question / whole, np.sqrt(np.maximum(of_seed, 0.0) / whole)
    mass = likelihood.copy()
    mass[..., -1] *= 0.4 * volume([mean[..., -1], share[..., -1]], mu, question)
    slab = 0.6 / np.log(5) / (x[..., :-1] + 0.25) / (1 + x[..., :-1] ** 2 / 100)
    differing = [part[..., :-1] for part in (mean, share, x)]
    mass[..., :-1] *= slab * volume(differing, mu, question, seed) * (seed[1] - seed[0])
    centre = float((mass * mean).sum() / mass.sum())
    return centre, float(np.sqrt((mass * (mean - centre) ** 2).sum() / mass.sum()))


def volume(parts: list[np.ndarray], *axes: np.ndarray) -> np.ndarray:
    slopes = np.array([np.gradient(part, *axes) for part in parts])
    return np.abs(np.linalg.det(np.moveaxis(slopes, (0, 1), (-2, -1))))


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_draws_agree_with_sums_over_a_grid(link: Link) -> None:
    right = np.array([[1, 1], [1, 0], [1, 1], [0, 0], [1, 0], [1, 1]])
    sampled = crossed_importance_posterior(right.ravel(), crossed_labels(6, 2), link=link, rng=np.random.default_rng(1))
    mean, sd = by_grid(right, link)
    assert sampled.mean == pytest.approx(mean, abs=4 * sampled.mc_error)
    assert sampled.sd == pytest.approx(sd, rel=0.06)
    assert sampled.mc_error < 0.05 * sd


@pytest.mark.slow
def test_monte_carlo_error_is_that_between_seeds() -> None:
    right, labels = [1, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1], crossed_labels(6, 2)
    runs = [
        crossed_importance_posterior(right, labels, n_draws=960, rng=np.random.default_rng(seed)) for seed in range(6)
    ]
    between, said = np.std([run.mean for run in runs], ddof=1), np.mean([run.mc_error for run in runs])
    assert 0.25 < between / said < 2.4  # 5 degrees of freedom: sd of the ratio .32
    again = crossed_importance_posterior(right, labels, n_draws=960, rng=np.random.default_rng(0))
    assert again.interval() == runs[0].interval()


@pytest.mark.slow
def test_the_integrated_posterior_is_near_and_no_narrower() -> None:
    """It knows right and wrong by their moments alone: 18 % wider here than with the whole likelihood."""
    labels = crossed_labels(30, 2)
    rng = np.random.default_rng(1)
    logit = 0.5 + rng.normal(size=30)[labels["question"]] + 0.5 * rng.normal(size=2)[labels["seed"]]
    right = rng.random(60) < special.expit(logit)
    sampled = crossed_importance_posterior(right, labels, rng=rng)
    integrated = crossed_posterior(right, labels, new=("question", "seed"))
    assert sampled.mean == pytest.approx(integrated.mean, abs=0.01 + 3 * sampled.mc_error)
    assert 1.0 < integrated.sd / sampled.sd < 1.3


@pytest.mark.slow
def test_labels_of_missing_cells_and_their_order_do_not_matter() -> None:
    labels = crossed_labels(12, 3)
    right, kept = np.random.default_rng(2).random(36) < 0.7, np.random.default_rng(3).permutation(36)[:30]
    one, other = (
        crossed_importance_posterior(
            right[order], {k: v[order] for k, v in labels.items()}, n_draws=1200, rng=np.random.default_rng(4)
        )
        for order in (np.sort(kept), kept)
    )
    assert one.mean == pytest.approx(other.mean, abs=1e-9)


def test_too_few_draws_are_refused_not_returned() -> None:
    with pytest.raises(UnreliableError, match="effective sample size"):
        crossed_importance_posterior([1, 0, 1, 1], crossed_labels(2, 2), n_draws=320, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("scores", "factors", "options", "text"),
    [
        ([0.5, 1, 1, 0], crossed_labels(2, 2), {}, "0 or 1"),
        ([1, 0, 1, 0], {"question": [1, 2, 3, 4]}, {}, "two factors"),
        (np.ones(36), crossed_labels(6, 6), {}, "2 to 5 levels"),
        ([1, 0, 1, 0], crossed_labels(2, 2), {"n_draws": 1001}, "multiple of 16"),
    ],
)
def test_what_cannot_be_summed_is_refused(scores, factors, options, text) -> None:
    with pytest.raises(DataError, match=text):
        crossed_importance_posterior(scores, factors, rng=np.random.default_rng(0), **options)
