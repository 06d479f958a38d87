"""Settings with two systems: on different questions, on the same questions, and on the same clustered questions."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from benchmarks.calibration import reference_methods
from benchmarks.calibration.scenarios.types import LEVELS, NOMINAL, Answer, Cell, DataSet, Scenario, Size
from benchmarks.reference.latent_normal import latent_normal_cells
from benchmarks.reference.two_proportions import (
    independent_posterior,
    miettinen_nurminen_interval,
    newcombe_interval,
    tango_interval,
)
from harness_uq.data.panel import panel_of_scores
from harness_uq.data.task_log import FloatArray, IntArray
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.messages.errors import HarnessUqError
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.pairs.paired import paired_posterior
from harness_uq.stats.pairs.paired_frequentist import paired_t
from harness_uq.stats.units.contrasts import paired_difference_posterior


def _ends_of(posterior: Posterior, levels: tuple[float, ...]) -> Answer:
    return Answer(tuple(posterior.interval(level, "quantile") for level in levels))


def _wald(mean: float, variance: float, levels: tuple[float, ...]) -> Answer:
    half = [float(special.ndtri((1 + level) / 2)) * float(np.sqrt(variance)) for level in levels]
    return Answer(tuple((mean - h, mean + h) for h in half))


def _unpaired_clt(s_a: float, n_a: float, s_b: float, n_b: float, levels: tuple[float, ...]) -> Answer:
    p, q = s_a / n_a, s_b / n_b
    return _wald(p - q, p * (1 - p) / n_a + q * (1 - q) / n_b, levels)


@dataclass(frozen=True, slots=True, eq=False)
class TwoScores(DataSet):
    """Right answers of two systems on different questions; the true value is theta_A - theta_B."""

    truth: float
    successes: tuple[float, float]
    trials: tuple[float, float]

    @property
    def key(self) -> bytes:
        return repr((self.successes, self.trials)).encode()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        (s_a, s_b), (n_a, n_b) = self.successes, self.trials
        if method == "bayes":
            return _ends_of(independent_posterior(s_a, n_a, s_b, n_b), levels)
        if method == "clt":
            return _unpaired_clt(s_a, n_a, s_b, n_b, levels)
        interval = newcombe_interval if method == "newcombe" else miettinen_nurminen_interval
        ends = (interval(s_a, n_a, s_b, n_b, level=level) for level in levels)
        return Answer(tuple((float(low), float(high)) for low, high in ends))


def _independent_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    prior = [
        Cell("independent", "prior", {"N": n}, 200 if smoke else 4000, averaged=True)
        for n in ((10,) if smoke else (3, 10, 30, 100))
    ]
    scores = ((0.8, 0.8),) if smoke else ((0.5, 0.5), (0.8, 0.8), (0.95, 0.95), (0.99, 0.99), (0.8, 0.9), (0.95, 0.97))
    fixed = [
        Cell(
            "independent",
            "fixed",
            {"theta_A": a, "theta_B": b, "N_A": n, "N_B": m},
            200 if smoke else 600,
            is_null=a == b,
        )
        for (a, b), (n, m) in product(scores, ((30, 30),) if smoke else ((20, 20), (20, 100), (100, 100), (1000, 1000)))
    ]
    return prior + fixed


def _draw_independent(cell: Cell, rng: np.random.Generator) -> DataSet:
    if cell.averaged:
        theta, n = rng.random(2), (int(cell.number("N")),) * 2
    else:
        theta = np.array([cell.number("theta_A"), cell.number("theta_B")])
        n = int(cell.number("N_A")), int(cell.number("N_B"))
    s = rng.binomial(n, theta)
    return TwoScores(float(theta[0] - theta[1]), (float(s[0]), float(s[1])), (float(n[0]), float(n[1])))


INDEPENDENT = Scenario(
    "independent",
    "Two systems on different questions",
    ("bayes", "newcombe", "miettinen-nurminen", "clt"),
    _independent_cells,
    _draw_independent,
    every={"miettinen-nurminen": 4},
)


@dataclass(frozen=True, slots=True, eq=False)
class PairTable(DataSet):
    """Numbers of questions that [both, only A, only B, neither] got right; the true value is theta_A - theta_B."""

    truth: float
    table: FloatArray

    @property
    def key(self) -> bytes:
        return self.table.tobytes()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        try:
            return _PAIRED[method](self.table, levels, rng)
        except HarnessUqError:
            return None


def _paired_t(table: FloatArray, levels: tuple[float, ...], rng: np.random.Generator) -> Answer:
    fit = paired_t(np.repeat([0.0, 1.0, -1.0, 0.0], table.astype(int)))
    return Answer(tuple(fit.interval(level) for level in levels))


def _paired_clt(table: FloatArray, levels: tuple[float, ...], rng: np.random.Generator) -> Answer:
    n, mean = table.sum(), (table[1] - table[2]) / table.sum()
    return _wald(float(mean), float((table[1] + table[2]) / n - mean**2) / max(n - 1, 1), levels)


def _paired_bootstrap(table: FloatArray, levels: tuple[float, ...], rng: np.random.Generator) -> Answer:
    n = int(table.sum())
    draws = rng.multinomial(n, table / n, reference_methods.BOOTSTRAP_DRAWS)
    return Answer(reference_methods.percentiles((draws[:, 1] - draws[:, 2]) / n, levels))


def _scores(table: FloatArray) -> tuple[float, float, float, float]:
    n = float(table.sum())
    return float(table[0] + table[1]), n, float(table[0] + table[2]), n


_PAIRED: dict[str, Callable[[FloatArray, tuple[float, ...], np.random.Generator], Answer]] = {
    "bayes": lambda table, levels, rng: _ends_of(paired_posterior(table, "dirichlet"), levels),
    "latent-normal": lambda table, levels, rng: _ends_of(paired_posterior(table, "latent_normal"), levels),
    "published paired IS": lambda table, levels, rng: Answer(
        reference_methods.percentiles(reference_methods.paired_importance_draws(table, rng), levels)
    ),
    "tango": lambda table, levels, rng: Answer(tuple(tango_interval(table, level=level) for level in levels)),
    "t": _paired_t,
    "clt": _paired_clt,
    "bootstrap": _paired_bootstrap,
    "unpaired bayes": lambda table, levels, rng: _ends_of(independent_posterior(*_scores(table)), levels),
    "unpaired clt": lambda table, levels, rng: _unpaired_clt(*_scores(table), levels),
}


def _paired_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    paper = [
        Cell("paired", "paper", {"N": n}, 100 if smoke else 6000, levels=LEVELS if n == 10 else (NOMINAL,))
        for n in ((10,) if smoke else (3, 10, 30, 100))
    ]
    prior = [
        Cell("paired", "prior", {"N": n}, 300 if smoke else 4000, averaged=True) for n in ((20,) if smoke else (10, 50))
    ]
    scores = ((0.8, 0.8),) if smoke else ((0.5, 0.5), (0.8, 0.8), (0.95, 0.95), (0.99, 0.99), (0.8, 0.85), (0.95, 0.97))
    fixed = [
        Cell(
            "paired",
            "fixed",
            {"theta_A": a, "theta_B": b, "rho": rho, "N": n},
            150,
            is_null=a == b,
        )
        for (a, b), rho, n in product(
            scores, (0.6,) if smoke else (0.0, 0.6, 0.95), (30,) if smoke else (30, 100, 1000, 10_000)
        )
    ]
    return paper + prior + fixed


def _draw_paired(cell: Cell, rng: np.random.Generator) -> DataSet:
    n = int(cell.number("N"))
    if cell.averaged:
        cells = rng.dirichlet(np.full(4, 0.5))
    elif cell.family == "paper":
        a, b = rng.random(2)
        cells = latent_normal_cells(np.array(a), np.array(b), np.array(2 * rng.beta(4, 2) - 1))
    else:
        cells = latent_normal_cells(*(np.array(cell.number(name)) for name in ("theta_A", "theta_B", "rho")))
    return PairTable(float(cells[1] - cells[2]), rng.multinomial(n, cells / cells.sum()).astype(float))


PAIRED = Scenario(
    "paired",
    "Two systems on the same questions",
    tuple(_PAIRED),
    _paired_cells,
    _draw_paired,
    every={"latent-normal": 10, "published paired IS": 10, "unpaired bayes": 8, "bootstrap": 4, "tango": 4, "t": 2},
    every_of_paper={"bayes": 4, "latent-normal": 12, "published paired IS": 6, "unpaired bayes": 4},
)


@dataclass(frozen=True, slots=True, eq=False)
class PairedScores(DataSet):
    """Scores of two systems on the same clustered questions; the true value is the expected difference."""

    truth: float
    a: FloatArray
    b: FloatArray
    units: IntArray

    @property
    def key(self) -> bytes:
        return self.a.tobytes() + self.b.tobytes()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        difference = self.a - self.b
        try:
            if method == "stats":
                return _ends_of(paired_difference_posterior(difference, 0, 1, clusters=self.units), levels)
            if method == "clustered-t":
                fit = cluster_robust(difference, self.units)
                return Answer(tuple(fit.interval(level) for level in levels))
            if method == "unclustered t":
                student = paired_t(difference)
                return Answer(tuple(student.interval(level) for level in levels))
            units = None if method == "unclustered bayes" else self.units
            panel = panel_of_scores([self.a, self.b], units, (0.0, 1.0), is_binary=True)
            difference_estimate = paired_contrast(panel, "dirichlet")
        except HarnessUqError:
            return None
        posterior = difference_estimate.posterior
        return Answer(tuple(posterior.interval(level, "quantile") for level in levels))


def _paired_clustered_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    shapes = ("25×20",) if smoke else ("10×10", "25×20", "100×5", "250×4")
    scores = ((0.6, 0.6),) if smoke else ((0.6, 0.6), (0.9, 0.9), (0.97, 0.97), (0.8, 0.85))
    subpopulations = [
        Cell("paired_clustered", "subpopulation", {"theta": theta, "clusters": "30×8", "A never right on": share}, 200)
        for theta, share in ([] if smoke else product((0.9, 0.7), (0.0, 0.02, 0.05, 0.1)))
    ]
    return subpopulations + [
        Cell(
            "paired_clustered",
            "fixed",
            {"theta_A": a, "theta_B": b, "clusters": shape, "latent icc": icc},
            100 if smoke else 150,
            is_null=a == b,
        )
        for (a, b), shape, icc in product(scores, shapes, (0.33,) if smoke else (0.0, 0.1, 0.33))
    ]


def _draw_paired_clustered(cell: Cell, rng: np.random.Generator) -> DataSet:
    """Latent normal model: half of the variance of each cluster and question effect is common to both systems."""
    if cell.family == "subpopulation":
        return _draw_subpopulation(cell, rng)
    n_clusters, size = (int(n) for n in cell.text("clusters").split("×"))
    theta = np.array([cell.number("theta_A"), cell.number("theta_B")])
    icc = cell.number("latent icc")
    units = np.repeat(np.arange(n_clusters), size)

    def effects(n: int) -> FloatArray:
        return np.asarray((rng.standard_normal((n, 1)) + rng.standard_normal((n, 2))) / np.sqrt(2))

    latent = np.sqrt(icc) * effects(n_clusters)[units] + np.sqrt(1 - icc) * effects(len(units))
    right = (latent < special.ndtri(theta)).astype(float)
    return PairedScores(float(theta[0] - theta[1]), right[:, 0], right[:, 1], units)


def _draw_subpopulation(cell: Cell, rng: np.random.Generator) -> DataSet:
    """Both systems have the same success probability, but A is never right in a share of the clusters."""
    n_clusters, size = (int(n) for n in cell.text("clusters").split("×"))
    theta, share = cell.number("theta"), cell.number("A never right on")
    units = np.repeat(np.arange(n_clusters), size)
    is_never_right = (rng.random(n_clusters) < share)[units]
    right = (rng.random((2, len(units))) < theta).astype(float)
    right[0, is_never_right] = 0.0
    return PairedScores(-share * theta, right[0], right[1], units)


PAIRED_CLUSTERED = Scenario(
    "paired_clustered",
    "Two systems on the same clustered questions",
    ("bayes", "stats", "clustered-t", "unclustered bayes", "unclustered t"),
    _paired_clustered_cells,
    _draw_paired_clustered,
    every={"stats": 8, "unclustered bayes": 4},
)
