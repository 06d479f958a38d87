"""Target and predicted classes, and the function of the confusion matrix that lm-eval printed.

The name of a metric does not determine the function: an `f1` may be a weighted, macro or micro F1, with either class as
the positive one. The name of the aggregation suggests a function, and the printed value confirms it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import ConfusionMetric, MulticlassMetric, confusion_matrix, confusion_score, multiclass_score

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
_EQUIVALENT = {"micro_f1": "accuracy"}  # equal if every question has a prediction
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
    """Codes (n_questions,) and labels; with two labels, the last is the positive class."""

    targets: NDArray[np.int64]
    predictions: NDArray[np.int64]
    labels: tuple[str, ...]

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of the confusion matrix that are defined for this number of classes."""
        return (*_SYMMETRIC, *(_ASYMMETRIC if len(self.labels) == 2 else ()))

    def value(self, function: str) -> float:
        """Value of a function of the confusion matrix."""
        matrix = confusion_matrix(self.targets, self.predictions, n_classes=len(self.labels))
        if function in _ASYMMETRIC:
            tn, fp, fn, tp = matrix.ravel()
            return float(confusion_score(tp, fp, fn, tn, function))
        return multiclass_score(matrix, function)  # type: ignore[arg-type]


def encode_classes(pairs: Sequence[tuple[object, object]]) -> Classes | None:
    """Classes of (target, prediction) pairs; None if the targets are free text and not classes."""
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
    code_of = {label: code for code, label in enumerate(ordered)}
    codes = np.array([code_of[value] for value in flat], dtype=np.int64)
    return Classes(codes[::2], codes[1::2], tuple(str(label) for label in ordered))


def _class(value: object) -> int | str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else None


def suggested_function(*names: str | None) -> str | None:
    """The function that the first recognised name suggests; None if no name is recognised.

    >>> suggested_function("weighted_f1_score", "f1"), suggested_function(None, "f1"), suggested_function("mean", "acc")
    ('weighted_f1', 'f1', None)
    """
    functions = (function for name in names for part, function in _HINTS if re.search(part, name or "", re.IGNORECASE))
    return next(functions, None)


def function_of(classes: Classes, hint: str, agrees: Callable[[float], bool]) -> tuple[str, Classes] | None:
    """The function whose value agrees, with its positive class last; None if there is none, or several that differ."""
    agreeing = [(name, oriented) for name, oriented in _functions(classes) if agrees(oriented.value(name))]
    if hinted_pairs := [pair for pair in agreeing if pair[0] == hint]:
        return hinted_pairs[0]
    return agreeing[0] if len({_EQUIVALENT.get(name, name) for name, _ in agreeing}) == 1 else None


def _functions(classes: Classes) -> Iterator[tuple[str, Classes]]:
    yield from ((name, classes) for name in classes.functions)
    if len(classes.labels) == 2:
        # the other of the two labels as the positive class
        swapped = Classes(1 - classes.targets, 1 - classes.predictions, classes.labels[::-1])
        yield from ((name, swapped) for name in _ASYMMETRIC)
