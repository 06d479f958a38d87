"""Coverage and effective sample size of active evaluation, by simulation.

Run as `python benchmarks/sim_active.py [CELL ...]`; adds the cells to benchmarks/results/active.json, with the number
of replications so far. All cells are declared in `CELLS`. Scores are Bernoulli draws with the probabilities of the
leaderboard factors in `../shared/data/leaderboard_factors` (2,211 systems, 9,574 questions; Wu, Nair and Candes,
arXiv 2601.20251).

Of the systems, the 110 with the highest accuracy are never in the history. The history has 400 of the others. The new
systems are 320 others, and 40 that are stronger than all of the history. Each of these 360 systems is evaluated once
per cell, with one draw of its scores. Further cells have systems from all 1,811 that are not in the history, or the
quarter of these with the highest accuracy. The ratio is the effective sample size over the number of questions: (mean
width of the interval of the plain mean with finite-population correction / mean width)^2. Beside it stands the same
ratio of the mean squared errors.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy import special

from harness_uq import ActiveHistory, ActiveSampler
from harness_uq.stats.active.expected_width import evaluate
from harness_uq.stats.active.predictor import Predictor, fit_predictor
from harness_uq.stats.active.rounds import round_sizes

FACTORS = Path(__file__).parents[2] / "shared/data/leaderboard_factors/bbh_gpqa_ifeval_math_musr.npz"
OUTPUT = Path(__file__).parent / "results" / "active.json"
N_ROUNDS = 5
SEED = 20263100


@dataclass(frozen=True, slots=True)
class Cell:
    """One simulated setting.

    Attributes
    ----------
    share : share of the questions that are asked
    history : what happens to the history of the leaderboard
    new : what happens to the log-odds of the new systems
    systems : which systems are new: 360 of them, all, or the quarter with the highest accuracy
    offset : the evaluation ends when the interval excludes the true score plus this offset; None for a fixed number
    """

    share: float
    history: str = "complete"
    new: str = "factors"
    systems: str = "some"
    offset: float | None = None


MISLEADING = ("permuted", "inverted", "duplicated", "five", "missing")
CELLS = {
    **{f"factors-{share:g}": Cell(share) for share in (0.025, 0.05, 0.1)},
    **{f"{name}-{share:g}": Cell(share, name) for name in MISLEADING for share in (0.025, 0.1)},
    **{f"{name}-0.05": Cell(0.05, name) for name in ("twenty", "hundred")},
    **{f"decide-{offset:g}": Cell(0.1, offset=offset) for offset in (0.0, 0.02, 0.04)},
    **{f"{name}-0.05": Cell(0.05, new=name) for name in ("outside", "accurate")},
    **{f"strongest-quarter-{share:g}": Cell(share, systems="strongest quarter") for share in (0.025, 0.05, 0.1)},
    **{f"all-systems-{share:g}": Cell(share, systems="all") for share in (0.025, 0.05, 0.1)},
    "all-systems-duplicated-0.025": Cell(0.025, "duplicated", systems="all"),
}


@cache
def log_odds() -> np.ndarray:
    """Log-odds of all systems, shape (2211, 9574)."""
    factors = np.load(FACTORS)
    return factors["U"].astype(np.float32) @ factors["V"].astype(np.float32).T


def strongest() -> np.ndarray:
    """The 110 systems with the highest accuracy, which are never in the history."""
    return np.argsort(-special.expit(log_odds()).mean(axis=1))[:110]


def split(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Systems of the history, further systems, and systems stronger than all of the history."""
    others = rng.permutation(np.setdiff1d(np.arange(len(log_odds())), strongest()))
    return others[:400], others[400:720], rng.permutation(strongest())[:40]


def new_systems(which: str) -> np.ndarray:
    """The systems to evaluate: 360 of them, all that are not in the history, or the best quarter of these."""
    earlier, others, ahead = split(np.random.default_rng(SEED))
    if which == "some":
        return np.concatenate([others, ahead])
    outside = np.setdiff1d(np.arange(len(log_odds())), earlier)
    accuracy = special.expit(log_odds()[outside]).mean(axis=1)
    return outside if which == "all" else outside[accuracy >= np.quantile(accuracy, 0.75)]


def bernoulli(log_odds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(log_odds.shape) < special.expit(log_odds)).astype(float)


HISTORIES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "complete": lambda scores, rng: scores,
    "permuted": lambda scores, rng: scores[:, rng.permutation(scores.shape[1])],
    "inverted": lambda scores, rng: 1.0 - scores,
    "duplicated": lambda scores, rng: np.repeat(scores[:1], 50, axis=0),
    "five": lambda scores, rng: scores[:5],
    "twenty": lambda scores, rng: scores[:20],
    "hundred": lambda scores, rng: scores[:100],
    "missing": lambda scores, rng: np.where(rng.random(scores.shape) < 0.9, np.nan, scores),
}
NEW: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "factors": lambda log_odds, rng: log_odds,
    "outside": lambda log_odds, rng: 0.7 * log_odds + rng.normal(size=log_odds.shape),
    "accurate": lambda log_odds, rng: log_odds + 3.0,
}


def decide(cell: Cell) -> Iterator[dict[str, object]]:
    """Simulate evaluations that end when it is decided whether the system reaches a score."""
    rng = np.random.default_rng(SEED)
    earlier, others, ahead = split(rng)
    history = ActiveHistory(bernoulli(log_odds()[earlier], rng))
    n_all = log_odds().shape[1]
    rows = []
    for seed, system in enumerate(np.concatenate([others, ahead])):
        scores = bernoulli(log_odds()[system], rng)
        bound = scores.mean() + (cell.offset or 0.0)
        sampler = ActiveSampler(history, n_questions=round(cell.share * n_all), seed=seed, at_least=bound)
        while not sampler.done:
            questions = sampler.ask()
            sampler.tell(questions, scores[questions])
        interval = sampler.estimate().interval
        decided = not interval.low <= bound <= interval.high
        rows.append((interval.low <= scores.mean() <= interval.high, decided, sampler.n_told))
    coverage, decided, asked = np.mean(rows, axis=0)
    yield {
        "largest_number_of_questions": round(cell.share * n_all),
        "replications": len(rows),
        "coverage": round(float(coverage), 4),
        "decided": round(float(decided), 4),
        "mean_number_of_questions": round(float(asked), 1),
    }


@cache
def fitted(history: str, new: str) -> Predictor:
    """Model of a history, the same for all shares of questions."""
    rng = np.random.default_rng(SEED)
    earlier, _, _ = split(rng)
    return fit_predictor(HISTORIES[history](bernoulli(NEW[new](log_odds()[earlier], rng), rng), rng))


def simulate(cell: Cell) -> Iterator[dict[str, object]]:
    """Simulate a cell; yields its results after every tenth system. The systems are in random order."""
    systems = new_systems(cell.systems)
    ahead = strongest()
    rng = np.random.default_rng([SEED, 1])
    predictor = fitted(cell.history, cell.new)
    n_all = log_odds().shape[1]
    n = round(cell.share * n_all)
    rows = []
    for system in rng.permutation(systems):
        scores = bernoulli(NEW[cell.new](log_odds()[system], rng), rng)
        estimate = evaluate(predictor, scores, round_sizes(n, N_ROUNDS), rng)
        low, high = estimate.interval()
        plain = scores.var(ddof=1) * (1 / n - 1 / n_all)
        truth = scores.mean()
        covers = low <= truth <= high
        rows.append((covers, (estimate.mean - truth) ** 2, high - low, plain, truth, system in ahead))
        if len(rows) % 10 == 0 or len(rows) == len(systems):
            yield {"n": n, "rank": predictor.model.rank, **summary(np.array(rows, float))}


def summary(rows: np.ndarray) -> dict[str, object]:
    """Coverage, effective sample ratio by width and by squared error, and both in groups of systems."""
    covers, squared, width, plain, truth, is_ahead = rows.T
    plain_width = 2 * special.ndtri(0.975) * np.sqrt(plain)
    quarters = np.digitize(truth, np.quantile(truth, [0.25, 0.5, 0.75]))
    return {
        "replications": len(rows),
        "ratio": round(float((plain_width.mean() / width.mean()) ** 2), 3),
        "ratio_squared_error": round(float(plain.mean() / squared.mean()), 3),
        "relative_width": round(float(width.mean() / plain_width.mean()), 3),
        "coverage": round(float(covers.mean()), 4),
        "coverage_by_quarter": [round(float(covers[quarters == q].mean()), 4) for q in range(4)],
        "coverage_stronger_than_history": round(float(covers[is_ahead > 0].mean()), 4),
    }


def results(names: list[str]) -> Iterator[tuple[str, dict[str, object]]]:
    """The results of the cells so far, which advance in turn."""
    cells = {name: simulate(CELLS[name]) if CELLS[name].offset is None else decide(CELLS[name]) for name in names}
    while cells:
        for name, rows in list(cells.items()):
            if (row := next(rows, None)) is None:
                del cells[name]
            else:
                yield name, row


def main() -> None:
    """Simulate the cells, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "cells", nargs="*", metavar="CELL", help=f"cells to simulate (default: all): {', '.join(CELLS)}"
    )
    names = parser.parse_args().cells or list(CELLS)
    for name, row in results(names):
        print(name, row, flush=True)
        saved = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.exists() else {}
        ordered = {key: (saved | {name: row})[key] for key in CELLS if key in saved or key == name}
        OUTPUT.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
