import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special
from scipy.stats import binomtest, kstest

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.units import gamma_contour_integral
from harness_uq.stats.units.gamma_contour_integral import prob_linear_form_positive
from harness_uq.stats.units.process import DirichletRatioPosterior

P = np.array([1e-6, 0.025, 0.5, 0.975, 1 - 1e-6])


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.5, 0.5), (20.5, 0.5), (3.0, 400.0)])
def test_mean_of_two_atoms_is_beta(a: float, b: float) -> None:
    posterior = DirichletRatioPosterior([0, 1], [b, a])
    x = special.betaincinv(a, b, P)
    assert posterior.cdf(x) == pytest.approx(special.betainc(a, b, x), abs=1e-11)
    assert posterior.quantile(P) == pytest.approx(x, abs=1e-6 * posterior.sd)


def test_mean_of_two_atoms_is_beta_where_betainc_fails() -> None:
    # scipy's betainc is off by 1e-8 here before 1.17; these: the density integrated by mpmath 1.4 with 60 digits
    x = [0.499946895, 0.4999780872, 0.5, 0.5000219128]
    p = [1.0176971588055893e-6, 0.025000070577051232, 0.49999107937942035, 0.97499731555893843]
    posterior = DirichletRatioPosterior([0, 1], [1e9, 1e9 + 1])
    assert posterior.cdf(x) == pytest.approx(p, abs=1e-11)
    assert posterior.quantile(p) == pytest.approx(x, abs=1e-6 * posterior.sd)


def test_mean_of_two_atoms_is_beta_where_betaincinv_fails() -> None:
    # scipy 1.17: betainc(1e9, 1e3, betaincinv(1e9, 1e3, 0.5)) is 2e-115; its betainc is sound
    posterior = DirichletRatioPosterior([0, 1], [1e3, 1e9])
    assert special.betainc(1e9, 1e3, posterior.quantile(P)) == pytest.approx(P, abs=1e-6)


def test_moments_are_those_of_dirichlet_weights() -> None:
    # three atoms -1, 0, 1 of masses 1, 2, 3: mean (3 - 1) / 6, second moment 4 / 6, variance (2/3 - 1/9) / 7
    posterior = DirichletRatioPosterior([-1, 0, 1], [1, 2, 3])
    assert posterior.mean == pytest.approx(1 / 3, abs=1e-15)
    assert posterior.sd**2 == pytest.approx((2 / 3 - 1 / 9) / 7, abs=1e-15)


def test_ratio_agrees_with_gamma_draws() -> None:
    rng = np.random.default_rng(1)
    a, b = np.array([3.0, -1.0, 0.5, 7.0]), np.array([4.0, 2.0, 1.0, 9.0])
    m = np.array([0.8, 1.0, 0.25, 0.5])
    g = rng.gamma(m, size=(400_000, 4))
    draws = (g @ a) / (g @ b)
    posterior = DirichletRatioPosterior(a, m, b)
    assert posterior.cdf(np.quantile(draws, [0.025, 0.5, 0.975])) == pytest.approx([0.025, 0.5, 0.975], abs=0.002)
    assert (posterior.mean, posterior.sd) == pytest.approx((draws.mean(), draws.std()), abs=0.002)


def test_ratio_moments_are_the_integrals_of_its_distribution_function() -> None:
    # E R = high - int F and E (R - mean)^2 = (high - mean)^2 - 2 int (x - mean) F, on 20,000 cells
    posterior = DirichletRatioPosterior([3.0, -1.0, 0.5], [1.0, 2.0, 2.5], [4.0, 2.0, 1.0])
    edges = np.linspace(posterior.low, posterior.high, 20_001)
    x, below = (edges[1:] + edges[:-1]) / 2, posterior.cdf((edges[1:] + edges[:-1]) / 2)
    step = edges[1] - edges[0]
    mean = posterior.high - below.sum() * step
    variance = (posterior.high - mean) ** 2 - 2 * np.sum((x - mean) * below) * step
    assert (posterior.mean, posterior.sd) == pytest.approx((mean, np.sqrt(variance)), abs=1e-6)


def test_equal_denominators_make_a_mean() -> None:
    ratio = DirichletRatioPosterior([2.0, 0.0, 6.0], [1.0, 2.0, 0.5], [4.0, 4.0, 4.0])
    mean = DirichletRatioPosterior([0.5, 0.0, 1.5], [1.0, 2.0, 0.5])
    assert (ratio.mean, ratio.sd) == (mean.mean, mean.sd)
    assert ratio.quantile(P) == pytest.approx(mean.quantile(P), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 300])
def test_half_the_spacing_moves_nothing(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(n)
    atoms = np.concatenate([rng.uniform(-0.4, 0.5, n), [-1, 0, 1]])
    masses = np.concatenate([np.ones(n), [0.125, 0.25, 0.125]])
    x = np.linspace(-0.99, 0.99, 41)
    coarse = DirichletRatioPosterior(atoms, masses).cdf(x)
    monkeypatch.setattr(gamma_contour_integral, "_SPACING", gamma_contour_integral._SPACING / 2)
    assert DirichletRatioPosterior(atoms, masses).cdf(x) == pytest.approx(coarse, abs=1e-12)


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=6),
    st.lists(st.floats(0.1, 1e6), min_size=8, max_size=8),
    st.floats(-0.999, 0.999),
)
def test_mirrored_atoms_mirror_the_distribution(values: list[float], masses: list[float], x: float) -> None:
    atoms = np.array([*values, -1.0, 1.0])
    m = np.array(masses[: len(atoms)])
    left, right = DirichletRatioPosterior(atoms, m), DirichletRatioPosterior(-atoms, m)
    assert float(left.cdf(x)) == pytest.approx(1 - float(right.cdf(-x)), abs=1e-9)


def test_forms_of_very_unequal_masses_are_those_on_a_straight_line() -> None:
    """In the first two, a bent contour passes a branch point, where the terms of a sum grow to e^800."""
    rng = np.random.default_rng(4)
    cases = [
        (
            [0.671381415, 4.87053008, 8.95044472, 8482.35337, 9.57716438, 186.153727],
            [0.000694897182, 0.235917592, 0.00893966856, 0.0447132397, 0.774906498, -0.00694373833],
        ),
        (
            [535286.755, 69.259257, 15.7087334, 5.57615761, 21341.1813],
            [0.00270138, -0.0104521, 0.00108554, 0.04152671, -0.00310689],
        ),
    ]
    for _ in range(60):
        n = rng.integers(2, 7)
        cases.append((10 ** rng.uniform(-0.3, 4, n), rng.normal(size=n) * 10 ** rng.uniform(-3, 0, n)))
    for masses, atoms in cases:
        m, x = np.asarray(masses), np.asarray(atoms)
        mean = x @ m / m.sum()
        sd = np.sqrt(m @ (x - mean) ** 2) / m.sum()
        points = np.clip(mean + sd * np.array([-30.0, -4.0, -1.0, 0.3, 2.0, 10.0]), x.min(), x.max())
        found = prob_linear_form_positive(x - points[:, None], m)
        wanted = [_on_a_straight_line(x - point, m) for point in points]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


def _on_a_straight_line(c: FloatArray, m: FloatArray) -> float:
    """P(sum g c > 0) by Gil-Pelaez' integral over Re s = s_0 at the minimum of K(s) - log s, with many terms."""
    if c.max() <= 0 or c.min() >= 0:
        return float(c.min() >= 0)
    if m @ c > 0:
        return 1.0 - _on_a_straight_line(-c, m)
    end = 1 / c.max()
    s = optimize.brentq(lambda s: np.sum(m * c / (1 - s * c)) - 1 / s, end * 1e-12, end * (1 - 1e-12), xtol=1e-14 * end)
    step = np.exp(np.arange(-20.0, 30.0, 2e-3))
    y = step / np.sqrt(np.sum(m * (c / (1 - s * c)) ** 2) + s**-2)
    z = s + 1j * y[:, None]
    log_value = -np.sum(m * np.log(1 - z * c), axis=1) - np.log(z[:, 0])
    return float(np.sum(np.exp(log_value).real * y) * 2e-3 / np.pi)


def test_linear_form_without_a_positive_or_negative_part() -> None:
    forms = np.array([[-1.0, -2.0], [1.0, 2.0], [0.0, 0.0], [0.0, 1.0]])
    assert prob_linear_form_positive(forms, np.ones(2)).tolist() == [0.0, 1.0, 0.5, 1.0]


def test_ends_are_the_smallest_and_largest_atom() -> None:
    posterior = DirichletRatioPosterior([-1, 0, 2], [1, 1, 1])
    assert posterior.quantile([0.0, 1.0]).tolist() == [-1.0, 2.0]
    assert posterior.cdf([-3.0, -1.0, 2.0, 5.0]).tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("a", "m", "b", "message"),
    [
        ([0, 1], [1, 0], None, "must be positive"),
        ([0, 1], [1], None, "differ in length"),
        ([0, 1], [1, 1], [1, -1], "must be positive"),
        ([1, 2], [1, 1], [1, 2], "all values equal 1"),
    ],
)
def test_says_what_it_cannot_use(a: list[float], m: list[float], b: list[float] | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        DirichletRatioPosterior(a, m, b)


@pytest.mark.slow
def test_calibrated_where_weights_come_from_the_prior() -> None:
    rng = np.random.default_rng(20260101)
    atoms, prior = np.array([-1.0, -0.2, 0.0, 0.3, 1.0]), np.array([0.125, 0.5, 0.25, 0.7, 0.125])
    ranks, covered, n = np.empty(2000), 0, 2000
    for run in range(n):
        w = rng.dirichlet(prior)
        posterior = DirichletRatioPosterior(atoms, prior + rng.multinomial(12, w))
        ranks[run] = float(posterior.cdf(w @ atoms))
    covered = int(np.sum((ranks > 0.05) & (ranks < 0.95)))
    assert kstest(ranks, "uniform").pvalue > 1e-3
    assert binomtest(covered, n, 0.9).pvalue > 1e-3
