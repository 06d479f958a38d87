"""Realistic results made by hand, for tests of reports and plots: two systems, five tasks, awkward names."""

from math import sqrt

import numpy as np

from harness_uq.data.structure import Evidence, Structure
from harness_uq.data.task_log import HarnessResult, Source
from harness_uq.inference.compact_letter_display import tie_groups
from harness_uq.messages.catalogue import comparison as comparison_messages
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.messages.catalogue import planning
from harness_uq.results.comparison import Comparison, Difference, PairedCounts
from harness_uq.results.effects import Component, Effects
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.history import FlakyQuestion, History, HistoryRun, LevelShift
from harness_uq.results.plan import Plan, PlanRow
from harness_uq.results.ranking import Neighbours, RankedSystem, Ranking
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.design.paired_power import PairedDesign

SYSTEMS = ("meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-7B <base> & co_1")
SOURCE = Source("results/run_2025-05-01.json", "lm-eval", "0.4.13", "2025-05-01T10:00:00")


def interval(low: float, high: float, kind: str = "hdi", level: float = 0.95) -> Interval:
    return Interval(low, high, level, kind)


def structure(
    *,
    score_type: str = "binary",
    bounds: tuple[float, float] | None = (0.0, 1.0),
    n_questions: int = 200,
    n_trials: int = 1,
    n_clusters: int | None = None,
    cluster_key: str | None = None,
) -> Structure:
    words = f"{n_clusters} {cluster_key}" if n_clusters else "questions count as independent"
    evidence = "catalogue of known tasks" if n_clusters else "no field says that questions share material"
    facts = (
        Evidence("clusters", words, evidence),
        Evidence("score type", score_type, "all values are 0 or 1"),
        Evidence("trials", f"{n_trials} a question", "the log"),
    )
    cells = n_questions * n_trials
    return Structure(
        score_type, bounds, n_questions, n_trials, cells, n_clusters, cluster_key, facts, ("a hint <b>here</b>",)
    )


def estimate(
    *,
    system: str = SYSTEMS[0],
    task: str = "demo_divides",
    metric: str = "acc",
    filter_name: str = "none",
    successes: float = 160,
    n: int = 200,
    method: str = "beta",
    design_effect: float | None = None,
    harness_std_error: float | str | None = "binomial",
    **other: object,
) -> Estimate:
    """A Beta posterior of `successes` among `n`, flattened by the design effect where there is one."""
    p, size = successes / n, n / (design_effect or 1.0)
    posterior = BetaPosterior(1 + p * size, 1 + (1 - p) * size)
    low, high = posterior.interval(0.95, "hdi")
    std_error = sqrt(p * (1 - p) / (n - 1)) if harness_std_error == "binomial" else harness_std_error
    fields: dict[str, object] = {
        "posterior": posterior,
        "posterior_mean": posterior.mean,
        "std_error": posterior.sd,
        "interval": interval(low, high),
        "n_questions": n,
        "n_trials": 1,
        "n_scores": n,
        "structure": structure(n_questions=n),
        "harness": HarnessResult(p, std_error, n),
    }
    return Estimate(
        system=system,
        task=task,
        metric=metric,
        filter=filter_name,
        estimand="mean",
        scope="population",
        method=method,
        value=p,
        source=SOURCE,
        design_effect=design_effect,
        effective_questions=None if design_effect is None else size,
        **{**fields, **other},
    )


def clustered(system: str = SYSTEMS[0], successes: float = 381) -> Estimate:
    return estimate(
        system=system,
        task="demo_passages",
        successes=successes,
        n=500,
        method="clustered",
        design_effect=4.1,
        icc=0.33,
        n_clusters=25,
        cluster_key="passage",
        structure=structure(n_questions=500, n_clusters=25, cluster_key="passage"),
        variance_between=0.062,
        variance_within=0.121,
        messages=(
            catalogue.UNEVEN_CLUSTERS(n_clusters=25, clusters="passage", effective=7.2),
            catalogue.CLUSTERS_USED(clusters="25 by passage", evidence="declared in the task"),
        ),
    )


def repeated(system: str = SYSTEMS[0]) -> Estimate:
    return estimate(
        system=system,
        task="demo_word_problems",
        metric="exact_match",
        filter_name="flexible-extract",
        successes=70,
        n=120,
        method="clustered",
        design_effect=1.6,
        icc=0.6,
        n_trials=8,
        n_scores=960,
        structure=structure(n_questions=120, n_trials=8),
        messages=(catalogue.TRIALS_ASSUMED_INDEPENDENT(),),
    )


def ceiling(system: str = SYSTEMS[0]) -> Estimate:
    return estimate(system=system, task="demo_copying", successes=20, n=20, harness_std_error=0.0)


def perplexity(system: str = SYSTEMS[0], value: float = 8.21) -> Estimate:
    return Estimate(
        system=system,
        task="wikitext",
        metric="word_perplexity",
        filter="none",
        estimand="word_perplexity",
        scope="population",
        method="bayesian-bootstrap",
        value=value,
        std_error=0.14,
        interval=interval(value - 0.27, value + 0.29, "quantile"),
        source=SOURCE,
        n_questions=62,
        posterior_mean=value,
        harness=HarnessResult(value, None),
        structure=structure(score_type="record", bounds=None, n_questions=62),
        diagnostics={"mc_error": 0.0014},
    )


def unknown(system: str = SYSTEMS[0]) -> Estimate:
    return Estimate(
        system=system,
        task="totals_only",
        metric="bleu",
        filter="none",
        estimand="mean",
        scope="population",
        method="not estimable",
        value=31.4,
        std_error=None,
        interval=None,
        source=SOURCE,
        harness=HarnessResult(31.4, 0.9),
        messages=(catalogue.TOTALS_NOT_A_PROPORTION(reason="The log contains no samples", metric="bleu"),),
    )


def estimates() -> list[Estimate]:
    rows = [
        make(system) for system in SYSTEMS for make in (estimate_of, clustered, repeated, ceiling, perplexity, unknown)
    ]
    rows[7] = clustered(SYSTEMS[1], 402)
    return rows


def estimate_of(system: str) -> Estimate:
    return estimate(system=system, successes=160 if system == SYSTEMS[0] else 171)


def comparison(
    *,
    task: str = "demo_passages",
    difference: float = 0.042,
    std_error: float = 0.018,
    verdict: str = "better",
    text: str = "A is better than B by about 4 points.",
    **other: object,
) -> Comparison:
    fields: dict[str, object] = {
        "prob_positive": 0.989,
        "odds_ratio": 1.41,
        "correlation": 0.52,
        "table": PairedCounts(310, 71, 50, 69),
        "n_matched": 500,
        "n_unmatched_a": 0,
        "n_unmatched_b": 3,
        "n_trials": 1,
        "n_clusters": 25,
        "cluster_key": "passage",
        "variance_reduction": 0.48,
        "margin": 0.01,
        "minimum_detectable_effect": 0.051,
    }
    half = 1.96 * std_error
    return Comparison(
        task=task,
        metric="acc",
        filter="none",
        system_a=SYSTEMS[0],
        system_b=SYSTEMS[1],
        scope="population",
        method="dirichlet",
        value_a=0.762,
        value_b=0.762 - difference,
        difference=Difference(difference, std_error, interval(difference - half, difference + half, "quantile")),
        verdict=verdict,
        verdict_text=text,
        **{"verdict_corrected": verdict, **fields, **other},
    )


def comparisons() -> list[Comparison]:
    return [
        comparison(),
        comparison(
            task="demo_divides",
            difference=-0.055,
            std_error=0.031,
            prob_positive=0.04,
            verdict="undecided",
            text="The data do not show which is better: a difference under 8.7 points would be missed.",
            n_clusters=None,
        ),
        comparison(
            task="demo_copying",
            difference=0.001,
            std_error=0.004,
            prob_positive=0.55,
            verdict="equivalent",
            text="A and B are equivalent: any difference is smaller than 1 point.",
        ),
        comparison(
            task="overall",
            difference=-0.03,
            std_error=0.009,
            prob_positive=0.001,
            verdict="worse",
            text="B is better than A, by 1.2 to 4.8 points.",
            messages=(comparison_messages.PROMPTS_DIFFER(n_different=3, n_questions=300, settings=""),),
        ),
    ]


def ranking(n: int = 6, *, seed: int = 0, with_ranks: bool = True) -> Ranking:
    """`n` systems with normal posteriors at most a hundredth apart; probabilities from 4,000 draws."""
    rng = np.random.default_rng(seed)
    values = np.linspace(0.82, 0.82 - min(0.011 * (n - 1), 0.5), n)
    draws = rng.normal(values, 0.018, (4000, n))
    ranks = n - np.argsort(np.argsort(draws, axis=1), axis=1)
    shares = np.stack([(ranks == r).mean(axis=0) for r in range(1, n + 1)], axis=1)
    better = (draws[:, :, None] > draws[:, None, :]).mean(axis=0) + 0.5 * np.eye(n)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="nearest")
    ties = tie_groups(low, high)
    systems = tuple(
        RankedSystem(
            f"system-{k + 1}/chat" if k else SYSTEMS[1],
            float(values[k]),
            interval(float(values[k] - 0.035), float(values[k] + 0.035), "quantile"),
            float(shares[k, 0]),
            float(ranks[:, k].mean()),
            int(low[k]),
            int(high[k]),
            "abcdefghijklmnopqrstuvwxyz"[min(k // 2, 25)],
            k + 1,
            rank_set=(max(1, int(low[k]) - 1), min(n, int(high[k]) + 1)),
            tie_group=ties[k],
        )
        for k in range(n)
    )
    return Ranking(
        task="demo_exam",
        metric="acc",
        filter="none",
        systems=systems,
        prob_better=tuple(map(tuple, better.tolist())),
        n_questions=300,
        n_comparisons=n * (n - 1) // 2,
        correction="holm",
        neighbours=Neighbours(n - 1, (n - 1) // 2, n - 1),
        prob_rank=tuple(map(tuple, shares.tolist())) if with_ranks else None,
        diagnostics={"mc_error": 0.004},
        messages=(comparison_messages.RANK_CLUSTERS(key="passage", n_clusters=30),),
    )


def plan() -> Plan:
    """Widths and detectable differences that fall as one over root n, at variance 0.04 + 0.12 / trials."""
    rows = [
        PlanRow(n, k, 2 * 1.96 * sqrt((0.04 + 0.12 / k) / n), 2.8016 * sqrt(2 * (0.04 + 0.12 / k) / n), n * k * 0.01)
        for k in (1, 4)
        for n in (100, 200, 400, 800, 1600, 3200)
    ]
    return Plan(
        rows=tuple(rows),
        recommended=rows[3],
        level=0.95,
        power=0.8,
        variance_between=0.04,
        variance_within=0.12,
        design_effect=1.0,
        answer="800 questions with one trial each find a difference of 5.6 points with 80 % power.",
        messages=(planning.PILOT_ONE_SYSTEM(),),
        paired=PairedDesign(2 * (0.04 + 0.12), cluster_size=None),
    )


def effects() -> Effects:
    """Seeds and questions of one model on one task."""
    parts = (
        Component("seed", 5, 0.048, (0.002, 0.148), 0.01, (0.0, 0.08)),
        Component("question", 200, 0.189, (0.143, 0.238), 0.14, (0.09, 0.21)),
        Component("residual", 1000, 0.461, (0.438, 0.486), 0.85, (0.83, 0.86)),
    )
    return Effects(
        model=SYSTEMS[0],
        task="toy",
        metric="acc",
        filter="none",
        value=0.477,
        interval=interval(0.41, 0.545, "quantile"),
        interval_questions_only=interval(0.4385, 0.5158, "quantile"),
        new=("question", "seed"),
        unit="question",
        n_questions=200,
        n_scores=1000,
        evidence={"seed": "fewshot_seed has 5 values in 5 logs: 0, 1, 2, 3 and 1 more"},
        components=parts,
        uncertainty={"question": 0.52, "seed": 0.48},
        not_identifiable=("question × seed",),
        is_share=True,
        sentence="",
    )


def history(*, system: str = SYSTEMS[1], task: str = "demo_divides") -> History:
    """Eight runs; the revision and the score change at the fifth."""
    values = (0.8, 0.81, 0.79, 0.82, 0.7, 0.71, 0.69, 0.72)
    runs = tuple(
        HistoryRun(
            time=f"2026-11-{night:02d}T03:00:00",
            path=f"night-{night}.json",
            value=value,
            interval=interval(round(value - 0.04, 2), round(value + 0.04, 2), "confidence"),
            evidence=1.0 if night < 6 else 30.0,
            settings_changed=("revision: a → b",) if night == 5 else (),
        )
        for night, value in enumerate(values, 1)
    )
    shift = LevelShift(5, 6, runs[4].time, 0.805, 0.705, -0.1, interval(-0.13, -0.07, "confidence"))
    return History(
        system,
        task,
        "acc",
        "none",
        0.95,
        n_questions=200,
        runs=runs,
        shifts=(shift,),
        flaky_questions=(FlakyQuestion("q<1>", 0.5, 0.45),),
        trial_sd=0.02,
        run_sd=0.0,
        answer="The score dropped from 0.805 to 0.705, starting with run 5.",
    )
