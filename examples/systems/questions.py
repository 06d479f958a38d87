"""The questions of the example tasks, as their data files hold them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "tasks" / "data"


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question; `answer` is the correct text, or the index of the correct choice."""

    id: str
    question: str
    answer: str | int
    choices: tuple[str, ...] = ()
    category: str = ""
    passage_id: str = ""
    passage: str = ""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Question":
        """The question in one row of a data file, or in one lm-evaluation-harness document."""
        return cls(**{**row, "choices": tuple(row.get("choices", ()))})

    @property
    def family(self) -> str:
        """The kind of question, which its id begins with: `passage` of `passage-07-2`."""
        return self.id.split("-")[0]

    @property
    def answer_text(self) -> str:
        """The right answer in words."""
        return self.choices[int(self.answer)] if self.choices else str(self.answer)


def load(name: str) -> list[Question]:
    """The questions of one data file."""
    with (DATA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [Question.from_row(json.loads(line)) for line in lines]


def load_all() -> dict[str, Question]:
    """Every question of every data file, by its text, which no two share."""
    return {item.question: item for path in sorted(DATA.glob("*.jsonl")) for item in load(path.stem)}
