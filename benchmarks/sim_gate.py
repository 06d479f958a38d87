"""False failures and false passes of `harness-uq gate` on real repeated runs.

Run as `python benchmarks/sim_gate.py DATA`, where DATA holds the logs that tests/data/README.md names; writes
benchmarks/results/gate.json. Both sides of a gate are trials, or halves of the questions, of one run, so that every
failure is a false one. In `worse` right answers of the new side are made wrong at random, such that it is worse by the
margin on average: there every pass, and every failure, is one that should happen in at most alpha of the gates.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from harness_uq import TaskLog, read_logs, read_table
from harness_uq.analyses.gating.gate import decide
from harness_uq.analyses.gating.self_test import by_epochs, self_test
from harness_uq.data.selection import select_runs
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.options import Options
from harness_uq.stats.proportion.binomial import binomial_interval

OUTPUT = Path(__file__).parent / "results" / "gate.json"
PLUGINS = load_plugins()


def aime(data: Path) -> list[TaskLog]:
    """Nineteen systems on 15 problems, four tries each; the file numbers a problem's tries as 1, 1.1, 1.2, 1.3."""
    frame = pd.read_csv(data / "csv/no_clt_paper/matharena_aime_II.csv", dtype={"Question": str})
    frame["Question"] = frame["Question"].str.partition(".")[0]
    return read_table(frame, columns={"question": "Question", "system": list(frame.columns[1:])}, task="aime")


def as_tasks(logs: Sequence[TaskLog]) -> list[TaskLog]:
    """The systems as tasks of one system: a gate over as many scores."""
    return [replace(log, system="all", task=f"aime, {log.system}") for log in logs]


def options(margin: float) -> Options:
    """Default gate with this margin."""
    return Options(margin=margin)


def worse(logs: Sequence[TaskLog], margin: float, n: int, rng: np.random.Generator) -> Counter[str]:
    """Decisions where the new side is worse by the margin on average."""
    able = [log for log in logs if np.nanmean(log.data[0].values) > margin]
    found: Counter[str] = Counter()
    for i in range(n):
        log = able[i % len(able)]
        new, old = by_epochs(log, rng)
        values = new.data[0].values
        lost = rng.random(values.shape) < margin / np.nanmean(log.data[0].values)
        spoiled = replace(new, data=(replace(new.data[0], values=np.where(lost, values * 0.0, values)),))
        sides = (Side(log.system, (one,), select_runs([one])[log.system]) for one in (spoiled, old))
        found[decide(*sides, options(margin), PLUGINS).decision] += 1
    return found


def rate(n_false: int, n: int) -> dict[str, float]:
    """A rate with its interval."""
    low, high = binomial_interval(n_false, n, 0.95, "clopper_pearson")
    return {"n": n, "n_false": n_false, "rate": n_false / n, "low": float(low), "high": float(high)}


def main() -> None:
    """Run every case and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--n", type=int, default=1000)
    args = parser.parse_args()
    logs = aime(args.data)
    popularity = read_logs(args.data / "inspect/popularity_5epochs_3models").logs
    truthful = read_logs(args.data / "lm_eval/truthfulqa_gen_category_clusters").logs
    cases = {
        "AIME 2025 II, 19 systems, 15 problems, trials": (logs, 0.0, "epochs"),
        "the same, margin 0.05": (logs, 0.05, "epochs"),
        "the same as one gate of 19 scores": (as_tasks(logs), 0.0, "epochs"),
        "popularity, 3 systems, 10 questions, trials": (popularity, 0.0, "epochs"),
        "TruthfulQA, one system, 817 questions, 12 scores, halves": (truthful, 0.0, "halves"),
    }
    results: dict[str, object] = {}
    for name, (held, margin, kind) in cases.items():
        found = self_test(held, options(margin), kind=kind, n=args.n, seed=1, plugins=PLUGINS)
        results[name] = {"false failures": rate(found.n_failed, found.n), "passes": found.n_passed}
        print(name, results[name], flush=True)
    for margin in (0.1, 0.2):
        found = worse(logs, margin, args.n, np.random.default_rng(2))
        results[f"worse by the margin of {margin:g}: AIME"] = {
            "passes": rate(found["pass"], args.n),
            "failures": rate(found["fail"], args.n),
        }
        print(margin, dict(found), flush=True)
    OUTPUT.write_text(json.dumps({"alpha": round(options(0.0).alpha, 9), "cases": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
