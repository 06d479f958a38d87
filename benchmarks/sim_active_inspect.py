"""Coverage of active evaluation in live runs of Inspect AI: scripted systems on a dataset of 2,000 samples.

Run as `python benchmarks/sim_active_inspect.py`; writes benchmarks/results/active_inspect.json. The history has 40
systems of a two-parameter logistic model. Each new system answers 100 samples, which `ActiveSource` chooses during the
run, through the model `mockllm` with scripted outputs. Every tenth run fails after 60 samples and is retried. The
estimate is computed from the log.
"""

import argparse
import builtins
import json
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from inspect_ai import Task, eval_retry, task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

from harness_uq import ActiveHistory, Questions, Scores, Source, TaskLog, estimate
from harness_uq_inspect import ActiveSource

OUTPUT = Path(__file__).parent / "results" / "active_inspect.json"
N, N_ASKED, N_EARLIER = 2000, 100, 40
IDS = [str(number) for number in range(N)]
# Inspect imports this file again for a retry
STATE = builtins.__dict__.setdefault("_sim_active_inspect", {})


def answers(n_new: int) -> np.ndarray:
    """Scores of the earlier and the new systems, shape (40 + n_new, 2000)."""
    rng = np.random.default_rng(20263102)
    slope, difficulty = 1.7 * np.exp(rng.normal(0, 0.5, N)), rng.normal(0, 1.5, N)
    ability = rng.normal(0, 1, (N_EARLIER + n_new, 1))
    return (rng.random((N_EARLIER + n_new, N)) < 1 / (1 + np.exp(-slope * (ability - difficulty)))).astype(int)


def respond(messages: list, *_: object) -> ModelOutput:
    """The scripted answer to a question; the run fails when the number of answers reaches the limit."""
    STATE["answers_left"] -= 1
    if STATE["answers_left"] == 0:
        raise RuntimeError("scripted failure")
    number = int(messages[-1].text.rpartition(" ")[2])
    output = ModelOutput.from_content("mockllm", "right" if STATE["scores"][number] else "wrong")
    output.usage = ModelUsage(input_tokens=3, output_tokens=1, total_tokens=4)
    return output


@task
def scripted() -> Task:
    dataset = [Sample(id=one, input=f"Question {one}", target="right") for one in IDS]
    source = ActiveSource(dataset, STATE["history"], n_questions=N_ASKED, seed=STATE["seed"])
    return Task(
        dataset=source,
        solver=generate(),
        scorer=match(),
        model=get_model("mockllm/m", custom_outputs=respond, memoize=False),
    )


def log_of(system: str, scores: np.ndarray) -> TaskLog:
    data = Scores("match", "none", scores[:, None].astype(float), levels=(0.0, 1.0))
    return TaskLog(system, "scripted", Source(system, "simulation"), Questions(tuple(IDS)), (data,))


def run(folder: str, *, fails: bool) -> str:
    """Run the scripted system, retry it if it fails, and return the location of the log."""
    STATE["answers_left"] = 60 if fails else -1
    options = {"log_dir": folder, "display": "none", "log_level": "error"}
    (log,) = inspect_eval(scripted(), max_samples=20, log_realtime=False, **options)
    if fails:
        assert log.status == "error"
        (log,) = eval_retry(log, **options)
    assert log.status == "success", log.error
    return log.location


def main() -> None:
    """Run all systems, print and save the coverage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=200)
    n_systems = parser.parse_args().systems
    logging.getLogger("harness_uq").setLevel(logging.ERROR)
    for result in results(n_systems):
        print(result, flush=True)
        OUTPUT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def results(n_systems: int) -> Iterator[dict[str, object]]:
    """Run the systems; yields the results after each one."""
    scores = answers(n_systems)
    runs = [log_of(f"earlier-{s}", row) for s, row in enumerate(scores[:N_EARLIER])]
    STATE["history"] = ActiveHistory(runs)
    covers, asked, ratios = [], [], []
    for seed, new in enumerate(scores[N_EARLIER:]):
        STATE.update(seed=seed, scores=new)
        with tempfile.TemporaryDirectory() as folder:
            (row,) = estimate(run(folder, fails=seed % 10 == 0), scope="full", reference_runs=runs)
        covers.append(row.interval.low <= new.mean() <= row.interval.high)
        asked.append(row.n_questions)
        plain = 2 * 1.96 * np.sqrt(new.var(ddof=1) * (1 / N_ASKED - 1 / N))
        ratios.append((plain, row.interval.width))
        widths, coverage = np.mean(ratios, axis=0), float(np.mean(covers))
        yield {
            "systems": len(covers),
            "samples": N,
            "numbers_of_samples_run": sorted(set(asked)),
            "retried": sum(seed % 10 == 0 for seed in range(len(covers))),
            "coverage": round(coverage, 4),
            "monte_carlo_error": round(float(np.sqrt(coverage * (1 - coverage) / len(covers))), 4),
            "ratio": round(float((widths[0] / widths[1]) ** 2), 3),
        }


if __name__ == "__main__":
    main()
