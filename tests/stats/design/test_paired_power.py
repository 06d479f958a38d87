"""Power of the default comparison against other implementations, enumeration and simulated data."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.design.paired_power import PairedDesign, WidthRatio, default_width_ratio, discordant_power
from harness_uq.stats.units.contrasts import PairedDifferences, contrast_posteriors


@pytest.mark.parametrize(("effect", "published"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_paired_samples_have_the_published_sizes(effect: float, published: int) -> None:
    """G*Power, paired t test, two-sided, alpha .05, power .8, for Cohen's small, medium and large effects."""
    assert PairedDesign(1.0).required(effect) == published


@pytest.mark.parametrize(("n", "size"), [(12, 1.0), (60, 10.0), (500, 4.4)])
def test_power_is_that_of_the_noncentral_t_distribution(n: int, size: float) -> None:
    df, shift = n / size - 1, 0.15 / math.sqrt(0.3 / n)
    t = 1.1 * stats.t.ppf(0.975, df)
    expected = stats.nct.sf(t, df, shift) + stats.nct.cdf(-t, df, shift)
    design = PairedDesign(0.3, size, width_ratio=WidthRatio(ratios=(1.1,)))
    assert design.power(0.15, n) == pytest.approx(expected, abs=1e-7)  # scipy 1.12 computes nctdtr to 3e-8


def test_one_unit_detects_nothing() -> None:
    design = PairedDesign(0.3, cluster_size=10.0)
    assert (design.power(0.5, 10), design.detectable(10)) == (0.0, None)


@pytest.mark.parametrize("effect", [1e-4, 30.0])
def test_power_lies_between_the_type_i_error_and_1(effect: float) -> None:
    assert 0.0499 < PairedDesign(1.0).power(effect, 40) <= 1.0


def test_the_enumerated_decisions_are_those_of_the_default() -> None:
    """All tables of 14 questions, with their multinomial probabilities."""
    n, effect, share = 14, 0.3, 0.5
    tables = [(b, c) for b, c in product(range(n + 1), repeat=2) if b + c <= n]
    pairs = [PairedDifferences(np.repeat([1.0, -1.0, 0.0], [b, c, n - b - c]), 0.0, 1.0) for b, c in tables]
    limits = [posterior.interval(0.95) for posterior in contrast_posteriors(pairs)]
    cells = [(share + effect) / 2, (share - effect) / 2, 1 - share]
    expected = sum(
        stats.multinomial.pmf([b, c, n - b - c], n, cells)
        for (b, c), (low, high) in zip(tables, limits, strict=True)
        if low > 0 or high < 0
    )
    assert discordant_power(effect, n, share) == pytest.approx(expected, abs=1e-9)


def test_without_a_difference_the_enumerated_power_is_at_most_the_type_i_error() -> None:
    assert all(discordant_power(0.0, n, 0.3) < 0.06 for n in (10, 30, 100, 1000))
    assert discordant_power(0.0, 10, 0.0) == 0.0


@pytest.mark.parametrize("design", [PairedDesign(0.3, discordant=0.3), PairedDesign(0.3, 4.0), PairedDesign(0.3, None)])
@pytest.mark.parametrize("n", [60, 800])
def test_the_detectable_difference_needs_the_questions_that_there_are(design: PairedDesign, n: int) -> None:
    effect = design.detectable(n)
    assert design.power(effect, n) == pytest.approx(0.8, abs=1e-4)
    assert design.required(effect * (1 + 1e-6)) == pytest.approx(n, rel=0.02)


def test_a_difference_that_needs_too_many_questions_has_no_number() -> None:
    assert PairedDesign(0.3).required(1e-6) is None
    assert PairedDesign(0.3, None).required(1e-6) is None
    assert PairedDesign(0.3, discordant=0.3).required(1.5) is None


def test_more_discordant_questions_than_the_difference_are_required() -> None:
    with pytest.raises(DataError, match="discordant must lie"):
        discordant_power(0.4, 20, 0.3)
    assert PairedDesign(0.0, discordant=0.0).power(0.3, 40) == discordant_power(0.3, 40, 0.3)


@pytest.mark.parametrize(("sd", "n"), [(0.05, 20), (0.15, 50)])
def test_the_width_ratio_is_that_of_simulated_data(sd: float, n: int) -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(0.65 * sd, sd, (200, n))
    lows = [one.interval(0.95)[0] for one in contrast_posteriors([PairedDifferences(d, 0.0, 1.0) for d in data])]
    half = stats.t.ppf(0.975, n - 1) * data.std(axis=1, ddof=1) / math.sqrt(n)
    simulated = np.median((data.mean(axis=1) - lows) / half)
    assert default_width_ratio(sd, 1, None).at(n) == pytest.approx(simulated, abs=0.03)


def test_a_width_ratio_is_constant_beyond_its_numbers() -> None:
    ratio = WidthRatio((2.0, 8.0), (1.4, 1.0))
    assert [ratio.at(n) for n in (1, 2, 4, 8, 100)] == pytest.approx([1.4, 1.4, 1.2, 1.0, 1.0])
