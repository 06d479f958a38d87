"""Coverage and width of intervals with 3 to 24 clusters, and how the width changes from one cluster to the next.

Run as `python benchmarks/sim_few_clusters.py CELL…` with names of `CELLS`, `steps`, or `all` (about half an
hour of one core). Writes benchmarks/results/few_clusters.json. The cells were declared before the first run.

In each cell the success probabilities of the clusters have one distribution, and the truth is their mean. Compared are
the default interval, the highest-density and the equal-tailed interval of the same posterior, cluster-robust t, and the
interval that ignores the clusters. The highest-density interval was the default until decision 072.

`steps` draws data sets of 25 clusters and removes one cluster at random at a time, down to 5. The width of the interval
of one system, and of the difference of two systems, is divided by the width before the removal; the medians over the
data sets are stored, and those of Student's t with C - 1 degrees of freedom on the same data.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
from scipy import special

from harness_uq.stats import binomial_interval, cluster_robust, clustered_score_posterior, paired_difference_posterior
from harness_uq.stats.clusters import clustered_proportion
from harness_uq.stats.clusters.clustered_proportion import FEW_FULL, FEW_NONE, MOST_ADDED
from harness_uq.stats.common.unseen_subpopulations import UnseenSubpopulations

OUTPUT = Path(__file__).parent / "results" / "few_clusters.json"
SEED = 71
COUNTS = (3, 4, 5, 7, 8, 12, 16, 20, 24)
KINDS = ("default", "hdi", "quantile", "t", "independent")
FIRST, LAST = 25, 5

Rates = Callable[[int, np.random.Generator], np.ndarray]


def two(share: float, low: float, high: float) -> tuple[Rates, float]:
    """A share of the clusters has one success probability, the others have another."""
    return lambda n, rng: np.where(rng.random(n) < share, low, high), share * low + (1 - share) * high


def beta(mean: float, icc: float) -> tuple[Rates, float]:
    """Beta-distributed success probabilities."""
    d = 1 / icc - 1
    return lambda n, rng: rng.beta(d * mean, d * (1 - mean), n), mean


def constant(rate: float) -> tuple[Rates, float]:
    """No clustering."""
    return lambda n, rng: np.full(n, rate), rate


def equal(size: int) -> Rates:
    return lambda n, rng: np.full(n, size)


def unequal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Log-normal sizes of at least 2, with the median 7."""
    return np.maximum(2, np.rint(np.exp(rng.normal(np.log(7), 0.8, n))))


CELLS: dict[str, tuple[tuple[Rates, float], Rates]] = {
    # the research note's
    "rates 0.1 or 0.9": (two(0.5, 0.1, 0.9), equal(10)),
    "20 % at 0.02, others 0.98": (two(0.2, 0.02, 0.98), equal(10)),
    "Beta 0.7, ICC 0.3": (beta(0.7, 0.3), equal(10)),
    "Beta 0.7, ICC 0.1": (beta(0.7, 0.1), equal(10)),
    "independent, 0.7": (constant(0.7), equal(10)),
    # others
    "10 % at 0, others 0.9": (two(0.1, 0.0, 0.9), equal(10)),
    "unequal sizes, Beta 0.7, ICC 0.3": (beta(0.7, 0.3), unequal),
    "rates 0.1 or 0.9, 40 each": (two(0.5, 0.1, 0.9), equal(40)),
    "Beta 0.5, ICC 0.77, 20 each": (beta(0.5, 1 / 1.3), equal(20)),
    "Beta 0.95, ICC 0.2": (beta(0.95, 0.2), equal(10)),
}
SINGLE_STEPS = ("rates 0.1 or 0.9", "Beta 0.7, ICC 0.3", "independent, 0.7", "Beta 0.95, ICC 0.2")
PAIRED_STEPS = {"spread 0.05": 0.05, "spread 0.3": 0.3}  # sd between clusters of the difference of success rates


# ---------------------------------------------------------------- many posteriors of clusters of one size

ACCURACY = 0.002  # largest difference of a limit from that of `clustered_score_posterior`, checked in each cell
LOGITS = np.linspace(-14, 14, 113)  # of theta
DISPERSIONS = np.linspace(-7, 9, 65)  # log d
INNER = np.linspace(-12, 12, 1601)
OUTER = np.linspace(12, 40, 57)[1:]
SCORES = np.concatenate([-OUTER[::-1], INNER, OUTER])  # logits of the score
LOG_SCORES, LOG_REST = special.log_expit(SCORES), special.log_expit(-SCORES)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2
TAILS = np.concatenate([[0, 1e-6, 1e-5, 1e-4], np.linspace(5e-4, 0.0495, 197), [0.0499, 0.04999, 0.05]])


def masses(successes: np.ndarray, size: int) -> np.ndarray:
    """Posterior masses of the intraclass correlation at the nodes of log d, for each row of successes."""
    theta, rest = special.expit(LOGITS)[:, None], special.expit(-LOGITS)[:, None]
    d, k = np.exp(DISPERSIONS), np.arange(size + 1)[:, None, None]
    terms = special.betaln(d * theta + k, d * rest + size - k) - special.betaln(d * theta, d * rest)
    log_prior = sum(special.log_expit(sign * LOGITS)[:, None] for sign in (1, -1)) + sum(
        special.log_expit(sign * DISPERSIONS) for sign in (1, -1)
    )
    counts = np.stack([(successes == j).sum(axis=1) for j in range(size + 1)], axis=1).astype(float)
    parts = []
    for start in range(0, len(counts), 200):
        log_mass = counts[start : start + 200] @ terms.reshape(size + 1, -1) + log_prior.ravel()
        mass = np.exp(log_mass - log_mass.max(axis=1, keepdims=True))
        parts.append(mass.reshape(-1, len(LOGITS), len(DISPERSIONS)).sum(axis=1))
    table = np.concatenate(parts)
    return table / table.sum(axis=1, keepdims=True)


def densities(successes: np.ndarray, size: int) -> np.ndarray:
    """Posterior densities of the logit of the score, for each row of successes."""
    n_clusters = successes.shape[1]
    icc, answers = special.expit(-DISPERSIONS), float(n_clusters * size)
    effective = n_clusters / (icc + (1 - icc) / size)
    tables, shares = np.empty((len(successes), len(SCORES))), np.empty((2, len(successes)))
    for i, (row, mass) in enumerate(zip(successes, masses(successes, size), strict=True)):
        clusters = clustered_proportion._ClusterMoments.of(row.astype(float), np.full(n_clusters, float(size)))
        is_used = mass > 1e-6
        a, b = clustered_proportion._beta_parameters(clusters, effective[is_used], answers)
        logs = np.outer(a, LOG_SCORES) + np.outer(b, LOG_REST) - special.betaln(a, b)[:, None]
        tables[i] = mass[is_used] @ np.exp(logs)
        unseen = UnseenSubpopulations.of(row / size, answers)
        shares[:, i] = unseen.weights[1:]
    low, high = shares[:, :, None]
    mirrored = scaled(tables[:, ::-1], unseen.rate)[:, ::-1]
    return (1 - low - high) * tables + low * scaled(tables, unseen.rate) + high * mirrored


def scaled(tables: np.ndarray, rate: float) -> np.ndarray:
    """Densities of the logit of (1 - e) theta with e ~ Beta(1, rate), see `UnseenSubpopulations.widen`."""
    drop = -np.expm1(-rate * np.diff(LOG_SCORES))
    log_t = np.minimum(LOG_SCORES[:-1, None] - np.log1p(-drop[:, None] * NODES) / rate, LOG_SCORES[1:, None])
    complement = np.maximum(-np.expm1(log_t), 1e-300)
    at = np.clip(log_t - np.log(complement), SCORES[:-1, None], SCORES[1:, None])
    place = (at - SCORES[:-1, None]) / np.diff(SCORES)[:, None]
    integral = np.zeros(tables.shape)
    for j in range(len(SCORES) - 2, -1, -1):
        values = tables[:, j, None] * (1 - place[j]) + tables[:, j + 1, None] * place[j]
        integral[:, j] = (1 - drop[j]) * integral[:, j + 1] + drop[j] * ((values / complement[j]) @ WEIGHTS)
    return integral * special.expit(-SCORES)


def limits(successes: np.ndarray, size: int) -> np.ndarray:
    """Limits of the highest-density and of the equal-tailed interval, for each row of successes."""
    tables = densities(successes, size)
    below = np.cumsum((tables[:, 1:] + tables[:, :-1]) / 2 * np.diff(SCORES), axis=1)
    found = np.empty((len(successes), 2, 2))
    for i, (table, cdf) in enumerate(zip(tables, below / below[:, -1:], strict=True)):
        cdf, first = np.unique(np.append(0.0, cdf), return_index=True)

        def quantile(p: np.ndarray, cdf: np.ndarray = cdf, scores: np.ndarray = SCORES[first]) -> np.ndarray:
            return special.expit(np.interp(p, cdf, scores))

        ends = quantile(np.stack([TAILS, TAILS + 0.95]))
        narrowest = int(np.argmin(ends[1] - ends[0]))
        tail = TAILS[narrowest]
        heights = np.interp(special.logit(ends), SCORES, table / special.expit(SCORES) / special.expit(-SCORES))
        gap = heights[0] - heights[1]  # 0 at the limits of the highest-density interval
        near = range(max(narrowest - 4, 0), min(narrowest + 4, len(TAILS) - 1))
        if roots := [k for k in near if gap[k] < 0 <= gap[k + 1]]:
            k = min(roots, key=lambda k: abs(k - narrowest))
            tail = TAILS[k] - (TAILS[k + 1] - TAILS[k]) * gap[k] / (gap[k + 1] - gap[k])
        found[i] = quantile(np.array([[tail, tail + 0.95], [0.025, 0.975]]))
    return found


def without_single(row: np.ndarray, size: int) -> tuple[np.ndarray | None, bool]:
    """The clusters without single wrong answers, and whether most clusters agree, as in `ClusteredScorePosterior`."""
    is_several, is_single = size - row > 1, size - row == 1
    is_agreed = 2 * is_several.sum() <= len(row)
    if is_agreed and 0 < is_several.sum() <= clustered_proportion.FEW_EXCEPTIONS and is_single.any():
        return np.where(is_single, size, row), is_agreed
    return None, is_agreed


def limits_of_equal(successes: np.ndarray, size: int) -> np.ndarray:
    """Limits of `KINDS[:3]` for each row of successes, shape (n, 3, 2)."""
    rows, places = np.unique(np.sort(successes, axis=1), axis=0, return_inverse=True)
    n_clusters = rows.shape[1]
    neighbours = [(without_single(row, size), without_single(size - row, size)) for row in rows]
    others = [one for (wrong, _), _ in neighbours for one in (wrong,) if one is not None]
    others += [size - one for _, (right, _) in neighbours for one in (right,) if one is not None]
    table = np.unique(np.sort(np.array([*rows, *others, np.full(n_clusters, size)]), axis=1), axis=0)
    index = {tuple(row): i for i, row in enumerate(table.tolist())}
    few = np.clip((FEW_NONE - n_clusters) / (FEW_NONE - FEW_FULL), 0, 1)
    hdi, tails = limits(table, size).transpose(1, 0, 2)
    outer = np.stack([np.minimum(hdi[:, 0], tails[:, 0]), np.maximum(hdi[:, 1], tails[:, 1])], axis=1)
    added = (1 - 1 / size) * few * (outer - hdi)
    relative = np.ptp(added, axis=1) / np.ptp(hdi, axis=1)
    share = np.minimum(1, MOST_ADDED / np.maximum(relative, 1e-12))[:, None]
    own = np.stack([hdi + share * added, hdi, tails], axis=1)

    def of(row: np.ndarray) -> np.ndarray:
        return own[index[tuple(np.sort(row).tolist())]]

    if_right = of(np.full(n_clusters, size))[:, 0]
    found = np.empty((len(rows), 3, 2))
    for i, (row, ((wrong, low_agreed), (right, high_agreed))) in enumerate(zip(rows, neighbours, strict=True)):
        low, high = of(row).T
        low = low if wrong is None else np.minimum(low, of(wrong)[:, 0])
        high = high if right is None else np.maximum(high, of(size - right)[:, 1])
        low = np.minimum(low, if_right) if low_agreed else low
        high = np.maximum(high, 1 - if_right) if high_agreed else high
        found[i] = np.stack([low, high], axis=1)
    return found[places.ravel()]


# ---------------------------------------------------------------- coverage


def exact(successes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Limits of `KINDS[:3]`, shape (3, 2)."""
    posterior = clustered_score_posterior(successes, sizes)
    with mock.patch.multiple(clustered_proportion, FEW_FULL=-1.0, FEW_NONE=0.0):
        narrow = posterior.interval(0.95, "hdi")
    return np.array([posterior.interval(0.95, "hdi"), narrow, posterior.interval(0.95, "quantile")])


def others(successes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Limits of `KINDS[3:]`, shape (n, 2, 2)."""
    right, asked = successes.sum(axis=1), sizes.sum(axis=1)
    share, n_clusters = right / asked, successes.shape[1]
    residuals = successes - share[:, None] * sizes
    error = np.sqrt(n_clusters / (n_clusters - 1) * np.sum(residuals**2, axis=1)) / asked
    half = special.stdtrit(n_clusters - 1, 0.975) * error
    low, high = binomial_interval(right, asked, 0.95, "hdi")
    return np.stack([np.stack([share - half, share + half], axis=1), np.stack([low, high], axis=1)], axis=1)


def draw(cell: str, n_clusters: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Right answers and sizes of the clusters of one data set."""
    (rates, _), sizes_of = CELLS[cell]
    chances, sizes = rates(n_clusters, rng), sizes_of(n_clusters, rng).astype(int)
    return rng.binomial(sizes, chances), sizes


def simulate(cell: str, n_clusters: int, n: int) -> dict[str, object]:
    """Coverage of each interval in `n` data sets, and its mean width relative to the highest-density interval."""
    rng = np.random.default_rng([SEED, list(CELLS).index(cell), n_clusters])
    truth = CELLS[cell][0][1]
    data = [draw(cell, n_clusters, rng) for _ in range(n)]
    successes, sizes = (np.stack(arrays) for arrays in zip(*data, strict=True))
    if np.ptp(sizes):
        ours = np.array([exact(*one) for one in zip(successes, sizes, strict=True)])
    else:
        ours = limits_of_equal(successes, int(sizes[0, 0]))
        error = np.abs(ours[:10] - [exact(*one) for one in zip(successes[:10], sizes[:10], strict=True)]).max()
        if error > ACCURACY:
            raise RuntimeError(f"{cell}, {n_clusters} clusters: limits differ by {error:.4f}")
    ends = np.concatenate([ours, others(successes, sizes)], axis=1)
    covered = ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0)
    widths = np.diff(ends, axis=-1)[..., 0].mean(axis=0)
    rounded = {kind: round(float(one), 4) for kind, one in zip(KINDS, covered, strict=True)}
    relative = {
        kind: round(float(one), 3) for kind, one in zip(KINDS, widths / widths[KINDS.index("hdi")], strict=True)
    }
    return {
        "clusters": n_clusters,
        "data sets": n,
        "width of hdi": round(float(widths[1]), 4),
        "coverage": rounded,
        "relative width": relative,
    }


def single_steps(cell: str, n: int) -> dict[str, float]:
    """Median width of the default interval with one cluster fewer, divided by that with C clusters, by C."""
    rng = np.random.default_rng([SEED, 1, list(CELLS).index(cell)])
    data = [draw(cell, FIRST, rng) for _ in range(n)]
    successes = rng.permuted(np.stack([right for right, _ in data]), axis=1)
    size = int(data[0][1][0])
    counts = range(FIRST, LAST - 1, -1)
    widths = np.stack([np.ptp(limits_of_equal(successes[:, :c], size)[:, 0], axis=1) for c in counts], axis=1)
    return _steps(widths)


def paired_steps(spread: float, n: int) -> dict[str, dict[str, float]]:
    """The same for the difference of two systems on clusters of ten questions, and for t with C - 1 degrees."""
    rng = np.random.default_rng([SEED, 2, int(100 * spread)])
    widths = np.empty((2, n, FIRST - LAST + 1))
    for i in range(n):
        chances = np.clip(0.7 + spread * rng.standard_normal((2, FIRST)) / np.sqrt(2), 0, 1)
        a, b = (rng.random((2, FIRST, 10)) < chances[..., None]).astype(float)
        differences, order = a - b, rng.permutation(FIRST)
        for j, n_clusters in enumerate(range(FIRST, LAST - 1, -1)):
            kept = differences[order[:n_clusters]].ravel()
            codes = np.repeat(np.arange(n_clusters), 10)
            for k, ends in enumerate(
                (
                    paired_difference_posterior(kept, 0, 1, clusters=codes).interval(0.95),
                    cluster_robust(kept, codes).interval(0.95),
                )
            ):
                widths[k, i, j] = ends[1] - ends[0]
    return {name: _steps(one) for name, one in zip(("default", "t"), widths, strict=True)}


def _steps(widths: np.ndarray) -> dict[str, float]:
    medians = np.median(widths[:, 1:] / widths[:, :-1], axis=0)
    return {str(c): round(float(one), 4) for c, one in zip(range(FIRST, LAST, -1), medians, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="+", choices=[*CELLS, "steps", "all"], metavar="CELL")
    parser.add_argument("--draws", type=int, default=2_000, help="data sets per cell (default 2000)")
    parser.add_argument("--step-draws", type=int, default=200, help="data sets of steps (default 200)")
    args = parser.parse_args()
    names = [*CELLS, "steps"] if "all" in args.cells else args.cells
    for name in names:
        result: object
        if name == "steps":
            single = {cell: single_steps(cell, args.step_draws) for cell in SINGLE_STEPS}
            result = {"single": single} | {key: paired_steps(one, args.step_draws) for key, one in PAIRED_STEPS.items()}
            print(json.dumps(result), flush=True)
        else:
            result = []
            for n_clusters in COUNTS:
                result.append(simulate(name, n_clusters, args.draws))
                print(name, json.dumps(result[-1]), flush=True)
        stored = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {}
        document = stored | {name: result}
        ordered = {key: document[key] for key in [*CELLS, "steps"] if key in document}
        OUTPUT.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
