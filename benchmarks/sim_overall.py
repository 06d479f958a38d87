"""Coverage and width of the overall score of one system over several tasks.

Run as `python benchmarks/sim_overall.py`; writes benchmarks/results/overall.json. The cells were declared before the
first run. Tasks are fixed and have equal weights. The default is what `estimate(overall=True)` computes: the interval
of each task by its own default method, and their combination. It is compared with Student's t with the stratified
variance and Satterthwaite's degrees of freedom, with MOVER (Zou and Donner 2008) on Wilson limits, whose sample size is
the effective one of Korn and Graubard (1998) for clusters and trials, and with the Bayesian bootstrap of questions or
clusters within tasks.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy import special

from harness_uq import estimate_scores, stats
from harness_uq.stats.effects.weighted_tasks import shared_error

OUTPUT = Path(__file__).parent / "results" / "overall.json"
SEED = 20261126
LEVEL = 0.95
N_BOOTSTRAP = 1000
Array = np.ndarray


@dataclass(frozen=True)
class Task:
    """One task: its expected score, and a function that draws scores of clusters, shape (n_units, size)."""

    theta: float
    draw: Callable[[np.random.Generator], Array]
    is_plain: bool = False


def binary(n: int, theta: float) -> Task:
    """Independent right-or-wrong answers."""
    return Task(theta, lambda rng: (rng.random((n, 1)) < theta).astype(float), is_plain=True)


def grouped(n_units: int, size: int, theta: float, mass: float) -> Task:
    """Clusters of questions, or questions with repeated trials, whose success rates are Beta distributed."""

    def draw(rng: np.random.Generator) -> Array:
        rates = rng.beta(mass * theta, mass * (1 - theta), (n_units, 1))
        return (rng.random((n_units, size)) < rates).astype(float)

    return Task(theta, draw)


def graded(n: int, a: float, b: float) -> Task:
    """Scores between 0 and 1."""
    return Task(a / (a + b), lambda rng: rng.beta(a, b, (n, 1)))


CELLS: dict[str, list[Task]] = {
    "2 tasks of 200 questions at 0.7": [binary(200, 0.7)] * 2,
    "30 tasks of 167 questions, 0.3 to 0.95": [binary(167, theta) for theta in np.linspace(0.3, 0.95, 30)],
    "30 tasks of 12 questions at 0.95": [binary(12, 0.95)] * 30,
    "1 task of 2,000 at 0.6, 9 of 30 to 100 at 0.8 to 0.95": [
        binary(2000, 0.6),
        *(binary(int(n), theta) for n, theta in zip(np.linspace(30, 100, 9), np.linspace(0.95, 0.8, 9), strict=True)),
    ],
    "9 tasks of 200 at 0.7, 1 of 12 at 0.95": [*[binary(200, 0.7)] * 9, binary(12, 0.95)],
    "7 of 10 tasks of 100 at 0.5 to 0.9 (3 missing)": [binary(100, theta) for theta in np.linspace(0.5, 0.9, 7)],
    "4 tasks of 150 at 0.8, 3 of 25 clusters of 6 at 0.7": [*[binary(150, 0.8)] * 4, *[grouped(25, 6, 0.7, 4.0)] * 3],
    "5 tasks of 40 questions with 5 trials at 0.75": [grouped(40, 5, 0.75, 2.0)] * 5,
    "3 right-or-wrong tasks of 120 at 0.85, 3 graded of 80 at 0.8": [*[binary(120, 0.85)] * 3, *[graded(80, 4, 1)] * 3],
    "2 tasks of 30 questions with 8 trials at 0.95": [grouped(30, 8, 0.95, 3.0)] * 2,
    "1 task of 300 at 0.9, 1 of 10 clusters of 12 at 0.6": [binary(300, 0.9), grouped(10, 12, 0.6, 6.0)],
}
SHARED = "3 languages of 100 common items at 0.6, 0.7 and 0.8"
METHODS = ("default", "t", "mover", "bootstrap")


@cache
def binomial_limits(right: int, n: int) -> tuple[float, float]:
    """Highest-density interval of the default method for independent answers."""
    posterior = stats.beta_posterior(right, n)
    return posterior.interval(LEVEL, "hdi")


def own_limits(task: Task, scores: Array) -> tuple[float, float]:
    """Interval of one task by its default method."""
    clusters = None
    values = scores
    if scores.shape[1] > 1:
        values, clusters = scores.ravel(), np.repeat(np.arange(len(scores)), scores.shape[1])
    interval = estimate_scores(values, clusters=clusters, range=(0, 1)).interval
    assert interval is not None
    return interval.low, interval.high


@cache
def block_limits(right: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[float, float]:
    """Interval of the mean of all tasks with independent right-or-wrong answers."""
    return stats.group_posterior(right, sizes).interval(LEVEL, "hdi")


def default(tasks: list[Task], data: list[Array]) -> tuple[float, float]:
    """The overall interval."""
    plain = [x for task, x in zip(tasks, data, strict=True) if task.is_plain]
    rest = [(task, x) for task, x in zip(tasks, data, strict=True) if not task.is_plain]
    values = [float(x.mean()) for _, x in rest]
    limits = [own_limits(task, x) for task, x in rest]
    weights = [1 / len(tasks)] * len(rest)
    if plain:
        block = block_limits(tuple(int(x.sum()) for x in plain), tuple(len(x) for x in plain))
        if not rest:
            return block
        values, limits = [*values, float(np.mean([x.mean() for x in plain]))], [*limits, block]
        weights = [*weights, len(plain) / len(tasks)]
    low, high = np.array(limits).T
    return stats.weighted_tasks_interval(values, low, high, weights)


def others(data: list[Array], rng: np.random.Generator) -> list[tuple[float, float]]:
    """Intervals of t, MOVER and the Bayesian bootstrap."""
    k = len(data)
    units = [x.mean(axis=1) for x in data]
    means = np.array([u.mean() for u in units])
    variances = np.array([u.var(ddof=1) / len(u) for u in units])
    total = variances.sum() / k**2
    df = total**2 / np.sum((variances / k**2) ** 2 / np.array([len(u) - 1 for u in units])) if total > 0 else 1.0
    half = special.stdtrit(df, (1 + LEVEL) / 2) * np.sqrt(total)
    sizes = np.array([x.size for x in data], float)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where(variances > 0, means * (1 - means) / variances, sizes)
    effective = np.minimum(effective, sizes)
    low, high = stats.binomial_interval(means * effective, effective, LEVEL, "wilson")
    below, above = (np.sqrt(np.sum((means - limit) ** 2)) / k for limit in (low, high))
    draws = np.zeros(N_BOOTSTRAP)
    for u in units:
        if set(np.unique(u)) <= {0.0, 1.0}:
            right = u.sum()
            draws += rng.beta(right, len(u) - right, N_BOOTSTRAP) if 0 < right < len(u) else right / len(u)
        else:
            weights = rng.standard_exponential((N_BOOTSTRAP, len(u)))
            draws += weights @ u / weights.sum(axis=1)
    mean = means.mean()
    tails = np.quantile(draws / k, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return [(mean - half, mean + half), (mean - below, mean + above), tuple(tails)]


def shared_items(n_sets: int, rng: np.random.Generator) -> dict[str, float]:
    """Coverage if tasks have common items: with and without the errors that they share."""
    thetas, n = np.array([0.6, 0.7, 0.8]), 100
    tasks, items = np.repeat(np.arange(3), n), np.tile(np.arange(n), 3)
    ends = np.empty((n_sets, 2, 2))
    for row in ends:
        # a normal copula gives answers to one item in three languages a latent correlation of 0.8
        common = rng.standard_normal(n)
        latent = np.sqrt(0.8) * common + np.sqrt(0.2) * rng.standard_normal((3, n))
        y = (latent < special.ndtri(thetas)[:, None]).astype(float)
        means = y.mean(axis=1)
        contributions = ((y - means[:, None]) / n / 3).ravel()[None]
        variance = float(contributions[0] @ contributions[0])
        factor = np.sqrt(max(1 + float(shared_error(contributions, tasks, items)[0, 0]) / variance, 0.0))
        row[0] = low, high = block_limits(tuple(y.sum(axis=1).astype(int)), (n,) * 3)
        row[1] = stats.weighted_tasks_interval([means.mean()], [low], [high], [1.0], inflation=factor)
    truth = thetas.mean()
    covered = ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0)
    width = (ends[..., 1] - ends[..., 0]).mean(axis=0)
    return {
        "n": n_sets,
        "coverage, default": float(covered[1]),
        "width, default": float(width[1]),
        "coverage, items ignored": float(covered[0]),
        "width, items ignored": float(width[0]),
    }


def run(tasks: list[Task], n_sets: int, rng: np.random.Generator) -> dict[str, float]:
    """Results of one cell."""
    truth = float(np.mean([task.theta for task in tasks]))
    ends = np.empty((n_sets, len(METHODS), 2))
    for row in ends:
        data = [task.draw(rng) for task in tasks]
        row[0] = default(tasks, data)
        row[1:] = others(data, rng)
    covered = ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0)
    width = (ends[..., 1] - ends[..., 0]).mean(axis=0)
    return {
        "n": n_sets,
        **{f"coverage, {name}": float(value) for name, value in zip(METHODS, covered, strict=True)},
        **{f"width, {name}": float(value) for name, value in zip(METHODS, width, strict=True)},
    }


def main() -> None:
    """Run all cells and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="data sets per cell")
    parser.add_argument("--cells", type=int, nargs="*", help="numbers of the cells to run (default: all)")
    args = parser.parse_args()
    for k, name in enumerate((*CELLS, SHARED)):
        if args.cells is not None and k not in args.cells:
            continue
        rng = np.random.default_rng([SEED, k])
        result = shared_items(args.n, rng) if name == SHARED else run(CELLS[name], args.n, rng)
        cells = json.loads(OUTPUT.read_text())["cells"] if OUTPUT.exists() else {}
        cells[name] = {key: round(value, 5) for key, value in result.items()}
        print(name, cells[name], flush=True)
        OUTPUT.write_text(json.dumps({"seed": SEED, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
