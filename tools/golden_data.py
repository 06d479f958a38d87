"""Logs and tables on which `golden.py` runs the commands: the demo, the logs of the tests, and made tables."""

import csv
import json
import os
import random
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import exp
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIME = 1_767_225_600  # 2026-01-01, the time of all files
Row = dict[str, object]


def write_data(folder: Path) -> None:
    """Write all logs and tables to this folder: `d` and `t` of the demo, `z` of the tests, `m` made here."""
    from harness_uq import demo

    demo(folder / "d")
    demo(folder / "t", tables=True)
    with zipfile.ZipFile(ROOT / "tests" / "data" / "logs.zip") as archive:
        archive.extractall(folder / "z")
    for name, rows in TABLES.items():
        _write(folder / "m" / f"{name}.csv", list(rows(random.Random(name))))
    for wording, seed in product(("plain", "expert", "short"), (1, 2)):
        run = folder / "m" / "runs" / f"{wording}-{seed}"
        write_run(run, 0, 2, system="maker/one", description=f"Be {wording}.", seed=seed, n_questions=20)
    for path in sorted(folder.rglob("*")):
        os.utime(path, (TIME, TIME))


def write_run(
    folder: Path, k: int, n_tasks: int, *, system: str = "", description: str = "", seed: int = 0, n_questions: int = 50
) -> None:
    """A run of lm-eval on tasks whose questions are graded right or wrong; `k` is how weak the system is."""
    folder.mkdir(parents=True)
    system = system or f"maker/s{k}"
    results, configs, samples = {}, {}, {}
    for t in range(n_tasks):
        task, rng = f"task_{t:03}", random.Random(f"{t} {k}{description}{seed or ''}")
        questions = random.Random(f"{t}")
        chances = [1 / (1 + exp(questions.gauss(0, 1) - 1 + 0.3 * k)) for _ in range(n_questions)]
        right = [float(rng.random() < p) for p in chances]
        rows = [
            {
                "doc_id": i,
                "doc": {"id": f"{task}-{i}", "question": f"Question {i} of {task}"},
                "target": "a",
                "arguments": {"gen_args_0": {"arg_0": f"Question {i} of {task}", "arg_1": " a"}},
                "resps": [[["-1.0", "True"]]],
                "filtered_resps": [["-1.0", "True"]],
                "filter": "none",
                "metrics": ["acc"],
                "doc_hash": f"{t * 1000 + i:064x}",
                "prompt_hash": f"{t * 1000 + i:064x}",
                "target_hash": f"{0:064x}",
                "acc": value,
            }
            for i, value in enumerate(right)
        ]
        (folder / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        mean = sum(right) / n_questions
        error = (mean * (1 - mean) / (n_questions - 1)) ** 0.5
        results[task] = {"alias": task, "acc,none": mean, "acc_stderr,none": error}
        configs[task] = {
            "task": task,
            "output_type": "multiple_choice",
            "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
            "repeats": 1,
            "num_fewshot": 0,
        }
        samples[task] = {"original": n_questions, "effective": n_questions}
    document = {
        "results": results,
        "configs": configs,
        "n-samples": samples,
        "n-shot": dict.fromkeys(results, 0),
        "versions": dict.fromkeys(results, 1),
        "higher_is_better": {task: {"acc": True} for task in results},
        "group_subtasks": {task: [] for task in results},
        "config": {
            "model": "made",
            "model_args": f"pretrained={system}",
            "random_seed": seed,
            "numpy_seed": seed,
            "torch_seed": seed,
            "fewshot_seed": seed,
        },
        "model_source": "made",
        "model_name": system,
        "system_instruction_sha": description or None,
        "lm_eval_version": "0.4.9",
        "date": 1767225600.0 + k,
    }
    (folder / "results_2026-01-01T00-00-00.000000.json").write_text(json.dumps(document), encoding="utf-8")


def _write(path: Path, rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _chance(ability: float, difficulty: float) -> float:
    return 1 / (1 + exp(difficulty - ability))


def _answers(
    rng: random.Random, systems: Iterable[str], n: int, *, n_trials: int = 1, size: int = 1, spread: float = 1.0
) -> Iterator[tuple[str, int, int, int, float]]:
    """System, question, trial, cluster and probability of a right answer."""
    n_clusters = -(-n // size)
    of_cluster = [rng.gauss(0, 1.0 if size > 1 else 0.0) for _ in range(n_clusters)]
    difficulties = [rng.gauss(0, spread) + of_cluster[i // size] for i in range(n)]
    for k, system in enumerate(systems):
        for i, difficulty in enumerate(difficulties):
            for trial in range(n_trials):
                yield system, i, trial, i // size, _chance(1.2 - 0.5 * k, difficulty)


def _binary(rng: random.Random) -> Iterator[Row]:
    """Two systems, one trial, independent questions, two categories."""
    for system, i, _, _, p in _answers(rng, ("new", "old"), 60):
        yield {"question": f"q{i}", "kind": "abc"[i % 3], "system": system, "score": int(rng.random() < p)}


def _many(rng: random.Random) -> Iterator[Row]:
    """Six systems, one trial."""
    for system, i, _, _, p in _answers(rng, "abcdef", 40):
        yield {"question": f"q{i}", "kind": "xy"[i % 2], "system": system, "score": int(rng.random() < p)}


def _clusters(rng: random.Random) -> Iterator[Row]:
    """Three systems, right or wrong, in passages of four questions."""
    for system, i, _, cluster, p in _answers(rng, ("one", "two", "three"), 64, size=4):
        yield {"question": f"q{i}", "cluster": f"p{cluster}", "system": system, "score": int(rng.random() < p)}


def _trials(rng: random.Random) -> Iterator[Row]:
    """Three systems, right or wrong, four trials of each question."""
    for system, i, trial, _, p in _answers(rng, ("one", "two", "three"), 25, n_trials=4, spread=1.5):
        kind, score = "uv"[i % 2], int(rng.random() < p)
        yield {"question": f"q{i}", "kind": kind, "system": system, "trial": trial, "score": score}


def _nested(rng: random.Random) -> Iterator[Row]:
    """Two systems, three trials of questions in passages."""
    for system, i, trial, cluster, p in _answers(rng, ("new", "old"), 36, n_trials=3, size=3):
        passage, score = f"p{cluster}", int(rng.random() < p)
        yield {"question": f"q{i}", "cluster": passage, "system": system, "trial": trial, "score": score}


def _graded(rng: random.Random) -> Iterator[Row]:
    """Three systems, scores from 0 to 1 in steps of 0.1."""
    for system, i, _, _, p in _answers(rng, ("one", "two", "three"), 45):
        score = round(min(1, max(0, rng.gauss(p, 0.2))), 1)
        yield {"question": f"q{i}", "kind": "ab"[i % 2], "system": system, "score": score}


def _graded_clusters(rng: random.Random) -> Iterator[Row]:
    """Two systems, scores from 0 to 1, two trials, in documents of three questions."""
    for system, i, trial, cluster, p in _answers(rng, ("new", "old"), 30, n_trials=2, size=3):
        score = round(min(1, max(0, rng.gauss(p, 0.2))), 3)
        yield {"question": f"q{i}", "document": f"d{cluster}", "system": system, "trial": trial, "score": score}


def _real(rng: random.Random) -> Iterator[Row]:
    """Three systems, scores without a known range."""
    for system, i, _, _, p in _answers(rng, ("one", "two", "three"), 40):
        yield {"question": f"q{i}", "system": system, "score": round(10 * p + rng.expovariate(0.5), 3)}


def _missing(rng: random.Random) -> Iterator[Row]:
    """Three systems; some answers have no score, because of a limit or an error."""
    for system, i, _, _, p in _answers(rng, ("one", "two", "three"), 50):
        end = rng.choices(("completed", "token limit", "error"), (0.85, 0.1, 0.05))[0]
        score = int(rng.random() < p) if end == "completed" else ""
        kind = "easy" if i % 2 else "hard"
        yield {"question": f"q{i}", "kind": kind, "system": system, "score": score, "ended_by": end}


def _missing_trials(rng: random.Random) -> Iterator[Row]:
    """Two systems, three trials, graded, in passages; some trials have no score."""
    for system, i, trial, cluster, p in _answers(rng, ("new", "old"), 30, n_trials=3, size=3):
        end = rng.choices(("completed", "token limit", "error"), (0.9, 0.06, 0.04))[0]
        score = int(rng.random() < p) if end == "completed" else ""
        row = {"question": f"q{i}", "cluster": f"p{cluster}", "system": system, "trial": trial}
        yield row | {"score": score, "ended_by": end}


def _tasks(rng: random.Random) -> Iterator[Row]:
    """Four systems on four tasks of different sizes; one of them was not run on the last task."""
    for task, n in (("algebra", 30), ("history", 20), ("law", 15), ("poetry", 12)):
        for system, i, _, _, p in _answers(rng, "abcd", n):
            if (system, task) != ("d", "poetry"):
                yield {"task": task, "question": f"{task}-{i}", "system": system, "score": int(rng.random() < p)}


def _pair_of_tasks(rng: random.Random) -> Iterator[Row]:
    """Two systems on five tasks; the scores of the last task are graded."""
    for task, n in (("t1", 25), ("t2", 25), ("t3", 18), ("t4", 12), ("t5", 20)):
        for system, i, _, _, p in _answers(rng, ("new", "old"), n):
            score = round(p, 2) if task == "t5" else int(rng.random() < p)
            yield {"task": task, "question": f"{task}-{i}", "kind": "ab"[i % 2], "system": system, "score": score}


def _few(rng: random.Random) -> Iterator[Row]:
    """Three systems on six questions; one is always right, one always wrong."""
    for system, i, _, _, p in _answers(rng, ("right", "wrong", "mixed"), 6):
        score = {"right": 1, "wrong": 0}.get(system, int(rng.random() < p))
        yield {"question": f"q{i}", "system": system, "score": score}


def _partial(rng: random.Random) -> Iterator[Row]:
    """Three systems that share only a part of their questions."""
    for k, (system, i, _, _, p) in enumerate(_answers(rng, ("one", "two", "three"), 50)):
        if not k // 50 * 8 <= i < 34 + k // 50 * 8:
            continue
        yield {"question": f"q{i}", "system": system, "score": int(rng.random() < p)}


def _resources(rng: random.Random) -> Iterator[Row]:
    """Three systems with tokens, cost and time, in repositories."""
    for system, i, _, cluster, p in _answers(rng, ("one", "two", "three"), 40, size=4):
        tokens = int(rng.lognormvariate(9, 0.7) * (1 + "otw".index(system[0])))
        row = {"question": f"q{i}", "repo": f"r{cluster}", "system": system, "score": int(rng.random() < p)}
        yield row | {
            "cost": round(tokens * 5e-6, 5),
            "input_tokens": tokens,
            "output_tokens": tokens // 6,
            "duration": round(tokens / 900, 2),
        }


def _judged(rng: random.Random) -> Iterator[Row]:
    """Two systems graded by a model with errors; a person graded some answers in the column `human`."""
    for system, i, _, cluster, p in _answers(rng, ("new", "old"), 80, size=2):
        right = rng.random() < p
        grade = right if rng.random() < 0.85 else not right
        human = int(right) if rng.random() < 0.4 else ""
        passage = f"p{cluster}"
        yield {"question": f"q{i}", "passage_id": passage, "system": system, "grader": "model", "score": int(grade)}
        if human != "":
            yield {"question": f"q{i}", "passage_id": passage, "system": system, "grader": "human", "score": human}


def _labels(rng: random.Random) -> Iterator[Row]:
    """Human labels of the answers in `binary`, drawn with different probabilities."""
    for system in ("new", "old"):
        for i in range(60):
            probability = 0.7 if i % 2 else 0.4
            if rng.random() < probability:
                yield {"system": system, "id": f"q{i}", "score": int(rng.random() < 0.6), "probability": probability}


def _reference(rng: random.Random) -> Iterator[Row]:
    """Ten earlier systems on all questions of a benchmark."""
    for system, i, _, _, p in _answers(rng, [f"earlier-{k}" for k in range(10)], 80, spread=1.5):
        yield {"task": "bench", "question": f"q{i:02}", "system": system, "score": int(rng.random() < p)}


def _part(rng: random.Random) -> Iterator[Row]:
    """A new system on a quarter of the questions of `reference`."""
    for system, i, _, _, p in _answers(rng, ["new"], 80, spread=1.5):
        if i % 4 == 1:
            yield {"task": "bench", "question": f"q{i:02}", "system": system, "score": int(rng.random() < p)}


TABLES: dict[str, Callable[[random.Random], Iterator[Row]]] = {
    "binary": _binary,
    "many": _many,
    "clusters": _clusters,
    "trials": _trials,
    "nested": _nested,
    "graded": _graded,
    "graded_clusters": _graded_clusters,
    "real": _real,
    "missing": _missing,
    "missing_trials": _missing_trials,
    "tasks": _tasks,
    "pair_of_tasks": _pair_of_tasks,
    "few": _few,
    "partial": _partial,
    "resources": _resources,
    "judged": _judged,
    "labels": _labels,
    "reference": _reference,
    "part": _part,
}
