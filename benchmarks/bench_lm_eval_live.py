"""What `--uq bayes` costs and saves in a live run of lm-evaluation-harness.

Run as `python benchmarks/bench_lm_eval_live.py [--stock-bootstrap]`; it prints a table and writes
benchmarks/results/lm_eval_live.json. Two measurements, each run `REPEATS` times, best time of each:

- F1 and MCC at N = 150, end to end: stock lm-eval (100,000 bootstrap draws; minutes, so only on request, else its
  time is projected from the difference of 2,000 and 1,000 draws) against ours;
- a task of 10,000 questions: ours against stock without its bootstrap.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from time import perf_counter

os.environ |= {"HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1", "LMEVAL_LOG_LEVEL": "ERROR"}

import lm_eval
import yaml
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

import harness_uq_lm_eval

REPEATS = 5
STOCK_DRAWS = 100_000
RESULTS = Path(__file__).resolve().parent / "results" / "lm_eval_live.json"
TASKS = {
    "pairs": (150, ["f1", "mcc"], {"f1": "f1", "mcc": "matthews_corrcoef"}),
    "large": (10_000, ["acc"], {"acc": "mean"}),
}


class Alternating(LM):
    """Right two times in three."""

    def loglikelihood(self, requests):
        return [(-1.0 if (r.doc["n"] * 7 % 3 > 0) == (r.idx == r.doc["label"]) else -2.0, False) for r in requests]

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError

    def generate_until(self, requests):
        raise NotImplementedError


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stock-bootstrap", action="store_true", help="run all of lm-eval's 100,000 draws")
    draws = STOCK_DRAWS if parser.parse_args().stock_bootstrap else 2000
    with tempfile.TemporaryDirectory() as folder:
        manager = TaskManager(include_path=str(write_tasks(Path(folder))), include_defaults=False)
        ours = best(lambda: with_uq(manager, "pairs"))
        base = best(lambda: stock(manager, "pairs", 1000), repeats=1)
        stock_time = best(lambda: stock(manager, "pairs", draws), repeats=1)
        projected = base + (stock_time - base) * (STOCK_DRAWS - 1000) / (draws - 1000)
        large, large_ours = best(lambda: stock(manager, "large", 0)), best(lambda: with_uq(manager, "large"))
    found = {
        "pairs_ours_s": ours,
        "pairs_stock_s": projected,
        "pairs_stock_draws_measured": draws,
        "pairs_speedup": projected / ours,
        "large_stock_without_bootstrap_s": large,
        "large_ours_s": large_ours,
        "large_overhead_s": large_ours - large,
        "large_overhead": large_ours / large - 1,
    }
    for name, value in found.items():
        print(f"{name:35} {value:10.3f}")
    RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def write_tasks(folder: Path) -> Path:
    """The two tasks, as files."""
    for name, (n, metrics, functions) in TASKS.items():
        data = folder / f"{name}.jsonl"
        docs = ({"n": i, "question": f"Is {i} so?", "label": i % 5 // 3} for i in range(n))
        data.write_text("".join(json.dumps(doc) + "\n" for doc in docs), encoding="utf-8")
        config = {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(data)}},
            "test_split": "test",
            "output_type": "multiple_choice",
            "doc_to_text": "{{question}}",
            "doc_to_choice": ["no", "yes"],
            "doc_to_target": "label",
            "metric_list": [{"metric": m, "aggregation": functions[m], "higher_is_better": True} for m in metrics],
        }
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


def stock(manager: TaskManager, task: str, draws: int) -> None:
    """lm-eval alone."""
    lm_eval.simple_evaluate(model=Alternating(), tasks=[task], task_manager=manager, bootstrap_iters=draws)


def with_uq(manager: TaskManager, task: str) -> None:
    """lm-eval with us."""
    with harness_uq_lm_eval.uq("bayes"):
        lm_eval.simple_evaluate(model=Alternating(), tasks=[task], task_manager=manager)


def best(run, repeats: int = REPEATS) -> float:
    """Shortest time of some runs, after one that warms up."""
    times = []
    for _ in range(repeats + (repeats > 1)):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
