"""Confidence sequences: fair bets, limits that must agree, clusters, benchmarks drawn from, and type I error."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats import beta_posterior, confidence_sequence, paired_confidence_sequence
from harness_uq.stats.sequential.wealth import Units, dispersion, log_wealth


def units(totals, sizes=None, *, whole=np.inf, largest=None, planned=None):
    totals = np.asarray(totals, float)
    sizes = np.ones(totals.shape[-1]) if sizes is None else np.asarray(sizes, float)
    n = planned or totals.shape[-1]
    horizon = np.maximum(np.arange(1.0, len(sizes) + 1), n)
    return Units(totals, sizes, float(sizes.mean()), float(largest or sizes.max()), whole, horizon)


def capital(of: Units, mean: float) -> np.ndarray:
    return np.exp(log_wealth(of, dispersion(of), mean, 0.025))


def ever_alarms(of: Units, mean: float) -> np.ndarray:
    """Whether the sequence of each run is ever without the mean, at 95 %."""
    spread, other = dispersion(of), of.mirrored()
    highest = np.maximum(log_wealth(of, spread, mean, 0.025), log_wealth(other, spread, 1 - mean, 0.025))
    return (highest >= np.log(40)).any(axis=-1)


class TestFairGame:
    @pytest.mark.parametrize("mean", [0.1, 0.5, 0.93])
    def test_capital_is_worth_1_on_average_after_any_number_of_answers(self, mean):
        # exact: all 2^8 outcomes of eight questions, each weighed by its chance
        outcomes = np.array(list(itertools.product([0.0, 1.0], repeat=8)))
        chances = np.prod(np.where(outcomes == 1, mean, 1 - mean), axis=1)
        np.testing.assert_allclose(chances @ capital(units(outcomes), mean), 1, rtol=1e-12)

    def test_it_is_where_sizes_and_scores_of_clusters_are_related(self):
        # one question, right, or three, one of them right: E[T] / E[N] = (1 + 1) / (1 + 3) at equal chances
        kinds = list(itertools.product([(1.0, 1.0), (1.0, 3.0)], repeat=6))
        drawn = [replace(units(*zip(*kind, strict=True), largest=3), typical=2.0) for kind in kinds]
        assert np.mean([capital(of, 0.5) for of in drawn], axis=0) == pytest.approx(np.ones(6), rel=1e-12)

    def test_it_is_in_every_order_of_a_whole_benchmark(self):
        orders = np.array(list(itertools.permutations([1.0, 1.0, 0.0, 0.4, 1.0, 0.0])))
        np.testing.assert_allclose(capital(units(orders, whole=6.0), 3.4 / 6).mean(axis=0), 1, rtol=1e-12)

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.01, 0.98))
    def test_it_falls_as_the_claim_rises(self, scores, mean):
        for whole in (np.inf, 30.0):
            of = units(scores, whole=whole)
            assert (capital(of, mean + 0.01) <= capital(of, mean) * (1 + 1e-9)).all()


class TestLimits:
    def test_a_whole_benchmark_leaves_the_score_itself(self):
        scores = np.random.default_rng(1).permutation([1.0] * 61 + [0.0] * 19 + [0.25] * 20)
        sequence = confidence_sequence(scores, planned=100, scope="full")
        assert sequence.low[-1] == pytest.approx(0.66, abs=1e-12)
        assert sequence.high[-1] == pytest.approx(0.66, abs=1e-12)
        assert (np.diff(sequence.width[-5:]) < 0).all()

    def test_a_large_benchmark_is_a_population(self):
        scores = (np.arange(200) % 3 > 0).astype(float)
        of = units(scores, planned=200)
        drawn = Units(of.totals, of.sizes, of.typical, of.largest, 1e9, of.horizon)
        np.testing.assert_allclose(capital(drawn, 0.6), capital(of, 0.6), rtol=1e-4)

    def test_clusters_of_one_are_questions(self):
        scores = np.random.default_rng(2).random(60)
        one, other = confidence_sequence(scores), confidence_sequence(scores, clusters=np.arange(60))
        np.testing.assert_array_equal(one.low, other.low)

    def test_a_cluster_of_alike_answers_is_one_question(self):
        scores = np.random.default_rng(3).integers(0, 2, 40).astype(float)
        one = confidence_sequence(scores, planned=40)
        three = confidence_sequence(np.repeat(scores, 3), clusters=np.repeat(np.arange(40), 3), planned=120)
        np.testing.assert_allclose(three.low, one.low, atol=1e-12)
        np.testing.assert_array_equal(three.n_questions, 3 * one.n_questions)

    @settings(max_examples=20)
    @given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
    def test_exchanging_right_and_wrong_mirrors_it(self, levels):
        scores = np.array(levels) / 4
        one, other = confidence_sequence(scores), confidence_sequence(1 - scores)
        np.testing.assert_allclose(one.low, 1 - other.high, atol=1e-12)

    def test_exchanging_the_systems_mirrors_the_difference(self):
        a, b = np.random.default_rng(4).random((2, 50))
        one, other = paired_confidence_sequence(a, b), paired_confidence_sequence(b, a)
        np.testing.assert_allclose(one.low, -other.high, atol=1e-12)
        assert one.mean[-1] == pytest.approx((a - b).mean())

    def test_other_bounds_only_rescale(self):
        scores = np.random.default_rng(5).random(30)
        one, other = confidence_sequence(scores), confidence_sequence(100 * scores - 20, bounds=(-20, 80))
        np.testing.assert_allclose(100 * one.low - 20, other.low, atol=1e-9)

    def test_ends_are_where_the_capital_is_2_over_alpha(self):
        scores = np.random.default_rng(6).random(150)
        sequence = confidence_sequence(scores, planned=150)
        of = units(scores)
        for look in (20, 80, 149):
            log_e = log_wealth(of, dispersion(of), float(sequence.low[look]), 0.025)[look]
            assert log_e == pytest.approx(np.log(40), abs=1e-3)

    def test_more_questions_close_it_on_the_plain_score(self):
        scores = (np.arange(40_000) % 4 > 0).astype(float)
        sequence = confidence_sequence(scores)
        assert sequence.low[-1] < 0.75 < sequence.high[-1]
        assert sequence.width[-1] < 0.03 < 0.08 < sequence.width[999]


class TestUnits:
    def test_a_cluster_counts_when_its_last_question_is_scored(self):
        sequence = confidence_sequence([1, 0, 1, 1, 0], clusters=list("abacbc"), planned=6)
        assert sequence.n_questions.tolist() == [3, 5]
        assert sequence.mean.tolist() == [1.0, 0.5]

    def test_it_says_after_how_many_questions_a_value_is_out(self):
        sequence = paired_confidence_sequence(np.ones(40), np.zeros(40), planned=100)
        first = sequence.first_without(0.0)
        assert sequence.low[first - 1] > 0 >= sequence.low[first - 2]
        assert sequence.first_without(1.0) is None

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"scores": [0.5, 1.2]}, "must lie in"),
            ({"scores": []}, "at least one score"),
            ({"scores": [1, np.nan]}, "finite"),
            ({"scores": [1, 0], "planned": 1}, "2 scores are more than the 1 questions planned"),
            (
                {"scores": [1, 0], "planned": 4, "clusters": [1, 1]},
                r"one label per question, shape \(4,\)",
            ),
            ({"scores": [1, 0], "planned": 3, "clusters": [1, 1, 1]}, "no cluster is complete"),
            ({"scores": [1, 0], "scope": "full"}, "requires planned"),
            ({"scores": [1, 0], "bounds": (1, 0)}, "bounds"),
            ({"scores": [1, 0], "level": 95}, "level"),
        ],
    )
    def test_it_says_what_it_cannot_use(self, options, said):
        with pytest.raises(DataError, match=said):
            confidence_sequence(**options)

    def test_pairs_need_the_same_questions(self):
        with pytest.raises(DataError, match="got 2 and 3"):
            paired_confidence_sequence([1, 0], [1, 0, 1])


@pytest.mark.slow
class TestCalibration:
    """2,000 runs a claim, looked at after every question; benchmarks/sim_looks.py makes 10,000 in more designs."""

    N = 2000

    def check(self, alarms):
        assert stats.binomtest(int(alarms.sum()), self.N, 0.05, alternative="greater").pvalue > 0.01
        assert alarms.sum() > 0

    @pytest.mark.parametrize("mean", [0.5, 0.95])
    def test_questions(self, mean):
        rng = np.random.default_rng(7)
        self.check(ever_alarms(units((rng.random((self.N, 200)) < mean).astype(float)), mean))

    def test_scores_with_a_spike_at_0(self):
        rng = np.random.default_rng(8)
        scores = np.where(rng.random((self.N, 200)) < 0.3, 0.0, rng.beta(8, 2, (self.N, 200)))
        self.check(ever_alarms(units(scores), 0.7 * 0.8))

    def test_passages(self):
        rng = np.random.default_rng(9)
        totals = rng.binomial(4, rng.beta(1.6, 0.4, (self.N, 150)))
        self.check(ever_alarms(units(totals, np.full(150, 4)), 0.8))

    def test_a_benchmark_in_random_order(self):
        rng = np.random.default_rng(10)
        scores = rng.permuted(np.tile(np.repeat([1.0, 0.0], [160, 40]), (self.N, 1)), axis=1)
        self.check(ever_alarms(units(scores, whole=200.0), 0.8))

    def test_it_costs_at_most_six_tenths_of_the_width_at_the_end(self):
        rng = np.random.default_rng(11)
        ratios = []
        for _ in range(9):
            x = (rng.random(400) < 0.8).astype(float)
            low, high = beta_posterior(x.sum(), 400).interval(0.95, "hdi")
            ratios.append(confidence_sequence(x, planned=400).width[-1] / (high - low))
        assert np.median(ratios) < 1.6

    def test_twice_the_detectable_difference_is_found_with_four_tenths_of_the_questions_to_spare(self):
        # 300 pairs, 30 % discordant; 2.8 sd / sqrt(n) is found in 80 % of runs by one look at the end
        rng, outcomes = np.random.default_rng(12), np.array([[1, 0, 1], [0, 1, 1]])
        stops = [
            paired_confidence_sequence(*outcomes[:, rng.choice(3, 300, p=p)], planned=300).first_without(0)
            for p in [(0.2343, 0.0657, 0.7)] * 21
        ]
        assert np.median([300 if stop is None else stop for stop in stops]) <= 0.6 * 300
