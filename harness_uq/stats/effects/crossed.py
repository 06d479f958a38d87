"""Posterior of a mean score over new questions, new seeds, new prompts: crossed and nested effects, no sampling."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.arrays import FloatArray, IntArray, check_finite
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.common.scalars import check_bounds
from harness_uq.stats.effects.components import VarianceComponent, components_of
from harness_uq.stats.effects.design import Design, read_design
from harness_uq.stats.effects.latent import Link, latent_sds
from harness_uq.stats.effects.roles import Roles, roles_of
from harness_uq.stats.effects.table import table_of, uncertainty_of
from harness_uq.stats.effects.variances import VarianceMethod

Family = Literal["auto", "binary", "bounded", "real"]


_Atoms = tuple[tuple[float, float], ...]


class CrossedPosterior(Posterior):
    """Posterior of the mean score over new levels.

    Attributes
    ----------
    mean, sd : float
    components : VarianceComponent of each factor and interaction that the design can tell, coarse to fine, and of the
        residual
    untold : names of interactions that the design cannot tell from the residual
    new : names of the factors whose levels are a sample of those to come
    uncertainty : name of a new factor to its expected share of the variance of the mean; `residual` where the scores
        of given levels vary and no new factor takes that in
    variances : of one score, by component, in the order of `components`
    variance_method : `reml` or `moments`, how `components` were estimated
    family : `binary`, `bounded` or `real`
    """

    def __init__(
        self,
        inner: Posterior,
        score_range: tuple[float, float],
        *,
        components: tuple[VarianceComponent, ...],
        untold: tuple[str, ...],
        new: tuple[str, ...],
        uncertainty: Mapping[str, float],
        variance_method: VarianceMethod,
        family: str,
        plain: float,
        coarser: Sequence[IntArray],
    ) -> None:
        self._plain, self._coarser = plain, coarser
        self._inner, self._low, self._width = inner, score_range[0], score_range[1] - score_range[0]
        self.components, self.untold, self.new = components, untold, new
        self.uncertainty, self.variance_method, self.family = dict(uncertainty), variance_method, family

    @property
    def mean(self) -> float:
        return self._low + self._width * self._inner.mean

    @property
    def sd(self) -> float:
        return self._width * self._inner.sd

    def quantile(self, p: ArrayLike) -> FloatArray:
        return np.asarray(self._low + self._width * self._inner.quantile(p))

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._inner.cdf((np.asarray(x, float) - self._low) / self._width)

    def latent_sds(self, link: Link = "logit") -> dict[str, float]:
        """Sd of each component but the residual on the logit or probit scale, by moments; `binary` scores only.

        The posterior of the mean is the same for either: it uses the components on the scale of the scores.

        Raises
        ------
        NotEstimableError : for other families, and where all scores are equal
        """
        if self.family != "binary" or not any(component.sd for component in self.components):
            raise NotEstimableError(
                f"effects on the {link} scale need right and wrong answers; scores are {self.family}"
            )
        variances = np.array([component.sd**2 for component in self.components[:-1]])
        sds = latent_sds(self._plain, variances, self._coarser, link)
        return {c.name: float(sd) for c, sd in zip(self.components, sds, strict=False)}

    @property
    def prob_positive(self) -> float:
        """P(mean > 0 | data), for a difference."""
        return 1.0 - float(self.cdf(0.0))


def crossed_posterior(
    scores: ArrayLike,
    factors: Mapping[str, ArrayLike],
    *,
    new: Iterable[str] = ("question",),
    family: Family = "auto",
    bounds: tuple[float, float] | None = None,
) -> CrossedPosterior:
    """Posterior of the mean score expected on new levels of some factors, at these levels of the others.

    Parameters
    ----------
    scores : (n,) finite; one row per score
    factors : name to (n,) labels; crossed or nested as the labels say, unbalanced and incomplete tables allowed. At
        most five. Factors in whose levels others lie (passages of questions) are recognised
    new : factors whose levels are a sample of those to come. What is nested in them is new too
    family : `binary` scores are 0 or 1; `bounded` ones lie in `bounds`; `real` ones anywhere; `auto` is `binary` where
        all are 0 or 1, else `bounded` where bounds are given, else `real`
    bounds : (low, high) of bounded scores

    Returns
    -------
    CrossedPosterior ; its mean is about the levels of the other factors in the proportions of the rows

    Raises
    ------
    DataError : labels of another length, an unknown factor in `new`, scores outside the family or bounds
    NotEstimableError : a factor in `new` with a single level, or real scores that do not vary

    Notes
    -----
    The centre is the plain mean, whatever the difficulties' distribution. Its variance is that of the unit (the new
    factor with most below it, mostly the question) with all that lies within it, and that of every further new factor:
    sum_F share_F sigma_F^2, share_F = sum over levels of (rows / all rows)^2. For right and wrong the unit's part is
    theta (1 - theta) (share rho + (1 - rho) / n) with the intraclass correlation rho of `clustered_posterior`, drawn
    towards the variance of unit totals (Liang & Zeger 1986, Biometrika 73:13) as units number more than 20; else it is
    that variance with chi-squared error, with atoms at the bounds as in `bounded_posterior`. sigma_F^2 has the
    posterior of its mean square under a prior that is nearly flat in log sigma: with two levels the data hardly tell
    it, and all that they allow is integrated over. Given the variance the mean is Beta (normal for real scores) with
    that variance; the mixture is tabulated.

    Examples
    --------
    Four questions under two seeds, of which the second does worse:

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
    roles = roles_of(design, tuple(new))
    chosen = _family(y, family, bounds)
    low, high = bounds or (0.0, 1.0)
    atoms = ((0.0, 0.25), (1.0, 0.25)) if chosen == "bounded" else ()
    return _posterior((y - low) / (high - low), design, roles, chosen, (low, high), atoms)


def crossed_difference_posterior(
    a: ArrayLike,
    b: ArrayLike,
    factors: Mapping[str, ArrayLike],
    *,
    new: Iterable[str] = ("question",),
    bounds: tuple[float, float] | None = None,
) -> CrossedPosterior:
    """Posterior of the difference in mean score of two systems that share levels: same questions, same seeds.

    Parameters
    ----------
    a, b : (n,) scores of the two systems; row by row of the same question, seed, and so on
    factors, new : as in `crossed_posterior`; the levels of each row
    bounds : (low, high) of the scores; taken as (0, 1) where all are 0 or 1, as unbounded otherwise

    Returns
    -------
    CrossedPosterior of mean A - mean B, with `prob_positive`; its components are those of the differences

    Raises
    ------
    DataError, NotEstimableError : as in `crossed_posterior`

    Notes
    -----
    Differences of bounded scores get atoms of mass 1/8, 1/4 and 1/8 at -(high - low), 0 and high - low, as paired
    scores do, so that two systems that never differ are not taken for equal.

    >>> a, b = [1, 1, 1, 1, 1, 0, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]
    >>> factors = {"question": [1, 1, 2, 2, 3, 3, 4, 4], "seed": [1, 2, 1, 2, 1, 2, 1, 2]}
    >>> crossed_difference_posterior(a, b, factors, new=("question", "seed")).prob_positive > 0.5
    True
    """
    first, second = check_finite(a, "a", 1), check_finite(b, "b", 1)
    if first.shape != second.shape:
        raise DataError(f"a and b must hold one score per row; got {first.shape} and {second.shape}")
    design = read_design(factors, len(first))
    roles = roles_of(design, tuple(new))
    both = np.concatenate([first, second])
    if bounds is None and np.isin(both, (0.0, 1.0)).all():
        bounds = 0.0, 1.0
    _family(both, "real" if bounds is None else "bounded", bounds)
    if bounds is None:
        return _posterior(first - second, design, roles, "real", (0.0, 1.0), ())
    width = bounds[1] - bounds[0]
    atoms = ((0.0, 0.125), (0.5, 0.25), (1.0, 0.125))
    return _posterior((first - second + width) / (2 * width), design, roles, "bounded", (-width, width), atoms)


def _family(y: FloatArray, family: Family, bounds: tuple[float, float] | None) -> str:
    if not len(y):
        raise DataError("there are no scores")
    is_binary = bool(np.isin(y, (0.0, 1.0)).all())
    if family == "auto":
        family = "binary" if is_binary and bounds in (None, (0, 1)) else "bounded" if bounds else "real"
    if family not in ("binary", "bounded", "real"):
        raise DataError(f"family must be 'auto', 'binary', 'bounded' or 'real'; got {family!r}")
    if family == "binary" and not is_binary:
        raise DataError("binary scores must be 0 or 1; other scores in a known range are `bounded`")
    if family == "bounded" and (not bounds or not bounds[0] <= y.min() <= y.max() <= bounds[1]):
        raise DataError(f"bounded scores need bounds that hold them; got {bounds}, scores {y.min():g} to {y.max():g}")
    return family


def _posterior(
    z: FloatArray, design: Design, roles: Roles, family: str, score_range: tuple[float, float], atoms: _Atoms
) -> CrossedPosterior:
    table = table_of(z, design, roles, family)
    mean, base = table.base(atoms)
    extras = {term.name: table.further(term) for term in roles.others}
    total = base
    for extra in extras.values():
        total = total.plus(extra)
    width = score_range[1] - score_range[0]
    return CrossedPosterior(
        table.inner(mean, total.gathered()),
        score_range,
        components=components_of(table, width),
        untold=design.untold,
        new=roles.names,
        uncertainty=uncertainty_of(roles, base, extras),
        variance_method=table.variances.method,
        family=family,
        plain=float(z.mean()),
        coarser=[np.flatnonzero(row) for row in design.finer],
    )
