"""What other tools' intervals cover, beside ours, on scores that nobody's model draws.

    pip install -r benchmarks/requirements.txt
    python benchmarks/sim_peers.py [--draws 1000]

Every tool is given the same scores and what it can use of their structure, and is asked in the way that its own
documentation shows first. A tool that has no interval for a shape has none there. The script stops if a package is
missing, or if a tool has intervals for some data sets of a shape only: the table never leaves out a tool silently.
Writes benchmarks/results/peers.json, and the table of docs/peers.md with its date and versions.
"""

import argparse
import json
import textwrap
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

import harness_uq
from harness_uq.data.structure import StructureOptions

try:
    import evalci as evalci_package
    import evalsig as evalsig_package
    import pandas as pd
    from errorbars.compare import paired_compare
    from errorbars.stats import cluster_robust_se, is_binary, mean_ci_clt, t_for_confidence, wilson_ci
    from evalconfidence import ItemResult, standard_error
    from evalconfidence import compare as confidence_compare
    from evalstats import BenchmarkResult, analyze, mean_ci
    from evalstats.core.bayes_evals import independent_intervals
    from inspect_ai.scorer import SampleScore, Score, ci, ci_wilson
    from lm_eval.api.metrics import mean_stderr
    from scorio.eval import avg_ci
except ImportError as error:
    raise SystemExit(
        f"{error}. The table needs every package in it: pip install -r benchmarks/requirements.txt"
    ) from None

RESULTS = Path(__file__).parent / "results" / "peers.json"
PAGE = Path(__file__).parent.parent / "docs" / "peers.md"
MARK = "<!-- made by benchmarks/sim_peers.py -->"
PACKAGES = {
    "harness-uq": "harness_uq",
    "lm-eval": "lm-eval",
    "inspect-ai": "Inspect",
    "errorbars": "errorbars",
    "evalci": "evalci",
    "evalconfidence": "evalconfidence",
    "evalsig": "evalsig",
    "evalstats": "evalstats",
    "scorio": "scorio",
}
CLUSTER_RESAMPLES = 1000  # evalci and evalsig draw 10,000 by default, which takes up to a second per data set
Ends = tuple[float, float]


@dataclass(frozen=True)
class Data:
    """Scores (n_questions, n_trials) of one system or of two, passages (n_questions,), and the mean they are about."""

    scores: np.ndarray
    truth: float
    clusters: np.ndarray | None = None
    other: np.ndarray | None = None


Draw = Callable[[np.random.Generator], Data]
Tool = Callable[[Data, np.random.Generator], Ends | None]


def independent(n: int, rate: float) -> Draw:
    """Right or wrong once."""
    return lambda rng: Data((rng.random((n, 1)) < rate) * 1.0, rate)


def graded(n: int) -> Draw:
    """Three in ten at 0, the others near 0.8."""
    return lambda rng: Data(np.where(rng.random((n, 1)) < 0.3, 0.0, rng.beta(8, 2, (n, 1))), 0.7 * 0.8)


def mixture(n: int, trials: int, shares: tuple[float, ...], rates: tuple[float, ...]) -> Draw:
    """Questions of a few kinds, each tried several times."""

    def draw(rng: np.random.Generator) -> Data:
        rate = rng.choice(rates, p=shares, size=(n, 1))
        return Data((rng.random((n, trials)) < rate) * 1.0, float(np.dot(shares, rates)))

    return draw


def passages(sizes: list[int], kinds: tuple[float, float]) -> Draw:
    """Passages of two kinds, as likely, on whose questions a system is right at two rates."""

    def draw(rng: np.random.Generator) -> Data:
        rate = np.repeat(rng.choice(kinds, size=len(sizes)), sizes)
        scores = (rng.random((len(rate), 1)) < rate[:, None]) * 1.0
        return Data(scores, sum(kinds) / 2, np.repeat(np.arange(len(sizes)), sizes))

    return draw


def pair(n: int, both: float, only_one: float) -> Draw:
    """Two equal systems: both right, or only the first, or only the second."""

    def draw(rng: np.random.Generator) -> Data:
        case = rng.choice(4, p=[both, only_one, only_one, 1 - both - 2 * only_one], size=(n, 1))
        return Data(np.isin(case, (0, 1)) * 1.0, 0.0, other=np.isin(case, (0, 2)) * 1.0)

    return draw


def pair_on_passages(n: int, size: int) -> Draw:
    """Two systems that are better in turn, each on half of the passages."""

    def draw(rng: np.random.Generator) -> Data:
        is_first = np.repeat(rng.random(n) < 0.5, size)[:, None]
        first = rng.random((n * size, 1)) < np.where(is_first, 0.9, 0.6)
        second = rng.random((n * size, 1)) < np.where(is_first, 0.6, 0.9)
        return Data(first * 1.0, 0.0, np.repeat(np.arange(n), size), second * 1.0)

    return draw


SHAPES: dict[str, Draw] = {
    "20 questions at 0.95": independent(20, 0.95),
    "100 questions at 0.98": independent(100, 0.98),
    "30 graded: 3 in 10 at 0, others about 0.8": graded(30),
    "12 passages of 5, right at 0.95 or 0.55": passages([5] * 12, (0.95, 0.55)),
    "40 passages of 4, right at 0.95 or 0.55": passages([4] * 40, (0.95, 0.55)),
    "one passage of 60, 20 of 3, right at 0.95 or 0.55": passages([60, *[3] * 20], (0.95, 0.55)),
    "30 questions × 8: 95 % at 0.97, 5 % never": mixture(30, 8, (0.95, 0.05), (0.97, 0.0)),
    "150 questions × 8: 95 % at 0.97, 5 % never": mixture(150, 8, (0.95, 0.05), (0.97, 0.0)),
    "500 questions × 16: 95 % at 0.97, 5 % never": mixture(500, 16, (0.95, 0.05), (0.97, 0.0)),
    "60 questions × 4: half at 0.9, half at 0.3": mixture(60, 4, (0.5, 0.5), (0.9, 0.3)),
    "pair: 50 questions, 8 % differ": pair(50, 0.85, 0.04),
    "pair: 200 questions, 30 % differ": pair(200, 0.6, 0.15),
    "pair: 20 passages of 6, better in turn": pair_on_passages(20, 6),
}


def ours(data: Data, _: np.random.Generator) -> Ends:
    """The default of this package."""
    if data.other is not None:
        (row,) = harness_uq.compare(_logs(data.scores, "a", data), _logs(data.other, "b", data))
        return row.difference.interval.low, row.difference.interval.high
    interval = harness_uq.estimate_scores(
        data.scores, clusters=data.clusters, options=harness_uq.Options(structure=_range_of(data))
    ).interval
    return interval.low, interval.high


def _range_of(data: Data) -> StructureOptions:
    return StructureOptions(ranges={"score": (0.0, 1.0)})


def _logs(scores: np.ndarray, system: str, data: Data) -> list[harness_uq.TaskLog]:
    table = {"question": [f"q{i}" for i in range(len(scores))], "score": scores[:, 0].tolist()}
    if data.clusters is not None:
        table["cluster"] = [f"p{c}" for c in data.clusters]
    return harness_uq.read_table(table, system=system, task="shape")


def harness(data: Data, _: np.random.Generator) -> Ends | None:
    """Score ± 1.96 standard errors of the mean over questions, as both harnesses print; of pairs they print none."""
    if data.other is not None:
        return None
    means = data.scores.mean(axis=1)
    half = 1.96 * mean_stderr(means.tolist())
    return means.mean() - half, means.mean() + half


def inspect_metrics(data: Data, _: np.random.Generator) -> Ends | None:
    """`ci_wilson` of Inspect for scores of 0 and 1, else `ci`; trials are clusters by question. It has no pairs."""
    if data.other is not None:
        return None
    values, clusters = _long(data)
    named = values[:, None] if clusters is None else np.column_stack([values, clusters])
    scores = [SampleScore(score=Score(value=float(row[0])), sample_metadata={"cluster": row[-1]}) for row in named]
    metric = ci_wilson if is_binary(values) else ci
    found = metric(cluster=None if clusters is None else "cluster")(scores)
    return found["lower"], found["upper"]


def bayes_evals(data: Data, _: np.random.Generator) -> Ends | None:
    """The Beta interval, in the copy that evalstats carries; it has none for clusters or pairs that is not sampled."""
    is_one_score_each = data.other is None and data.clusters is None and data.scores.shape[1] == 1
    if not is_one_score_each or not is_binary(data.scores[:, 0]):
        return None
    low, high = independent_intervals(pd.DataFrame({"a": data.scores[:, 0]}))["a"]
    return low, high


def errorbars(data: Data, _: np.random.Generator) -> Ends:
    """What `errorbars summary` and `errorbars compare` print."""
    if data.other is not None:
        row = paired_compare(data.scores[:, 0], data.other[:, 0], data.clusters)
        return (row.ci_low, row.ci_high) if data.clusters is None else (row.ci_low_clustered, row.ci_high_clustered)
    values, clusters = _long(data)
    if clusters is not None:
        half = t_for_confidence(0.95, len(set(clusters)) - 1) * cluster_robust_se(values, clusters)
        return values.mean() - half, values.mean() + half
    short = is_binary(values) and len(values) < 30
    row = wilson_ci(int(values.sum()), len(values)) if short else mean_ci_clt(values)
    return row.ci_low, row.ci_high


def _long(data: Data) -> tuple[np.ndarray, np.ndarray | None]:
    n, trials = data.scores.shape
    return data.scores.ravel(), np.repeat(np.arange(n), trials) if trials > 1 else data.clusters


def evalci(data: Data, _: np.random.Generator) -> Ends:
    """`ci`, `cluster_ci` with fewer resamples than its default, and `compare`, which has no clusters."""
    if data.other is not None:
        return evalci_package.compare(data.scores[:, 0], data.other[:, 0], method="mcnemar", random_state=0).ci
    values, clusters = _long(data)
    if clusters is not None:
        row = evalci_package.cluster_ci(values, clusters, n_resamples=CLUSTER_RESAMPLES, random_state=0)
    else:
        row = evalci_package.ci(values, method="wilson" if is_binary(values) else "bootstrap", random_state=0)
    return row.lower, row.upper


def evalconfidence(data: Data, _: np.random.Generator) -> Ends:
    """`standard_error` and `compare`."""
    if data.other is not None:
        return confidence_compare(_items(data.scores, "a", data), _items(data.other, "b", data)).ci_diff
    return standard_error(_items(data.scores, "a", data)).ci


def _items(scores: np.ndarray, system: str, data: Data) -> list[ItemResult]:
    return [
        ItemResult(f"q{i}", system, score, trial, None if data.clusters is None else f"p{data.clusters[i]}")
        for i, row in enumerate(scores)
        for trial, score in enumerate(row)
    ]


def evalsig(data: Data, _: np.random.Generator) -> Ends | None:
    """`compare` of pairs, the second minus the first; it has no interval of one system."""
    if data.other is None:
        return None
    runs = [_run(data.other, "b", data), _run(data.scores, "a", data)]
    cluster = None if data.clusters is None else "passage"
    return evalsig_package.compare(*runs, cluster=cluster, n_resamples=CLUSTER_RESAMPLES).ci


def _run(scores: np.ndarray, system: str, data: Data) -> evalsig_package.RunFrame:
    clusters = [None] * len(scores) if data.clusters is None else [f"p{c}" for c in data.clusters]
    items = [
        evalsig_package.ItemResult(f"q{i}", score, cluster)
        for i, (score, cluster) in enumerate(zip(scores[:, 0], clusters, strict=True))
    ]
    return evalsig_package.RunFrame(system, system, "shape", "accuracy", items)


def evalstats(data: Data, rng: np.random.Generator) -> Ends:
    """`mean_ci`, and `analyze` for trials and pairs; it has no clusters."""
    if data.other is None and data.scores.shape[1] == 1:
        row = mean_ci(data.scores[:, 0], score_range=(0, 1), rng=rng)
        return row.ci_low, row.ci_high
    tables = np.stack([data.scores, data.scores if data.other is None else data.other])
    tables = tables if tables.shape[2] > 1 else tables[:, :, 0]
    result = analyze(BenchmarkResult(tables, ["a", "b"], [f"q{i}" for i in range(tables.shape[1])]), rng=rng)
    if data.other is None:
        return result.robustness.ci_low[0], result.robustness.ci_high[0]
    row = result.pairwise.results["a", "b"]
    return row.ci_low, row.ci_high


def scorio(data: Data, _: np.random.Generator) -> Ends | None:
    """`avg_ci` of trials: its interval is about exactly these questions, and it has no other."""
    if data.other is not None or data.clusters is not None or not is_binary(data.scores.ravel()):
        return None
    return avg_ci(data.scores.astype(int), bounds=(0, 1))[2:]


TOOLS: dict[str, Tool] = {
    "harness_uq": ours,
    "harness ± 1.96 SE": harness,
    "Inspect": inspect_metrics,
    "bayes_evals": bayes_evals,
    "errorbars": errorbars,
    "evalci": evalci,
    "evalconfidence": evalconfidence,
    "evalsig": evalsig,
    "evalstats": evalstats,
    "scorio": scorio,
}


def measure(draw: Draw, draws: int, seed: int) -> dict[str, dict[str, float]]:
    """Coverage, mean width and share of intervals that leave the range or have no width, by tool."""
    ends = {name: [] for name in TOOLS}
    for index in range(draws):
        data = draw(np.random.default_rng([seed, index]))
        for name, tool in TOOLS.items():
            found = tool(data, np.random.default_rng([seed, index, 1]))
            if found is not None:
                ends[name].append((*found, data.truth, -1.0 if data.other is not None else 0.0))
    partial = [name for name, rows in ends.items() if 0 < len(rows) < draws or not np.isfinite(rows).all()]
    if partial:
        raise SystemExit(f"No interval for some of the {draws} data sets of a shape: {', '.join(partial)}")
    return {name: _summary(np.array(rows)) for name, rows in ends.items() if rows}


def _summary(rows: np.ndarray) -> dict[str, float]:
    low, high, truth, least = rows.T
    return {
        "coverage": round(float(np.mean((low <= truth) & (truth <= high))), 3),
        "width": round(float(np.mean(high - low)), 4),
        "no width": round(float(np.mean(high - low < 1e-9)), 3),
        "outside": round(float(np.mean((low < least - 1e-9) | (high > 1 + 1e-9))), 3),
    }


def page_with(text: str, results: dict[str, dict[str, dict[str, float]]], made: str) -> str:
    """The page, its table made anew, and when and with what it was made."""
    before, _, rest = text.partition(MARK)
    after = rest.partition(MARK)[2]
    head = ["scores", *TOOLS]
    lines = ["| " + " | ".join(head) + " |", "| :-- |" + " --: |" * len(TOOLS)]
    for shape, row in results.items():
        cells = [f"{row[name]['coverage']:0.3f} ({row[name]['width']:0.3f})" if name in row else "-" for name in TOOLS]
        lines.append("| " + " | ".join([shape, *cells]) + " |")
    return f"{before}{MARK}\n\n" + "\n".join(lines) + f"\n\n{made}\n\n{MARK}{after}"


def main() -> None:
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    versions = {name: version(name) for name in PACKAGES}
    warnings.simplefilter("ignore")
    results = {}
    for seed, (shape, draw) in enumerate(SHAPES.items()):
        start = time.process_time()
        results[shape] = measure(draw, draws, seed)
        print(f"{shape}  ({time.process_time() - start:0.0f} s)", flush=True)
        for name, row in results[shape].items():
            print(f"{name:>20}  " + "  ".join(f"{key} {value:0.3f}" for key, value in row.items()), flush=True)
    date = datetime.now(UTC).date().isoformat()
    summary = {"date": date, "draws": draws, "versions": versions, "shapes": results}
    RESULTS.write_text(json.dumps(summary, indent=1) + "\n")
    used = [f"{shown} {versions[name]}" for name, shown in PACKAGES.items()]
    made = f"This table was computed on {date} with {', '.join(used[:-1])} and {used[-1]}."
    PAGE.write_text(page_with(PAGE.read_text(), results, textwrap.fill(made, 140)))


if __name__ == "__main__":
    main()
