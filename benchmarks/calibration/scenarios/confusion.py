"""Setting with F1 and macro F1, metrics of a confusion matrix."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from benchmarks.calibration import reference_methods
from benchmarks.calibration.scenarios.scores import plugins_once
from benchmarks.calibration.scenarios.types import Answer, Cell, DataSet, Scenario, Size
from harness_uq.analyses.estimate import estimate
from harness_uq.data.task_log import Classifications, FloatArray, Questions, Source, TaskLog
from harness_uq.stats.classes.confusion import confusion_score
from harness_uq.stats.classes.multiclass import multiclass_score


@dataclass(frozen=True, slots=True, eq=False)
class Matrix(DataSet):
    """A confusion matrix with targets in rows.

    With two classes the second is the positive one, and the metric is F1; otherwise it is macro F1.
    """

    truth: float
    matrix: FloatArray

    @property
    def key(self) -> bytes:
        return self.matrix.tobytes()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        if method == "bayes":
            return self._estimated(levels)
        if method == "delta":
            return self._delta(levels)
        n = int(self.matrix.sum())
        draws = rng.multinomial(n, self.matrix.ravel() / n, 500).reshape(-1, *self.matrix.shape).astype(float)
        return Answer(reference_methods.percentiles(np.array([true_score(m) for m in draws]), levels))

    def _delta(self, levels: tuple[float, ...]) -> Answer | None:
        """Delta-method interval of F1: Bowyer et al. (2025), eq. 40."""
        if len(self.matrix) > 2 or self.matrix[1, 1] == 0:
            return None
        n, tp = self.matrix.sum(), self.matrix[1, 1]
        f1 = 2 * tp / (2 * tp + self.matrix[0, 1] + self.matrix[1, 0])
        denominator = (2 * tp + self.matrix[0, 1] + self.matrix[1, 0]) / n
        gradient = np.array([2 * (1 - f1), -f1, -f1]) / denominator
        p = np.array([tp, self.matrix[0, 1], self.matrix[1, 0]]) / n
        variance = (float(gradient**2 @ p) - float(gradient @ p) ** 2) / n
        z = special.ndtri((1 + np.array(levels)) / 2)
        return Answer(tuple((float(f1 - q * variance**0.5), float(f1 + q * variance**0.5)) for q in z))

    def _estimated(self, levels: tuple[float, ...]) -> Answer | None:
        k = len(self.matrix)
        cells = np.repeat(np.arange(k * k), self.matrix.ravel().astype(int))
        metric = "f1" if k == 2 else "macro_f1"
        labels = tuple(f"class {i}" for i in range(k))
        data = Classifications(metric, "none", cells // k, (cells % k)[:, None], labels)
        questions = Questions(tuple(str(i) for i in range(len(cells))))
        log = TaskLog("simulated", "simulated", Source("simulated", "simulated"), questions, (data,))
        row = estimate(log, plugins=plugins_once())[0]
        if row.interval is None or row.posterior is None or row.interval.kind == "confidence":
            return None
        kind = row.interval.kind
        return Answer(tuple(row.posterior.interval(level, kind) for level in levels), row.warnings)


def true_score(matrix: FloatArray) -> float:
    """F1 of the second of two classes, or macro F1 for more classes, from counts or probabilities.

    Examples
    --------
    >>> true_score(np.array([[4.0, 1.0], [1.0, 4.0]]))
    0.8
    """
    if len(matrix) == 2:
        tp, fp, fn, tn = matrix[1, 1], matrix[0, 1], matrix[1, 0], matrix[0, 0]
        return float(confusion_score(tp, fp, fn, tn, "f1"))
    return multiclass_score(matrix, "macro_f1")


def _cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    prior = [
        Cell("f1", "prior", {"N": n}, 300 if smoke else 3000, averaged=True)
        for n in ((30,) if smoke else (10, 30, 100, 300))
    ]
    binary = [
        Cell("f1", "fixed", {"share": share, "recall": recall, "N": n}, 200 if smoke else 300)
        for share, recall, n in product(
            (0.5,) if smoke else (0.05, 0.2, 0.5), (0.8,) if smoke else (0.6, 0.9), (100,) if smoke else (30, 100, 1000)
        )
    ]
    macro = [
        Cell("f1", "macro", {"classes": k, "recall": recall, "N": n}, 30 if smoke else 80)
        for k, recall, n in product(
            (3,) if smoke else (3, 5, 10), (0.8,) if smoke else (0.5, 0.8, 0.95), (100,) if smoke else (100, 1000)
        )
    ]
    return prior + binary + macro


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    n = int(cell.number("N"))
    if cell.family == "prior":
        p = rng.dirichlet(np.ones(4)).reshape(2, 2)
    elif cell.family == "fixed":
        share, recall = cell.number("share"), cell.number("recall")
        wrong = 0.1 * (1 - share)
        p = np.array([[1 - share - wrong, wrong], [share * (1 - recall), share * recall]])
    else:
        p = _even_errors(int(cell.number("classes")), cell.number("recall"))
    counts = rng.multinomial(n, p.ravel() / p.sum()).reshape(p.shape).astype(float)
    return Matrix(true_score(p), counts)


def _even_errors(k: int, recall: float) -> FloatArray:
    """Classes with shares 1 : 2 : ... : K and errors distributed evenly over the other classes."""
    share = np.arange(1.0, k + 1)[:, None] / (k * (k + 1) / 2)
    return np.asarray(share * np.where(np.eye(k) > 0, recall, (1 - recall) / (k - 1)))


F1 = Scenario(
    "f1",
    "F1 and macro F1",
    ("bayes", "bootstrap", "delta"),
    _cells,
    _draw,
    every={"bootstrap": 10},
)
