"""Rankings: ranks and ties against the paper's algorithm, groups, incomplete crossings, calibration."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness_uq.analyses.compare import compare
from harness_uq.analyses.rank import rank
from harness_uq.data.task_log import (
    AggregateScore,
    HarnessResult,
    Questions,
    Scores,
    Source,
    SufficientStatistics,
    TaskLog,
)
from harness_uq.inference.compact_letter_display import group_letters
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.options import Options
from harness_uq.results.ranking import Ranking
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.pairs.joint_student import joint_means
from harness_uq.stats.pairs.paired_frequentist import mcnemar_test, paired_t
from tests.analyses.comparison.test_compare import read_csv
from tests.data.toy import task_log
from tests.message_checks import has, raises_message


def one(values: dict[str, object], **options: object) -> Ranking:
    return rank([task_log(v, system=k) for k, v in values.items()], Options(**options))[0]


@pytest.fixture(scope="module")
def aime(shared: Path) -> dict[str, np.ndarray]:
    return {k: v.reshape(15, 4) for k, v in read_csv(shared / "data/csv/no_clt_paper/matharena_aime_II.csv").items()}


def algorithm_1(trials: np.ndarray) -> tuple[float, float]:
    """Hariri et al. (2025), algorithm 1, C = 1, w = (0, 1), uniform prior, written out."""
    mean, variance = [], []
    for row in trials:
        a, b = 1 + row.sum(), 1 + (1 - row).sum()
        mean.append(a / (a + b))
        variance.append(a * b / ((a + b) ** 2 * (a + b + 1)))
    return float(np.mean(mean)), math.sqrt(sum(variance)) / len(trials)


def test_aime_ties_are_those_of_bayes_at_n(aime: dict[str, np.ndarray]) -> None:
    """Section 2.9: in the order of mu, neighbours share a rank where z < 1.645."""
    moments = sorted((algorithm_1(v) for v in aime.values()), reverse=True)
    expected = [1]
    for (mu_1, sd_1), (mu_2, sd_2) in itertools.pairwise(moments):
        expected.append(expected[-1] + (abs(mu_1 - mu_2) / math.hypot(sd_1, sd_2) >= 1.645))
    ranking = one(aime)
    assert [system.tied_rank for system in ranking.systems] == expected
    # the ties chain from the best to the worst, though these two are plainly different
    assert set(expected) == {1}
    assert ranking.prob_better[0][-1] > 0.999


def test_aime_posterior_stands_beside_the_ties(aime: dict[str, np.ndarray]) -> None:
    ranking = one(aime)
    best = ranking.systems[0]
    assert (best.system, ranking.n_questions, ranking.n_comparisons) == ("o3-mini (high)", 15, 171)
    assert best.prob_best > 0.9
    assert (best.rank_low, best.rank_high) == (1, 2)
    assert sum(system.prob_best for system in ranking.systems) == pytest.approx(1)
    assert all(sum(row) == pytest.approx(1) for row in ranking.prob_rank)


def test_ranks_with_ties_need_trials() -> None:
    assert one({"a": [1, 0, 1], "b": [0, 0, 1]}).systems[0].tied_rank is None


def test_two_systems_agree_with_their_comparison() -> None:
    a, b = [1, 1, 1, 0, 1, 0, 1, 1], [0, 1, 1, 0, 0, 1, 1, 0]
    ranking = one({"a": a, "b": b})
    row = compare(task_log(a, system="a"), task_log(b, system="b"))[0]
    # by draws: within five Monte Carlo errors
    assert ranking.prob_better[0][1] == pytest.approx(row.prob_positive, abs=5 * 0.005)
    assert ranking.systems[0].prob_best == ranking.prob_better[0][1]


def test_probabilities_of_repeated_trials_agree_with_the_comparison() -> None:
    rng = np.random.default_rng(0)
    values = rng.binomial(1, [[[0.6]], [[0.5]]], (2, 30, 4)).astype(float)
    ranking = one({"a": values[0], "b": values[1]})
    row = compare(task_log(values[0], system="a"), task_log(values[1], system="b"))[0]
    better = ranking.prob_better[[s.system for s in ranking.systems].index("a")]
    assert max(better) == pytest.approx(max(row.prob_positive, 0.5), abs=5 * 0.005)


def test_a_graded_system_changes_neither_probability_nor_test_of_a_pair() -> None:
    """Two of 20 questions discordant: P(r > 1/2), r ~ Beta(2.5, .5), is .9244, and McNemar's p is 2/2^2."""
    pair = {"a": [1.0] * 20, "b": [0.0, 0.0] + [1.0] * 18}
    two, three = one(pair), one({**pair, "c": [[1.0, 0.0]] * 20})
    for ranking in (two, three):
        assert [system.system for system in ranking.systems[:2]] == ["a", "b"]
        assert ranking.prob_better[0][1] == pytest.approx(0.92441318, abs=5 * 0.0027)
    # of three tests Holm takes McNemar's .5 last; c differs from a by 1/2 everywhere and has no test
    assert three.adjusted_p[0][1] == two.adjusted_p[0][1] == 0.5
    for before, after in zip(two.systems, three.systems, strict=False):
        assert after.interval == before.interval


def test_one_trial_and_several_trials_are_ranked_under_one_prior() -> None:
    """A prior of its own for each, 2 and 1/2 questions, would draw `a` to the middle and favour the other: of systems
    alike on every question, at .9, none is.
    """
    right = np.repeat([1.0, 0.0], [18, 2])
    graded = np.tile(right[:, None], 4)
    graded[:2, 0], graded[18:, :2] = 0, [1, 0]
    assert graded.mean() == right.mean()
    ranking = one({"a": right, "b": graded})
    assert ranking.prob_better[0][1] == pytest.approx(0.5, abs=0.03)


def test_expected_ranks_and_probabilities_mirror() -> None:
    rng = np.random.default_rng(1)
    ranking = one({f"s{k}": rng.binomial(1, 0.5 + 0.03 * k, 60) for k in range(5)})
    p = np.array(ranking.prob_better)
    assert p + p.T == pytest.approx(np.ones((5, 5)))
    assert sum(system.expected_rank for system in ranking.systems) == pytest.approx(15)


def test_lower_is_better_puts_the_lowest_first() -> None:
    rng = np.random.default_rng(2)
    values = {name: rng.normal(level, 1, 40) for name, level in (("low", 1.0), ("high", 5.0))}
    logs = [task_log(v, system=k, metric="loss") for k, v in values.items()]
    ranking = rank(logs)[0]
    assert [system.system for system in ranking.systems] == ["low", "high"]
    assert ranking.systems[0].prob_best > 0.99
    assert ranking.prob_better[0][1] > 0.99
    assert [system.rank_set for system in ranking.systems] == [(1, 1), (2, 2)]


def test_neighbours_are_counted_one_by_one_and_at_once() -> None:
    """McNemar's p of 8 against 1 is .039, of 30 against 0 nil: of two pairs like the former at once neither is told."""
    a = np.r_[np.ones(60), np.zeros(40)]
    b, c = a.copy(), a.copy()
    b[:8], b[60] = 0, 1
    c[:30] = 0
    d = c.copy()
    d[30:38], d[61] = 0, 1
    ranking = one({"a": a, "b": b, "c": c, "d": d})
    assert [system.system for system in ranking.systems] == ["a", "b", "c", "d"]
    assert (ranking.neighbours.n_pairs, ranking.neighbours.undecided, ranking.neighbours.undecided_simultaneous) == (
        3,
        0,
        2,
    )
    assert [system.rank_set for system in ranking.systems] == [(1, 2), (1, 2), (3, 4), (3, 4)]


def test_rank_sets_allow_for_clusters() -> None:
    right = np.r_[np.ones((1, 24)), np.zeros((1, 24))]
    logs = [task_log(row, system=name) for name, row in zip("ab", right, strict=True)]
    assert [system.rank_set for system in rank(logs)[0].systems] == [(1, 1), (2, 2)]
    clustered = [with_clusters(log, np.arange(24) // 8) for log in logs]
    assert [system.rank_set for system in rank(clustered)[0].systems] == [(1, 2), (1, 2)]


def test_rank_sets_of_exactly_these_questions_leave_out_what_questions_differ_in() -> None:
    """Means .5 and .6, on each question far apart: other questions may turn them round, more trials may not."""
    rng = np.random.default_rng(18)
    rates = {"a": [0.1, 0.9], "b": [0.95, 0.25]}
    values = {name: rng.binomial(1, np.repeat(of, 15)[:, None], (30, 16)) for name, of in rates.items()}
    assert [system.rank_set for system in one(values).systems] == [(1, 2), (1, 2)]
    assert [system.rank_set for system in one(values, scope="benchmark").systems] == [(1, 1), (2, 2)]


def test_ties_of_bayes_at_n_follow_the_metrics_direction() -> None:
    rng = np.random.default_rng(12)
    logs = [task_log(rng.binomial(1, p, (50, 4)), system=name, metric="loss") for name, p in (("x", 0.1), ("y", 0.5))]
    assert [(system.system, system.tied_rank) for system in rank(logs)[0].systems] == [("x", 1), ("y", 2)]


def test_clusters_given_with_the_scores_count_as_in_compare() -> None:
    rng = np.random.default_rng(13)
    labels = np.repeat(np.arange(10), 20)
    right = (rng.random((2, 10)) < 0.5).astype(float)[:, labels]
    logs = [with_clusters(task_log(row, system=name), labels) for name, row in zip("ab", right, strict=True)]
    row, ranking = compare(logs[0], logs[1])[0], rank(logs)[0]
    place = [system.system for system in ranking.systems].index("a")
    assert ranking.prob_better[place][1 - place] == pytest.approx(row.prob_positive, abs=5 * 0.005)
    assert 0.01 < row.prob_positive < 0.99
    assert has(ranking, "rank-clusters", key="cluster", n_clusters=10)


def test_questions_that_any_log_puts_together_are_one_cluster() -> None:
    values = [1, 0, 1, 1, 0, 1, 0, 1]
    labels = {"a": [0, 0, 1, 2, 3, 4, 5, 6], "b": [0, 1, 1, 2, 3, 4, 5, 6], "c": [0, 1, 2, 3, 4, 5, 6, 6]}
    logs = [with_clusters(task_log(np.roll(values, k), system=name), labels[name]) for k, name in enumerate(labels)]
    # a joins questions 0 and 1, b 1 and 2, c 6 and 7: five of eight are left
    assert has(rank(logs)[0], "rank-clusters", key="cluster", n_clusters=5)


def with_clusters(log: TaskLog, labels: object) -> TaskLog:
    data = log.data[0]
    assert isinstance(data, Scores)
    return replace(log, data=(replace(data, clusters=np.asarray(labels)),))


def test_metrics_without_scores_a_question_are_ranked_by_paired_differences() -> None:
    rng = np.random.default_rng(3)

    def log(system: str, level: float) -> TaskLog:
        data = SufficientStatistics(
            "word_perplexity", "none", np.column_stack([rng.normal(-level, 5, 50), np.full(50, 30)]), "perplexity"
        )
        from harness_uq.data.task_log import Questions

        return TaskLog(system, "wiki", Source("x", "lm-eval"), Questions(tuple(map(str, range(50)))), (data,))

    ranking = rank([log("a", 60.0), log("b", 90.0)])[0]
    assert ranking.systems[0].system == "a"
    assert ranking.adjusted_p is None
    assert not has(ranking, "independent-comparison")


def test_benchmark_scope_draws_each_system_alone() -> None:
    rng = np.random.default_rng(4)
    values = {k: rng.binomial(1, p, (20, 8)) for k, p in (("a", 0.7), ("b", 0.4))}
    ranking = one(values, scope="benchmark")
    assert has(ranking, "separate-posteriors")
    assert ranking.systems[0].interval.width < one(values).systems[0].interval.width


# ---------------------------------------------------------------- tests and corrections


def test_holm_is_over_all_tasks_and_pairs() -> None:
    """Two tasks of one pair: McNemar's p-values 2/2^6 and 2/2^5 times 2 and 1, made monotone."""
    tables = {"x": 6, "y": 5}
    logs = [
        task_log([right] * n + [1] * 4, system=name, task=task)
        for task, n in tables.items()
        for name, right in (("a", 1), ("b", 0))
    ]
    rankings = rank(logs)
    assert [r.adjusted_p[0][1] for r in rankings] == pytest.approx([0.0625, 0.0625])
    assert [r.n_comparisons for r in rankings] == [2, 2]
    plain = rank(logs, Options(correction="bh"))
    assert [r.adjusted_p[0][1] for r in plain] == pytest.approx([0.0625, 0.0625])
    assert mcnemar_test([4, 6, 0, 0]) == 0.03125


@pytest.mark.parametrize(
    ("scores", "clusters"),
    [
        ([[1.0] * 40, [0.0] * 40], np.arange(40) // 4),
        ([[0.3, 0.4, 0.6], [0.301, 0.401, 0.601]], None),
        ([[0.1] * 30, [0.7] * 30], None),
        ([[1e6, 2e6, 5e6], [1e6 + 1, 2e6 + 1, 5e6 + 1]], None),
        ([[0.2, 0.5, 0.9], [0.2, 0.5, 0.9]], None),
    ],
)
def test_a_difference_that_does_not_vary_has_no_test(scores: object, clusters: object) -> None:
    p = joint_means(scores, clusters).pair_p_values()
    assert np.isnan([p[0, 1], p[1, 0]]).all()
    assert np.diag(p).tolist() == [1, 1]


def test_pairs_without_a_test_are_in_no_family_and_show_a_dash() -> None:
    """Graded constants 1 and 1/2 as in `compare`: a posterior, no p-value; the other two tests are Holm's family."""
    rng = np.random.default_rng(14)
    varied = (rng.random(40) < 0.3).astype(float)
    ranking = one({"a": np.ones(40), "b": np.full(40, 0.5)})
    assert [system.letters_adjusted for system in ranking.systems] == ["-", "-"]
    assert has(ranking, "untested-pairs", n_untested=1, n_pairs=1)
    assert ranking.to_dict()["adjusted_p"] == [[1.0, None], [None, 1.0]]
    assert ranking.prob_better[0][1] > 0.999
    three = one({"a": np.ones(40), "b": np.full(40, 0.5), "c": varied})
    p = [paired_p(np.full(40, value) - varied) for value in (1.0, 0.5)]
    assert three.adjusted_p[0][2] == pytest.approx(2 * p[0])
    assert three.adjusted_p[1][2] == pytest.approx(max(2 * p[0], p[1]))
    assert math.isnan(three.adjusted_p[0][1])


def paired_p(differences: np.ndarray) -> float:
    return float(stats.ttest_1samp(differences, 0).pvalue)


def test_constant_scores_without_a_range_are_left_out() -> None:
    rng = np.random.default_rng(15)
    values = {"a": [5.0] * 20, "b": [6.0] * 20, "c": rng.normal(5, 1, 20), "d": rng.normal(5, 1, 20)}
    logs = [task_log(v, system=k, metric="loss") for k, v in values.items()]
    ranking = rank(logs)[0]
    assert {system.system for system in ranking.systems} == {"c", "d"}
    assert has(ranking, "system-with-constant-scores", system="a", value=5, metric="loss")
    with pytest.raises(NotEstimableError):
        rank(logs[:2])


def test_unbounded_scores_that_differ_by_a_constant_have_no_certain_order() -> None:
    values = np.random.default_rng(16).normal(3, 1, 20)
    ranking = rank([task_log(v, system=k, metric="loss") for k, v in (("a", values), ("b", values + 1e-3))])[0]
    assert ranking.prob_better[0][1] == pytest.approx(0.5, abs=0.02)
    assert has(ranking, "independent-comparison")


def test_one_cluster_of_bounded_scores_is_ranked_without_tests() -> None:
    ranking = rank([with_clusters(task_log([x, 1, 0], system=k), [0, 0, 0]) for k, x in (("a", 1), ("b", 0))])[0]
    assert 0.5 < ranking.prob_better[0][1] < 1
    assert ranking.systems[0].letters_adjusted == "-"


def test_pairwise_t_agrees_with_the_paired_forms() -> None:
    rng = np.random.default_rng(5)
    scores, clusters = rng.normal(size=(3, 20)), np.repeat(np.arange(5), 4)
    plain, clustered = joint_means(scores).pair_p_values(), joint_means(scores, clusters).pair_p_values()
    for i, j in itertools.combinations(range(3), 2):
        d = scores[i] - scores[j]
        t = paired_t(d)
        assert plain[i, j] == pytest.approx(2 * stats.t.sf(abs(t.mean) / t.std_error, t.df))
        fit = cluster_robust(d, clusters)
        assert clustered[i, j] == pytest.approx(2 * stats.t.sf(abs(fit.mean) / fit.std_error, fit.df))


def test_joint_t_draws_have_the_paired_spread() -> None:
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(2, 12)) + rng.normal(size=12)
    draws = joint_means(scores).draws(40_000, rng)
    t = paired_t(scores[0] - scores[1])
    assert np.quantile(draws[0] - draws[1], [0.025, 0.975]) == pytest.approx(
        t.interval(), abs=0.03 * (t.interval()[1] - t.interval()[0])
    )


# ---------------------------------------------------------------- groups


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_letters_are_shared_exactly_by_pairs_that_are_not_separated(flags: list[bool]) -> None:
    n = math.isqrt(len(flags))
    upper = np.triu(np.array(flags).reshape(n, n), 1)
    separated = upper | upper.T
    letters = group_letters(separated)
    for i, j in itertools.combinations(range(n), 2):
        assert bool(set(letters[i]) & set(letters[j])) == (not separated[i, j])


def test_letters_beyond_z_have_two() -> None:
    letters = group_letters(~np.eye(30, dtype=bool))
    assert (letters[0], letters[25], letters[26], letters[29]) == ("a", "z", "aa", "ad")


def test_groups_of_a_hundred_systems_are_found_quickly() -> None:
    rng = np.random.default_rng(7)
    place = np.sort(rng.random(100))
    assert len(group_letters(np.abs(place[:, None] - place) + rng.normal(0, 0.02, (1, 1)) > 0.1)) == 100


# ---------------------------------------------------------------- incomplete crossings


def test_a_system_that_answered_less_than_half_is_left_out_and_said() -> None:
    ids = [f"q{i}" for i in range(10)]
    full = {name: task_log([1, 0] * 5, system=name, ids=ids) for name in ("a", "b", "c")}
    part = task_log([1, 1, 1, 1], system="d", ids=ids[:4])
    ranking = rank([*full.values(), part])[0]
    assert {system.system for system in ranking.systems} == {"a", "b", "c"}
    assert has(ranking, "system-with-few-shared-questions", system="d", n_shared=4, n_core=10)


def test_systems_are_ranked_on_what_all_answered_and_the_loss_is_said() -> None:
    ids = [f"q{i}" for i in range(10)]
    logs = [task_log([1, 0] * 5, system="a", ids=ids), task_log([1] * 10, system="b", ids=ids)]
    logs.append(task_log([1, 0, 1, 1, 0, 1], system="c", ids=ids[:6]))
    ranking = rank(logs)[0]
    assert ranking.n_questions == 6
    assert len(ranking.systems) == 3
    assert has(ranking, "unmatched-questions", n_systems=3, n_common=6, n_unmatched=4)


def test_one_system_is_no_ranking() -> None:
    with raises_message(NotEstimableError, "single-system", system="a"):
        rank([task_log([1, 0], system="a")])


def test_few_draws_are_refused() -> None:
    with pytest.raises(DataError, match="Invalid n_draws"):
        Options(n_draws=10)


def test_json_is_finite() -> None:
    json.dumps(one({"a": [1, 1, 1], "b": [1, 1, 1]}).to_dict(), allow_nan=False)


@pytest.mark.slow
def test_rank_intervals_cover_where_the_truth_is_drawn_from_the_prior() -> None:
    """Scores ~ Dirichlet process of mass 2 over fair coins (48 sticks), 40 questions of 4 systems: the interval of one
    system's rank covers at least .9 (it is discrete, hence more), in 300 runs.
    """
    rng = np.random.default_rng(8)
    covered = 0
    for seed in range(300):
        sticks = rng.beta(1, 2, 48)
        shares = sticks * np.concatenate([[1], np.cumprod(1 - sticks[:-1])])
        kinds = rng.integers(0, 2, (4, 48))
        truth = kinds @ shares
        answers = kinds[:, rng.choice(48, 40, p=shares / shares.sum())]
        ranking = one({f"s{k}": answers[k] for k in range(4)}, level=0.9, n_draws=2000, seed=seed)
        mine = next(system for system in ranking.systems if system.system == "s0")
        covered += mine.rank_low <= 1 + int((truth > truth[0]).sum()) <= mine.rank_high
    assert stats.binomtest(covered, 300, 0.9, alternative="less").pvalue > 1e-3


def test_a_system_ranked_with_itself_is_reported_as_identical():
    log = task_log([0, 1, 1, 0])
    with raises_message(NotEstimableError, "single-system", system="model"):
        rank([log, log])
    (ranking,) = rank([replace(log, system="a"), replace(log, system="b")])
    assert has(ranking, "identical-systems", systems=("a", "b"), n_questions=4)


def test_groups_of_which_only_totals_are_known_are_ranked_without_matching():
    def run(system: str, n_right: int) -> list[TaskLog]:
        totals = AggregateScore("acc", "none", n_right / 100, 100, "only results are logged", is_share=True)
        task = replace(task_log([1], system=system), questions=Questions(()), data=(totals,))
        group = replace(totals, n=None, reason="a group")
        reported = {("acc", "none"): HarnessResult(n_right / 100, 0.03)}
        return [task, replace(task, task="group", data=(group,), subtasks=("toy",), reported=reported)]

    ranking = {row.task: row for row in rank([*run("a", 60), *run("b", 30)])}["group"]
    assert [one.system for one in ranking.systems] == ["a", "b"]
    assert has(ranking, "independent-comparison")


@pytest.mark.parametrize("seed", range(12))
def test_ranks_best_system_and_groups_of_a_table_never_contradict_each_other(seed: int) -> None:
    rng = np.random.default_rng([20261128, seed])
    n_systems, n_questions = rng.integers(2, 9), rng.integers(8, 200)
    difficulty = rng.normal(0, 1, n_questions)
    tables = {
        f"t{k}": {
            f"s{j}": (rng.logistic(difficulty + gap) < 0).astype(float)
            for j, gap in enumerate(rng.normal(0, rng.choice([0.1, 0.5, 2]), n_systems))
        }
        for k in range(2)
    }
    logs = [task_log(v, system=name, task=task) for task, by_name in tables.items() for name, v in by_name.items()]
    rankings = rank(logs, n_draws=2000, overall=True)
    assert rankings.overall is not None
    for systems in (rankings.overall.systems, *(row.systems for row in rankings)):
        ranges = {one.system: one.rank_interval for one in systems}
        for one in systems:
            low, high = ranges[one.system]
            assert (high == 1) == (one.prob_best >= 0.975 - 1e-12)
            assert (low == 1) == (one.prob_best > 0.025)
            assert all(
                bool(set(one.tie_group) & set(other.tie_group))
                == (low <= ranges[other.system][1] and ranges[other.system][0] <= high)
                for other in systems
            )
