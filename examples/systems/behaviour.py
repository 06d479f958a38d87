"""How a scripted system answers: right with probability sigmoid(ability - difficulty), decided by a hash.

The difficulty of a question belongs to the question and is the same for both systems, so their scores are correlated.
Part of it is shared by all questions of a passage, so the scores within a passage are correlated too. Trials of one
question by one system are independent, given that probability.
"""

from dataclasses import dataclass
from math import exp, log1p
from typing import NamedTuple

from systems.hashing import normal, pick, uniform
from systems.questions import Question

ABILITIES = {"scripted-small": 0.4, "scripted-large": 1.3}


class Difficulty(NamedTuple):
    """Mean, spread between passages and spread between questions of a family's difficulties, in logits."""

    mean: float
    passage_sd: float = 0.0
    question_sd: float = 1.0


DIFFICULTIES = {
    "passage": Difficulty(0.0, passage_sd=2.5, question_sd=0.3),
    "problem": Difficulty(0.3, question_sd=1.5),
    "sums": Difficulty(-0.8),
    "series": Difficulty(0.6),
    "units": Difficulty(0.0),
    "divides": Difficulty(-0.2),
    "copy": Difficulty(-40.0, question_sd=0.0),  # so easy that every answer is right
}

SLIPS = (-10, -2, -1, 1, 2, 10)
UNIT_EASE = 2.0  # logits by which the unit of an answer is easier than its number
UNITS = ("centimetres", "metres", "grams", "kilograms", "minutes", "hours")


def difficulty(question: Question) -> float:
    """Logits by which the question is hard: its family's mean, its passage's share and its own."""
    mean, passage_sd, question_sd = DIFFICULTIES[question.family]
    shared = passage_sd * normal("passage difficulty", question.passage_id)
    return mean + shared + question_sd * normal("question difficulty", question.id)


@dataclass(frozen=True)
class System:
    """A system that knows every answer and gives it as often as its ability allows."""

    name: str
    ability: float

    def chance(self, question: Question, *, ease: float = 0.0) -> float:
        """Probability of a right answer, or of a part of it that is easier by so many logits."""
        return 1 / (1 + exp(difficulty(question) - ease - self.ability))

    def choose(self, question: Question, *, trial: int = 0) -> int:
        """Index of the choice it takes."""
        if self._is_right(question, trial):
            return int(question.answer)
        wrong = [index for index in range(len(question.choices)) if index != question.answer]
        return pick(wrong, "wrong choice", self.name, question.id, trial)

    def reply(self, question: Question, *, trial: int = 0) -> str:
        """The answer in its own words; a number and its unit are got right or wrong each for itself."""
        parts = enumerate(question.answer_text.split())
        return " ".join(
            part if self._is_right(question, trial, place) else _spoilt(part, self.name, question.id, trial, place)
            for place, part in parts
        )

    def log_likelihood(self, question: Question) -> float:
        """Of the question's text, in nats: the harder the question, the less likely each of its words."""
        nats_per_word = 2 + log1p(exp(difficulty(question) - self.ability))
        return -nats_per_word * len(question.question.split())

    def _is_right(self, question: Question, trial: int, place: int = 0) -> bool:
        return uniform("answer", self.name, question.id, trial, place) < self.chance(question, ease=UNIT_EASE * place)


def _spoilt(part: str, *keys: object) -> str:
    if part.isdigit():
        return str(int(part) + pick(SLIPS, "slip", *keys))
    return pick([unit for unit in UNITS if unit != part], "wrong unit", *keys)
