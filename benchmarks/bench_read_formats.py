"""Speed and memory of reading files of other tools, beside a bare parse of the same bytes by msgspec.

    python benchmarks/bench_read_formats.py

writes results of promptfoo (JSON and JSON Lines) and folders with runs of HELM into a temporary folder, reads each in
a process of its own and prints medians of processor time without imports, the ratio of the speeds and peak memory. The
bare parse decodes the file, or each line, without a type. Demands: at least 0.6 times the speed of the bare parse for
results of promptfoo, and a peak memory for 1,000 runs of HELM that does not grow with their total size.
"""

import json
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "read_formats.json"
ROUNDS = 5
N_RESULTS = 20_000
N_HELM_RUNS = (100, 1000)
N_INSTANCES = 100


def text(n_words: int, rng: random.Random) -> str:
    return " ".join(
        rng.choice(("energy", "theory", "the", "cell", "constant", "history", "n°", "rate")) for _ in range(n_words)
    )


def promptfoo_results(n: int) -> list[dict]:
    """Results with prompts and answers as long as in exports of others (about 5 KB each)."""
    rng = random.Random(1)
    rows = []
    for at in range(n):
        question, score = text(200, rng), at % 3 == 0
        variables = {"q": question, "topic": f"t{at % 20}"}
        asserts = [{"type": "contains", "value": "energy"}]
        tokens = {"prompt": 300, "completion": 100, "total": 400, "numRequests": 1}
        grading = {"pass": score, "score": int(score), "reason": "All assertions passed", "componentResults": []}
        rows.append(
            {
                "cost": 0.001,
                "gradingResult": grading,
                "id": f"{at:032x}",
                "latencyMs": 900,
                "namedScores": {"tone": 0.5},
                "prompt": {"raw": f"Answer: {question}", "label": "Answer: {{q}}"},
                "promptId": f"{at % 2:064x}",
                "promptIdx": at % 2,
                "provider": {"id": "toy:a", "label": "A"},
                "response": {"output": text(100, rng), "tokenUsage": tokens, "cached": False},
                "score": int(score),
                "success": score,
                "testCase": {"vars": variables, "assert": asserts, "options": {}, "metadata": {}},
                "testIdx": at // 2,
                "vars": variables,
                "failureReason": int(not score),
            }
        )
    return rows


def write_promptfoo(folder: Path) -> tuple[Path, Path]:
    rows = promptfoo_results(N_RESULTS)
    document = {"evalId": "e", "results": {"version": 3, "results": rows}, "config": {"description": "toy"}}
    whole, lines = folder / "output.json", folder / "output.jsonl"
    whole.write_text(json.dumps(document))
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return whole, lines


def write_helm(folder: Path, n_runs: int) -> Path:
    """Runs with statistics and requests as large as those of a small scenario (about 1 MB each)."""
    names = ("exact_match", "quasi_exact_match", *(f"num_{at}" for at in range(25)))
    rng = random.Random(2)
    requests = [
        {
            "instance": {"id": f"id{at}", "input": {"text": text(50, rng)}, "split": "test"},
            "train_trial_index": 0,
            "request": {"prompt": text(700, rng)},
            "result": {"success": True, "completions": [{"text": " D", "tokens": []}]},
        }
        for at in range(N_INSTANCES)
    ]
    state = json.dumps({"request_states": requests})
    for run in range(n_runs):
        one = folder / f"run{run}"
        one.mkdir(parents=True)
        entries = [
            {
                "instance_id": f"id{at}",
                "train_trial_index": 0,
                "stats": [
                    {"name": {"name": name, "split": "test"}, "count": 1, "sum": 1, "mean": float(rng.random() < 0.5)}
                    for name in names
                ],
            }
            for at in range(N_INSTANCES)
        ]
        spec = {"name": f"toy:subject={run % 50},model=m{run // 50}", "adapter_spec": {"model": f"m{run // 50}"}}
        (one / "per_instance_stats.json").write_text(json.dumps(entries))
        (one / "run_spec.json").write_text(json.dumps(spec))
        (one / "scenario_state.json").write_text(state)
    return folder


# ---------------------------------------------------------------- what is measured, in a process of its own


def bare(path: Path) -> None:
    import msgspec

    if path.suffix == ".jsonl":
        with path.open("rb") as file:
            for line in file:
                msgspec.json.decode(line)
    elif path.is_dir():
        for one in sorted(path.rglob("*.json")):
            msgspec.json.decode(one.read_bytes())
    else:
        msgspec.json.decode(path.read_bytes())


def product(path: Path) -> None:
    from harness_uq import read_logs

    reading = read_logs(str(path))
    assert reading.logs
    assert not reading.failures
    assert not reading.warnings


WAYS: dict[str, Callable[[Path], None]] = {"bare": bare, "product": product}


def measured(way: str, path: str) -> None:
    """Print processor time without imports and growth of the peak memory."""
    import msgspec  # noqa: F401

    import harness_uq.io.readers  # noqa: F401
    from harness_uq.inference.load_plugins import load_plugins

    for reader in load_plugins().harnesses.values():
        reader.find([])  # imports the module of the format
    before = peak()
    start = time.process_time()
    WAYS[way](Path(path))
    print(json.dumps({"seconds": time.process_time() - start, "memory": peak() - before}))


def peak() -> int:
    """Peak memory of this process in MB."""
    match = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert match
    return int(match[1]) >> 10


def median(way: str, path: Path, rounds: int) -> dict[str, float]:
    found = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, __file__, way, str(path)], check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout))
    return {name: round(statistics.median(one[name] for one in found), 3) for name in ("seconds", "memory")}


def size(path: Path) -> float:
    files = path.rglob("*.json") if path.is_dir() else [path]
    return round(sum(file.stat().st_size for file in files) / 1e6, 1)


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        cases = [(path, ROUNDS) for path in write_promptfoo(folder)]
        cases += [(write_helm(folder / f"helm{n}", n), 1) for n in N_HELM_RUNS]
        for path, rounds in cases:
            plain, ours = median("bare", path, rounds), median("product", path, rounds)
            row = {
                "what": path.name,
                "megabytes": size(path),
                "bare": plain,
                "product": ours,
                "speed_ratio": round(plain["seconds"] / ours["seconds"], 2),
            }
            rows.append(row)
            print(row)
    about = {"python": platform.python_version(), "machine": platform.machine(), "date": str(datetime.now(UTC).date())}
    RESULTS.write_text(json.dumps(about | {"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measured(*sys.argv[1:])
    else:
        main()
