"""McNemar and paired t: references from logs and papers, refusals."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.pairs.paired_frequentist import (
    mcnemar_test,
    paired_t,
    pairing_gain,
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
        t = paired_t((scores[:, :, a] - scores[:, :, b]).mean(axis=1))
        assert (t.mean, t.std_error) == pytest.approx((expected["diff"], expected["se"]), abs=1e-12)
        assert t.interval() == pytest.approx(expected["ci_t"], abs=1e-9)


@given(tables)
def test_mcnemar_agrees_with_statsmodels(table: list[int]) -> None:
    both, only_a, only_b, neither = table
    expected = float(mcnemar([[both, only_a], [only_b, neither]], exact=True).pvalue)
    assert mcnemar_test(table) == pytest.approx(min(expected, 1.0), rel=1e-9)
    assert mcnemar_test(table, mid_p=True) <= mcnemar_test(table)


def test_published_airway_example() -> None:
    # Fagerland, Lydersen and Laake (2013, 2014): table (1, 1, 7, 12), p = .070, mid-p = .039
    assert mcnemar_test([1, 1, 7, 12]) == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_test([1, 1, 7, 12], mid_p=True) == pytest.approx(0.0391, abs=5e-5)


def test_no_discordant_question_is_no_evidence_and_a_tie_neither() -> None:
    assert mcnemar_test([5, 0, 0, 3]) == mcnemar_test([5, 0, 0, 3], mid_p=True) == 1.0
    assert mcnemar_test([5, 4, 4, 3], mid_p=True) == pytest.approx(1.0, abs=1e-15)


def test_pairing_saves_twice_the_covariance() -> None:
    # Miller's example: equal variances and a correlation of 0.5 halve the variance of the difference
    a, b = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    assert pairing_gain(a, b) == pytest.approx((0.5, 0.5))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20))
def test_variance_saved_is_the_covariance_over_the_mean_variance(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    if a.var() + b.var() > 1e-6:
        assert pairing_gain(a, b)[1] == pytest.approx(2 * np.cov(a, b, ddof=0)[0, 1] / (a.var() + b.var()), abs=1e-9)


def test_says_what_it_cannot_answer() -> None:
    assert pairing_gain([1, 1, 1], [0, 1, 0]) == (None, pytest.approx(0))
    assert pairing_gain([1, 1], [0, 0]) == (None, None)
    with pytest.raises(DataError, match="same questions"):
        pairing_gain([1, 1], [0, 1, 0])
    with pytest.raises(DataError, match="no question has a score in both"):
        pairing_gain([np.nan, 1], [0, np.nan])
    with pytest.raises(DataError, match="whole counts"):
        mcnemar_test([1, 0.5, 2, 0])
