"""Write the questions of the example tasks: templates filled by hashes, so that every run writes the same files.

Run as `python examples/make_data.py`; the files are in examples/tasks/data.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from systems.hashing import pick, shuffled, uniform
from systems.questions import DATA

Row = dict[str, object]

NAMES = (
    "Abena", "Bruno", "Cosima", "Dario", "Edda", "Farid", "Greta", "Hanno", "Ilse", "Jorun", "Kaito", "Lucia", "Milan",
    "Nadia", "Orla", "Pavel", "Quirin", "Rosa", "Silvan", "Tamar", "Ulf", "Vera", "Wanda", "Xenia", "Yusuf", "Zora",
    "Amos", "Bela", "Clio", "Dora",
)  # fmt: skip
FACTS = {
    "job": ("baker", "glazier", "ferryman", "piano tuner", "beekeeper", "clockmaker"),
    "place": ("an old mill", "a lighthouse", "a houseboat", "a railway cottage", "an attic flat", "a walled farm"),
    "pet": ("goose", "greyhound", "parrot", "tortoise", "ferret", "pony"),
    "colour": ("green", "crimson", "violet", "ochre", "silver", "turquoise"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
    "food": ("plum cake", "lentil soup", "smoked trout", "walnut bread", "pear jam", "goat cheese"),
    "sport": ("fencing", "curling", "rowing", "archery", "climbing", "skating"),
}
STORY = (
    "{name} works as a {job} and lives in {place} at the edge of the village. A {pet} follows {name} everywhere, even "
    "on the {colour} bicycle that leans beside the door. "  # prose: ignore
    "Every {day} the neighbours come over for {food}; on all other "
    "evenings {name} goes to the {sport} club and comes home late."
)
ASKED = {
    "job": "What is {name}'s work?",
    "place": "Where does {name} live?",
    "pet": "Which animal follows {name} everywhere?",
    "colour": "What colour is {name}'s bicycle?",
    "day": "On which day do the neighbours visit {name}?",
    "food": "What do {name}'s guests eat?",
    "sport": "Which club does {name} go to?",
}
CATEGORIES = {
    **dict.fromkeys(("job", "sport"), "person"),
    **dict.fromkeys(("place", "pet", "colour"), "home"),
    **dict.fromkeys(("day", "food"), "visits"),
}
GOODS = ("pears", "candles", "marbles", "postcards", "buttons", "walnuts")
WORDS = ("amber", "brook", "cedar", "dune", "ember", "fjord", "grove", "harbour", "inlet", "juniper")
MEASURES = (("metres", "centimetres", 100), ("kilograms", "grams", 1000), ("hours", "minutes", 60))


def whole(low: int, high: int, *keys: object) -> int:
    """A whole number from low to high, both included."""
    return low + int(uniform(*keys) * (high - low + 1))


def multiple_choice(question_id: str, question: str, right: str, wrong: list[str]) -> Row:
    """A row with the right and the wrong choices shuffled; the answer is the index of the right one."""
    choices = shuffled([right, *wrong], "choices", question_id)
    return {"id": question_id, "question": question, "choices": choices, "answer": choices.index(right)}


def passages() -> Iterator[Row]:
    """Thirty stories with two to seven questions each."""
    for number, name in enumerate(NAMES, start=1):
        passage_id = f"passage-{number:02}"
        facts = {kind: pick(options, passage_id, kind) for kind, options in FACTS.items()}
        asked = shuffled(list(FACTS), passage_id, "asked")[: whole(2, 7, passage_id, "size")]
        for place, kind in enumerate(asked, start=1):
            others = [option for option in FACTS[kind] if option != facts[kind]]
            wrong = shuffled(others, passage_id, kind, "wrong")[:3]
            row = multiple_choice(f"{passage_id}-{place}", ASKED[kind].format(name=name), facts[kind], wrong)
            passage = STORY.format(name=name, **facts)
            yield {**row, "category": CATEGORIES[kind], "passage_id": passage_id, "passage": passage}


def word_problems() -> Iterator[Row]:
    """Fifty sums told as a story; the answer is a number."""
    for number in range(1, 51):
        question_id = f"problem-{number:02}"
        name, goods = pick(NAMES, question_id, "name"), pick(GOODS, question_id, "goods")
        boxes, each, more = (whole(3, 12, question_id, part) for part in ("boxes", "each", "more"))
        question = f"{name} fills {boxes} boxes with {each} {goods} each and keeps {more} aside. How many {goods}?"
        yield {"id": question_id, "question": question, "answer": str(boxes * each + more)}


def exam_sums() -> Iterator[Row]:
    """Fifty additions."""
    for number in range(1, 51):
        question_id = f"sums-{number:02}"
        a, b = whole(12, 89, question_id, "a"), whole(12, 89, question_id, "b")
        wrong = [str(a + b + slip) for slip in (-10, 1, 10)]
        yield multiple_choice(question_id, f"Sum {number}: what is {a} + {b}?", str(a + b), wrong)


def exam_series() -> Iterator[Row]:
    """Thirty number series."""
    for number in range(1, 31):
        question_id = f"series-{number:02}"
        start, step = whole(2, 40, question_id, "start"), whole(3, 19, question_id, "step")
        shown = ", ".join(str(start + step * place) for place in range(4))
        following = start + 4 * step
        wrong = [str(following + slip) for slip in (-step, step, 1)]
        yield multiple_choice(question_id, f"Series {number}: what follows {shown}?", str(following), wrong)


def exam_units() -> Iterator[Row]:
    """Twenty conversions; the answer is a number with its unit."""
    for number in range(1, 21):
        question_id = f"units-{number:02}"
        large, small, factor = pick(MEASURES, question_id, "measure")
        a, b = whole(2, 9, question_id, "a"), whole(11, 49, question_id, "b")
        total = factor * a + b
        question = f"Conversion {number}: how many {small} are {a} {large} and {b} {small}?"
        wrong = [f"{total} {large}", f"{factor * b + a} {small}", f"{a + b} {small}"]
        yield multiple_choice(question_id, question, f"{total} {small}", wrong)


def copying() -> Iterator[Row]:
    """Forty words to repeat, which both systems always manage."""
    for number in range(1, 41):
        question_id = f"copy-{number:02}"
        right, *wrong = shuffled(WORDS, question_id)[:4]
        yield multiple_choice(question_id, f"Card {number} says {right}. What does it say?", right, wrong)


def divides() -> Iterator[Row]:
    """Forty questions of divisibility, three in ten with the answer yes."""
    for number in range(1, 41):
        question_id = f"divides-{number:02}"
        divisor, times = whole(3, 9, question_id, "divisor"), whole(6, 30, question_id, "times")
        is_multiple = uniform(question_id, "yes") < 0.3
        dividend = divisor * times + (0 if is_multiple else whole(1, divisor - 1, question_id, "rest"))
        question = f"Pair {number}: is {dividend} a multiple of {divisor}?"
        yield {"id": question_id, "question": question, "choices": ["no", "yes"], "answer": int(is_multiple)}


FILES = (passages, word_problems, exam_sums, exam_series, exam_units, copying, divides)


def main(argv: list[str] | None = None) -> int:
    """Write the files into the folder given, by default where the tasks read them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=DATA, help="folder to write into (%(default)s)")
    write(parser.parse_args(argv).output)
    return 0


def write(folder: Path) -> None:
    """Write one JSONL file per set of questions."""
    folder.mkdir(parents=True, exist_ok=True)
    for rows in FILES:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows())
        (folder / f"{rows.__name__}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
