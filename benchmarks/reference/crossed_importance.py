"""Crossed effects of binary answers by massively parallel importance sampling, to check the quadrature."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from benchmarks.reference.link_scale import INVERSE_LINKS, Link
from harness_uq.messages.errors import DataError
from harness_uq.stats.common.importance import adapted_proposal, importance_sample
from harness_uq.stats.common.posterior import DrawsPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite
from harness_uq.stats.common.validate_scalars import check_rng, check_whole
from harness_uq.stats.effects.design import read_design
from harness_uq.stats.effects.variance_mixture import NULL_PROBABILITY, effect_prior

_MAX_SEEDS = 5
_MAX_JOINT = 1024  # limit on the combinations of the seeds' draws, which determines the draws per seed (at most 32)
_QUESTION_DRAWS = 12
_BATCHES = 16  # sets of draws of the latent effects, whose variation gives the Monte Carlo error
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_CHANCES = _WEIGHTS / _WEIGHTS.sum()


class SampledCrossedPosterior(DrawsPosterior):
    """Posterior of the mean over new questions and new seeds, by weighted draws of the model's parameters.

    Attributes
    ----------
    mean, sd : float
        Posterior mean and standard deviation.
    importance_ess : float
        Effective sample size of the draws of the parameters.
    mc_error : float
        Monte Carlo standard error of `mean`, from the variation between sets of draws of the latent effects.
    pareto_k : float
        Tail shape of the weights; above 0.7 the draws do not represent the posterior.
    """

    def __init__(self, draws: FloatArray, weights: FloatArray, k: float) -> None:
        super().__init__(draws.ravel(), weights.ravel())
        self.pareto_k = k
        self._ess = float(1 / np.sum(weights.sum(axis=0) ** 2))
        off = (weights * (draws - self.mean)).reshape(2, _BATCHES, -1).sum(axis=(0, 2))
        self._mc_error = float(np.sqrt(off @ off * _BATCHES / (_BATCHES - 1)))

    @property
    def importance_ess(self) -> float:
        return self._ess

    @property
    def mc_error(self) -> float:
        return self._mc_error


def crossed_importance_posterior(
    scores: ArrayLike,
    factors: Mapping[str, ArrayLike],
    *,
    link: Link = "logit",
    n_draws: int = 1600,
    rng: np.random.Generator,
) -> SampledCrossedPosterior:
    """Posterior of the mean of binary answers over new levels of two factors, with all effects sampled.

    Parameters
    ----------
    scores : array_like, shape (n,)
        0 or 1.
    factors : mapping of str to array_like, shape (n,)
        Labels of two crossed factors, such as question and seed; one of them has at most 5 levels.
    link : {"logit", "probit"}, optional
        Scale on which the effects are normal and additive (default "logit").
    n_draws : int, optional
        Number of draws of the mean and the standard deviations, a multiple of 16 (default 1600).
    rng : numpy.random.Generator
        Random generator.

    Returns
    -------
    SampledCrossedPosterior
        Weighted draws.

    Raises
    ------
    DataError
        If a score is not 0 or 1, or the design is too large for the sums.
    UnreliableError
        If the effective sample size is below 400 or Pareto k is above 0.7.

    Notes
    -----
    Given g = (mu, sigma_q, sigma_s), P(right) = link^-1(mu + sigma_q z_q + sigma_s z_s) with standard normal z. Every
    latent variable has its own draws, one from each of K intervals of equal probability. The likelihood of g is the
    average over all K^n combinations: sums over questions are moved inside the product, those over seeds are explicit
    (Bowyer, Heap and Aitchison 2024). g is drawn from an adapted proposal. The priors are those of `crossed_posterior`:
    the mean and the questions' share of the variance of a score are uniform, and the sd of seeds over the sd of a score
    has `effect_prior`. The hypothesis that seeds do not differ has positive prior probability; each draw of g
    represents both cases.

    References
    ----------
    Bowyer, Heap and Aitchison (2024), UAI, PMLR 244, 394-423.

    Examples
    --------
    >>> factors = {"question": [q for q in range(8) for _ in range(2)], "seed": [0, 1] * 8}
    >>> posterior = crossed_importance_posterior([1, 0, 1, 1] * 4, factors, rng=np.random.default_rng(0))
    >>> bool(abs(posterior.mean - 0.71) < 0.02), posterior.pareto_k < 0.7
    (True, True)
    """
    y = check_finite(scores, "scores", 1)
    if len(factors) != 2 or not np.isin(y, (0.0, 1.0)).all():
        raise DataError(f"scores must be 0 or 1, and there must be two factors; got factors {sorted(factors)}")
    if not (isinstance(link, str) and link in INVERSE_LINKS):
        raise DataError(f"link must be one of {', '.join(sorted(INVERSE_LINKS))}; got {link!r}")
    check_whole(n_draws, "n_draws", _BATCHES, 100_000)
    if n_draws % _BATCHES:
        raise DataError(f"n_draws must be a multiple of {_BATCHES}; got {n_draws}")
    check_rng(rng)
    seed, question = sorted(read_design(factors, len(y)).factors, key=lambda term: term.n_levels)
    if not 1 < seed.n_levels <= _MAX_SEEDS:
        raise DataError(f"{seed.name} must have 2 to {_MAX_SEEDS} levels; it has {seed.n_levels}")
    right, n_answers = np.zeros((2, question.n_levels, seed.n_levels))
    np.add.at(right, (question.codes, seed.codes), y)
    np.add.at(n_answers, (question.codes, seed.codes), 1.0)
    model = _Model(right, n_answers, link, rng)
    start = np.array([special.logit((y.sum() + 1) / (len(y) + 2)), 0.0, -1.0])
    proposal = adapted_proposal(model.with_one_set, start, n_pilot=max(n_draws // 2, 400), rng=rng)
    sample = importance_sample(model.with_all_sets, proposal, n_draws=n_draws, rng=rng).require_reliable()
    return SampledCrossedPosterior(*model.both(sample.points, sample.weights), sample.pareto_k)


class _Model:
    """Log posterior density, up to a constant, of g = (mu, log sigma_q, log sigma_s), from sets of latent draws.

    If seeds do not differ, log sigma_s has no effect and is given a standard normal distribution around -1.
    """

    def __init__(self, right: FloatArray, asked: FloatArray, link: Link, rng: np.random.Generator) -> None:
        self.right, self.asked, self.inverse = right, asked, INVERSE_LINKS[link]
        questions, seeds = right.shape
        n_joint = min(int(_MAX_JOINT ** (1 / seeds) + 1e-9), 32)
        self.z_question = _stratified((_BATCHES, questions), _QUESTION_DRAWS, rng)
        self.z_seed = _stratified((_BATCHES, seeds), n_joint, rng)

    def with_one_set(self, g: FloatArray) -> FloatArray:
        """Log density from the first set of draws for all g, which is smooth in g."""
        return np.asarray(np.logaddexp(*self._parts(g, np.zeros(len(g), int))))

    def with_all_sets(self, g: FloatArray) -> FloatArray:
        """Log density from one set of draws for each of 16 blocks of g."""
        return np.asarray(np.logaddexp(*self._parts(g, _set_of_each(g))))

    def both(self, g: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means and their weights with and without differences between seeds, shape (2, n)."""
        differ = special.expit(np.subtract(*self._parts(g, _set_of_each(g))))
        means = [_moments(each, self.inverse)[0] for each in (g, _without_seeds(g))]
        return np.array(means), np.array([weights * differ, weights * (1 - differ)])

    def _parts(self, g: FloatArray, sets: IntArray) -> tuple[FloatArray, FloatArray]:
        ability, sd = (np.exp(g[:, 1, None, None]) * self.z_question[sets] + g[:, 0, None, None]), np.exp(g[:, 2])
        pairs = list(zip(ability, sd[:, None, None] * self.z_seed[sets], strict=True))
        differ = _log_mean_exp(np.array([self._likelihoods(questions, seeds) for questions, seeds in pairs]))
        alike = _log_mean_exp(np.array([self._likelihoods(questions, 0 * seeds[:, :1]) for questions, seeds in pairs]))
        volume, x = self._volume(g, 3)
        same = np.log(NULL_PROBABILITY) - (g[:, 2] + 1) ** 2 / 2 - np.log(2 * np.pi) / 2
        return differ + volume + np.log(effect_prior(x)), alike + self._volume(_without_seeds(g), 2)[0] + same

    def _likelihoods(self, ability: FloatArray, seeds: FloatArray) -> FloatArray:
        """Log of the product over questions of the average over question draws, for each combination of seed draws."""
        p = np.clip(self.inverse(ability[:, :, None, None] + seeds), 1e-300, 1 - 1e-16)
        right, wrong = self.right[:, None, :, None], (self.asked - self.right)[:, None, :, None]
        chance = np.where(right > 0, p, 1.0) ** right * np.where(wrong > 0, 1 - p, 1.0) ** wrong
        together = chance[:, :, 0]  # (questions, draws, combinations of the seeds' draws)
        for k in range(1, chance.shape[2]):
            together = (together[..., None] * chance[:, :, k, None]).reshape(*chance.shape[:2], -1)
        return np.asarray(np.log(np.maximum(together.mean(axis=1), 1e-300)).sum(axis=0))

    def _volume(self, g: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
        """Log of |d (mean, question share, relative sd of seeds) / d g| in the first `dim` coordinates, and that sd."""
        steps = 1e-3 * np.eye(3)[:dim]
        slopes = [(self._scales(g + step) - self._scales(g - step))[:dim] / 2e-3 for step in steps]
        volume = np.abs(np.linalg.det(np.moveaxis(np.array(slopes), 2, 0)))
        return np.log(np.maximum(volume, 1e-300)), self._scales(g)[2]

    def _scales(self, g: FloatArray) -> FloatArray:
        mean, questions, seeds = _moments(g, self.inverse)
        whole = mean * (1 - mean)
        return np.array([mean, questions / whole, np.sqrt(np.maximum(seeds, 0.0) / whole)])


def _log_mean_exp(logs: FloatArray) -> FloatArray:
    """Log of the mean of the exponentials over the last axis."""
    return np.asarray(special.logsumexp(logs, axis=-1) - np.log(logs.shape[-1]))


def _set_of_each(g: FloatArray) -> IntArray:
    return np.repeat(np.arange(_BATCHES), len(g) // _BATCHES)


def _without_seeds(g: FloatArray) -> FloatArray:
    return np.asarray(np.where([True, True, False], g, -np.inf))


def _moments(g: FloatArray, inverse: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Mean and its variances over questions and over seeds on the probability scale, shape (3, n)."""
    mu, question, seed = g[:, 0], np.exp(g[:, 1]), np.exp(g[:, 2])
    p = inverse((mu[:, None] + question[:, None] * _NODES)[:, :, None] + (seed[:, None] * _NODES)[:, None, :])
    of_question, of_seed = p @ _CHANCES, np.einsum("gqs,q->gs", p, _CHANCES)
    mean = np.clip(of_question @ _CHANCES, 1e-12, 1 - 1e-12)
    return np.array([mean, of_question**2 @ _CHANCES - mean**2, of_seed**2 @ _CHANCES - mean**2])


def _stratified(shape: tuple[int, int], n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Standard normal draws, one from each interval of equal probability, with a common shift; (*shape, n_draws)."""
    return np.asarray(special.ndtri((np.arange(n_draws) + np.maximum(rng.random((*shape, 1)), 1e-9)) / n_draws))
