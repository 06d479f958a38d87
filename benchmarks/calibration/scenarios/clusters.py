"""Settings with binary scores of clustered questions, with and without repeated trials."""

from functools import cache
from itertools import product

import numpy as np
from scipy import special

from benchmarks.calibration.scenarios.scores import ScoreData
from benchmarks.calibration.scenarios.types import LEVELS, NOMINAL, Cell, Scenario, Size
from harness_uq.data.task_log import FloatArray, IntArray

EQUAL_TAILS = "published unclustered Bayes"
IMPORTANCE = "published clustered IS"
CLUSTERED_METHODS = (
    "bayes",
    "clustered-beta",
    "clustered-gamma",
    "clustered-dp",
    "clustered-wilson",
    "clustered-t",
    "clustered-cr2",
    "clustered-clt",
    IMPORTANCE,
    "published clustered CLT",
    "published clustered bootstrap",
    "cluster bootstrap",
    "unclustered beta",
    EQUAL_TAILS,
    "unclustered wilson",
    "unclustered clopper-pearson",
    "unclustered clt",
    "unclustered bootstrap",
)

_Population = tuple[tuple[float, int, float], ...]  # share of clusters, their size, their mean

_TWO_SIZES: dict[str, tuple[int, float, _Population]] = {
    "40 clusters, 1/4 of 20 at 0.9, 3/4 of 3 at 1/3": (40, np.inf, ((0.25, 20, 0.9), (0.75, 3, 1 / 3))),
    "40 clusters, 1/4 of 20 at 0.9, 3/4 of 3 at 1/3, d 5": (40, 5.0, ((0.25, 20, 0.9), (0.75, 3, 1 / 3))),
    "12 clusters, 0.3 of 20 at 0.9, 0.7 of 3 at 0.5, d 5": (12, 5.0, ((0.3, 20, 0.9), (0.7, 3, 0.5))),
    "20 clusters, 1/2 of 10 at 0.8, 1/2 of 2 at 0.7, d 5": (20, 5.0, ((0.5, 10, 0.8), (0.5, 2, 0.7))),
    "60 clusters, 1/2 of 10 at 0.8, 1/2 of 2 at 0.7, d 5": (60, 5.0, ((0.5, 10, 0.8), (0.5, 2, 0.7))),
    "100 clusters, 0.2 of 30 at 0.6, 0.8 of 3 at 0.9, d 5": (100, 5.0, ((0.2, 30, 0.6), (0.8, 3, 0.9))),
    "300 clusters, 0.2 of 30 at 0.99, 0.8 of 3 at 0.9, d 20": (300, 20.0, ((0.2, 30, 0.99), (0.8, 3, 0.9))),
    "40 clusters, 1/4 of 20 at 0.99, 3/4 of 3 at 0.9, d 20": (40, 20.0, ((0.25, 20, 0.99), (0.75, 3, 0.9))),
    "10 clusters of 1-12, score rising": (10, 5.0, tuple((1 / 12, n, 0.25 + 0.045 * n) for n in range(1, 13))),
    "30 clusters of 1-12, score rising": (30, 5.0, tuple((1 / 12, n, 0.25 + 0.045 * n) for n in range(1, 13))),
    "40 clusters of 1-12, score falling": (40, 5.0, tuple((1 / 12, n, 0.95 - 0.05 * n) for n in range(1, 13))),
    "15 clusters of 1-12, unrelated": (15, 5.0, tuple((1 / 12, n, 0.7) for n in range(1, 13))),
    "30 clusters of 3 or 20, unrelated, d 20": (30, 20.0, ((0.7, 3, 0.9), (0.3, 20, 0.9))),
    "geometric sizes, 40 clusters, score falling, d 5": (
        40,
        5.0,
        tuple((0.75 ** (n - 1) * 0.25 / (1 - 0.75**40), n, max(0.7 - 0.03 * (n - 1), 0.2)) for n in range(1, 41)),
    ),
}

KINDS: dict[str, tuple[tuple[float, float], ...]] = {  # shares of questions and their success rates
    "95 % at 0.97, 5 % at 0": ((0.95, 0.97), (0.05, 0.0)),
    "70 % at 0.8, 30 % at 0": ((0.7, 0.8), (0.3, 0.0)),
    "90 % at 0.95, 10 % at 0.2": ((0.9, 0.95), (0.1, 0.2)),
    "half at 0.97, half at 0.1": ((0.5, 0.97), (0.5, 0.1)),
    "98 % at 1, 2 % at 0": ((0.98, 1.0), (0.02, 0.0)),
    "50 % at 1, 30 % at 0.5, 20 % at 0": ((0.5, 1.0), (0.3, 0.5), (0.2, 0.0)),
}
_RARE_KINDS: dict[str, tuple[tuple[float, float], ...]] = {  # a small sample often lacks the second kind
    "98 % at 0.9, 2 % at 0": ((0.98, 0.9), (0.02, 0.0)),
    "95 % at 0.9, 5 % at 0": ((0.95, 0.9), (0.05, 0.0)),
    "90 % at 0.97, 10 % at 0": ((0.9, 0.97), (0.1, 0.0)),
    "95 % at 0.3, 5 % at 1": ((0.95, 0.3), (0.05, 1.0)),
    "all at 0.9": ((1.0, 0.9),),
}
_WEIGHTS: dict[str, tuple[int, ...]] = {
    "200 and 50 of 4": (200, *[4] * 50),
    "two of 60 and 20 of 2": (60, 60, *[2] * 20),
    "Zipf, 30 from 120 on": tuple(max(1, round(120 / k)) for k in range(1, 31)),
}


def success_rates(theta: float | FloatArray, d: float, n: int, rng: np.random.Generator) -> FloatArray:
    """Success rates of n clusters or questions, Beta(d theta, d (1 - theta)); all equal to theta if d is infinite."""
    centre = np.broadcast_to(np.asarray(theta, float), (n,))
    if np.isinf(d):
        return np.array(centre)
    a, b = np.maximum(d * centre, 1e-8), np.maximum(d * (1 - centre), 1e-8)
    return rng.beta(a, b)


def spread_of(icc: float) -> float:
    """Dispersion d with the intraclass correlation 1 / (1 + d) = `icc`."""
    return max((1 - icc) / icc, 1e-6) if icc > 0 else np.inf


def questions_of(successes: IntArray, sizes: IntArray, truth: float) -> ScoreData:
    """Questions of clusters with the given numbers of right answers; clusters are in order of size and score."""
    order = np.lexsort((successes, sizes))
    s, n = successes[order], sizes[order]
    clusters = np.repeat(np.arange(len(n)), n)
    place = np.arange(len(clusters)) - np.repeat(np.cumsum(n) - n, n)
    return ScoreData(truth, (place < s[clusters]).astype(float)[:, None], clusters)


def _clustered_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    levels = (NOMINAL,) if smoke else LEVELS
    paper = [
        Cell(
            "clustered",
            "paper",
            {"clusters": f"{t}×5"},
            100 if smoke else 6000,
            levels=levels if t == 6 else (NOMINAL,),
        )
        for t in ((6,) if smoke else (2, 6, 20, 60))
    ]
    prior = [
        Cell("clustered", "prior", {"clusters": f"{t}×5"}, 150 if smoke else 4000, averaged=True)
        for t in ((10,) if smoke else (5, 10, 30))
    ]
    factorial = list(product((0.5, 0.9, 0.95, 0.99), ("10×10", "30×10", "250×10", "588×16"), (0.5, 2.0, 20.0, np.inf)))
    hard = list(
        product((0.3, 0.7, 0.97, 0.99), ("5×6", "5×20", "20×3", "60×2", "100×1-12"), (0.3, 1.0, 5.0, 50.0, np.inf))
    )
    few = list(product((0.5, 0.7, 0.9), ("2×50", "3×20", "7×20"), (0.3, 0.5, 2.0, np.inf)))
    if smoke:
        factorial = [(0.99, "588×16", np.inf), (0.9, "30×10", 2.0)]
        hard, few = [(0.97, "20×3", 1.0)], []
    fixed = [
        Cell("clustered", family, {"theta": theta, "clusters": clusters, "d": d}, 60 if smoke else n)
        for family, cells, n in (("factorial", factorial, 100), ("hard", hard, 100), ("few", few, 200))
        for theta, clusters, d in cells
    ]
    sizes = [
        Cell("clustered", "sizes", {"design": name}, 80 if smoke else 200)
        for name in (list(_TWO_SIZES)[1:2] if smoke else _TWO_SIZES)
    ]
    return paper + prior + fixed + sizes + _mixture_cells(smoke) + _weight_cells(smoke) + _lognormal_cells(smoke)


def _mixture_cells(smoke: bool) -> list[Cell]:
    """Mixtures of question types with different success rates, which are not Beta-distributed, and repeated trials."""
    shapes = ("50×4", "150×8", "500×4", "500×16", "2000×8")
    easy = "95 % at 0.97, 5 % at 0"
    rare_failures = [(easy, "30×8"), (easy, "50×16")]
    cells = [(easy, "150×8")] if smoke else [*product(KINDS, shapes), *rare_failures]
    cells += [] if smoke else product(_RARE_KINDS, ("30×8", "14×8"))
    n = 60 if smoke else 200
    return [Cell("clustered", "mixtures", {"kinds": kinds, "trials": shape}, n) for kinds, shape in cells]


def _weight_cells(smoke: bool) -> list[Cell]:
    """Cluster sizes with most questions in a few clusters, unrelated to the score."""
    cells = [] if smoke else list(product(_WEIGHTS, (0.7, 0.9), (0.05, 0.3, 0.6)))
    return [Cell("clustered", "weights", {"sizes": sizes, "theta": t, "icc": icc}, 200) for sizes, t, icc in cells]


def _lognormal_cells(smoke: bool) -> list[Cell]:
    """Lognormal cluster sizes (median 6, sigma 0.9) with scores that decrease or increase with size."""
    cells = [] if smoke else list(product((20, 60), (-0.8, -0.4, 0.0, 0.8), (0.05, 0.3)))
    return [Cell("clustered", "lognormal", {"clusters": t, "slope": slope, "icc": icc}, 200) for t, slope, icc in cells]


def _draw_clustered(cell: Cell, rng: np.random.Generator) -> ScoreData:
    if cell.family == "sizes":
        return _draw_sizes(cell, rng)
    if cell.family == "mixtures":
        return _draw_mixture(cell, rng)
    if cell.family == "weights":
        sizes = np.array(_WEIGHTS[cell.text("sizes")])
        rates = success_rates(cell.number("theta"), spread_of(cell.number("icc")), len(sizes), rng)
        return questions_of(rng.binomial(sizes, rates), sizes, cell.number("theta"))
    if cell.family == "lognormal":
        return _draw_lognormal(cell, rng)
    sizes = _sizes(cell.text("clusters"), rng)
    if cell.family == "paper":
        theta, d = rng.random(), rng.gamma(1.0, 1.0)
    elif cell.family == "prior":
        theta, d = rng.random(), spread_of(rng.random())
    else:
        theta, d = cell.number("theta"), cell.number("d")
    return questions_of(rng.binomial(sizes, success_rates(theta, d, len(sizes), rng)), sizes, theta)


def _draw_sizes(cell: Cell, rng: np.random.Generator) -> ScoreData:
    n_clusters, d, population = _TWO_SIZES[cell.text("design")]
    share, size, mean = (np.array(column) for column in zip(*population, strict=True))
    kind = rng.choice(len(share), size=n_clusters, p=share / share.sum())
    rates = success_rates(mean[kind], d, n_clusters, rng)
    truth = float((share * size) @ mean / (share @ size))
    return questions_of(rng.binomial(size[kind], rates), size[kind], truth)


def _draw_mixture(cell: Cell, rng: np.random.Generator) -> ScoreData:
    n_questions, n_trials = (int(n) for n in cell.text("trials").split("×"))
    share, rate = np.array((KINDS | _RARE_KINDS)[cell.text("kinds")]).T
    rates = np.sort(rng.choice(rate, size=n_questions, p=share))
    right = rng.random((n_questions, n_trials)) < rates[:, None]
    return ScoreData(float(share @ rate), right.astype(float))


def _draw_lognormal(cell: Cell, rng: np.random.Generator) -> ScoreData:
    slope, n_clusters = cell.number("slope"), int(cell.number("clusters"))
    size, mean = _lognormal_sizes(rng.normal(size=n_clusters), slope)
    rates = success_rates(mean, spread_of(cell.number("icc")), n_clusters, rng)
    return questions_of(rng.binomial(size, rates), size, _lognormal_truth(slope))


def _lognormal_sizes(z: FloatArray, slope: float) -> tuple[IntArray, FloatArray]:
    """Sizes and expected scores of clusters whose log size is `z` standard deviations from its median."""
    size = np.maximum(np.rint(6.0 * np.exp(0.9 * z)), 1.0).astype(np.int64)
    return size, np.asarray(special.expit(0.9 + slope * z))


@cache
def _lognormal_truth(slope: float) -> float:
    z = special.ndtri((np.arange(200_000) + 0.5) / 200_000)
    size, mean = _lognormal_sizes(np.asarray(z), slope)
    return float(size @ mean / size.sum())


def _sizes(text: str, rng: np.random.Generator) -> IntArray:
    n, size = text.split("×")
    if "-" in size:
        low, high = (int(end) for end in size.split("-"))
        return rng.integers(low, high + 1, int(n))
    return np.full(int(n), int(size))


CLUSTERED = Scenario(
    "clustered",
    "Right-or-wrong questions in clusters",
    CLUSTERED_METHODS,
    _clustered_cells,
    _draw_clustered,
    every=dict.fromkeys(CLUSTERED_METHODS[1:], 10),
    only_in_paper=frozenset({EQUAL_TAILS, IMPORTANCE}),  # 10,000 draws per data set are slow
    every_of_paper={"bayes": 4, "clustered-gamma": 2, IMPORTANCE: 4, "cluster bootstrap": 10},
)


def _nested_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    prior = [
        Cell("nested", "prior", {"clusters": "10×5×3"}, 60 if smoke else 400, averaged=True),
    ]
    shapes = ("10×6×2",) if smoke else ("5×6×4", "10×6×2", "30×5×4")
    spreads = ((2.0, 2.0),) if smoke else ((0.4, 2.0), (2.0, 2.0), (20.0, 0.3), (np.inf, 1.0))
    fixed = [
        Cell("nested", "fixed", {"theta": theta, "clusters": shape, "d": d, "e": e}, 40 if smoke else 60)
        for theta, shape, (d, e) in product((0.9,) if smoke else (0.6, 0.95), shapes, spreads)
    ]
    return prior + fixed


def _draw_nested(cell: Cell, rng: np.random.Generator) -> ScoreData:
    n_clusters, n_questions, n_trials = (int(n) for n in cell.text("clusters").split("×"))
    if cell.averaged:
        theta, d, e = rng.random(), spread_of(rng.random()), spread_of(rng.random())
    else:
        theta, d, e = cell.number("theta"), cell.number("d"), cell.number("e")
    clusters = np.repeat(np.arange(n_clusters), n_questions)
    rates = success_rates(success_rates(theta, d, n_clusters, rng)[clusters], e, len(clusters), rng)
    right = rng.random((len(clusters), n_trials)) < rates[:, None]
    return ScoreData(theta, right.astype(float), clusters)


NESTED = Scenario(
    "nested",
    "Clusters of questions, each tried several times",
    ("bayes", "clustered-dp", "clustered-wilson", "clustered-t", "clustered-clt", "unclustered bayes"),
    _nested_cells,
    _draw_nested,
    every={"unclustered bayes": 8},
)
