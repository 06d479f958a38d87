"""Error rates of `harness-uq grader`: drift between two graders of the same answers, and self-preference.

Drift: two graders score the answers of three systems to `n` questions. Their scores differ on a share `different` of
the answers, and the mean score of the second one is higher by `drift`. The table has the share of data sets in which
any of the three differences is reported (a false alarm if `drift` is 0), and the mean share of differences that are
reported as higher.

Self-preference: a grader with Youden's J = `j` scores the answers of two systems of its own family and of two other
systems, and accepts `preference` of the wrong answers of its own family in addition. All four answers to `n` questions
have labels. The table has the share of data sets in which a preference is reported, in either direction and for the
grader's own family.

Cells and seeds are fixed below. Run `python benchmarks/sim_graders.py`; it takes about ten minutes and writes
`benchmarks/results/graders.json`.
"""

import itertools
import json
from pathlib import Path

import numpy as np

from harness_uq.analyses.assess_graders import grader_differences, self_preferences
from harness_uq.analyses.graded_answers import GradedAnswers
from harness_uq.data.task_log import Questions, Scores, Source, TaskLog

OUT = Path(__file__).parent / "results" / "graders.json"
REPS, LEVEL = 2000, 0.95
DRIFT = [cell for cell in itertools.product((100, 300, 1000), (0.05, 0.15), (0.0, 0.03, 0.06)) if cell[2] <= cell[1]]
PREFERENCE = list(itertools.product((50, 200), (0.9, 0.7), (0.0, 0.1, 0.2)))


def entry(grader: str, system: str, values: np.ndarray, human: np.ndarray | None = None) -> GradedAnswers:
    """The scores of one grader as they are read from a log."""
    ids = tuple(map(str, range(len(values))))
    data = Scores(grader, "none", values.astype(float)[:, None])
    log = TaskLog(system, "task", Source(f"{system}.json", "inspect"), Questions(ids, (), {}), (data,))
    labels = None if human is None else human.astype(float)[:, None]
    return GradedAnswers(grader, log, data, labels, None, None, (0.0, 1.0))


def drifts(n: int, different: float, drift: float, rng: np.random.Generator) -> list[str]:
    """Verdicts on three systems in one data set."""
    entries = []
    for system in "abc":
        first = rng.random(n) < 0.6
        # of the answers that change, a share goes up; rates refer to those that the first grader scored 0 or 1
        up, down = (different + drift) / 2 / 0.4, (different - drift) / 2 / 0.6
        second = np.where(first, rng.random(n) >= down, rng.random(n) < up)
        entries += [entry("old", system, first), entry("new", system, second)]
    return [row.verdict_corrected for row in grader_differences(entries, LEVEL)]


def preference(n: int, j: float, lenience: float, rng: np.random.Generator) -> list[str]:
    """Verdict on one grader in one data set."""
    shared, sensitivity = rng.random(n), (1 + j) / 2
    entries = []
    for system in ("own-1", "own-2", "other-1", "other-2"):
        truth = np.where(rng.random(n) < 0.5, shared, rng.random(n)) < 0.6
        accepted = (1 - j) / 2 + (lenience if system.startswith("own") else 0.0)
        entries.append(entry("grader", system, rng.random(n) < np.where(truth, sensitivity, accepted), truth))
    return [row.verdict_corrected for row in self_preferences(entries, ["own-*"], LEVEL)]


def main() -> None:
    """Run all cells and write the table."""
    table: dict[str, list[dict[str, float]]] = {"drift": [], "preference": []}
    for i, (n, different, drift) in enumerate(DRIFT):
        rng = np.random.default_rng([30, i])
        verdicts = [drifts(n, different, drift, rng) for _ in range(REPS)]
        reported = float(np.mean([set(found) != {"undecided"} for found in verdicts]))
        higher = float(np.mean([verdict == "higher" for found in verdicts for verdict in found]))
        cell = {"n": n, "different": different, "drift": drift, "any_reported": reported, "higher": higher}
        table["drift"].append(cell)
        print(json.dumps(cell), flush=True)
    for i, (n, j, lenience) in enumerate(PREFERENCE):
        rng = np.random.default_rng([31, i])
        found = [preference(n, j, lenience, rng)[0] for _ in range(REPS)]
        reported, own = (
            float(np.mean([one in wanted for one in found])) for wanted in (("higher", "lower"), ("higher",))
        )
        cell = {"n": n, "j": j, "preference": lenience, "any_reported": reported, "own": own}
        table["preference"].append(cell)
        print(json.dumps(cell), flush=True)
    OUT.write_text(json.dumps({"replications": REPS, **table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
