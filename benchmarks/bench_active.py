"""Time of active evaluation: fitting a history of 400 systems and 10,000 questions, and choosing the next questions.

Run as `python benchmarks/bench_active.py`; writes benchmarks/results/active_speed.json. The next batch of 10 questions
is chosen with 64 factors, when 100 to 900 questions have an answer. Its time includes the estimate from the previous
batch.
"""

import json
import os
import platform
import time
from pathlib import Path

import numpy as np
from scipy import special

from harness_uq.stats.active.factor_model import fit_factor_model
from harness_uq.stats.active.predictor import Answers, Predictor, fit_predictor
from harness_uq.stats.active.rounds import Knowledge, draw_round, estimate_round
from harness_uq.stats.active.system_prior import system_prior

OUTPUT = Path(__file__).parent / "results" / "active_speed.json"
N_SYSTEMS, N_QUESTIONS, RANK = 400, 10_000, 64


def scores(rng: np.random.Generator) -> np.ndarray:
    """Scores of the history and of a new system, from a model with 64 factors of decreasing variance."""
    factors = rng.normal(size=(N_SYSTEMS + 1, RANK)) * np.linspace(1.5, 0.3, RANK)
    log_odds = rng.normal(size=N_QUESTIONS) + factors @ rng.normal(0, 0.5, (RANK, N_QUESTIONS))
    return (rng.random(log_odds.shape) < special.expit(log_odds)).astype(float)


def time_batches(predictor: Predictor, new: np.ndarray, rng: np.random.Generator) -> list[float]:
    """Seconds for each batch of 10 after the first 100 questions."""
    known, times, n = Knowledge(), [], 100
    while len(known.answers.scores) < 900:
        start = time.perf_counter()
        draw = draw_round(predictor, [known], n, rng)
        if known.answers.scores.size:
            times.append(time.perf_counter() - start)
        answers = Answers(draw.questions, new[draw.questions])
        start = time.perf_counter()
        known = known.after(estimate_round(predictor, known, answers, draw.probabilities))
        if times:
            times[-1] += time.perf_counter() - start
        n = 10 if len(known.answers.scores) > 100 else 11
    return times


def main() -> None:
    """Time all of it, print and save."""
    rng = np.random.default_rng(20263101)
    every = scores(rng)
    start = time.perf_counter()
    fitted = fit_predictor(every[:-1])
    fit_seconds = time.perf_counter() - start
    model = fit_factor_model(every[:-1], rank=RANK)
    batches = time_batches(Predictor(model, system_prior(model), fitted.difficulties), every[-1], rng)
    result = {
        "fit_seconds": round(fit_seconds, 2),
        "fitted_rank": fitted.model.rank,
        "batch_milliseconds_median": round(1000 * float(np.median(batches)), 1),
        "batch_milliseconds_largest": round(1000 * max(batches), 1),
        "batches": len(batches),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    print(result)
    OUTPUT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
