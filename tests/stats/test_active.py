"""Active evaluation: factor model, prior of a new system, draws and estimates of rounds."""

import numpy as np
import pytest
from scipy import special, stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.active.factor_model import FactorModel, fit_factor_model
from harness_uq.stats.active.predictor import NO_ANSWERS, NO_FORECAST, Answers, Forecast, Predictor, fit_predictor
from harness_uq.stats.active.rounds import Knowledge, combine_differences, combine_rounds, draw_round, estimate_round
from harness_uq.stats.active.system_prior import predicted_means, system_posterior, system_prior
from harness_uq.stats.subsets.estimate import SubsetEstimate


def leaderboard(n_systems: int, n: int, rank: int, seed: int) -> np.ndarray:
    """Scores of a logistic factor model whose factors have a standard deviation of 1 on the log-odds."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(0, 1, n) + rng.normal(size=(n_systems, rank)) @ rng.normal(size=(rank, n))
    return (rng.random((n_systems, n)) < special.expit(log_odds)).astype(float)


def run(predictor: Predictor, scores: np.ndarray, sizes: list[int], rng: np.random.Generator) -> SubsetEstimate:
    known, rounds = Knowledge(), []
    for n in sizes:
        draw = draw_round(predictor, [known], n, rng)
        answers = Answers(draw.questions, scores[draw.questions])
        rounds.append(estimate_round(predictor, known, answers, draw.probabilities))
        known = known.after(rounds[-1])
    return combine_rounds(rounds, len(scores))


def test_without_factors_the_model_is_the_mean_score_of_each_question() -> None:
    model = fit_factor_model([[1, 0, np.nan], [1, 1, np.nan]], rank=0)
    assert special.expit(model.intercepts) == pytest.approx([3 / 4, 2 / 4, 1 / 2])  # one success and failure added


def test_the_rank_is_zero_for_noise_and_near_the_true_rank_otherwise() -> None:
    noise = (np.random.default_rng(0).random((60, 300)) < 0.5).astype(float)
    assert fit_factor_model(noise).rank == 0
    assert fit_factor_model(leaderboard(120, 600, 2, 1)).rank in (2, 4)


def test_factors_predict_scores_that_were_left_out() -> None:
    scores = leaderboard(100, 500, 2, 2)
    left_out = np.random.default_rng(3).random(scores.shape) < 0.5
    model = fit_factor_model(np.where(left_out, np.nan, scores), rank=2)
    log_odds = model.intercepts + model.factors @ model.loadings.T
    of_factors, of_means = (
        stats.spearmanr(x[left_out], scores[left_out])[0] for x in (log_odds, log_odds * 0 + model.intercepts)
    )
    assert of_factors > 1.4 * of_means


def test_the_fit_is_a_stationary_point_of_the_penalized_likelihood_of_the_factors() -> None:
    scores = leaderboard(40, 200, 1, 4)
    model = fit_factor_model(scores, rank=1)
    residual = scores - special.expit(model.intercepts + model.factors @ model.loadings.T)
    gradient = residual @ model.loadings - model.factors
    information = (model.loadings**2).sum() * 0.25 + 1.0
    assert np.abs(gradient / information).max() < 0.05  # distance to the mode in units of the prior's sd


@pytest.mark.parametrize("history", [[1.0, 0.0], [[2.0, 0.0]], [[np.nan, np.nan]]])
def test_an_invalid_history_is_refused(history: list[object]) -> None:
    with pytest.raises(DataError):
        fit_factor_model(history)


def test_a_rank_above_the_number_of_systems_is_refused() -> None:
    with pytest.raises(DataError, match="rank"):
        fit_factor_model([[1.0, 0.0]], rank=2)


def test_predictions_agree_with_integration_over_a_grid() -> None:
    rng = np.random.default_rng(5)
    loadings, factors = rng.normal(1, 0.5, (50, 1)), rng.normal(0, 1, (30, 1))
    model = FactorModel(*(x.astype(np.float32) for x in (rng.normal(size=50), loadings, factors - factors.mean())))
    prior = system_prior(model)
    questions, scores = np.arange(12), (rng.random(12) < 0.8).astype(float)
    predicted = predicted_means(model, system_posterior(model, prior, questions, scores))
    grid = np.linspace(-8, 8, 4001)
    sds = np.sqrt(prior.scales / prior.precision[0, 0])
    density = np.exp(prior.log_weights) @ stats.norm.pdf(grid, prior.centres, sds[:, None])
    means = special.expit(model.intercepts[:, None] + model.loadings * grid)
    likelihood = np.prod(np.where(scores[:, None] > 0, means[questions], 1 - means[questions]), axis=0)
    weights = density * likelihood / (density * likelihood).sum()
    assert predicted == pytest.approx(means @ weights, abs=0.03)


def test_the_prior_is_concentrated_around_earlier_systems_if_these_are_variants_of_each_other() -> None:
    rng = np.random.default_rng(6)
    alike = np.repeat(rng.normal(size=(20, 4)), 5, axis=0) + 0.1 * rng.normal(size=(100, 4))
    unlike = rng.normal(size=(100, 4))
    near = []
    for factors in (alike, unlike):
        prior = system_prior(FactorModel(np.zeros(3, "f4"), np.zeros((3, 4), "f4"), factors.astype("f4")))
        assert np.exp(prior.log_weights).sum() == pytest.approx(1)
        near.append(float(np.exp(prior.log_weights[2:102]).sum()))  # the components with the smallest variance
    assert near[0] > 0.5 > 0.1 > near[1]


def test_predictions_without_a_forecast_are_not_changed_by_calibration() -> None:
    predictor = fit_predictor(leaderboard(30, 100, 1, 7))
    log_odds = predictor.log_odds(NO_ANSWERS)
    assert predictor.calibrated(log_odds, NO_FORECAST) == pytest.approx(special.expit(log_odds))


def test_a_misleading_forecast_is_inverted_or_ignored() -> None:
    predictor = fit_predictor(leaderboard(30, 400, 1, 8))
    log_odds = np.random.default_rng(9).normal(0, 1.5, 400)
    questions = np.arange(400)
    inverted = Forecast(Answers(questions, (log_odds < 0).astype(float)), log_odds)
    assert np.corrcoef(predictor.calibrated(log_odds, inverted), log_odds)[0, 1] < -0.8
    unrelated = Forecast(Answers(questions, np.tile([0.0, 1.0, 1.0, 1.0], 100)), log_odds)
    assert predictor.calibrated(log_odds, unrelated) == pytest.approx(0.75, abs=0.12)


@pytest.mark.slow
def test_later_rounds_draw_new_questions_with_the_stated_probabilities() -> None:
    scores = leaderboard(21, 60, 1, 10)
    predictor = fit_predictor(scores[:20])
    known = Knowledge(Answers(np.arange(0, 60, 4), scores[20, ::4]))
    counts, stated = np.zeros(60), np.zeros(60)
    rng = np.random.default_rng(11)
    for _ in range(1500):
        draw = draw_round(predictor, [known], 12, rng)
        assert len(np.unique(draw.questions)) == 12
        counts[draw.questions] += 1
        stated[draw.questions] = draw.probabilities
    assert not counts[::4].any()
    rest = np.arange(60) % 4 > 0
    assert stated[rest].std() > 0.01
    chi_squared = np.sum((counts[rest] / 1500 - stated[rest]) ** 2 / (stated[rest] * (1 - stated[rest]) / 1500))
    assert chi_squared < stats.chi2.ppf(0.9999, 45)


def test_a_history_that_says_nothing_gives_the_plain_mean_and_its_variance() -> None:
    predictor = fit_predictor([[0.5] * 400])
    scores = (np.random.default_rng(12).random(400) < 0.7).astype(float)
    draw = draw_round(predictor, [Knowledge()], 100, np.random.default_rng(13))
    drawn = scores[draw.questions]
    estimate = estimate_round(predictor, Knowledge(), Answers(draw.questions, drawn), draw.probabilities)
    assert estimate.mean == pytest.approx(drawn.mean(), abs=1e-12)
    assert estimate.variance == pytest.approx(drawn.var(ddof=1) / 100 * (1 - 100 / 400), rel=0.06)  # Cochran, eq. 2.20


def test_all_questions_give_their_mean_score_exactly() -> None:
    scores = leaderboard(11, 50, 1, 14)
    estimate = run(fit_predictor(scores[:10]), scores[10], [20, 20, 10], np.random.default_rng(15))
    assert (estimate.mean, estimate.std_error) == (pytest.approx(scores[10].mean(), abs=1e-12), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["informative", "inverted", "permuted"])
def test_estimates_are_unbiased_and_their_variance_is_right_for_any_history(case: str) -> None:
    scores = leaderboard(16, 200, 1, 16)
    history, new = scores[:15], scores[15]
    history = {"informative": history, "inverted": 1 - history, "permuted": history[:, ::-1]}[case]
    predictor, rng = fit_predictor(history), np.random.default_rng(17)
    estimates = [run(predictor, new, [15, 15], rng) for _ in range(120)]
    errors = np.array([estimate.mean - new.mean() for estimate in estimates])
    assert abs(errors.mean()) < 3.3 * errors.std() / np.sqrt(len(errors))
    assert np.mean([estimate.std_error**2 for estimate in estimates]) == pytest.approx(errors.var(), rel=0.45)


def test_a_small_late_round_is_predicted_from_the_earlier_answers_alone() -> None:
    scores = leaderboard(21, 300, 1, 18)
    predictor = fit_predictor(scores[:20])
    known = Knowledge(
        Answers(np.arange(100), scores[20, :100]), Forecast(Answers(np.arange(100), scores[20, :100]), np.zeros(100))
    )
    questions = np.arange(100, 108)
    estimate = estimate_round(predictor, known, Answers(questions, scores[20, questions]), np.full(8, 0.04))
    assert estimate.forecast.log_odds == pytest.approx(predictor.log_odds(known.answers)[questions])


def test_effective_questions_of_a_useless_history_are_about_the_questions_asked() -> None:
    scores = (np.random.default_rng(19).random(500) < 0.6).astype(float)
    estimate = run(fit_predictor([[0.5] * 500]), scores, [40, 40], np.random.default_rng(20))
    assert estimate.effective_questions == pytest.approx(80, rel=0.15)


@pytest.mark.slow
def test_intervals_cover_scores_of_a_model_that_is_not_a_factor_model() -> None:
    covered, rng = 0, np.random.default_rng(21)
    for seed in range(150):
        slope, difficulty = 1.7 * np.exp(rng.normal(0, 0.5, 400)), rng.normal(0, 2, 400)
        ability = rng.normal(size=(26, 1))
        scores = (rng.random((26, 400)) < special.expit(slope * (ability - difficulty))).astype(float)
        estimate = run(fit_predictor(scores[:25]), scores[25], [20, 20, 20], np.random.default_rng(seed))
        low, high = estimate.interval()
        covered += low <= scores[25].mean() <= high
    assert stats.binomtest(covered, 150, 0.95).pvalue > 1e-3


@pytest.mark.slow
def test_intervals_of_differences_cover_the_difference_on_all_questions() -> None:
    covered = 0
    for seed in range(100):
        scores = leaderboard(22, 300, 1, 1000 + seed)
        predictor, rng = fit_predictor(scores[:20]), np.random.default_rng(seed)
        known, rounds = [Knowledge(), Knowledge()], []
        for _ in range(3):
            draw = draw_round(predictor, known, 20, rng)
            estimates = [
                estimate_round(predictor, each, Answers(draw.questions, new[draw.questions]), draw.probabilities)
                for each, new in zip(known, scores[20:], strict=True)
            ]
            known = [each.after(estimate) for each, estimate in zip(known, estimates, strict=True)]
            rounds.append(estimates)
        low, high = combine_differences(*map(list, zip(*rounds, strict=True)), 300).interval()
        covered += low <= scores[20].mean() - scores[21].mean() <= high
    assert stats.binomtest(covered, 100, 0.95).pvalue > 1e-3
