"""Data sets of question scores, with the answers of `harness-uq estimate` and of published methods."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

import numpy as np

from benchmarks.calibration import reference_methods
from benchmarks.calibration.scenarios.types import Answer, DataSet
from harness_uq.analyses.estimate import estimate
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.estimands import Scope
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import Questions, RunMetadata, Scores, Source, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.messages.errors import HarnessUqError
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.stats.proportion.binomial import binomial_interval
from harness_uq.stats.trials.pass_k import PassScope, pass_k_posterior

UNCLUSTERED = "unclustered "
HIERARCHY = "hierarchy, shape untested"


@dataclass(frozen=True, slots=True, eq=False)
class ScoreData(DataSet):
    """Scores of one task.

    Attributes
    ----------
    truth : float
        True value of the estimand.
    values : ndarray, shape (n_questions, n_trials)
        Scores.
    clusters : ndarray of int, shape (n_questions,), or None
        Cluster labels; None if questions are independent.
    scope, estimand : str
        As in `Options`.
    bounds : tuple of float or None
        Bounds of the scores; None if all are 0 or 1.
    levels : tuple of float or None
        Declared levels of graded scores.
    n_original : int or None
        Number of questions of the whole benchmark, if these are a subset.
    """

    truth: float
    values: FloatArray
    clusters: IntArray | None = None
    scope: Scope = "population"
    estimand: str = "mean"
    bounds: tuple[float, float] | None = None
    levels: tuple[float, ...] | None = None
    n_original: int | None = None

    @property
    def key(self) -> bytes:
        digest = blake2b(np.ascontiguousarray(self.values).tobytes(), digest_size=12)
        digest.update(b"" if self.clusters is None else self.clusters.tobytes())
        return digest.digest()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        if method in _PUBLISHED:
            return _PUBLISHED[method](self, levels, rng)
        clusters = self.clusters
        if method.startswith(UNCLUSTERED):
            method, clusters = method.removeprefix(UNCLUSTERED), None
        return self._estimated(method, clusters, levels)

    def _estimated(self, method: str, clusters: IntArray | None, levels: tuple[float, ...]) -> Answer | None:
        first = self._row(method, clusters, levels[0])
        if first is None or first.interval is None:
            return None
        ends = [(first.interval.low, first.interval.high)]
        for level in levels[1:]:
            if first.posterior is not None and first.interval.kind != "confidence":
                ends.append(first.posterior.interval(level, first.interval.kind))
                continue
            row = self._row(method, clusters, level)
            if row is None or row.interval is None:
                return None
            ends.append((row.interval.low, row.interval.high))
        return Answer(tuple(ends), first.warnings)

    def _row(self, method: str, clusters: IntArray | None, level: float) -> Estimate | None:
        name = "score"
        log = TaskLog(
            system="simulated",
            task="simulated",
            source=Source("simulated", "simulated"),
            questions=Questions(_ids(len(self.values))),
            data=(Scores(name, "none", self.values, clusters, levels=self.levels),),
            facts=RunMetadata(n_all=self.n_original, is_random_subset=True),
        )
        ranges = {} if self.bounds is None else {name: self.bounds}
        structure = StructureOptions(ranges=ranges)
        options = Options(method=method, level=level, scope=self.scope, estimand=self.estimand, structure=structure)
        try:
            return estimate(log, options, plugins=plugins_once())[0]
        except HarnessUqError:
            return None


plugins_once = cache(load_plugins)  # installed estimators, loaded once per process


@cache
def _ids(n: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(n))


def _counts(data: ScoreData) -> tuple[FloatArray, FloatArray]:
    """Successes and questions of each cluster."""
    units = np.arange(len(data.values)) if data.clusters is None else data.clusters
    cells = data.values.shape[1]
    successes = np.bincount(units, data.values.sum(axis=1)).astype(float)
    return successes, np.bincount(units).astype(float) * cells


def _each(data: ScoreData, levels: tuple[float, ...], method: "Callable[..., tuple[float, float]]") -> Answer:
    counts = _counts(data)
    return Answer(tuple(method(*counts, level) for level in levels))


def _importance(data: ScoreData, levels: tuple[float, ...], rng: np.random.Generator) -> Answer:
    draws = reference_methods.clustered_importance_draws(*_counts(data), rng)
    return Answer(reference_methods.percentiles(draws, levels))


def _question_bootstrap(data: ScoreData, levels: tuple[float, ...], rng: np.random.Generator) -> Answer:
    means = data.values.mean(axis=1)
    resampled = means[rng.integers(len(means), size=(reference_methods.BOOTSTRAP_DRAWS, len(means)))]
    return Answer(reference_methods.percentiles(resampled.mean(axis=1), levels))


def _hierarchy(data: ScoreData, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
    """pass@k under Beta-distributed success rates, without the test of that assumption."""
    successes, trials = data.values.sum(axis=1), np.full(len(data.values), data.values.shape[1])
    scope: PassScope = "benchmark" if data.scope == "benchmark" else "population"
    posterior = pass_k_posterior(successes, trials, int(data.estimand.partition("@")[2]), scope=scope)
    return Answer(tuple(posterior.interval(level, "hdi") for level in levels))


_Published = Callable[[ScoreData, tuple[float, ...], np.random.Generator], Answer | None]


def _pooled_beta(successes: FloatArray, sizes: FloatArray, level: float) -> tuple[float, float]:
    low, high = binomial_interval(successes.sum(), sizes.sum(), level, "beta")
    return float(low), float(high)


_PUBLISHED: dict[str, _Published] = {
    "published clustered IS": _importance,
    "published clustered CLT": lambda data, levels, rng: _each(data, levels, reference_methods.miller_clt),
    "published clustered bootstrap": lambda data, levels, rng: _each(
        data, levels, reference_methods.stratified_bootstrap
    ),
    "published unclustered Bayes": lambda data, levels, rng: _each(data, levels, _pooled_beta),
    "unclustered bootstrap": lambda data, levels, rng: _each(data, levels, reference_methods.pooled_bootstrap),
    "cluster bootstrap": lambda data, levels, rng: Answer(
        reference_methods.percentiles(reference_methods.cluster_bootstrap_draws(*_counts(data), rng), levels)
    ),
    "bootstrap": _question_bootstrap,
    HIERARCHY: _hierarchy,
}
