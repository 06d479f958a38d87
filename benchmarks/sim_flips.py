"""Precision and recall of the questions that a gate lists as broken and as flaky.

Of 300 questions, 255 are settled (right with probability 0.97 or 0.03), 30 are flaky (right with probability 0.3 to
0.7), and 15 break in the new system (from 0.97 to 0.03). The new system has one run or two. `worse` is the list of
large changes without flaky questions, `likely` its part with a probability of at least 0.5, and `naive` all questions
that were right in the last run of the baseline and are always wrong now. `known` lists the questions that are always
wrong now although their probability, which is known, was 0.97: no rule without further data separates them.

The cells `history` have one run of the baseline and a history of 19 runs. Before the tenth of them, `n_changed` further
questions change from 0.03 to 0.97. With `all_runs`, no run is omitted because of this change.

Run `python benchmarks/sim_flips.py`; it takes a few minutes and writes `benchmarks/results/flips.json`.
"""

import json
from itertools import product
from pathlib import Path

import numpy as np

from harness_uq.analyses.comparison import questions as lists
from harness_uq.analyses.comparison.questions import flipped_questions
from harness_uq.analyses.history import runs_at_level_of
from harness_uq.data.selection import SelectedRun
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import Questions, Scores, Source, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.options import Options
from harness_uq.stats.trials.question_changes import FLAKY, LARGE_CHANGE, question_changes

lists.MOST_QUESTIONS = 300  # list all questions
PLUGINS = load_plugins()
OUT = Path(__file__).parent / "results" / "flips.json"
REPS = 300


def scores(n_runs: int, n_new: int, rng: np.random.Generator) -> dict[str, tuple[int, int, int]]:
    """Listed questions, correctly listed ones, and all planted ones of each list."""
    p = np.where(rng.random(300) < 0.7, 0.97, 0.03)
    p[:30] = rng.uniform(0.3, 0.7, 30)
    p[30:45] = 0.97
    later = p.copy()
    later[30:45] = 0.03
    runs = rng.random((n_runs, 300)) < p
    new = (rng.random((n_new, 300)) < later).sum(axis=0).astype(float)
    right, n = runs.sum(axis=0).astype(float), np.full(300, float(n_runs))
    found = question_changes(right, n, new, np.full(300, float(n_new)))
    is_flaky = (found.flakiness >= FLAKY) & (right > 0) & (right < n)
    worse = (right / n - new / n_new >= LARGE_CHANGE) & ~is_flaky
    planted = np.arange(300)
    broken, flaky = (planted >= 30) & (planted < 45), planted < 30
    lists = {
        "worse": (worse, broken),
        "likely": (worse & (found.probability >= 0.5), broken),
        "naive": (runs[-1] & (new == 0), broken),
        "known": ((p == 0.97) & (new == 0), broken),
        "flaky": (is_flaky, flaky),
    }
    return {name: (int(a.sum()), int((a & b).sum()), int(b.sum())) for name, (a, b) in lists.items()}


def run_of(right: np.ndarray, system: str, k: int) -> SelectedRun:
    """A run with these answers, float (300, n_trials), at time k."""
    questions = Questions(tuple(f"q{i}" for i in range(300)))
    data = Scores("acc", "none", right.astype(float))
    source = Source(f"{system}-{k}", "table", time=f"2026-01-01T00:{k:02d}")
    return SelectedRun(TaskLog(system, "t", source, questions, (data,)), data)


def with_history(
    n_new: int, n_changed: int, all_runs: bool, rng: np.random.Generator
) -> dict[str, tuple[int, int, int]]:
    """Listed, correctly listed and planted questions of a gate with a history."""
    p = np.where(rng.random(300) < 0.7, 0.97, 0.03)
    p[:30] = rng.uniform(0.3, 0.7, 30)
    p[30 : 45 + n_changed] = 0.97
    before, later = p.copy(), p.copy()
    before[45 : 45 + n_changed] = 0.03
    later[30:45] = 0.03
    history = [run_of(rng.random((300, 1)) < (before if k < 9 else p)[:, None], "old", k) for k in range(19)]
    baseline = run_of(rng.random((300, 1)) < p[:, None], "old", 19)
    new = run_of(rng.random((300, n_new)) < later[:, None], "new", 20)
    used = history if all_runs else runs_at_level_of(baseline, history, Options(), PLUGINS)
    found = flipped_questions(new, baseline, StructureOptions(), PLUGINS, used)
    names = {
        "worse": ({one.question for one in found.worse}, range(30, 45)),
        "likely": ({one.question for one in found.worse if (one.probability or 0) >= 0.5}, range(30, 45)),
        "flaky": ({one.question for one in found.flaky}, range(30)),
    }
    return {
        name: (len(listed), len(listed & {f"q{i}" for i in planted}), len(planted))
        for name, (listed, planted) in names.items()
    }


def rates(drawn: list[dict[str, tuple[int, int, int]]]) -> dict[str, dict[str, float]]:
    """Precision and recall of each list over all replications."""
    found = {}
    for name in drawn[0]:
        listed, right, planted = np.sum([one[name] for one in drawn], axis=0).tolist()
        found[name] = {"precision": round(right / max(listed, 1), 3), "recall": round(right / planted, 3)}
    return found


def main() -> None:
    """Run all cells and write the table."""
    cells = []
    for n_new, n_runs in product((1, 2), (3, 5, 10, 20)):
        rng = np.random.default_rng([33, n_runs, n_new])
        drawn = [scores(n_runs, n_new, rng) for _ in range(REPS)]
        cells.append({"n_runs": n_runs, "n_new": n_new, **rates(drawn)})
        print(json.dumps(cells[-1]), flush=True)
    histories = []
    for n_new, (n_changed, all_runs) in product((1, 2), ((0, False), (15, False), (15, True))):
        rng = np.random.default_rng([34, n_new, n_changed])
        drawn = [with_history(n_new, n_changed, all_runs, rng) for _ in range(REPS)]
        histories.append({"n_new": n_new, "n_changed": n_changed, "all_runs": all_runs, **rates(drawn)})
        print(json.dumps(histories[-1]), flush=True)
    OUT.write_text(json.dumps({"replications": REPS, "cells": cells, "history": histories}, indent=1) + "\n")


if __name__ == "__main__":
    main()
