"""Raw results of sixteen systems, as a leaderboard keeps them: `python examples/audit/make_results.py results.csv`.

A row for each system and question of three tasks. The systems are scripted as those of the other examples, three tenths
of a logit apart in ability, which is about four points of a hundred.
"""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from systems.behaviour import System
from systems.questions import load

ABILITIES = {f"system-{chr(ord('a') + k)}": 2.8 - 0.3 * k for k in range(16)}
TASKS = {"reading": ("passages",), "exam": ("exam_sums", "exam_series", "exam_units"), "divides": ("divides",)}
COLUMNS = ("system", "task", "question", "cluster", "accuracy")


def rows(system: System) -> Iterator[tuple[object, ...]]:
    """One row per question, with its passage if it has one."""
    for task, files in TASKS.items():
        for question in (question for name in files for question in load(name)):
            is_right = system.choose(question) == question.answer
            yield system.name, task, question.id, question.passage_id or question.id, int(is_right)


def write(path: Path) -> None:
    """Write the table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for name, ability in ABILITIES.items():
            table.writerows(rows(System(name, ability)))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
