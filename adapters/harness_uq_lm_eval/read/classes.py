"""Target and predicted classes, and which function of them it is that lm-eval printed.

The metric's name says little: an `f1` may be aggregated by a weighted, macro or micro F1, of whatever positive class.
The function's name is a hint, and the printed value decides.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness_uq.stats.classes.confusion import ConfusionMetric, confusion_score
from harness_uq.stats.classes.multiclass import MulticlassMetric, confusion_matrix, multiclass_score

_ASYMMETRIC: tuple[ConfusionMetric, ...] = ("f1", "precision", "recall")
_SYMMETRIC: tuple[MulticlassMetric, ...] = (
    "accuracy",
    "micro_f1",
    "macro_f1",
    "weighted_f1",
    "balanced_accuracy",
    "mcc",
    "kappa",
)
_SAME = {"micro_f1": "accuracy"}  # where every question has a prediction
_HINTS = (
    ("weighted", "weighted_f1"),
    ("macro", "macro_f1"),
    ("micro", "micro_f1"),
    ("kappa", "kappa"),
    ("balanced", "balanced_accuracy"),
    ("mcc|matthews", "mcc"),
    ("precision", "precision"),
    ("recall", "recall"),
    ("f1", "f1"),
)


@dataclass(frozen=True, slots=True)
class Classes:
    """Codes (n_questions,) and labels; of two labels the last is the positive class."""

    targets: NDArray[np.int64]
    predictions: NDArray[np.int64]
    labels: tuple[str, ...]

    def swapped(self) -> "Classes":
        """The same with the first of two labels as the positive class."""
        return Classes(1 - self.targets, 1 - self.predictions, self.labels[::-1])

    def value(self, function: str) -> float:
        """The plain value of a function of the confusion matrix."""
        matrix = confusion_matrix(self.targets, self.predictions, n_classes=len(self.labels))
        if function in _ASYMMETRIC:
            tn, fp, fn, tp = matrix.ravel()
            return float(confusion_score(tp, fp, fn, tn, function))
        return multiclass_score(matrix, function)  # type: ignore[arg-type]


def coded(pairs: Sequence[tuple[object, object]]) -> Classes | None:
    """Classes of (target, prediction) pairs; None where the targets are free text rather than classes."""
    flat = [_class(value) for pair in pairs for value in pair]
    if None in flat:
        return None
    if all(isinstance(value, int) for value in flat):
        labels = {0, 1} if set(flat) <= {0, 1} else set(flat)
    elif len(set(flat[::2])) <= max(2, len(pairs) // 2):
        labels = set(flat)
    else:
        return None
    if len(labels) < 2:
        return None
    ordered = sorted(labels, key=lambda label: (isinstance(label, str), label))
    place = {label: code for code, label in enumerate(ordered)}
    codes = np.array([place[value] for value in flat], dtype=np.int64)
    return Classes(codes[::2], codes[1::2], tuple(str(label) for label in ordered))


def _class(value: object) -> int | str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else None


def hinted(*names: str | None) -> str | None:
    """The function that the first telling name tells of, None where none does.

    >>> hinted("weighted_f1_score", "f1"), hinted(None, "f1"), hinted("mean", "acc")
    ('weighted_f1', 'f1', None)
    """
    found = (function for name in names for part, function in _HINTS if re.search(part, name or "", re.IGNORECASE))
    return next(found, None)


def function_of(classes: Classes, hint: str, agrees: Callable[[float], bool]) -> tuple[str, Classes] | None:
    """The function whose value agrees, with its positive class last; None where there is none or no telling which."""
    agreeing = [(name, found) for name, found in _functions(classes) if agrees(found.value(name))]
    if by_name := [pair for pair in agreeing if pair[0] == hint]:
        return by_name[0]
    return agreeing[0] if len({_SAME.get(name, name) for name, _ in agreeing}) == 1 else None


def _functions(classes: Classes) -> Iterator[tuple[str, Classes]]:
    yield from ((name, classes) for name in _SYMMETRIC)
    if len(classes.labels) == 2:
        yield from ((name, found) for found in (classes, classes.swapped()) for name in _ASYMMETRIC)
