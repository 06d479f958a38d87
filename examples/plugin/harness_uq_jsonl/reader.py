"""Scores in JSON Lines: an object a line.

`question` and `score` are needed; `system`, `task`, `cluster` and `trial` count where they are there.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from harness_uq import CandidateField, Found, LogError, Questions, Run, Scores, Source, TaskLog


class JsonLines:
    """Reads files that end in `.scores.jsonl`."""

    name = "jsonl"

    def find(self, paths: Sequence[str]) -> Found:
        """A run for each file of that name."""
        mine = [path for path in paths if path.endswith(".scores.jsonl")]
        rest = tuple(path for path in paths if path not in mine)
        return Found(tuple(Run(Path(path).name, (path,)) for path in mine), rest)

    def read(self, run: Run) -> Iterator[TaskLog]:
        """One log for each system and task of the file."""
        (path,) = run.files
        rows: dict[tuple[str, str], list[dict[str, object]]] = {}
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                key = str(row.get("system", "system")), str(row.get("task", Path(path).name))
                rows.setdefault(key, []).append({"score": float(row["score"]), **row})
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise LogError(f"line {number} is no score: {error}") from error
        for (system, task), found in rows.items():
            yield _task_log(system, task, found, path)


def _task_log(system: str, task: str, rows: list[dict[str, object]], path: str) -> TaskLog:
    questions = list(dict.fromkeys(str(row["question"]) for row in rows))
    place = {question: at for at, question in enumerate(questions)}
    trials = dict.fromkeys(questions, 0)
    cells: list[tuple[int, int, float]] = []
    clusters: list[object] = [None] * len(questions)
    for row in rows:
        question = str(row["question"])
        cells.append((place[question], trials[question], float(row["score"])))
        trials[question] += 1
        clusters[place[question]] = row.get("cluster")
    values = np.full((len(questions), max(trials.values())), np.nan)
    for question, trial, score in cells:
        values[question, trial] = score
    return TaskLog(
        system=system,
        task=task,
        source=Source(path, JsonLines.name),
        questions=Questions(tuple(questions), fields={"cluster": CandidateField(_codes(clusters))}),
        data=(Scores("score", "none", values),),
    )


def _codes(labels: list[object]) -> list[int]:
    known = {label: code for code, label in enumerate(dict.fromkeys(x for x in labels if x is not None))}
    return [-1 if label is None else known[label] for label in labels]
