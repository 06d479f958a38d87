"""False alarms, questions saved and widths of confidence sequences, by simulation.

Run as `python benchmarks/sim_looks.py`; writes benchmarks/results/looks.json. A false alarm is a sequence that is ever
without the true mean, looked at after every question. Beside it, where it is installed (Python 3.12 and later):
`expectation`, whose empirical Bernstein sequence is that of Howard et al. (2021); its earlier figures stay where not.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from harness_uq.stats import (
    beta_posterior,
    bounded_posterior,
    cluster_robust,
    clustered_posterior,
    confidence_sequence,
    paired_confidence_sequence,
    student_posterior,
)
from harness_uq.stats.sequential.wealth import Units, dispersion, log_wealth

OUTPUT = Path(__file__).parent / "results" / "looks.json"
Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, float, bool]]


def questions(law: Callable[[int, np.random.Generator], np.ndarray], n: int, mean: float) -> Draw:
    """Independent questions."""
    return lambda rng: (law(n, rng), np.ones(n), mean, False)


def right(rate: float) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Scores of 0 or 1."""
    return lambda n, rng: (rng.random(n) < rate).astype(float)


def spiked(share: float, a: float, b: float) -> Callable[[int, np.random.Generator], np.ndarray]:
    """A share at 0, the rest from a Beta law."""
    return lambda n, rng: np.where(rng.random(n) < share, 0.0, rng.beta(a, b, n))


def equal_pair(discordant: float) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Differences of equal systems, as scores with mean 1/2."""
    return lambda n, rng: (1 + rng.choice([-1, 0, 1], p=[discordant / 2, 1 - discordant, discordant / 2], size=n)) / 2


def passages(n: int, size: int, mean: float, icc: float) -> Draw:
    """Equal clusters with Beta rates."""
    d = 1 / icc - 1

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float, bool]:
        rates = rng.beta(mean * d, (1 - mean) * d, n)
        return rng.binomial(size, rates).astype(float), np.full(n, float(size)), mean, False

    return draw


def related_sizes(n: int) -> Draw:
    """Clusters of 2 questions with mean .9 (7 in 10), and of 12 with mean .5: population mean over questions."""
    mean = (0.7 * 2 * 0.9 + 0.3 * 12 * 0.5) / (0.7 * 2 + 0.3 * 12)

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float, bool]:
        is_small = rng.random(n) < 0.7
        sizes = np.where(is_small, 2, 12)
        rates = np.where(is_small, rng.beta(9, 1, n), rng.beta(2, 2, n))
        return rng.binomial(sizes, rates).astype(float), sizes.astype(float), mean, False

    return draw


def benchmark(n: int, mean: float) -> Draw:
    """All questions of a benchmark in random order."""
    scores = np.repeat([1.0, 0.0], [round(n * mean), n - round(n * mean)])
    return lambda rng: (rng.permutation(scores), np.ones(n), scores.mean(), True)


def benchmark_passages(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """All passages of a benchmark in random order: 30 of 3 questions and 10 of 20, the large ones harder."""
    fixed = np.random.default_rng(40)
    sizes = np.repeat([3.0, 20.0], [30, 10])
    totals = fixed.binomial(sizes.astype(int), np.where(sizes == 3, fixed.beta(8, 2, 40), fixed.beta(3, 3, 40)))
    order = rng.permutation(40)
    return totals[order].astype(float), sizes[order], totals.sum() / sizes.sum(), True


NULLS: dict[str, Draw] = {
    **{
        f"{n} questions, mean {mean}": questions(right(mean), n, mean)
        for n in (100, 400)
        for mean in (0.5, 0.8, 0.95, 0.99)
    },
    "200 scores, 30 % at 0, else Beta(8, 2)": questions(spiked(0.3, 8, 2), 200, 0.7 * 0.8),
    "200 scores, 2 % at 0, else Beta(400, 100)": questions(spiked(0.02, 400, 100), 200, 0.98 * 0.8),
    "300 pairs, equal, 30 % discordant": questions(equal_pair(0.3), 300, 0.5),
    "300 pairs, equal, 5 % discordant": questions(equal_pair(0.05), 300, 0.5),
    "40 passages of 10, ICC 1/3": passages(40, 10, 0.8, 1 / 3),
    "250 passages of 4, ICC 1/3": passages(250, 4, 0.8, 1 / 3),
    "60 passages, sizes related to scores": related_sizes(60),
    "a benchmark of 200, mean 0.8": benchmark(200, 0.8),
    "a benchmark of 200, mean 0.97": benchmark(200, 0.97),
    "a benchmark of 40 passages, sizes related": benchmark_passages,
}


def is_false_alarm(draw: Draw, rng: np.random.Generator) -> bool:
    """Whether the sequence is ever without the mean."""
    totals, sizes, mean, is_whole = draw(rng)
    n = len(sizes)
    whole = sizes.sum() if is_whole else np.inf
    units = Units(totals, sizes, sizes.mean(), sizes.max(), whole, np.full(n, float(n)))
    spread, other = dispersion(units), units.mirrored()
    highest = max(log_wealth(units, spread, mean, 0.025).max(), log_wealth(other, spread, 1 - mean, 0.025).max())
    return bool(highest >= np.log(40))


def gap(n: int, discordant: float, times: float) -> float:
    """A difference that many times the one that n pairs find in 80 % of runs."""
    share = (times * (1.959964 + 0.841621)) ** 2 / n
    return float(np.sqrt(share * discordant / (1 + share)))


def saved(n: int, discordant: float, size: int, times: float, rng: np.random.Generator) -> tuple[float, bool]:
    """Share of questions saved by stopping once 0 is out, and whether it was; A - B is alike within a passage."""
    d = gap(n // size, discordant, times)
    shares = [(discordant + d) / 2, (discordant - d) / 2, 1 - discordant]
    a, b = np.array([[1, 0], [0, 1], [1, 1]])[np.repeat(rng.choice(3, n // size, p=shares), size)].T
    clusters = np.arange(n) // size
    stop = paired_confidence_sequence(a, b, clusters=clusters, planned=n).first_without(0)
    return (0.0 if stop is None else 1 - stop / n), stop is not None


def widths(n_runs: int) -> Iterator[dict[str, object]]:
    """Width at the end over that of the fixed-n interval of the same scores."""
    rng = np.random.default_rng(2027)
    for n, mean in [
        (100, 0.5),
        (100, 0.8),
        (300, 0.7),
        (300, 0.9),
        (300, 0.95),
        (300, 0.98),
        (1000, 0.8),
        (1000, 0.95),
        (1000, 0.99),
    ]:
        ratios = [ratio_of_questions((rng.random(n) < mean).astype(float)) for _ in range(n_runs)]
        yield {"case": f"{n} questions, mean {mean}", "beside": "beta, hdi", **middle(ratios)}
    for name, law in {"30 % at 0, else Beta(8, 2)": spiked(0.3, 8, 2), "Beta(8, 2)": spiked(0.0, 8, 2)}.items():
        both = zip(*(ratios_of_scores(law(300, rng)) for _ in range(n_runs)), strict=True)
        for beside, ratios in zip(("dirichlet-process, hdi", "t"), both, strict=True):
            yield {"case": f"300 scores, {name}", "beside": beside, **middle(ratios)}
    for n, size in [(60, 5), (250, 4)]:
        both = zip(*(ratios_of_passages(n, size, rng) for _ in range(n_runs)), strict=True)
        for beside, ratios in zip(("clustered-beta, hdi", "cluster-robust t"), both, strict=True):
            yield {"case": f"{n} passages of {size}, ICC 1/3", "beside": beside, **middle(ratios)}


def middle(ratios: Sequence[float]) -> dict[str, float]:
    """Median and nine in ten."""
    return {"median": round(float(np.median(ratios)), 2), "nine_in_ten": round(float(np.quantile(ratios, 0.9)), 2)}


def ratio_of_questions(x: np.ndarray) -> float:
    low, high = beta_posterior(x.sum(), len(x)).interval(0.95, "hdi")
    return float(confidence_sequence(x, planned=len(x)).width[-1] / (high - low))


def ratios_of_scores(x: np.ndarray) -> tuple[float, float]:
    """Beside the default of scores within a range, and the t interval."""
    width = confidence_sequence(x, planned=len(x)).width[-1]
    fixed = bounded_posterior(x, 0.0, 1.0).interval(0.95, "hdi"), student_posterior(x).interval(0.95)
    return times(width, fixed)


def ratios_of_passages(n: int, size: int, rng: np.random.Generator) -> tuple[float, float]:
    """Beside the default of clusters, and the cluster-robust t interval."""
    totals, sizes, _, _ = passages(n, size, 0.7, 1 / 3)(rng)
    x = (np.arange(size) < totals[:, None]).astype(float).ravel()
    clusters = np.repeat(np.arange(n), size)
    width = confidence_sequence(x, clusters=clusters, planned=len(x)).width[-1]
    fixed = clustered_posterior(totals, sizes).interval(0.95, "hdi"), cluster_robust(x, clusters).interval(0.95)
    return times(width, fixed)


def times(width: float, fixed: tuple[tuple[float, float], tuple[float, float]]) -> tuple[float, float]:
    """The width over that of each fixed interval."""
    first, second = (float(width / (high - low)) for low, high in fixed)
    return first, second


def peer(n_runs: int) -> Iterator[dict[str, object]]:
    """The same by `expectation`, tuned to the same number of questions."""
    try:
        from expectation.confseq.confidenceconfig import EmpiricalBernsteinConfig
        from expectation.confseq.confidencesequence import EmpiricalBernsteinConfidenceSequence
    except ImportError:
        return
    for n, mean in [(100, 0.5), (300, 0.7), (300, 0.95), (1000, 0.8)]:
        rng, alarms, failures, ratios = np.random.default_rng(2028), 0, 0, []
        for _ in range(n_runs):
            x = (rng.random(n) < mean).astype(float)
            config = EmpiricalBernsteinConfig(lower_bound=0.0, upper_bound=1.0, alpha=0.05, v_opt=n * mean * (1 - mean))
            sequence = EmpiricalBernsteinConfidenceSequence(config=config)
            parts = np.split(x, np.arange(10, n))  # it cannot start from a single score
            try:
                ends = np.array([(r.lower, r.upper) for r in map(sequence.update, parts)])
            except RuntimeError:
                failures += 1
                continue
            alarms += bool(((ends[:, 0] > mean) | (ends[:, 1] < mean)).any())
            low, high = beta_posterior(x.sum(), n).interval(0.95, "hdi")
            ratios.append((ends[-1, 1] - ends[-1, 0]) / (high - low))
        said = {"case": f"{n} questions, mean {mean}", "runs": n_runs, "raised": failures}
        yield said | ({"false_alarms": alarms / len(ratios), **middle(ratios)} if ratios else {})


def main() -> None:
    """Simulate all of it, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=10_000, help="runs for each false-alarm rate (default: %(default)s)"
    )
    n = parser.parse_args().runs
    earlier = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.exists() else {}
    found: dict[str, list[dict[str, object]]] = {"false_alarms": [], "saved": []}
    for index, (name, draw) in enumerate(NULLS.items()):
        rng = np.random.default_rng([2026, index])
        rate = np.mean([is_false_alarm(draw, rng) for _ in range(n)])
        found["false_alarms"].append({"case": name, "runs": n, "rate": round(float(rate), 4)})
        print(found["false_alarms"][-1], flush=True)
    for size, questions_, times in [(1, 300, 1.0), (1, 300, 2.0), (1, 1000, 2.0), (5, 500, 1.0), (5, 500, 2.0)]:
        rng = np.random.default_rng([2029, size, questions_])
        shares, is_found = map(
            np.array, zip(*(saved(questions_, 0.3, size, times, rng) for _ in range(n // 40)), strict=True)
        )
        row = {"questions": questions_, "passage": size, "times_detectable": times, "runs": n // 40}
        found["saved"].append(
            row | {"median_saved": round(float(np.median(shares)), 3), "found": float(is_found.mean())}
        )
        print(found["saved"][-1], flush=True)
    found["widths"] = list(widths(n // 200))
    found["expectation"] = list(peer(n // 40)) or earlier.get("expectation", [])
    print(*found["widths"], *found["expectation"], sep="\n")
    OUTPUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
