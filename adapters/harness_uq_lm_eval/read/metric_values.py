"""The values of one metric and filter: numbers in an array, other values reduced to what their metric needs."""

import math
from array import array
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Scalar: TypeAlias = bool | int | float | str

_BOOL_IN_TEXT = {"True": True, "False": False}


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One candidate answer of a question that counts only as a whole (`acc_all`)."""

    question: tuple[object, object]
    is_right: bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that only the harness's own aggregation can use; `kind` names such values in the plural."""

    kind: str


@dataclass(frozen=True, slots=True)
class Texts(Opaque):
    """A model's output and its reference texts."""

    references: tuple[str, ...]
    output: str


Other: TypeAlias = tuple[Scalar, ...] | AnswerRow | Opaque


class MetricValues:
    """Values by question: `numbers` (NaN if a value is not a finite number) and `others` (values of other types).

    Up to version 0.4.12, lm-eval logs numpy booleans and floats as text. `None`, NaN and Infinity are logged as such.
    """

    __slots__ = ("n_infinite", "n_nan", "n_null", "numbers", "others", "questions")

    def __init__(self) -> None:
        self.questions = array("q")
        self.numbers = array("d")
        self.others: dict[int, Other] = {}
        self.n_null = self.n_nan = self.n_infinite = 0

    def add(self, question: int, value: object) -> None:
        """Add the value of a question; each question is added once."""
        if isinstance(value, str):
            value = _parse_number(value)
        number = math.nan
        if isinstance(value, int | float):
            number = self._finite(_as_float(value))
        elif value is None:
            self.n_null += 1
        else:
            self.others[question] = _reduce(value)
        self.questions.append(question)
        self.numbers.append(number)

    def _finite(self, number: float) -> float:
        if math.isnan(number):
            self.n_nan += 1
        elif math.isinf(number):
            self.n_infinite += 1
            number = math.nan
        return number

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def n_numbers(self) -> int:
        """Number of questions with a finite number."""
        return len(self) - len(self.others) - self.n_null - self.n_nan - self.n_infinite

    def by_question(self, n_questions: int) -> NDArray[np.float64]:
        """Numbers (n_questions,); NaN for questions without one."""
        values = np.full(n_questions, math.nan)
        values[np.frombuffer(self.questions, dtype=np.int64)] = np.frombuffer(self.numbers)
        return values


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of 400 digits; as text it becomes infinite, too
        return math.inf


def _parse_number(content: str) -> object:
    if content in _BOOL_IN_TEXT:
        return _BOOL_IN_TEXT[content]
    try:
        return float(content)
    except ValueError:
        return content


def _reduce(value: object) -> Other:
    if isinstance(value, str):
        return Opaque("texts")
    if not isinstance(value, list):
        return Opaque("objects")
    if len(value) == 2 and isinstance(value[1], dict):
        return _answer_row(value[0], value[1]) or Opaque("pairs with objects")
    if all(isinstance(part, bool | int | float | str) for part in value):
        return tuple(_BOOL_IN_TEXT.get(part, part) if isinstance(part, str) else part for part in value)
    return _texts(value) or Opaque("nested lists")


def _texts(value: list[object]) -> Texts | None:
    """References and output; either may be a list."""
    if len(value) != 2:
        return None
    references, outputs = (part if isinstance(part, list) else [part] for part in value)
    texts = [text for text in (*references, *outputs) if isinstance(text, str)]
    if not references or len(outputs) != 1 or len(texts) <= len(references):
        return None
    return Texts("nested lists", tuple(texts[:-1]), texts[-1])


def _answer_row(prediction: object, document: dict[str, object]) -> AnswerRow | None:
    """The indices and the label of the document that `acc_all` repeats in each row, and whether the answer is right."""
    index = document.get("idx")
    predicted = _parse_number(prediction) if isinstance(prediction, str) else prediction
    if not isinstance(index, dict) or not {"paragraph", "question"} <= index.keys() or "label" not in document:
        return None
    return AnswerRow((index["paragraph"], index["question"]), (document["label"] == 1) == predicted)
