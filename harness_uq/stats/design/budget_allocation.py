"""Optimal allocation of a budget to questions, trials, seeds, prompts or judges: expected half-width and cost."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from scipy.special import stdtrit

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import check_level

TRIALS = "trials"
_FEWEST, _MAX_UNITS = 2, 10**8
_LEVELS: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 192, 256)
_TRIALS: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64)


@dataclass(frozen=True)
class CrossedDesign:
    """Known properties of a planned run: variances, prices, and fixed factors.

    `variances` of one score have the factors of each component as keys, such as ``{("question",): 0.04, ("seed",):
    0.001, ("question", "seed"): 0.01}``, and ``()`` for the residual. `unit` is the factor with an unlimited number of
    levels, and `others` are the other new factors. Each question is asked at all `fixed_levels`. `per_unit` gives the
    factors in which the unit is nested, such as passages, with their number per unit, in (0, 1]. `prices` are those of
    one level of a factor, and of an answer under the key ``()``. `can_repeat` is False if each cell was observed once,
    so that the residual between trials is unknown and further trials cannot be planned.
    """

    variances: Mapping[tuple[str, ...], float]
    unit: str = "question"
    others: Sequence[str] = ()
    fixed_levels: Mapping[str, int] = field(default_factory=dict)
    per_unit: Mapping[str, float] = field(default_factory=dict)
    prices: Mapping[tuple[str, ...], float] = field(default_factory=lambda: {(): 1.0})
    can_repeat: bool = False

    def __post_init__(self) -> None:
        known = {self.unit, *self.others, *self.fixed_levels, *self.per_unit}
        for factors, variance in self.variances.items():
            unknown = [name for name in factors if name not in known]
            if unknown:
                raise DataError(f"unknown factor {unknown[0]!r} in variances; the design has {sorted(known)}")
            if not 0 <= variance < math.inf:
                raise DataError(f"variances must be finite and non-negative; got {variance} for {factors}")
        for factors, price in self.prices.items():
            if not 0 <= price < math.inf:
                raise DataError(f"prices must be finite and non-negative; got {price} for {factors}")
        if self.price(()) == 0 and self.price((self.unit,)) == 0:
            raise DataError(f"the price of an answer or of a {self.unit} must be positive")

    def price(self, factors: tuple[str, ...]) -> float:
        """Price of one level of a factor, or of an answer for ``()``."""
        return self.prices.get(factors, 0.0)

    def run(self, units: int, levels: Mapping[str, int], trials: int = 1, *, level: float = 0.95) -> "BalancedRun":
        """Cost and precision of a balanced run of this size.

        `units` and each of `levels` are at least 2; `trials` are those of each cell.

        The variance of the mean is the sum over components of their variance divided by their number of levels, with
        0 for fixed factors (Brennan 2001, Generalizability Theory, chapter 4). Its degrees of freedom are
        Satterthwaite's (1946, Biometrics Bulletin 2, 110-114), so that few levels give few degrees of freedom.

        >>> design = CrossedDesign({("question",): 0.04, ("seed",): 0.001, (): 0.2}, others=("seed",))
        >>> run = design.run(100, {"seed": 4})
        >>> round(run.sd**2, 6), run.cost
        (0.00115, 400.0)
        """
        sizes = {self.unit: float(units), **{name: float(k) for name, k in levels.items()}}
        sizes |= {name: units * share for name, share in self.per_unit.items()}
        component_variances, df = [], []
        for factors, variance in self.variances.items():
            if not factors or any(name in sizes for name in factors):
                involved = factors or (self.unit, *self.others, *self.fixed_levels)
                n_cells = math.prod(sizes.get(name, self.fixed_levels.get(name, 1)) for name in involved)
                component_variances.append(variance / (n_cells if factors else n_cells * trials))
                df.append(max(math.prod(max(sizes.get(name, 2.0) - 1, 1.0) for name in involved), 1.0))
        cells = units * math.prod(levels.values()) * math.prod(self.fixed_levels.values())
        cost = cells * trials * self.price(()) + sum(n * self.price((name,)) for name, n in sizes.items())
        return BalancedRun(units, dict(levels), trials, float(cost), *_half_width(component_variances, df, level))


@dataclass(frozen=True, slots=True)
class BalancedRun:
    """A balanced run.

    `cost` is in the unit of the prices, `sd` is the standard deviation of the mean, and `half_width` is `sd` times
    Student's t with Satterthwaite's degrees of freedom.
    """

    units: int
    levels: Mapping[str, int]
    trials: int
    cost: float
    sd: float
    half_width: float


def best_allocation(
    design: CrossedDesign,
    *,
    budget: float | None = None,
    half_width: float | None = None,
    fixed: Mapping[str, int] | None = None,
    most_units: int | None = None,
    level: float = 0.95,
) -> BalancedRun | None:
    """Most precise balanced run for a budget, or cheapest one for a half-width; None if there is none.

    `fixed` prescribes numbers of levels of `others`, or of ``trials``, and `most_units` is the number of available
    questions. Raises DataError unless exactly one of `budget` and `half_width` is given and positive.

    Expensive seeds pay off only if their variance is large:

    >>> prices = {(): 1.0, ("seed",): 50.0}
    >>> small, large = {("question",): 0.05, ("seed",): 1e-5, (): 0.2}, {("question",): 0.05, ("seed",): 0.01, (): 0.2}
    >>> best_allocation(CrossedDesign(small, others=("seed",), prices=prices), budget=2000).levels
    {'seed': 2}
    >>> best_allocation(CrossedDesign(large, others=("seed",), prices=prices), budget=2000).levels["seed"] > 10
    True
    """
    check_level(level)
    if (budget is None) == (half_width is None):
        raise DataError("give either a budget or a half-width")
    target = budget if budget is not None else half_width
    if target is None or not 0 < target < math.inf:
        raise DataError(f"the budget or half-width must be positive; got {target}")
    search = _Search(design, target, budget is not None, most_units or _MAX_UNITS, level)
    return search.best(fixed or {})


@dataclass(frozen=True)
class _Search:
    """Coordinate search: change one number of levels at a time until nothing improves."""

    design: CrossedDesign
    target: float
    is_budget: bool
    most_units: int
    level: float

    def best(self, fixed: Mapping[str, int]) -> BalancedRun | None:
        unknown = [name for name in fixed if name not in (*self.design.others, TRIALS)]
        if unknown:
            raise DataError(
                f"only levels of {', '.join((*self.design.others, TRIALS))} can be fixed; got {unknown[0]!r}"
            )
        choices = {name: (fixed[name],) if name in fixed else _LEVELS for name in self.design.others}
        choices[TRIALS] = (fixed[TRIALS],) if TRIALS in fixed else _TRIALS if self.design.can_repeat else (1,)
        sizes_now = {name: options[0] for name, options in choices.items()}
        split = self._split(sizes_now)
        while True:
            tried = [{**sizes_now, name: size} for name, options in choices.items() for size in options]
            better = min(tried, key=lambda sizes: self._rank(self._split(sizes)))
            if self._rank(self._split(better)) >= self._rank(split):
                return split
            sizes_now, split = better, self._split(better)

    def _rank(self, split: BalancedRun | None) -> tuple[float, float]:
        if split is None:
            return math.inf, math.inf
        return (split.half_width, split.cost) if self.is_budget else (split.cost, split.half_width)

    def _split(self, sizes: Mapping[str, int]) -> BalancedRun | None:
        """Run with the most units within the budget, or the fewest that reach the half-width."""
        levels = {name: size for name, size in sizes.items() if name != TRIALS}
        run = partial(self.design.run, levels=levels, trials=sizes[TRIALS], level=self.level)
        if not self.is_budget:
            units = fewest(lambda units: run(units).half_width <= self.target, _FEWEST, self.most_units)
            return None if units is None else run(units)
        price_per_unit = run(_FEWEST + 1).cost - run(_FEWEST).cost
        units = _FEWEST + math.floor((self.target - run(_FEWEST).cost) / price_per_unit * (1 + 1e-12))
        return run(min(units, self.most_units)) if units >= _FEWEST else None


def fewest(is_enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """Smallest number from `least` to `most` that is enough, given that all larger ones are; None if there is none."""
    low, high = least - 1, least
    while not is_enough(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _half_width(parts: Sequence[float], df: Sequence[float], level: float) -> tuple[float, float]:
    """Standard deviation of a sum of independent terms with these variances, and its product with t."""
    variance = math.fsum(parts)
    if variance == 0:
        return 0.0, 0.0
    total_df = variance**2 / math.fsum(part**2 / n for part, n in zip(parts, df, strict=True))
    sd = math.sqrt(variance)
    return sd, sd * float(stdtrit(total_df, (1 + level) / 2))
