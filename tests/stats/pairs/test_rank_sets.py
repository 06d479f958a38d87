"""Rank sets: against csranks, Tukey's range and McNemar's test; what leaves them unchanged; joint coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.pairs.paired_frequentist import mcnemar_test
from harness_uq.stats.pairs.rank_sets import RankSets, rank_sets, rank_sets_of_normal

# OECD, PISA 2018, mathematics: mean and standard error of 38 countries, best first (data set `pisa2018` of the R
# package csranks 1.2.3)
PISA = """526.9733 2.4715 525.9330 3.1214 523.4146 1.7436 519.2310 2.6323 515.6479 2.6021 515.3147 2.9080
512.0169 2.3575 509.3984 1.7350 508.8975 1.3639 508.0703 2.2627 507.3014 1.9679 502.3877 2.6543 501.7699 2.5644
500.9638 2.2190 500.0438 2.6471 499.6329 2.1986 499.4677 2.4607 498.9423 2.9710 496.1263 1.9628 495.4076 2.3202
495.1874 1.9531 494.4897 1.7059 492.4874 2.6846 491.3600 1.9398 486.5899 2.7800 486.1649 2.5556 483.4215 1.0976
481.3926 1.4624 481.1912 1.9533 481.0826 2.3196 478.2447 3.2354 463.0345 3.4986 453.5078 2.2604 451.3703 3.0912
417.4066 2.4159 408.8015 2.4932 402.3308 3.2893 390.9323 2.9896"""
# the ranks that its vignette draws: csranks(math_score, diag(math_se^2), coverage=), stepwise, 1,000 draws
SETS_75 = """1-6 1-6 1-6 1-8 1-11 1-11 4-13 4-16 5-16 5-18 5-18 7-23 7-23 8-23 8-24 10-24 10-24 8-25 12-26 12-26 12-26
12-26 12-27 15-26 18-31 19-31 24-31 25-31 25-31 25-31 25-31 32-34 32-34 32-34 35-36 35-37 36-38 37-38"""
SETS_95 = """1-6 1-7 1-6 1-11 1-12 1-13 3-17 4-18 4-18 4-18 4-18 5-24 6-24 7-24 7-25 8-25 7-25 7-26 12-26 12-26 12-26
12-26 12-31 12-29 15-31 18-31 23-31 24-31 24-31 23-31 23-32 31-34 32-34 32-34 35-36 35-37 36-38 37-38"""

Floats = np.ndarray


def ends(text: str) -> Floats:
    return np.array([[int(end) for end in part.split("-")] for part in text.split()]).T


@pytest.mark.parametrize(("level", "drawn", "n_off"), [(0.75, SETS_75, 0), (0.95, SETS_95, 4)])
def test_sets_are_those_of_csranks(level: float, drawn: str, n_off: int) -> None:
    """Its 1,000 draws leave the limit uncertain by some hundredths, which moves single ends by one."""
    scores, errors = np.array(PISA.split(), float).reshape(-1, 2).T
    found = rank_sets_of_normal(scores, np.diag(errors**2), level=level, n_draws=20_000)
    gaps = np.abs(np.array([found.low, found.high]) - ends(drawn))
    assert gaps.max() <= min(n_off, 1)
    assert (gaps > 0).sum() <= n_off


@pytest.mark.parametrize(("n", "df"), [(3, 10), (8, 30), (20, 200)])
def test_equal_independent_estimates_have_tukeys_range(n: int, df: int) -> None:
    found = rank_sets_of_normal(np.zeros(n), np.eye(n), df=df, n_draws=100_000)
    assert found.critical == pytest.approx(stats.studentized_range.ppf(0.95, n, df) / np.sqrt(2), rel=0.01)


def test_pairs_told_apart_are_those_of_scipys_tukey_hsd() -> None:
    rng = np.random.default_rng(1)
    groups = [rng.normal(level, 1, 12) for level in (0.0, 0.2, 1.4, 1.6, 3.5)]
    pooled = np.mean([np.var(group, ddof=1) for group in groups])
    found = rank_sets_of_normal([g.mean() for g in groups], np.eye(5) * pooled / 12, df=55, n_draws=50_000)
    reference = stats.tukey_hsd(*groups).pvalue <= 0.05
    np.fill_diagonal(reference, False)
    assert (found.above | found.above.T).tolist() == reference.tolist()
    assert reference.any()


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(int, st.tuples(st.just(2), st.integers(1, 12)), elements=st.integers(0, 1)))
def test_two_systems_right_or_wrong_once_are_told_apart_where_mcnemar_tells_them(scores: Floats) -> None:
    """Signs of the differences are exact for symmetric ones, so the two tests are one."""
    only_a, only_b = int((scores[0] > scores[1]).sum()), int((scores[0] < scores[1]).sum())
    p = mcnemar_test([scores.shape[1] - only_a - only_b, only_a, only_b, 0])
    found = rank_sets(scores, bounds=(0, 1))
    assert bool((found.above | found.above.T).any()) == (p <= 0.05)


tables = hnp.arrays(
    float, st.tuples(st.integers(1, 6), st.integers(1, 20)), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])
)


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(0, 10))
def test_sets_hold_the_observed_ranks_and_follow_the_systems(scores: Floats, seed: int) -> None:
    found = rank_sets(scores, bounds=(0, 1), level=0.8, n_draws=500)
    means = scores.mean(axis=1).round(12)
    assert (found.low <= 1 + (means[:, None] < means).sum(axis=1)).all()
    assert (found.high >= len(means) - (means[:, None] > means).sum(axis=1)).all()
    order = np.random.default_rng(seed).permutation(len(scores))
    assert same(rank_sets(scores[order], bounds=(0, 1), level=0.8, n_draws=500), found.low[order], found.high[order])
    harder = rank_sets(scores + np.random.default_rng(seed).normal(size=scores.shape[1]), bounds=(0, 1), level=0.8)
    assert same(harder, *(getattr(rank_sets(scores, bounds=(0, 1), level=0.8), end) for end in ("low", "high")))
    flipped = rank_sets(1 - scores, bounds=(0, 1), level=0.8, n_draws=500).mirrored()
    assert same(flipped, found.low, found.high)


def same(found: RankSets, low: Floats, high: Floats) -> bool:
    return found.low.tolist() == low.tolist() and found.high.tolist() == high.tolist()


def test_sets_widen_with_the_level_and_with_fewer_clusters() -> None:
    rng = np.random.default_rng(2)
    scores = (rng.random((8, 60)) < np.linspace(0.2, 0.9, 8)[:, None]).astype(float)
    widths = [(found.high - found.low).sum() for found in (rank_sets(scores, level=level) for level in (0.5, 0.95))]
    clustered = rank_sets(scores, clusters=np.arange(60) // 10)
    assert widths[0] < widths[1] < (clustered.high - clustered.low).sum()


def test_a_second_step_finds_more_than_the_first() -> None:
    """After the first step the far systems' pairs leave the family, and the limit falls."""
    sigma = np.eye(12)
    at_first = rank_sets_of_normal(np.zeros(12), sigma).critical
    assert rank_sets_of_normal(np.r_[np.arange(11) * 100.0, 1000.0], sigma).critical < at_first - 0.1


def test_one_cluster_that_decides_the_score_tells_no_systems_apart() -> None:
    clusters = np.r_[np.zeros(200), np.arange(1, 31)]
    scores = np.zeros((2, 230))
    scores[0, :200] = 1
    assert not rank_sets(scores, clusters=clusters, bounds=(0, 1)).above.any()


def test_one_system_has_the_first_rank() -> None:
    found = rank_sets([[1.0, 0.0]])
    assert (found.low.tolist(), found.high.tolist()) == ([1], [1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rank_sets([1.0, 0.0]), "scores"),
        (lambda: rank_sets(np.empty((2, 0))), r"shape \(n_systems, n_questions\)"),
        (lambda: rank_sets([[1.0, 0.0]], bounds=(1, 0)), "low < high; got 1 and 0"),
        (lambda: rank_sets([[1.0, 0.0]], level=1.5), "level"),
        (lambda: rank_sets_of_normal([1, 2], np.eye(3)), "one row and column per estimate"),
        (lambda: rank_sets_of_normal([1, 2], [[1, 2], [2, 1]]), "negative variance"),
        (lambda: rank_sets_of_normal([1, 2], np.eye(2), df=0), "df must be a number above 0; got 0"),
    ],
)
def test_says_what_it_cannot_use(call: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()


# ---------------------------------------------------------------- joint coverage


def ties(rate: float, n: int, trials: int = 1) -> object:
    """Ten systems, alike but for chance, on questions of difficulties of their own."""

    def draw(rng: np.random.Generator) -> tuple[Floats, None]:
        rates = rng.beta(rate * 2, (1 - rate) * 2, n)
        return rng.binomial(trials, rates, (10, n)) / trials, None

    return draw


def clusters_of(sizes: Floats, rates: Floats) -> object:
    """Rates Beta about each system's own in every cluster (ICC .4), clusters of any size."""

    def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
        labels = np.repeat(np.arange(len(sizes)), sizes)
        found = rng.beta(1.5 * rates[:, None], 1.5 * (1 - rates[:, None]), (len(rates), len(sizes)))
        return (rng.random((len(rates), len(labels))) < found[:, labels]).astype(float), labels

    return draw


def hopeless(n: int, share: float) -> object:
    """Rates of .9 in 64 trials; every other system has no chance at a few questions, and is better at the others."""

    def draw(rng: np.random.Generator) -> tuple[Floats, None]:
        odd = np.arange(10)[:, None] % 2
        rates = np.where(odd, 0.9 / (1 - share) * (rng.random((10, n)) >= share), 0.9)
        return rng.binomial(64, rates) / 64, None

    return draw


def once_beside_exact(n: int, rate: float) -> object:
    """Five systems that were right or wrong once, and five that score their rate at every question."""

    def draw(rng: np.random.Generator) -> tuple[Floats, None]:
        return np.vstack([(rng.random((5, n)) < rate).astype(float), np.full((5, n), rate)]), None

    return draw


EVEN, LINE, LEVELS = np.full(10, 0.8), np.linspace(0.5, 0.8, 10), np.repeat([0.9, 0.95], 5)
DESIGNS = {
    "ties of 20 at .9": (ties(0.9, 20), EVEN),
    "ties of 100 at .98": (ties(0.98, 100), EVEN),
    "ties of 200 at .7": (ties(0.7, 200), EVEN),
    "ties of 15 x 4 at .9": (ties(0.9, 15, 4), EVEN),
    "6 clusters": (clusters_of(np.full(6, 10), EVEN), EVEN),
    "20 clusters of 5 at .97": (clusters_of(np.full(20, 5), np.full(10, 0.97)), EVEN),
    "unequal clusters": (clusters_of(60 // np.arange(1, 31), EVEN), EVEN),
    "unequal clusters, systems apart": (clusters_of(60 // np.arange(1, 31), LINE), LINE),
    "two levels": (clusters_of(np.ones(200, int), LEVELS), LEVELS),
    "30 questions, 5 % hopeless": (hopeless(30, 0.05), EVEN),
    "100 questions, 2 % hopeless": (hopeless(100, 0.02), EVEN),
    "200 questions, 2 % hopeless": (hopeless(200, 0.02), EVEN),
    "once beside exact, 200 at .97": (once_beside_exact(200, 0.97), EVEN),
    "once beside exact, 300 at .97": (once_beside_exact(300, 0.97), EVEN),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_all_ranks_lie_in_their_sets_at_once(design: str) -> None:
    """In 300 data sets each; of tied systems every rank that their number takes."""
    draw, truth = DESIGNS[design]
    best = 1 + (truth[:, None] < truth).sum(axis=1)
    worst = len(truth) - (truth[:, None] > truth).sum(axis=1)
    rng, covered = np.random.default_rng(20261122), 0
    for _ in range(300):
        scores, clusters = draw(rng)
        found = rank_sets(scores, clusters=clusters, bounds=(0, 1), n_draws=500, rng=rng)
        covered += bool((found.low <= best).all() and (found.high >= worst).all())
    assert stats.binomtest(covered, 300, 0.95, alternative="less").pvalue > 1e-3, covered / 300


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 30])
def test_ranks_lie_in_their_sets_with_long_tails_and_no_range(n: int) -> None:
    """Lognormal scores, sd 1 of the logarithm, beside normal ones of the same mean and spread; 300 data sets."""
    spread = np.sqrt(np.e * (np.e - 1))
    rng, covered = np.random.default_rng(20261124), 0
    for _ in range(300):
        scores = np.vstack([np.exp(rng.normal(size=(5, n))) - np.exp(0.5), spread * rng.normal(size=(5, n))])
        covered += not rank_sets(scores, n_draws=500, rng=rng).above.any()
    assert stats.binomtest(covered, 300, 0.95, alternative="less").pvalue > 1e-3, covered / 300


@pytest.mark.slow
def test_ranks_of_systems_on_exactly_these_questions_lie_in_their_sets_at_once() -> None:
    """Benchmark scope: posteriors of eight systems of equal rates .97 on 20 questions x 8, independent trial noise."""
    from harness_uq.stats.trials.hierarchical_beta import benchmark_posterior

    rng, covered = np.random.default_rng(20261123), 0
    for _ in range(300):
        posteriors = [benchmark_posterior(rng.binomial(8, 0.97, 20), np.full(20, 8)) for _ in range(8)]
        means, sds = [p.mean for p in posteriors], np.array([p.sd for p in posteriors])
        covered += not rank_sets_of_normal(means, np.diag(sds**2), n_draws=1000, rng=rng).above.any()
    assert stats.binomtest(covered, 300, 0.95, alternative="less").pvalue > 1e-3, covered / 300
