"""Posterior of a mean score over new questions, seeds or prompts: crossed and nested effects, without sampling."""

from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import Posterior, ScaledPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite
from harness_uq.stats.common.validate_scalars import check_bounds
from harness_uq.stats.effects.components import VarianceComponent, component_posteriors
from harness_uq.stats.effects.crossed_table import build_crossed_table, uncertainty_of
from harness_uq.stats.effects.design import Design, read_design
from harness_uq.stats.effects.factor_roles import Roles, assign_factor_roles
from harness_uq.stats.effects.variances import VarianceMethod

Family = Literal["auto", "binary", "bounded", "real"]


class CrossedPosterior(ScaledPosterior):
    """Posterior of the mean score over new levels.

    Attributes
    ----------
    mean, sd : float
        Posterior mean and standard deviation.
    components : tuple of VarianceComponent
        Identifiable factors and interactions, from coarse to fine, and the residual.
    not_identifiable : tuple of str
        Interactions that cannot be distinguished from the residual.
    new : tuple of str
        Factors whose levels are a sample of future levels.
    uncertainty : dict of str to float
        Expected share of each new factor in the variance of the mean. ``residual`` is the share of the variation of
        scores of fixed levels, if no new factor contains it.
    variance_method : {"reml", "moments"}
        Method that estimated `components`.
    family : {"binary", "bounded", "real"}
        Type of the scores.
    """

    def __init__(
        self,
        inner: Posterior,
        score_range: tuple[float, float],
        *,
        components: tuple[VarianceComponent, ...],
        not_identifiable: tuple[str, ...],
        new: tuple[str, ...],
        uncertainty: Mapping[str, float],
        variance_method: VarianceMethod,
        family: str,
    ) -> None:
        super().__init__(inner, score_range[1] - score_range[0], score_range[0])
        self.components, self.not_identifiable, self.new = components, not_identifiable, new
        self.uncertainty, self.variance_method, self.family = dict(uncertainty), variance_method, family


def crossed_posterior(
    scores: ArrayLike,
    factors: Mapping[str, ArrayLike],
    *,
    new: Iterable[str] = ("question",),
    family: Family = "auto",
    bounds: tuple[float, float] | None = None,
) -> CrossedPosterior:
    """Posterior of the mean score expected on new levels of the chosen factors and the observed levels of the others.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Finite scores, one per row.
    factors : mapping of str to array_like, shape (n,)
        Labels of at most five factors, crossed or nested. Tables may be unbalanced and incomplete. Nesting (questions
        within passages) is detected from the labels.
    new : iterable of str, optional
        Factors whose levels are a sample of future levels (default: ``question``). Factors nested in them are new too.
    family : {"auto", "binary", "bounded", "real"}, optional
        ``binary`` scores are 0 or 1, ``bounded`` scores lie in `bounds`, ``real`` scores are unbounded. ``auto``
        (default) is ``binary`` if all scores are 0 or 1, otherwise ``bounded`` if bounds are given, otherwise ``real``.
    bounds : tuple of float, optional
        Bounds (low, high) of bounded scores.

    Returns
    -------
    CrossedPosterior
        Posterior of the mean; levels of the other factors have the proportions of the rows.

    Raises
    ------
    DataError
        If labels have another length, `new` contains an unknown factor, or scores are outside the family or the bounds.
    NotEstimableError
        If a factor in `new` has a single level, or real scores do not vary.

    Notes
    -----
    The centre is the mean score, for any distribution of difficulties. Its variance is the sum of two parts. The first
    is that of the unit (the new factor with the most levels below it, usually the question) and everything nested in
    it. The second is the sum over the other new factors F of share_F sigma_F^2, where share_F is the sum over levels of
    (rows / all rows)^2.

    For binary scores the part of the unit is theta (1 - theta) (share rho + (1 - rho) / n), with the intraclass
    correlation rho of `clustered_posterior`. It is shrunk towards the variance of unit totals (Liang and Zeger 1986),
    whose weight exceeds 1/2 with more than 20 units. For other scores it is the variance of unit totals with
    chi-squared error, with atoms at the bounds as in `bounded_posterior`.

    sigma_F^2 has the posterior based on its mean square under a prior that is nearly flat in log sigma. With two levels
    it is hardly identified, and all plausible values are integrated over. Given its variance the mean is Beta (normal
    for real scores); the mixture is tabulated.

    References
    ----------
    Liang and Zeger (1986), Biometrika 73, 13-22.

    Examples
    --------
    Four questions under two seeds, of which the second has lower scores:

    >>> right = [1, 0, 1, 0, 1, 1, 0, 0]
    >>> factors = {"question": [1, 1, 2, 2, 3, 3, 4, 4], "seed": [1, 2, 1, 2, 1, 2, 1, 2]}
    >>> both = crossed_posterior(right, factors, new=("question", "seed"))
    >>> questions = crossed_posterior(right, factors)
    >>> round(both.mean, 6), both.sd > questions.sd
    (0.5, True)
    """
    if bounds is not None:
        check_bounds(bounds)
    y = check_finite(scores, "scores", 1)
    design = read_design(factors, len(y))
    roles = assign_factor_roles(design, tuple(new))
    score_family = _family(y, family, bounds)
    low, high = bounds or (0.0, 1.0)
    return _posterior((y - low) / (high - low), design, roles, score_family, (low, high))


def _family(y: FloatArray, family: Family, bounds: tuple[float, float] | None) -> str:
    if not len(y):
        raise DataError("there are no scores")
    is_binary = bool(np.isin(y, (0.0, 1.0)).all())
    if family == "auto":
        family = "binary" if is_binary and bounds in (None, (0, 1)) else "bounded" if bounds else "real"
    if family not in ("binary", "bounded", "real"):
        raise DataError(f"family must be 'auto', 'binary', 'bounded' or 'real'; got {family!r}")
    if family == "binary" and not is_binary:
        raise DataError("binary scores must be 0 or 1; use family='bounded' for other scores in a known range")
    if family == "bounded" and (not bounds or not bounds[0] <= y.min() <= y.max() <= bounds[1]):
        raise DataError(f"bounded scores must lie within bounds; got {bounds}, scores {y.min():g} to {y.max():g}")
    return family


def _posterior(
    z: FloatArray, design: Design, roles: Roles, family: str, score_range: tuple[float, float]
) -> CrossedPosterior:
    table = build_crossed_table(z, design, roles, family)
    mean, base = table.base(((0.0, 0.25), (1.0, 0.25)) if family == "bounded" else ())
    extras = {term.name: table.further(term) for term in roles.others}
    total = base
    for extra in extras.values():
        total = total.plus(extra)
    width = score_range[1] - score_range[0]
    return CrossedPosterior(
        table.inner(mean, total.binned()),
        score_range,
        components=component_posteriors(table, width),
        not_identifiable=design.not_identifiable,
        new=roles.names,
        uncertainty=uncertainty_of(roles, base, extras),
        variance_method=table.variances.method,
        family=family,
    )
