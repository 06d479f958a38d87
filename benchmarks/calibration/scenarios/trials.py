"""Settings with repeated trials: the score of a fixed benchmark, and pass@k."""

from itertools import product

import numpy as np

from benchmarks.calibration.scenarios.clusters import spread_of, success_rates
from benchmarks.calibration.scenarios.scores import HIERARCHY, ScoreData
from benchmarks.calibration.scenarios.types import Cell, DataSet, Scenario, Size
from harness_uq.data.task_log import FloatArray

_Mixture = tuple[
    tuple[float, float, float], ...
]  # share of questions, a and b of their Beta; b < 0 if all have the rate a

MIXTURES: dict[str, _Mixture] = {
    "easy, Beta(9, 0.5)": ((1.0, 9.0, 0.5),),
    "hard, Beta(0.5, 9)": ((1.0, 0.5, 9.0),),
    "bimodal, Beta(0.3, 0.3)": ((1.0, 0.3, 0.3),),
    "even, Beta(2, 2)": ((1.0, 2.0, 2.0),),
    "all at 0.99": ((1.0, 0.99, -1.0),),
    "all at 0.95": ((1.0, 0.95, -1.0),),
    "all at 0.5": ((1.0, 0.5, -1.0),),
    "two kinds, 0.1 and 0.9": ((0.5, 0.1, -1.0), (0.5, 0.9, -1.0)),
    "half at 0.98, half Beta(2, 2)": ((0.5, 0.98, -1.0), (0.5, 2.0, 2.0)),
    "19 of 20 at 0.95, the rest never": ((0.95, 0.95, -1.0), (0.05, 0.0, -1.0)),
}
_HARD_TO_FIT: dict[str, _Mixture] = {
    "19 of 20 at 0.97, the rest never": ((0.95, 0.97, -1.0), (0.05, 0.0, -1.0)),
    "70 % at 0.8, the rest never": ((0.7, 0.8, -1.0), (0.3, 0.0, -1.0)),
}


def draw_rates(mixture: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Success rates of n questions of a mixture."""
    share, a, b = (np.array(column) for column in zip(*(MIXTURES | _HARD_TO_FIT)[mixture], strict=True))
    kind = rng.choice(len(share), size=n, p=share)
    return np.where(b[kind] < 0, a[kind], rng.beta(np.maximum(a[kind], 1e-9), np.abs(b[kind])))


def _benchmark_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    prior = [
        Cell("benchmark", "prior", {"questions": m, "trials": n}, 150 if smoke else 2000, averaged=True)
        for m, n in (((30, 4),) if smoke else ((30, 2), (30, 8), (100, 4)))
    ]
    designs = ["easy, Beta(9, 0.5)", "all at 0.5"] if smoke else list(MIXTURES)
    counts = (1, 4) if smoke else (1, 2, 4, 8, 16, 32, 64)
    fixed = [
        Cell("benchmark", "mixtures", {"questions": m, "kind": name, "trials": n}, 80 if smoke else 200)
        for m, name, n in [
            *product((30,), designs, counts),
            *([] if smoke else product((100,), designs, (2, 8))),
            *([] if smoke else product((500,), _HARD_TO_FIT, (4, 16))),
        ]
    ]
    return prior + fixed


def _draw_benchmark(cell: Cell, rng: np.random.Generator) -> DataSet:
    m, n = int(cell.number("questions")), int(cell.number("trials"))
    if cell.averaged:
        rates = success_rates(rng.random(), spread_of(rng.random()), m, rng)
    else:
        rates = draw_rates(cell.text("kind"), m, rng)
    values = (rng.random((m, n)) < rates[:, None]).astype(float)
    return ScoreData(float(rates.mean()), values, scope="benchmark")


BENCHMARK = Scenario(
    "benchmark",
    "Exactly these questions, tried N times",
    ("bayes", "bayes-at-n", "avg-at-n"),
    _benchmark_cells,
    _draw_benchmark,
)


def _pass_k_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    designs = ["two kinds, 0.1 and 0.9"] if smoke else list(MIXTURES)
    shapes = ((2, 8),) if smoke else ((2, 8), (4, 8), (8, 8), (4, 16))
    return [
        Cell(
            "pass_k",
            scope,
            {"questions": 50, "kind": name, "k": k, "trials": n},
            40 if smoke else 200,
        )
        for scope, name, (k, n) in product(("population", "benchmark"), designs, shapes)
    ]


def _draw_pass_k(cell: Cell, rng: np.random.Generator) -> DataSet:
    m, n, k = (int(cell.number(name)) for name in ("questions", "trials", "k"))
    rates, kind = draw_rates(cell.text("kind"), m, rng), cell.text("kind")
    values, estimand = (rng.random((m, n)) < rates[:, None]).astype(float), f"pass@{k}"
    if cell.family == "benchmark":
        return ScoreData(float(np.mean(1 - (1 - rates) ** k)), values, scope="benchmark", estimand=estimand)
    return ScoreData(1 - _mean_all_wrong(kind, k), values, estimand=estimand)


def _mean_all_wrong(mixture: str, k: int) -> float:
    """E[(1 - pi)^k] for a mixture."""
    total = 0.0
    for share, a, b in MIXTURES[mixture]:
        i = np.arange(k)
        total += share * (float((1 - a) ** k) if b < 0 else float(np.prod((b + i) / (a + b + i))))
    return total


PASS_K = Scenario(
    "pass_k",
    "pass@k from N trials per question",
    ("bayes", "pass-k-unbiased", HIERARCHY),
    _pass_k_cells,
    _draw_pass_k,
    every={HIERARCHY: 4},
)
