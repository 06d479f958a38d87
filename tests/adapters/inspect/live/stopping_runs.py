"""Run a task under several stopping rules: `python stopping_runs.py FOLDER` writes FOLDER/<case>.json.

Whether a trial is correct is drawn with a fixed seed from the success rate of its question.
"""

import json
import logging
import sys
import time
from pathlib import Path

import numpy as np
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, accuracy, scorer, stderr
from live_tasks import answering

from harness_uq_inspect import stop_when
from harness_uq_inspect.live import stopping_rules

QUIET = {"model": "mockllm/model", "display": "none", "log_level": "warning", "log_realtime": False}
N, EPOCHS = 60, 8
EASY = np.random.default_rng(0).beta(9, 1, N)


def run(folder, case, rates, *, seed=1, max_samples=4, epochs=EPOCHS, rule=None, passages=None, **options):
    table = np.random.default_rng(seed).random((len(rates), epochs)) < np.asarray(rates)[:, None]

    @scorer(metrics=[accuracy(), stderr()])
    def right():
        async def score(state, target):
            return Score(value="C" if table[int(state.sample_id), state.epoch - 1] else "I")

        return score

    metadata = [None if passages is None else {"passage": f"passage {passages[i]}"} for i in range(len(rates))]
    samples = [Sample(id=str(i), input=f"Question {i}?", target="t", metadata=metadata[i]) for i in range(len(rates))]
    task = Task(
        dataset=MemoryDataset(samples),
        solver=answering(),
        scorer=right(),
        epochs=epochs,
        name="toy",
        early_stopping=rule,
    )
    kept = Kept()
    logging.getLogger("harness_uq_inspect").addHandler(kept)
    (log,) = inspect_eval(task, log_dir=str(folder / case), max_samples=max_samples, **QUIET, **options)
    logging.getLogger("harness_uq_inspect").removeHandler(kept)
    assert log.status == "success", log.error
    stopping_ = log.results.early_stopping
    said = {"location": log.location, "warnings": kept.said, "early_stopping": stopping_ and stopping_.model_dump()}
    (folder / f"{case}.json").write_text(json.dumps(said))
    return log.location


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        self.said.append(record.getMessage())


def main(folder):
    run(folder, "width", EASY, rule=stop_when(width=0.12))
    # reached after about 350 of 480 trials, for any order in which they end
    run(folder, "benchmark", EASY, rule=stop_when(width=0.06, scope="benchmark", min_trials=3))
    run(folder, "out_of_reach", EASY[:12], epochs=3, rule=stop_when(width=0.01))
    run(folder, "at_once", EASY, rule=stop_when(width=0.2), max_samples=N * EPOCHS)
    weak, even = run(folder, "weak", np.full(N, 0.3), seed=8, epochs=2), run(folder, "even", np.full(N, 0.6), epochs=2)
    run(folder, "better", np.full(N, 0.9), seed=9, rule=stop_when(compare_to=weak))
    run(folder, "undecided", np.full(N, 0.6), seed=9, epochs=3, rule=stop_when(compare_to=even))
    run(folder, "nowhere", EASY[:12], epochs=3, rule=stop_when(compare_to="nowhere.eval"))
    many = np.tile(EASY, 5)
    shuffled = {"epochs": 2, "sample_shuffle": 3}
    base = run(folder, "base", many * 0.7, seed=4, epochs=1)
    run(folder, "anytime_width", many, rule=stop_when(width=0.2, valid="anytime"), **shuffled)
    run(folder, "anytime_better", many, rule=stop_when(compare_to=base, valid="anytime"), **shuffled)
    run(folder, "anytime_undecided", many[:80], rule=stop_when(width=0.01, valid="anytime"), epochs=1)
    # passages one after the other, so that many are complete when the rule is evaluated
    by_passage = {"epochs": 1, "passages": np.repeat(np.random.default_rng(5).permutation(75), 4)}
    rule = stop_when(width=0.3, cluster="passage", valid="anytime")
    run(folder, "anytime_passages", many, rule=rule, **by_passage)
    stopping_rules.EpochMonitor.look = slow(stopping_rules.EpochMonitor.look)
    run(folder, "slow", EASY, rule=stop_when(width=0.3))
    stopping_rules.EpochMonitor.look = fail
    run(folder, "failing", EASY[:12], epochs=3, rule=stop_when(width=0.9))


def slow(look):
    def looking(self):
        found = look(self)
        time.sleep(1)  # enough time for a hundred trials
        return found

    return looking


def fail(self):
    raise ZeroDivisionError


if __name__ == "__main__":
    main(Path(sys.argv[1]))
