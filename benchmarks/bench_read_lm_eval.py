"""Time and memory of reading an lm-eval samples file, beside a plain `json.loads` loop over the same file.

    python benchmarks/bench_read_lm_eval.py

writes samples files as lm-eval 0.4.13 lays them out into a temporary folder, reads each with clusters and score
types detected, prints medians of processor time and ratios and writes benchmarks/results/read_lm_eval.json.
Demands for the file of 200 MB: at least 0.8 times the speed of the loop, peak memory under 300 MB.
"""

import hashlib
import json
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

RESULTS = Path(__file__).parent / "results" / "read_lm_eval.json"
TIME = "2026-01-01T00-00-00.000001"
ROUNDS = 7
WORDS = [
    "energy",
    "theory",
    "of",
    "the",
    "cell",
    "which",
    "following",
    "is",
    "constant",
    "“quoted”",
    "history\n",
    "market",
    "función",
    "rate",
    "細胞",
]


def text(length: int, rng: random.Random) -> str:
    words: list[str] = []
    while sum(map(len, words)) + len(words) < length:
        words.append(rng.choice(WORDS))
    return " ".join(words)


def row(doc_id: int, document: dict, requests: list, replies: list, filter_name: str, **metrics: float) -> dict:
    digest = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    return {
        "doc_id": doc_id,
        "doc": document,
        "target": "1",
        "arguments": {f"gen_args_{i}": {"arg_0": a, "arg_1": b} for i, (a, b) in enumerate(requests)},
        "resps": [[reply] for reply in replies],
        "filtered_resps": replies,
        "filter": filter_name,
        "metrics": list(metrics),
        "doc_hash": digest,
        "prompt_hash": digest,
        "target_hash": digest,
        **metrics,
    }


def choices_5_shot(rng: random.Random) -> Iterator[dict]:
    """MMLU, 5-shot: four requests of 2.7 kB a question; 12 kB a row."""
    examples = text(2_300, rng)
    doc_id = 0
    while True:
        document = {"question": text(250, rng), "subject": "law", "choices": [text(20, rng) for _ in range(4)]}
        prompt = f"{examples}\n\n{document['question']}\nA. x\nB. y\nC. z\nD. w\nAnswer:"
        requests = [(prompt, f" {letter}") for letter in "ABCD"]
        scores = {"acc": float(rng.random() < 0.6)}
        yield row(doc_id, {**document, "answer": 1}, requests, [["-1.25", "False"]] * 4, "none", **scores)
        doc_id += 1


def generation_two_filters(rng: random.Random) -> Iterator[dict]:
    """GSM8K, 5-shot, two filters: two rows of 4.6 kB a question."""
    examples = text(2_600, rng)
    doc_id = 0
    while True:
        document = {"question": text(240, rng), "answer": text(250, rng)}
        request = (f"{examples}\n\nQuestion: {document['question']}\nAnswer:", {"until": ["Question:"]})
        for name in ("strict-match", "flexible-extract"):
            yield row(doc_id, document, [request], [text(300, rng)], name, exact_match=float(rng.random() < 0.6))
        doc_id += 1


def without_prompts(rng: random.Random) -> Iterator[dict]:
    """Rows of 1 kB, where overhead counts most."""
    doc_id = 0
    while True:
        document = {"question": text(100, rng), "passage_id": doc_id // 5}
        yield row(doc_id, document, [(document["question"], " a")], [["-1.25", "False"]], "none", acc=1.0)
        doc_id += 1


def with_nan(rng: random.Random) -> Iterator[dict]:
    """The rows of GSM8K, each with a NaN, which only the json module reads."""
    for record in generation_two_filters(rng):
        yield {**record, "amb_bias_score": float("nan")}


SHAPES: dict[str, tuple[Callable[[random.Random], Iterator[dict]], int]] = {
    "multiple choice, 5-shot": (choices_5_shot, 210_000_000),
    "generation, two filters": (generation_two_filters, 60_000_000),
    "short rows": (without_prompts, 60_000_000),
    "NaN in every row": (with_nan, 60_000_000),
}


def write(folder: Path, name: str) -> Path:
    rows, size = SHAPES[name]
    path = folder / f"samples_task_{TIME}.jsonl"
    written = n = 0
    with path.open("w", encoding="utf-8") as file:
        for record in rows(random.Random(1)):
            line = json.dumps(record, ensure_ascii=False) + "\n"
            file.write(line)
            written += len(line.encode())
            n = max(n, record["doc_id"] + 1)
            if written >= size:
                break
    results = {
        "results": {"task": {"alias": "task", "sample_len": n}},
        "configs": {"task": {"num_fewshot": 5}},
        "n-samples": {"task": {"original": n, "effective": n}},
    }
    (folder / f"results_{TIME}.json").write_text(json.dumps(results))
    return path


def read(path: Path) -> int:
    """Read the run of a samples file and detect its structure; the number of its questions."""
    from harness_uq.data.clusters import find_clusters
    from harness_uq.data.structure import StructureOptions, detect
    from harness_uq_lm_eval.harness import LmEvalHarness

    harness = LmEvalHarness()
    (run,) = harness.find([str(path)]).runs
    (log,) = harness.read(run)
    clusters = find_clusters(log, StructureOptions(), catalogue=harness.catalogue().tasks)
    for data in log.data:
        detect(data, clusters, StructureOptions())
    return len(log.questions)


def loop(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if json.loads(line))


def child(path: Path) -> dict[str, float]:
    """Peak memory of a first read, then alternating times of both."""
    n_questions = read(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times: dict[str, list[float]] = {"read": [], "loop": []}
    for _ in range(ROUNDS):
        for name, function in (("read", read), ("loop", loop)):
            start = time.process_time()
            function(path)
            times[name].append(time.process_time() - start)
    seconds = {name: statistics.median(all_of_it) for name, all_of_it in times.items()}
    return {
        "megabytes": path.stat().st_size / 1e6,
        "questions": n_questions,
        "read_seconds": seconds["read"],
        "json_loads_seconds": seconds["loop"],
        "speed_over_json_loads": seconds["loop"] / seconds["read"],
        "peak_memory_megabytes": peak,
    }


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(child(Path(sys.argv[1]))))
        return
    table = {}
    for name in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), name)
            done = subprocess.run([sys.executable, __file__, path], check=True, capture_output=True, text=True)
        table[name] = {key: round(value, 3) for key, value in json.loads(done.stdout).items()}
        print(f"{name:26} {table[name]}")
    environment = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "msgspec": msgspec.__version__,
        "machine": platform.machine(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"environment": environment, "shapes": table}, indent=2) + "\n")


if __name__ == "__main__":
    main()
