"""The values of one metric and filter, as rows bring them: numbers packed, everything else reduced to what counts."""

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
    """A value that only the harness's own aggregation understands; `kind` names it in the plural."""

    kind: str


@dataclass(frozen=True, slots=True)
class Texts(Opaque):
    """A model's output and what it should have been, one or more texts."""

    references: tuple[str, ...]
    output: str


Other: TypeAlias = tuple[Scalar, ...] | AnswerRow | Opaque


class Column:
    """Values by question: `numbers` (NaN where there is none) and `others` where a value is no number.

    lm-eval logs numpy booleans and floats as text up to 0.4.12, and `None`, NaN and Infinity as such.
    """

    __slots__ = ("n_infinite", "n_nan", "n_null", "numbers", "others", "questions")

    def __init__(self) -> None:
        self.questions = array("q")
        self.numbers = array("d")
        self.others: dict[int, Other] = {}
        self.n_null = self.n_nan = self.n_infinite = 0

    def add(self, question: int, value: object) -> None:
        """Take the value of a question; each question comes once."""
        if isinstance(value, str):
            value = _number_in(value)
        number = math.nan
        if isinstance(value, int | float):
            number = self._finite(_as_float(value))
        elif value is None:
            self.n_null += 1
        else:
            self.others[question] = _reduced(value)
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
        """Questions with a finite number."""
        return len(self) - len(self.others) - self.n_null - self.n_nan - self.n_infinite

    def by_question(self, n_questions: int) -> NDArray[np.float64]:
        """Numbers (n_questions,), NaN where a question has none."""
        values = np.full(n_questions, math.nan)
        values[np.frombuffer(self.questions, dtype=np.int64)] = np.frombuffer(self.numbers)
        return values


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of 400 digits; as text it would be infinite, too
        return math.inf


def _number_in(content: str) -> object:
    if content in _BOOL_IN_TEXT:
        return _BOOL_IN_TEXT[content]
    try:
        return float(content)
    except ValueError:
        return content


def _reduced(value: object) -> Other:
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
    """References, or the one output, may stand in a list of their own."""
    if len(value) != 2:
        return None
    references, outputs = (part if isinstance(part, list) else [part] for part in value)
    texts = [text for text in (*references, *outputs) if isinstance(text, str)]
    if not references or len(outputs) != 1 or len(texts) <= len(references):
        return None
    return Texts("nested lists", tuple(texts[:-1]), texts[-1])


def _answer_row(prediction: object, document: dict[str, object]) -> AnswerRow | None:
    """Of the whole document that `acc_all` repeats in each row, its indices and its label are kept."""
    index = document.get("idx")
    predicted = _number_in(prediction) if isinstance(prediction, str) else prediction
    if not isinstance(index, dict) or not {"paragraph", "question"} <= index.keys() or "label" not in document:
        return None
    return AnswerRow((index["paragraph"], index["question"]), (document["label"] == 1) == predicted)
