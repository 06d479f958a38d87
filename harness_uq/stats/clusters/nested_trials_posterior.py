"""Posterior of the mean of clusters of questions with repeated trials: a three-level model without sampling.

Sums over the unobserved levels are moved inside the product, as in massively parallel importance sampling. Given the
dispersion e of questions, the likelihood of a cluster is a function of its mean theta_t alone and is tabulated on
nodes. The nodes' weights under Beta(d theta, d (1 - theta)) do not depend on the data. One matrix product contracts
both for every cluster and every (theta, d).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import UnreliableError
from harness_uq.stats.clusters.beta_binomial_likelihood import stirling_rest
from harness_uq.stats.clusters.beta_expectations import MAX_NODES, HatNodes
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, validated_codes
from harness_uq.stats.common.validate_outcomes import check_question_counts, distinct_counts

_HEAD = 16  # rising factorials: this many factors are summed directly, the others by Stirling's series
_COARSE, _FINE = (15, 11, 9), (33, 33, 15)  # nodes of (logit theta, log d, log e)
_LARGEST_D = 1e10  # for larger d the Beta is practically a point, and scipy.special loses precision
_EDGE = 1e-8  # largest marginal density at the edges of the box, relative to its maximum


@dataclass(frozen=True, slots=True, eq=False)
class Correlations:
    """Posterior of both correlations as masses on nodes.

    At each node (P,), `clusters` and `questions` are 1 / (1 + d) and 1 / (1 + e), and `masses` have the sum 1. Their
    posterior means are `icc_clusters` and `icc_questions`, which is None if no question was tried twice.
    """

    clusters: FloatArray
    questions: FloatArray
    masses: FloatArray

    @property
    def icc_clusters(self) -> float:
        return float(self.masses @ self.clusters)

    @property
    def icc_questions(self) -> float | None:
        return float(self.masses @ self.questions) if np.ptp(self.questions) else None


def nested_correlations(successes: ArrayLike, trials: ArrayLike, clusters: ArrayLike) -> Correlations | None:
    """Posterior of both correlations in the model of `nested_integral`; None with one question per cluster.

    Arguments and errors are those of `nested_integral`.

    >>> correlations = nested_correlations([4, 3, 4, 0, 1, 0], 4, [0, 0, 0, 1, 1, 1])
    >>> correlations.icc_clusters > correlations.icc_questions
    True
    """
    integral = nested_integral(successes, trials, clusters)
    return None if integral is None else integral.correlations


def nested_integral(successes: ArrayLike, trials: ArrayLike, clusters: ArrayLike) -> "NestedIntegral | None":
    """Posterior of the population mean and of both correlations, from clusters of questions with repeated trials.

    `successes` and `trials` (n_questions,) are whole numbers that broadcast together. None with one question per
    cluster: both levels then coincide. Raises DataError if counts are negative, fractional or inconsistent, there is no
    trial, or labels have another length; UnreliableError if no finite box of parameters contains the posterior mass.

    theta ~ U(0, 1); theta_t ~ Beta(d theta, d (1 - theta)); pi_tq ~ Beta(e theta_t, e (1 - theta_t));
    Y_tq ~ Bin(N_tq, pi_tq); 1 / (1 + d) and 1 / (1 + e) uniform. This adds one level to the model of Bowyer et al.
    (2025), eq. 8, and is massively parallel importance sampling with quadrature nodes instead of samples. The
    likelihood of a cluster is interpolated linearly in theta_t between nodes, a tenth of its standard deviation apart,
    and integrated exactly against the Beta density.
    """
    s, n, membership = _tried_questions(successes, trials, clusters)
    if len(np.unique(membership)) == len(membership):
        return None
    return _integrate(_Clusters.of(s, n, membership))


def _tried_questions(
    successes: ArrayLike, trials: ArrayLike, clusters: ArrayLike
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Successes, trials and cluster index of each question with at least one trial."""
    s, n = check_question_counts(successes, trials)
    labels = validated_codes(clusters, s.shape)
    return s[n > 0], n[n > 0], np.unique(labels[n > 0], return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class _Clusters:
    """Sufficient statistics: distinct (successes, failures) of questions, and their numbers per cluster.

    `successes` and `failures` (U,) are the distinct pairs, `n_questions` (T, U) the number of questions with each pair
    in each distinct cluster, and `repeats` (T,) the number of clusters with that composition.
    """

    successes: FloatArray
    failures: FloatArray
    n_questions: FloatArray
    repeats: FloatArray

    @classmethod
    def of(cls, s: FloatArray, n: FloatArray, membership: IntArray) -> "_Clusters":
        distinct_s, distinct_n, index, _ = distinct_counts(s, n)
        n_questions = np.zeros((int(membership.max()) + 1, len(distinct_s)))
        np.add.at(n_questions, (membership, index), 1.0)
        rows, repeats = np.unique(n_questions, axis=0, return_counts=True)
        return cls(distinct_s, distinct_n - distinct_s, rows, repeats.astype(float))

    @property
    def trials(self) -> FloatArray:
        return self.successes + self.failures

    def largest(self, e: float) -> float:
        """Largest effective number of trials of a cluster, at dispersion e of its questions."""
        return float((self.n_questions @ (self.trials / (1 + (self.trials - 1) / (1 + e)))).max())

    def likelihood(self, nodes: HatNodes, e: float) -> tuple[FloatArray, float]:
        """Likelihood (T, K) of each cluster at each theta_t, scaled to a maximum of 1, and the log of the scale."""
        table = _log_rising(nodes.x, e, self.successes) + _log_rising(nodes.complement, e, self.failures)
        table -= _log_rising(np.ones(1), e, self.trials)
        log_likelihood = self.n_questions @ table
        largest = log_likelihood.max(axis=1, keepdims=True)
        return np.exp(log_likelihood - largest), float(self.repeats @ largest[:, 0])


def _log_rising(x: FloatArray, e: float, counts: FloatArray) -> FloatArray:
    """sum_{k < m} log(x + k/e) for each count m (rows) and x (columns); x is at least 1e-300."""
    positive = np.maximum(x, 1e-300)
    factors = np.log(positive + np.arange(min(_HEAD, int(counts.max())))[:, None] / e)
    heads = np.concatenate([np.zeros((1, len(x))), np.cumsum(factors, axis=0)])
    total = heads[np.minimum(counts, _HEAD).astype(int)]
    large = counts > _HEAD
    if large.any():
        a, rest = e * positive + _HEAD, counts[large][:, None] - _HEAD
        tail = (a + rest - 0.5) * np.log1p(rest / a) - rest + stirling_rest(a + rest) - stirling_rest(a)
        total[large] += rest * np.log(positive + _HEAD / e) + tail
    return np.asarray(total)


@dataclass(frozen=True, eq=False)
class _Axis:
    """Nodes centre + scale sinh(t) from low to high, dense around the peak and sparse in the tails."""

    centre: float
    scale: float
    low: float
    high: float

    @property
    def span(self) -> float:
        return self.high - self.low

    def nodes(self, n: int) -> FloatArray:
        return self.centre + self.scale * np.sinh(np.linspace(*self._ends(), n))

    def jacobian(self, n: int) -> FloatArray:
        return self.scale * np.cosh(np.linspace(*self._ends(), n))

    def _ends(self) -> tuple[float, float]:
        low, high = np.arcsinh((np.array([self.low, self.high]) - self.centre) / self.scale)
        return float(low), float(high)

    def refit(self, mass: FloatArray) -> "_Axis":
        """New axis for the mass on this one: trimmed if there is none, extended where the mass was truncated."""
        x = self.nodes(len(mass))
        occupied = np.flatnonzero(mass > _EDGE * mass.max())
        first, last = occupied[0], occupied[-1]
        low = self.low - self.span / 2 if first == 0 else x[first - 1]
        high = self.high + self.span / 2 if last == len(mass) - 1 else x[last + 1]
        cumulative = np.cumsum(mass) / mass.sum()
        q1, centre, q3 = np.interp([0.16, 0.5, 0.84], cumulative - mass / mass.sum() / 2, x)
        return _Axis(float(centre), float(max(q3 - q1, (high - low) / 60) / 2), float(low), float(high))


@dataclass(frozen=True, eq=False)
class NestedIntegral:
    """Masses of (logit theta, log d, log e) on the nodes of the axes, with sum 1."""

    axes: tuple[_Axis, _Axis, _Axis]
    mass: FloatArray

    @property
    def correlations(self) -> Correlations:
        sizes = self.mass.shape
        nodes = np.meshgrid(*(special.expit(-self.axes[i].nodes(sizes[i])) for i in (1, 2)), indexing="ij")
        return Correlations(nodes[0].ravel(), nodes[1].ravel(), self.mass.sum(axis=0).ravel())


def _integrate(data: _Clusters) -> NestedIntegral:
    """Find the box that contains the mass on coarse nodes, then evaluate it on fine ones."""
    axes = _first_axes(data)
    for _ in range(12):
        new_axes = _refit(axes, _evaluate(data, axes, _COARSE, 0.4))
        settled = all(0.7 < new.span / old.span <= 1.0 for new, old in zip(new_axes, axes, strict=True))
        axes = new_axes
        if settled:
            break
    if np.pi * np.sqrt(data.largest(float(np.exp(axes[2].high)))) > MAX_NODES:
        raise UnreliableError(
            f"the likelihood of a cluster of {(data.n_questions @ data.trials).max():g} trials whose questions do not "
            f"differ is too narrow for {MAX_NODES} nodes; add up the trials of each cluster and use a two-level model"
        )
    mass = _evaluate(data, axes, _FINE, 0.1)
    if _is_cut_off(mass):  # fine nodes detect mass between the coarse ones
        axes = _refit(axes, mass)
        mass = _evaluate(data, axes, _FINE, 0.1)
    if _is_cut_off(mass):
        raise UnreliableError(f"no finite box contains the posterior mass of {data.repeats.sum():g} clusters")
    return NestedIntegral(axes, mass)


def _first_axes(data: _Clusters) -> tuple[_Axis, _Axis, _Axis]:
    """Axes of (logit theta, log d, log e), wide enough for any ICC."""
    n_clusters, trials = data.repeats.sum(), data.n_questions @ data.trials
    p = (data.repeats @ (data.n_questions @ data.successes) + 1) / (data.repeats @ trials + 2)
    centre, reach = float(special.logit(p)), 12 / np.sqrt(n_clusters * p * (1 - p) + 1)
    tops = np.log([trials.max(), data.trials.max()]) + 8.0
    v, y = (_Axis((top - 6) / 2, top + 6, -6.0, float(top)) for top in tops)
    return _Axis(centre, reach, centre - reach, centre + reach), v, y


def _refit(axes: tuple[_Axis, _Axis, _Axis], mass: FloatArray) -> tuple[_Axis, _Axis, _Axis]:
    u, v, y = (a.refit(m) if len(m) > 1 else a for a, m in zip(axes, _marginals(mass), strict=True))
    return u, v, y


def _is_cut_off(mass: FloatArray) -> bool:
    return any(np.ptp(m) and max(m[0], m[-1]) > 1e-5 * m.max() for m in _marginals(mass))


def _marginals(mass: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return mass.sum(axis=(1, 2)), mass.sum(axis=(0, 2)), mass.sum(axis=(0, 1))


def _evaluate(
    data: _Clusters, axes: tuple[_Axis, _Axis, _Axis], sizes: tuple[int, int, int], fineness: float
) -> FloatArray:
    """Masses on the tensor grid with sum 1; one node of e suffices if no question was tried twice."""
    sizes = sizes if data.trials.max() > 1 else (sizes[0], sizes[1], 1)
    u, v, y = (axis.nodes(size) for axis, size in zip(axes, sizes, strict=True))
    nodes = HatNodes.spaced(data.largest(float(np.exp(axes[2].high))), fineness)
    d, uu = np.minimum(np.exp(np.tile(v, len(u))), _LARGEST_D), np.repeat(u, len(v))
    weights = nodes.weights(d * special.expit(uu), d * special.expit(-uu))
    log_mass = np.empty((len(u) * len(v), len(y)))
    for j, e in enumerate(np.exp(y).tolist()):
        likelihood, log_scale = data.likelihood(nodes, e)
        log_mass[:, j] = np.log(np.maximum(weights @ likelihood.T, 1e-300)) @ data.repeats + log_scale
    log_mass = log_mass.reshape(sizes)
    for i, (axis, x, size) in enumerate(zip(axes, (u, v, y), sizes, strict=True)):
        log_prior = special.log_expit(x) + special.log_expit(-x) + np.log(axis.jacobian(size))
        log_mass += np.expand_dims(log_prior, tuple({0, 1, 2} - {i}))
    mass = np.exp(log_mass - log_mass.max())
    return np.asarray(mass / mass.sum())
