"""McNemar, Tango, paired t: references from logs and papers, mirror images, refusals."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special
from statsmodels.stats.contingency_tables import mcnemar

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.pairs.paired import paired_differences
from harness_uq.stats.pairs.paired_frequentist import (
    clustered_paired_t,
    mcnemar_test,
    paired_t,
    score_correlation,
    tango_interval,
    variance_reduction,
)
from tests.reference_values import reference_values

tables = st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any)
CELLS = ("both", "a_only", "b_only", "neither")


def _binary_pairs() -> list[dict[str, object]]:
    reference = reference_values("reference_intervals.json")
    logs = reference_values("paired_clustered.json")
    pairs = [
        *reference["langchain_paired"].values(),
        *reference["aime2_paired_first_attempt_consecutive"].values(),
        *(entry for entry in logs.values() if isinstance(entry, dict)),
    ]
    return [pair for pair in pairs if "table" in pair]


def test_logged_pairs_give_the_reference_mcnemar_and_t() -> None:
    # reference_intervals.json and paired_clustered.json: tables, exact p, standard error, t interval and p
    pairs = _binary_pairs()
    assert len(pairs) >= 50
    for pair in pairs:
        table = [pair["table"][cell] for cell in CELLS]  # type: ignore[index]
        assert mcnemar_test(table) == pytest.approx(pair["mcnemar_exact_p"], rel=1e-12)
        differences = np.repeat([0.0, 1.0, -1.0, 0.0], table)
        if pair["se"] == 0:
            with pytest.raises(NotEstimableError, match="standard error is 0"):
                paired_t(differences)
            continue
        t = paired_t(differences)
        assert (t.mean, t.std_error) == pytest.approx((pair["diff"], pair["se"]), rel=1e-12)
        assert t.interval() == pytest.approx(pair["ci_t"], rel=1e-9)
        assert 2 * min(float(t.cdf(0)), 1 - float(t.cdf(0))) == pytest.approx(pair["t_p"], rel=1e-9)


def test_question_means_of_four_attempts_give_the_reference_t(shared: Path) -> None:
    reference = reference_values("reference_intervals.json")
    rows = (shared / "data/csv/no_clt_paper/matharena_aime_II.csv").read_text().splitlines()
    names = rows[0].split(",")[1:]
    scores = np.array([row.split(",")[1:] for row in rows[1:]], float).reshape(15, 4, len(names))
    for pair, expected in reference["aime2_paired_on_question_means_consecutive"].items():
        a, b = (names.index(name) for name in pair.split(" - "))
        t = paired_t(paired_differences(scores[:, :, a], scores[:, :, b]))
        assert (t.mean, t.std_error) == pytest.approx((expected["diff"], expected["se"]), abs=1e-12)
        assert t.interval() == pytest.approx(expected["ci_t"], abs=1e-9)


@given(tables)
def test_mcnemar_agrees_with_statsmodels(table: list[int]) -> None:
    both, only_a, only_b, neither = table
    expected = float(mcnemar([[both, only_a], [only_b, neither]], exact=True).pvalue)
    assert mcnemar_test(table) == pytest.approx(min(expected, 1.0), rel=1e-9)
    assert mcnemar_test(table, mid_p=True) <= mcnemar_test(table)


def test_published_airway_example() -> None:
    # Fagerland, Lydersen and Laake (2013, 2014): table (1, 1, 7, 12), p = .070, mid-p = .039, Tango [-.517, -.026]
    assert mcnemar_test([1, 1, 7, 12]) == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_test([1, 1, 7, 12], mid_p=True) == pytest.approx(0.0391, abs=5e-5)
    assert tango_interval([1, 1, 7, 12]) == pytest.approx((-0.517, -0.026), abs=5e-4)


def test_no_discordant_question_is_no_evidence_and_a_tie_neither() -> None:
    assert mcnemar_test([5, 0, 0, 3]) == mcnemar_test([5, 0, 0, 3], mid_p=True) == 1.0
    assert mcnemar_test([5, 4, 4, 3], mid_p=True) == pytest.approx(1.0, abs=1e-15)


@given(tables)
def test_tango_mirrors_has_a_width_and_stays_inside(table: list[int]) -> None:
    low, high = tango_interval(table)
    mirrored = tango_interval([table[0], table[2], table[1], table[3]])
    assert -1 <= low < high <= 1
    assert (low, high) == pytest.approx((-mirrored[1], -mirrored[0]), abs=1e-9)


@pytest.mark.parametrize("table", [[60, 12, 5, 23], [17, 2, 0, 1], [3, 1, 2, 1]])
def test_tango_ends_sit_at_the_critical_value_of_the_likelihood(table: list[int]) -> None:
    # the restricted maximum likelihood of P(only B) by scipy's optimiser, not by the closed form
    n, only_a, only_b = sum(table), table[1], table[2]
    for d in tango_interval(table):

        def loss(q: float, d: float = d) -> float:
            tie = special.xlogy(n - only_a - only_b, 1 - 2 * q - d)
            return -float(special.xlogy(only_a, q + d) + special.xlogy(only_b, q) + tie)

        ends = (max(0.0, -d) + 1e-12, (1 - d) / 2 - 1e-12)
        q = optimize.minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
        z = (only_a - only_b - n * d) / np.sqrt(n * (2 * q + d * (1 - d)))
        assert abs(z) == pytest.approx(1.959964, abs=1e-4)


def test_clustered_t_of_singletons_is_the_paired_t_and_leaves_out_what_is_missing() -> None:
    rng = np.random.default_rng(4)
    d = rng.normal(size=12)
    plain, clustered = paired_t(d), clustered_paired_t(d, np.arange(12))
    assert clustered.std_error == pytest.approx(plain.std_error, rel=1e-12)
    assert clustered.df == plain.df
    assert clustered_paired_t(d, np.arange(12), correction="CR2").std_error == pytest.approx(plain.std_error, rel=1e-12)
    with_gap = clustered_paired_t([*d, np.nan], [*range(12), 3])
    assert with_gap.std_error == pytest.approx(plain.std_error, rel=1e-12)


def test_pairing_saves_twice_the_covariance() -> None:
    # Miller's example: equal variances and a correlation of 0.5 halve the variance of the difference
    a, b = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    assert score_correlation(a, b) == pytest.approx(0.5)
    assert variance_reduction(a, b) == pytest.approx(0.5)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20))
def test_variance_saved_is_the_covariance_over_the_mean_variance(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    if a.var() + b.var() > 1e-6:
        assert variance_reduction(a, b) == pytest.approx(2 * np.cov(a, b, ddof=0)[0, 1] / (a.var() + b.var()), abs=1e-9)


def test_says_what_it_cannot_answer() -> None:
    with pytest.raises(NotEstimableError, match="system A has the same score on all 3 questions"):
        score_correlation([1, 1, 1], [0, 1, 0])
    with pytest.raises(NotEstimableError, match="there is no variance"):
        variance_reduction([1, 1], [0, 0])
    with pytest.raises(DataError, match="same questions"):
        score_correlation([1, 1], [0, 1, 0])
    with pytest.raises(DataError, match="no question has a score in both"):
        score_correlation([np.nan, 1], [0, np.nan])
    with pytest.raises(DataError, match="whole counts"):
        mcnemar_test([1, 0.5, 2, 0])
    with pytest.raises(DataError, match="one label per question"):
        clustered_paired_t([1.0, 0.0], [1])
