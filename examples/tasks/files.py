"""Absolute paths of the data files, so that the tasks load from any working directory.

`!function files.PASSAGES` in a task file puts the value of that name there: the harness looks it up and calls nothing.
"""

from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"

PASSAGES = str(DATA / "passages.jsonl")
WORD_PROBLEMS = str(DATA / "word_problems.jsonl")
EXAM_SUMS = str(DATA / "exam_sums.jsonl")
EXAM_SERIES = str(DATA / "exam_series.jsonl")
EXAM_UNITS = str(DATA / "exam_units.jsonl")
COPYING = str(DATA / "copying.jsonl")
DIVIDES = str(DATA / "divides.jsonl")
