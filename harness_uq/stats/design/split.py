"""Best split of a budget over questions, trials, seeds, prompts, judges: expected half width against price."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from scipy.special import stdtrit

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import check_level

TRIALS = "trials"
_FEWEST, _MOST_UNITS = 2, 10**8
_LEVELS: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 192, 256)
_TRIALS: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64)


@dataclass(frozen=True)
class CrossedDesign:
    """What is known before the run: variances, prices, and what cannot be chosen.

    Attributes
    ----------
    variances : variance of one score by the factors that it belongs to, >= 0: `{("question",): .04, ("seed",): .001,
        ("question", "seed"): .01}`; the residual under `()`
    unit : the factor of which any number can be had, mostly `question`
    others : further new factors, such as `seed`
    stay : number of levels of each factor whose levels stay; each question is asked at all of them
    per_unit : factors that the unit lies in, such as passages, to the number of them per unit, in (0, 1]
    prices : of one level of a factor, and of an answer under `()`; what is not named costs nothing
    can_repeat : whether the residual falls with further trials; False where each cell was seen once, so that what
        repeats in the residual is not known
    """

    variances: Mapping[tuple[str, ...], float]
    unit: str = "question"
    others: Sequence[str] = ()
    stay: Mapping[str, int] = field(default_factory=dict)
    per_unit: Mapping[str, float] = field(default_factory=dict)
    prices: Mapping[tuple[str, ...], float] = field(default_factory=lambda: {(): 1.0})
    can_repeat: bool = False

    def __post_init__(self) -> None:
        known = {self.unit, *self.others, *self.stay, *self.per_unit}
        for factors, variance in self.variances.items():
            unknown = [name for name in factors if name not in known]
            if unknown:
                raise DataError(f"variances name the factor {unknown[0]!r}, which the design lacks: {sorted(known)}")
            if not 0 <= variance < math.inf:
                raise DataError(f"variances must be finite and not negative; got {variance} for {factors}")
        for factors, price in self.prices.items():
            if not 0 <= price < math.inf:
                raise DataError(f"prices must be finite and not negative; got {price} for {factors}")
        if self.price(()) == 0 and self.price((self.unit,)) == 0:
            raise DataError(f"an answer or a {self.unit} must cost something, else no budget ends")

    def price(self, factors: tuple[str, ...]) -> float:
        """Price of one level of a factor, of an answer under `()`."""
        return self.prices.get(factors, 0.0)

    def split(self, units: int, levels: Mapping[str, int], trials: int = 1, *, level: float = 0.95) -> "Split":
        """What a balanced run of this size costs and tells.

        Parameters
        ----------
        units, levels, trials : of `unit`, of each of `others`, and of each cell; units and levels 2 or more
        level : of the interval, in (0, 1)

        Notes
        -----
        The variance of the mean is the sum over components of their variance over the number of their levels, that of
        factors which stay taken as 0 (Brennan 2001, Generalizability Theory, chapter 4); its degrees of freedom are
        Satterthwaite's (1946, Biometrics Bulletin 2:110), so that few levels count as few.

        >>> design = CrossedDesign({("question",): 0.04, ("seed",): 0.001, (): 0.2}, others=("seed",))
        >>> found = design.split(100, {"seed": 4})
        >>> round(found.sd**2, 6), found.cost
        (0.00115, 400.0)
        """
        sizes = {self.unit: float(units), **{name: float(k) for name, k in levels.items()}}
        sizes |= {name: units * share for name, share in self.per_unit.items()}
        parts, df = [], []
        for factors, variance in self.variances.items():
            if not factors or any(name in sizes for name in factors):
                inside = factors or (self.unit, *self.others, *self.stay)
                over = math.prod(sizes.get(name, self.stay.get(name, 1)) for name in inside)
                parts.append(variance / (over if factors else over * trials))
                df.append(max(math.prod(max(sizes.get(name, 2.0) - 1, 1.0) for name in inside), 1.0))
        cells = units * math.prod(levels.values()) * math.prod(self.stay.values())
        cost = cells * trials * self.price(()) + sum(n * self.price((name,)) for name, n in sizes.items())
        return Split(units, dict(levels), trials, float(cost), *_half_width(parts, df, level))


@dataclass(frozen=True, slots=True)
class Split:
    """A balanced run.

    Attributes
    ----------
    units : levels of the unit, mostly questions
    levels : of each further new factor
    trials : answers to each cell
    cost : in the unit of the prices
    sd : of the mean
    half_width : expected, of the interval; Student's t at Satterthwaite's degrees of freedom times `sd`
    """

    units: int
    levels: Mapping[str, int]
    trials: int
    cost: float
    sd: float
    half_width: float


def best_split(
    design: CrossedDesign,
    *,
    budget: float | None = None,
    half_width: float | None = None,
    fixed: Mapping[str, int] | None = None,
    most_units: int | None = None,
    level: float = 0.95,
) -> Split | None:
    """The balanced run that tells most for a budget, or the cheapest that reaches a half width; None where none does.

    Parameters
    ----------
    design : variances, prices, and what stays
    budget : > 0; or
    half_width : > 0, of the interval; one of the two
    fixed : levels that cannot be chosen, of `others` or of `trials`
    most_units : questions there are; None for any number
    level : of the interval, in (0, 1)

    Raises
    ------
    DataError : if both or none of budget and half_width are given, or one is not positive

    Seeds that matter little are not worth their price, seeds that matter much are:

    >>> dear = {(): 1.0, ("seed",): 50.0}
    >>> little, much = {("question",): 0.05, ("seed",): 1e-5, (): 0.2}, {("question",): 0.05, ("seed",): 0.01, (): 0.2}
    >>> best_split(CrossedDesign(little, others=("seed",), prices=dear), budget=2000).levels
    {'seed': 2}
    >>> best_split(CrossedDesign(much, others=("seed",), prices=dear), budget=2000).levels["seed"] > 10
    True
    """
    check_level(level)
    if (budget is None) == (half_width is None):
        raise DataError("plan for a budget or for a half width, one of the two")
    target = budget if budget is not None else half_width
    if target is None or not 0 < target < math.inf:
        raise DataError(f"the budget or half width must be positive; got {target}")
    search = _Search(design, target, budget is not None, most_units or _MOST_UNITS, level)
    return search.best(fixed or {})


@dataclass(frozen=True)
class _Search:
    """One number of levels at a time, the others held, until nothing gets better."""

    design: CrossedDesign
    target: float
    is_budget: bool
    most_units: int
    level: float

    def best(self, fixed: Mapping[str, int]) -> Split | None:
        unknown = [name for name in fixed if name not in (*self.design.others, TRIALS)]
        if unknown:
            raise DataError(
                f"only levels of {', '.join((*self.design.others, TRIALS))} can be fixed; got {unknown[0]!r}"
            )
        choices = {name: (fixed[name],) if name in fixed else _LEVELS for name in self.design.others}
        choices[TRIALS] = (fixed[TRIALS],) if TRIALS in fixed else _TRIALS if self.design.can_repeat else (1,)
        at = {name: some[0] for name, some in choices.items()}
        found = self._split(at)
        while True:
            tried = [{**at, name: size} for name, some in choices.items() for size in some]
            better = min(tried, key=lambda sizes: self._rank(self._split(sizes)))
            if self._rank(self._split(better)) >= self._rank(found):
                return found
            at, found = better, self._split(better)

    def _rank(self, split: Split | None) -> tuple[float, float]:
        if split is None:
            return math.inf, math.inf
        return (split.half_width, split.cost) if self.is_budget else (split.cost, split.half_width)

    def _split(self, sizes: Mapping[str, int]) -> Split | None:
        """The most units that the budget pays for, or the fewest that reach the half width."""
        levels = {name: size for name, size in sizes.items() if name != TRIALS}
        of = partial(self.design.split, levels=levels, trials=sizes[TRIALS], level=self.level)
        if not self.is_budget:
            units = fewest(lambda units: of(units).half_width <= self.target, _FEWEST, self.most_units)
            return None if units is None else of(units)
        each = of(_FEWEST + 1).cost - of(_FEWEST).cost
        units = _FEWEST + math.floor((self.target - of(_FEWEST).cost) / each * (1 + 1e-12))
        return of(min(units, self.most_units)) if units >= _FEWEST else None


def fewest(is_enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The first number from `least` to `most` that is enough, where all greater ones are; None where there is none."""
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
    """Sd of a sum of independent parts with these variances, and t times it."""
    variance = math.fsum(parts)
    if variance == 0:
        return 0.0, 0.0
    together = variance**2 / math.fsum(part**2 / n for part, n in zip(parts, df, strict=True))
    sd = math.sqrt(variance)
    return sd, sd * float(stdtrit(together, (1 + level) / 2))
