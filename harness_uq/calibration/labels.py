"""Setting of a judge's scores with a person's labels of some, answered by the correction and by its rivals."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product

import numpy as np
from scipy import special

from harness_uq.calibration.clusters import success_rates
from harness_uq.calibration.design import Answer, Cell, DataSet, Setting, Size
from harness_uq.errors import NotEstimableError
from harness_uq.logs.data import FloatArray, IntArray
from harness_uq.stats import beta_posterior, judge_corrected_posterior

N_QUESTIONS = 1000
_SPREADS = {"none": (1, np.inf), "200×5, ICC .3": (5, 7 / 3), "50×20, ICC .3": (20, 7 / 3)}
_ACCURACIES = ((0.6, 0.6), (0.95, 0.95), (0.95, 0.6), (0.6, 0.95))

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedData(DataSet):
    """Right-or-wrong grades.

    Attributes
    ----------
    truth : accuracy on new questions
    judge : of all questions
    human : of some, NaN where there is none
    clusters : int (n_questions,), None where questions are independent
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
            return Answer(tuple(_RIVALS[method](self.judge, self.human, level) for level in levels))
        except NotEstimableError:
            return None


def _normal(centre: float, variance: float, level: float) -> Interval:
    if not variance > 0:
        raise NotEstimableError("an interval of no width")
    half = float(special.ndtri((1 + level) / 2) * np.sqrt(variance))
    return centre - half, centre + half


def ppi_interval(judge: FloatArray, human: FloatArray, level: float) -> Interval:
    """PPI++ for a mean: Angelopoulos, Duchi & Zrnic (2023), arXiv 2311.01453, example 6.1, weight within [0, 1]."""
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
    """Apparent accuracy p as (p + s0 - 1) / (s1 + s0 - 1), s1 and s0 the judge's sensitivity and specificity.

    Rogan & Gladen (1978), Am. J. Epidemiology 107:71, with the variance by the delta method.
    """
    right, wrong = (human == grade for grade in (1.0, 0.0))
    if not (right.any() and wrong.any()):
        raise NotEstimableError("all labels are alike")
    s1, s0, p = float(judge[right].mean()), 1 - float(judge[wrong].mean()), float(judge.mean())
    if (youden := s1 + s0 - 1) <= 0:
        raise NotEstimableError("the judge tells nothing")
    theta = (p + s0 - 1) / youden
    parts = (
        p * (1 - p) / len(judge),
        theta**2 * s1 * (1 - s1) / right.sum(),
        (1 - theta) ** 2 * s0 * (1 - s0) / wrong.sum(),
    )
    return _normal(theta, float(sum(parts)) / youden**2, level)


def _labels_alone(judge: FloatArray, human: FloatArray, level: float) -> Interval:
    seen = human[~np.isnan(human)]
    return beta_posterior(float(seen.sum()), len(seen)).interval(level, "hdi")


def _judge_alone(judge: FloatArray, human: FloatArray, level: float) -> Interval:
    return beta_posterior(float(judge.sum()), len(judge)).interval(level, "hdi")


_RIVALS: dict[str, Callable[[FloatArray, FloatArray, float], Interval]] = {
    "PPI++": ppi_interval,
    "Rogan-Gladen": rogan_gladen_interval,
    "labels alone": _labels_alone,
    "judge alone": _judge_alone,
}


def _cells(size: Size) -> list[Cell]:
    if size == "smoke":
        designs = [(20, 0.8, "none", (0.95, 0.6)), (50, 0.8, "50×20, ICC .3", (0.75, 0.75))]
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
    truth, spread = cell.number("truth"), _SPREADS[cell.text("clusters")]
    size, d = spread
    n_clusters = N_QUESTIONS // size

    def rates(mean: float) -> FloatArray:
        """Of each question; alike within a cluster."""
        return np.repeat(success_rates(mean, d, n_clusters, rng), size)

    right = rng.random(N_QUESTIONS) < rates(truth)
    said = np.where(
        right,
        rng.random(N_QUESTIONS) < rates(cell.number("sensitivity")),
        rng.random(N_QUESTIONS) >= rates(cell.number("specificity")),
    )
    human = np.full(N_QUESTIONS, np.nan)
    chosen = rng.choice(N_QUESTIONS, int(cell.number("labels")), replace=False)
    human[chosen] = right[chosen]
    clusters = None if size == 1 else np.repeat(np.arange(n_clusters), size)
    return JudgedData(truth, said.astype(float), human, clusters)


JUDGE = Setting(
    "judge",
    "A judge's scores, corrected by labels",
    ("judge-corrected", *_RIVALS),
    _cells,
    _draw,
)
