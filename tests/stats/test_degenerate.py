"""Degenerate input, one matrix for all: a proper posterior or a named error; never NaN, zero width or out of range."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from harness_uq import stats
from harness_uq.messages.errors import HarnessUqError
from harness_uq.stats.pairs.independent import IndependentPosterior

NAN = float("nan")
BILLION = 10**9
MIXED = ([1, 60_000], [1, 100_000])  # successes and sizes: a cluster of one beside one of 100,000

COUNTS = {
    "none right": ([0], [20]),
    "all right": ([20], [20]),
    "one wrong": ([0], [1]),
    "one right": ([1], [1]),
    "one cluster of two answers": ([1], [2]),
    "clusters of one": ([0, 1, 1, 0, 1], [1] * 5),
    "clusters of one, all right": ([1] * 30, [1] * 30),
    "one right, sizes 1 and 100,000": ([1, 100_000], [1, 100_000]),
    "sizes 1 and 100,000": MIXED,
    "2,000 clusters of 100,000": ([10**5] * 1000 + [9 * 10**4] * 1000, [10**5] * 2000),
    "clusters that are all right or all wrong": ([10, 0, 10, 10, 0], [10] * 5),
    "a billion, none right": ([0], [BILLION]),
    "a billion": ([BILLION // 3], [BILLION]),
    "a billion but one": ([BILLION - 1], [BILLION]),
}
OF_COUNTS: dict[str, Callable[[Sequence[int], Sequence[int]], stats.Posterior]] = {
    "beta": lambda s, n: stats.beta_posterior(sum(s), sum(n)),
    "finite population": lambda s, n: stats.finite_population_posterior(sum(s), sum(n), 3 * sum(n)),
    "clustered icc": lambda s, n: stats.clustered_posterior(s, n, "icc"),
    "clustered gamma": lambda s, n: stats.clustered_posterior(s, n, "gamma"),
    "clustered ratio": lambda s, n: stats.clustered_bounded_posterior(s, n, 0, 1),
    "benchmark": lambda s, n: stats.benchmark_posterior(s, n),
    "benchmark, hierarchical": lambda s, n: stats.benchmark_posterior(s, n, model="hierarchical"),
    "benchmark, pooled": lambda s, n: stats.benchmark_posterior(s, n, model="pooled"),
    "group, equal weights": lambda s, n: stats.group_posterior(s, n),
    "group, by size": lambda s, n: stats.group_posterior(s, n, n),
    "pass@1": lambda s, n: stats.pass_k_posterior(s, n, 1),
    "pass@1 of the benchmark": lambda s, n: stats.pass_k_posterior(s, n, 1, scope="benchmark"),
    "pass^1": lambda s, n: stats.pass_k_posterior(s, n, 1, kind="hat"),
}


def assert_proper(posterior: stats.Posterior, low: float, high: float) -> None:
    assert np.isfinite([posterior.mean, posterior.sd]).all()
    assert posterior.sd > 0
    assert low < posterior.mean < high
    q = posterior.quantile([0.005, 0.025, 0.5, 0.975, 0.995])
    assert np.isfinite(q).all()
    assert (np.diff(q) >= 0).all()
    assert np.isfinite(posterior.cdf([low, posterior.mean, high])).all()
    for kind in ("quantile", "hdi"):
        ends = posterior.interval(0.95, kind)
        assert low <= ends[0] < ends[1] <= high, kind


LARGE = ("one right, sizes 1 and 100,000", "sizes 1 and 100,000", "2,000 clusters of 100,000")
SLOW = {("nested, one cluster", case) for case in LARGE}  # "nested, clusters of one" meets the same counts


@pytest.mark.parametrize(
    ("model", "case"),
    [
        pytest.param(model, case, marks=pytest.mark.slow if (model, case) in SLOW else ())
        for model in OF_COUNTS
        for case in COUNTS
    ],
)
def test_counts_of_every_degenerate_kind_have_a_proper_posterior(model: str, case: str) -> None:
    assert_proper(OF_COUNTS[model](*COUNTS[case]), 0, 1)


SCORES = {
    "one at the top": [1.0],
    "one inside": [0.25],
    "all at the top": [1.0] * 20,
    "all at the bottom": [0.0] * 20,
    "all equal inside": [0.3] * 20,
    "100,000 equal": [0.3] * 100_000,
    "both ends": [0.0, 1.0],
}


@pytest.mark.parametrize("case", SCORES)
@pytest.mark.parametrize("n_clusters", [None, 1, 2])
def test_bounded_scores_have_a_proper_posterior(case: str, n_clusters: int | None) -> None:
    scores = np.array(SCORES[case])
    if n_clusters is None:
        assert_proper(stats.bounded_posterior(scores, 0, 1), 0, 1)
        return
    totals, sizes = np.array([scores.sum()] * n_clusters), np.array([len(scores)] * n_clusters)
    assert_proper(stats.clustered_bounded_posterior(totals, sizes, 0, 1), 0, 1)


TABLES = {
    "no discordant question": [17, 0, 0, 3],
    "one question, both right": [1, 0, 0, 0],
    "one question, both wrong": [0, 0, 0, 1],
    "one question, only A": [0, 1, 0, 0],
    "all both right": [50, 0, 0, 0],
    "all discordant": [0, 6, 5, 0],
    "always A": [0, 20, 0, 0],
    "a billion, no discordant": [BILLION, 0, 0, BILLION],
    "a billion": [BILLION, BILLION // 10, BILLION // 11, BILLION],
    "a billion to one": [BILLION, 1, 0, 0],
}
OF_TABLES: dict[str, Callable[[list[int]], stats.Posterior]] = {
    "latent normal": lambda table: stats.paired_posterior(table, "latent_normal"),
    "Dirichlet": lambda table: stats.paired_posterior(table, "dirichlet"),
    "independent": lambda t: IndependentPosterior(
        (1 + t[0] + t[1], 1 + t[2] + t[3]), (1 + t[0] + t[2], 1 + t[1] + t[3])
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("model", OF_TABLES)
def test_differences_have_a_proper_posterior(model: str, case: str) -> None:
    posterior = OF_TABLES[model](TABLES[case])
    assert_proper(posterior, -1, 1)
    assert 0 <= posterior.prob_positive <= 1


CELLS = {
    "no question": (0, 0, 0, 0),
    "one right": (1, 0, 0, 0),
    "one false alarm": (0, 1, 0, 0),
    "no positives": (0, 0, 0, 20),
    "all positives found": (20, 0, 0, 0),
    "nothing right": (0, 10, 10, 0),
    "a billion": (BILLION, BILLION // 3, BILLION // 5, BILLION),
    "a billion and one": (BILLION, 1, 0, 0),
}


@pytest.mark.parametrize("case", CELLS)
@pytest.mark.parametrize(
    ("metric", "low"),
    [("f1", 0), ("precision", 0), ("recall", 0), ("accuracy", 0), ("balanced_accuracy", 0), ("mcc", -1)],
)
def test_confusion_metrics_have_a_proper_posterior(case: str, metric: str, low: float) -> None:
    assert_proper(stats.confusion_posterior(*CELLS[case], metric=metric), low, 1)


@pytest.mark.parametrize("method", ["beta", "hdi", "jeffreys", "wilson", "clopper_pearson"])
@pytest.mark.parametrize(
    ("successes", "trials"),
    [(0, 1), (1, 1), (0, 20), (20, 20), (0, BILLION), (BILLION, BILLION), (BILLION // 3, BILLION)],
)
def test_intervals_of_counts_keep_their_width_and_range(method: str, successes: int, trials: int) -> None:
    low, high = stats.binomial_interval(successes, trials, 0.95, method)
    assert 0 <= low < high <= 1


TRIALS = {
    "one question": [[1, 0, 1, 1]],
    "one trial": [[1], [0], [1]],
    "all right": [[1, 1, 1]] * 4,
    "missing trials": [[1, NAN, 0], [NAN, NAN, 1], [0, 1, 1]],
}


@pytest.mark.parametrize("case", TRIALS)
@pytest.mark.parametrize("function", [stats.bayes_at_n, stats.avg_at_n])
def test_trials_give_a_mean_in_range_with_spread(
    case: str, function: Callable[[list[list[float]]], tuple[float, float]]
) -> None:
    mean, sd = function(TRIALS[case])
    assert 0 <= mean <= 1
    assert sd > 0


@pytest.mark.parametrize("case", TRIALS)
def test_trials_have_a_proper_posterior(case: str) -> None:
    assert_proper(stats.bayes_at_n_posterior(TRIALS[case]), 0, 1)


@pytest.mark.parametrize("case", TRIALS)
@pytest.mark.parametrize("function", [stats.pass_at_k, stats.pass_hat_k])
def test_pass_at_1_is_the_mean_of_question_means(case: str, function: Callable[..., float]) -> None:
    assert function(TRIALS[case], 1) == pytest.approx(np.mean([np.nanmean(row) for row in TRIALS[case]]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: stats.beta_posterior(0, 0),
        lambda: stats.clustered_posterior([], []),
        lambda: stats.bounded_posterior([], 0, 1),
        lambda: stats.benchmark_posterior([], []),
        lambda: stats.nested_score_posterior([], [], []),
        lambda: stats.group_posterior([], []),
        lambda: stats.paired_posterior([0, 0, 0, 0]),
        lambda: stats.paired_posterior([0, 0, 0, 0], "dirichlet"),
        lambda: stats.student_posterior([1.0]),
        lambda: stats.student_posterior([1.0, 1.0]).interval(0.95),
        lambda: stats.cluster_robust([1.0, 0.0], [0, 0]),
        lambda: stats.korn_graubard_wilson([1.0, 0.0], [0, 0]),
        lambda: stats.bayesian_bootstrap([1.0, 1.0], "mean"),
        lambda: stats.bayes_at_n([[NAN, NAN]]),
        lambda: stats.avg_at_n([[1, 0], [NAN, NAN]]),
        lambda: stats.bayes_at_n_posterior([[1, 0], [NAN, NAN]]),
        lambda: stats.pass_at_k([[NAN]], 1),
    ],
)
def test_what_says_nothing_is_refused_by_name(call: Callable[[], object]) -> None:
    with pytest.raises(HarnessUqError, match=r"\w+ \w+"):
        call()
