"""Raw results of sixteen systems, as a leaderboard keeps them: `python examples/audit/make_results.py FOLDER`.

FOLDER/<system>.scores.jsonl has a line for each question of three tasks. The systems are scripted as those of the other
examples, a tenth of a logit apart in ability, which is about two points of a hundred.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from systems.behaviour import System
from systems.questions import load

ABILITIES = {f"system-{chr(ord('a') + k)}": 1.5 - 0.1 * k for k in range(16)}
TASKS = {"reading": ("passages",), "exam": ("exam_sums", "exam_series", "exam_units"), "divides": ("divides",)}


def rows(system: System) -> Iterator[dict[str, object]]:
    """One for each question, with the passage that it is about where there is one."""
    for task, files in TASKS.items():
        for question in (question for name in files for question in load(name)):
            row = {"system": system.name, "task": task, "question": question.id}
            passage = {"cluster": question.passage_id} if question.passage_id else {}
            yield row | {"score": int(system.choose(question) == question.answer)} | passage


def write(folder: Path) -> None:
    """Write a file for each system."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, ability in ABILITIES.items():
        lines = (json.dumps(row) + "\n" for row in rows(System(name, ability)))
        (folder / f"{name}.scores.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
