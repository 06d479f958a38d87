"""Reading an Inspect log of 1,000 questions × 8 epochs, against `inspect_ai.log.read_eval_log`.

    python benchmarks/bench_read_inspect.py [--questions 1000] [--epochs 8] [--repeats 3] [--folder DIR]

The log is written by Inspect itself, once a folder. A copy without summaries shows the route over whole samples, and
one whose metadata exceed what summaries keep shows the mixed route. Every read runs in a process of its own; printed
are the shortest time of the repeats, its ratio to Inspect's, and the growth of the process's peak memory.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILLER = "What is asked here takes a few words more than a benchmark's shortest question would. "
TARGETS = {"summaries": 15.0, "whole samples": 8.0}


def main() -> int:
    """Write the logs, read them both ways, print the table; 1 where a ratio misses its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the logs stay; a temporary folder by default")
    parser.add_argument("--read", nargs=2, metavar=("READER", "LOG"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(json.dumps(measure(*options.read)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        logs = write_logs(options.folder or Path(folder), options.questions, options.epochs)
        return report(logs, options.repeats)


def report(logs: dict[str, Path], repeats: int) -> int:
    """One line a route."""
    missed = 0
    print(f"{'route':20} {'MB':>7} {'Inspect s':>10} {'here s':>8} {'ratio':>7} {'Inspect MB':>11} {'here MB':>8}")
    for route, log in logs.items():
        theirs, ours = (best_of(reader, log, repeats) for reader in ("inspect", "here"))
        ratio = theirs["seconds"] / ours["seconds"]
        missed += ratio < TARGETS.get(route, 0.0)
        print(
            f"{route:20} {log.stat().st_size / 1e6:7.1f} {theirs['seconds']:10.2f} {ours['seconds']:8.3f} "
            f"{ratio:6.1f}x {theirs['megabytes']:11.0f} {ours['megabytes']:8.0f}"
        )
    return int(missed > 0)


def best_of(reader: str, log: Path, repeats: int) -> dict[str, float]:
    """Shortest time and smallest memory over repeats."""
    command = [sys.executable, __file__, "--read", reader, str(log)]
    runs = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(repeats)
    ]
    return {key: min(run[key] for run in runs) for key in runs[0]}


def measure(reader: str, log: str) -> dict[str, float]:
    """Time and memory of one read, imports left out."""
    if reader == "here":
        from harness_uq.plugin_api import Run
        from harness_uq_inspect.harness import InspectHarness

        harness = InspectHarness()
        read = lambda: harness.read(Run(log, (log,)))  # noqa: E731
        harness.cluster_catalogue()
    else:
        from inspect_ai.log import read_eval_log

        read = lambda: read_eval_log(log)  # noqa: E731
    before = peak_megabytes()
    start = time.perf_counter()
    read()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "megabytes": peak_megabytes() - before}


def peak_megabytes() -> float:
    """Peak memory of this process (Linux); `getrusage` would count the parent's."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def write_logs(folder: Path, n_questions: int, n_epochs: int) -> dict[str, Path]:
    """Paths of the logs by route; those already in the folder are used again."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / f"plain_{n_questions}x{n_epochs}.eval"
    long_metadata = folder / f"long_metadata_{n_questions}x{n_epochs}.eval"
    bare = folder / f"without_summaries_{n_questions}x{n_epochs}.eval"
    if not plain.exists():
        evaluate(plain, n_questions, n_epochs, passage_words=100)
    if not long_metadata.exists():
        evaluate(long_metadata, n_questions, n_epochs, passage_words=400)
    if not bare.exists():
        drop_summaries(plain, bare)
    return {"summaries": plain, "whole samples": bare, "one sample each": long_metadata}


def evaluate(log: Path, n_questions: int, n_epochs: int, *, passage_words: int) -> None:
    """Have Inspect write a log whose samples take about 9 KB, without calling a model."""
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageAssistant
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    @solver
    def scripted() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.messages.append(ChatMessageAssistant(content=FILLER * 12))
            state.output.completion = "B" if (7 * int(str(state.sample_id)[1:]) + 5 * state.epoch) % 3 else "A"
            return state

        return solve

    @scorer(metrics=[accuracy(), stderr()])
    def letter() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            is_right = state.output.completion == target.text
            return Score(value="C" if is_right else "I", answer=state.output.completion, explanation=FILLER)

        return score

    samples = [
        Sample(
            id=f"q{i}",
            input=f"Question {i}. {FILLER * 4}",
            target="B",
            metadata={"passage": f"{i // 4} " + "word " * passage_words, "subject": f"s{i % 20}", "level": i % 5},
        )
        for i in range(n_questions)
    ]
    task = Task(name="bench", dataset=MemoryDataset(samples), solver=scripted(), scorer=letter())
    with tempfile.TemporaryDirectory() as folder:
        options = {"log_dir": folder, "display": "none", "log_realtime": False, "log_level": "error"}
        inspect_eval(task, model="mockllm/model", epochs=n_epochs, max_samples=64, **options)
        next(Path(folder).glob("*.eval")).rename(log)


def drop_summaries(log: Path, copy: Path) -> None:
    """Copy a log without its summaries."""
    import zipfile

    import zipfile_zstd  # noqa: F401 -- teaches zipfile the compression that Inspect uses

    with zipfile.ZipFile(log) as source, zipfile.ZipFile(copy, "w", zipfile.ZIP_ZSTANDARD) as target:  # type: ignore[attr-defined]
        for name in source.namelist():
            if "summaries" not in name:
                target.writestr(name, source.read(name))


if __name__ == "__main__":
    sys.exit(main())
