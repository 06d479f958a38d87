"""What intervals cost a run of 1,000 questions × 8 epochs, live and afterwards, beside Inspect's reading and writing.

Run as `python benchmarks/bench_inspect_live.py`; writes benchmarks/results/inspect_live.json.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

OUTPUT = Path(__file__).parent / "results" / "inspect_live.json"
N_QUESTIONS, N_EPOCHS = 1000, 8


def main() -> None:
    """Time the hook, the metrics and the rescoring, then save and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-inspect", action="store_true", help="leave out Inspect's full read and write (1 min)")
    arguments = parser.parse_args()
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        log = write_log(Path(folder))
        found["log_megabytes"] = log.stat().st_size / 1e6
        found |= time_hook(log) | time_metrics() | time_rescoring(log)
        if not arguments.skip_inspect:
            found |= time_inspect(log)
            found["rescore_times_faster"] = 3 * found["inspect_read_and_write_s"] / found["rescore_three_logs_s"]
    OUTPUT.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


def write_log(folder: Path) -> Path:
    """A log with a passage every 5 questions and 5 kB a sample, written by Inspect."""
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Score, accuracy, scorer, stderr
    from inspect_ai.solver import solver

    rng = np.random.default_rng(7)
    rates = np.repeat(rng.beta(3, 2, N_QUESTIONS // 5), 5)
    right = rng.random((N_QUESTIONS, N_EPOCHS)) < rates[:, None]

    @solver
    def answering():
        async def solve(state, generate):
            state.output.completion = "word " * 200
            return state

        return solve

    @scorer(metrics=[accuracy(), stderr()])
    def match():
        async def score(state, target):
            return Score(value="C" if right[int(state.sample_id), state.epoch - 1] else "I")

        return score

    samples = [
        Sample(id=str(i), input=f"Question {i}? " * 100, target="t", metadata={"passage": f"p{i // 5}"})
        for i in range(N_QUESTIONS)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=answering(), scorer=match(), epochs=N_EPOCHS, name="big")
    quiet = {"model": "mockllm/model", "display": "none", "log_level": "error", "log_realtime": False}
    (log,) = inspect_eval(task, log_dir=str(folder), **quiet)
    return Path(log.location)


def best(work: Callable[[], object], repeats: int = 3) -> float:
    """Median seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def time_hook(log: Path) -> dict[str, float]:
    """What the hook adds to a run: read, estimate, write, table."""
    from harness_uq.analyses.live_settings import LiveSettings
    from harness_uq_inspect.live.postprocess import annotate_finished_log

    return {
        "hook_first_s": best(lambda: annotate_finished_log(str(log), LiveSettings()), 1),
        "hook_s": best(lambda: annotate_finished_log(str(log), LiveSettings())),
        "hook_without_clusters_s": best(lambda: annotate_finished_log(str(log), LiveSettings(cluster=("none",)))),
    }


def time_metrics() -> dict[str, float]:
    """One call of the registered metric: new scores, and scores seen before."""
    from inspect_ai.scorer import SampleScore, Score

    from harness_uq_inspect.live import compute_metric
    from harness_uq_inspect.live.metrics import uq

    rng = np.random.default_rng(8)
    rates = np.repeat(rng.beta(3, 2, N_QUESTIONS // 5), 5)
    values = rng.random((N_EPOCHS, N_QUESTIONS)) < rates
    scores = [
        SampleScore(
            score=Score(value="C" if value else "I"),
            sample_id=str(i),
            sample_metadata={"passage": i // 5},
            scorer="match",
        )
        for epoch in values
        for i, value in enumerate(epoch)
    ]
    found = {}
    for name, metric in {"plain": uq(cluster="none"), "nested": uq()}.items():

        def first(metric: Callable[[list[SampleScore]], object] = metric) -> object:
            compute_metric._cache.clear()
            return metric(scores)

        first()
        found[f"metric_{name}_ms"] = 1e3 * best(first, 7)
        found[f"metric_{name}_again_ms"] = 1e3 * best(lambda metric=metric: metric(scores), 7)
    return found


def time_rescoring(log: Path) -> dict[str, float]:
    """`harness-uq rescore --in-place` on three copies, and `restore`."""
    from harness_uq.analyses.rescore import rescore
    from harness_uq_inspect.harness import InspectHarness

    copies = [Path(shutil.copy(log, log.with_name(f"{i}{log.name}"))) for i in range(3)]
    found = {"rescore_three_logs_s": best(lambda: rescore(copies))}
    found["restore_s"] = best(lambda: InspectHarness().restore(str(copies[0])), 1)
    return found


def time_inspect(log: Path) -> dict[str, float]:
    """Inspect's `read_eval_log` and `write_eval_log` of the whole log, once."""
    from inspect_ai.log import read_eval_log, write_eval_log

    target = log.with_name(f"w{log.name}")
    return {"inspect_read_and_write_s": best(lambda: write_eval_log(read_eval_log(str(log)), str(target)), 1)}


if __name__ == "__main__":
    main()
