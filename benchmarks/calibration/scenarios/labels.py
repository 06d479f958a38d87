"""Setting with a judge's scores and human labels for a subset, with the correction and competing methods."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product

import numpy as np
from scipy import special

from benchmarks.calibration.scenarios.clusters import success_rates
from benchmarks.calibration.scenarios.types import Answer, Cell, DataSet, Scenario, Size
from harness_uq.data.task_log import FloatArray, IntArray
from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats import beta_posterior, judge_corrected_posterior

N_QUESTIONS = 1000
_SPREADS = {"none": (1, np.inf), "200×5, ICC 0.3": (5, 7 / 3), "50×20, ICC 0.3": (20, 7 / 3)}
_ACCURACIES = ((0.6, 0.6), (0.95, 0.95), (0.95, 0.6), (0.6, 0.95))

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedData(DataSet):
    """Binary grades.

    Attributes
    ----------
    truth : float
        Accuracy on new questions.
    judge : ndarray, shape (n_questions,)
        Scores of the judge.
    human : ndarray, shape (n_questions,)
        Human labels; NaN if missing.
    clusters : ndarray of int, shape (n_questions,), or None
        Cluster labels; None if questions are independent.
    """

    truth: float
    judge: FloatArray
    human: FloatArray
    clusters: IntArray | None

    @property
    def key(self) -> bytes:
        parts = (self.judge, self.human, np.empty(0) if self.clusters is None else self.clusters)
        return blake2b(b"".join(part.tobytes() for part in parts), digest_size=12).digest()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        if method == "judge-corrected":
            posterior = judge_corrected_posterior(self.judge, self.human, clusters=self.clusters, rng=rng)
            return Answer(tuple(posterior.interval(level, "hdi") for level in levels))
        try:
            return Answer(tuple(_COMPETITORS[method](self.judge, self.human, level) for level in levels))
        except NotEstimableError:
            return None


def _normal(centre: float, variance: float, level: float) -> Interval:
    if not variance > 0:
        raise NotEstimableError("the interval has zero width")
    half = float(special.ndtri((1 + level) / 2) * np.sqrt(variance))
    return centre - half, centre + half


def ppi_interval(judge: FloatArray, human: FloatArray, level: float) -> Interval:
    """PPI++ interval for a mean, with the weight limited to [0, 1].

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), arXiv 2311.01453, example 6.1.
    """
    labelled = ~np.isnan(human)
    f, h, rest = judge[labelled], human[labelled], judge[~labelled]
    n, m = len(h), len(rest)
    covariance = float(np.mean((f - f.mean()) * (h - h.mean())))
    spread = (1 + n / m) * float(judge.var())
    weight = min(max(covariance / spread, 0.0), 1.0) if spread > 0 else 0.0
    corrected = h - weight * f
    variance = float(corrected.var()) / n + weight**2 * float(rest.var()) / m
    return _normal(float(corrected.mean() + weight * rest.mean()), variance, level)


def rogan_gladen_interval(judge: FloatArray, human: FloatArray, level: float) -> Interval:
    """Rogan-Gladen interval: the apparent accuracy p is corrected to (p + s0 - 1) / (s1 + s0 - 1).

    s1 and s0 are the judge's sensitivity and specificity; the variance is that of the delta method.

    References
    ----------
    Rogan and Gladen (1978), Am. J. Epidemiology 107, 71-76.
    """
    right, wrong = (human == grade for grade in (1.0, 0.0))
    if not (right.any() and wrong.any()):
        raise NotEstimableError("all labels are equal")
    s1, s0, p = float(judge[right].mean()), 1 - float(judge[wrong].mean()), float(judge.mean())
    if (youden := s1 + s0 - 1) <= 0:
        raise NotEstimableError("the judge is uninformative")
    theta = (p + s0 - 1) / youden
    parts = (
        p * (1 - p) / len(judge),
        theta**2 * s1 * (1 - s1) / right.sum(),
        (1 - theta) ** 2 * s0 * (1 - s0) / wrong.sum(),
    )
    return _normal(theta, float(sum(parts)) / youden**2, level)


def _labels_alone(judge: FloatArray, human: FloatArray, level: float) -> Interval:
    labels = human[~np.isnan(human)]
    return beta_posterior(float(labels.sum()), len(labels)).interval(level, "hdi")


_COMPETITORS: dict[str, Callable[[FloatArray, FloatArray, float], Interval]] = {
    "PPI++": ppi_interval,
    "Rogan-Gladen": rogan_gladen_interval,
    "labels alone": _labels_alone,
    "judge alone": lambda judge, human, level: beta_posterior(float(judge.sum()), len(judge)).interval(level, "hdi"),
}


def _cells(size: Size) -> list[Cell]:
    if size == "smoke":
        designs = [(20, 0.8, "none", (0.95, 0.6)), (50, 0.8, "50×20, ICC 0.3", (0.75, 0.75))]
    else:
        designs = list(product((20, 50, 100), (0.5, 0.8, 0.95), _SPREADS, _ACCURACIES))
    return [
        Cell(
            "judge",
            f"clusters {clusters}",
            {"labels": n, "truth": truth, "sensitivity": s1, "specificity": s0, "clusters": clusters},
            100 if size == "smoke" else 400,
        )
        for n, truth, clusters, (s1, s0) in designs
    ]


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    truth, design = cell.number("truth"), _SPREADS[cell.text("clusters")]
    size, d = design
    n_clusters = N_QUESTIONS // size

    def rates(mean: float) -> FloatArray:
        """Success rates of questions, equal within a cluster."""
        return np.repeat(success_rates(mean, d, n_clusters, rng), size)

    right = rng.random(N_QUESTIONS) < rates(truth)
    judge = np.where(
        right,
        rng.random(N_QUESTIONS) < rates(cell.number("sensitivity")),
        rng.random(N_QUESTIONS) >= rates(cell.number("specificity")),
    )
    human = np.full(N_QUESTIONS, np.nan)
    chosen = rng.choice(N_QUESTIONS, int(cell.number("labels")), replace=False)
    human[chosen] = right[chosen]
    clusters = None if size == 1 else np.repeat(np.arange(n_clusters), size)
    return JudgedData(truth, judge.astype(float), human, clusters)


JUDGE = Scenario(
    "judge",
    "A judge's scores, corrected by labels",
    ("judge-corrected", *_COMPETITORS),
    _cells,
    _draw,
)
