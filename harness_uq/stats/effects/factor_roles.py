"""Roles of the factors of a crossed table: sampling unit, other new factors and fixed factors."""

from dataclasses import dataclass

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.effects.design import Design, Term, cross_terms


@dataclass(frozen=True, eq=False)
class Roles:
    """Roles of the factors.

    `names` are the new factors, as requested, `unit` is the top-level factor with the most levels below it, and
    `unit_is_new` says whether its levels are a sample. `others` are new factors that are not nested in a new factor,
    and `fixed` is the combination of the levels of the fixed factors.
    """

    names: tuple[str, ...]
    unit: Term
    unit_is_new: bool
    others: tuple[Term, ...]
    fixed: Term | None


def assign_factor_roles(design: Design, new: tuple[str, ...]) -> Roles:
    """Roles of the factors if the levels of those named in `new` are a sample.

    Raises DataError if `new` is empty or contains an unknown factor; NotEstimableError if a new factor has a single
    level.
    """
    names = [term.name for term in design.factors]
    unknown = sorted(set(new) - set(names))
    if unknown or not new:
        raise DataError(f"new must name one or more of the factors {', '.join(names)}; got {unknown or 'none'}")
    sampled = [term for term in design.factors if term.name in new]
    for term in sampled:
        if term.n_levels == 1:
            raise NotEstimableError(
                f"{term.name} has a single level, so that the variance between levels of {term.name} is not estimable. "
                f"Use at least two levels, or remove {term.name} from the new factors"
            )
    tops = [term for term in sampled if not any(design.is_nested(term, other) for other in sampled)]
    kept_fixed = [t for t in design.factors if t not in sampled and not any(design.is_nested(t, top) for top in tops)]
    unit = max(
        (*tops, *(t for t in kept_fixed if not any(design.is_nested(top, t) for top in tops))),
        key=lambda t: max(other.n_levels for other in design.factors if other is t or design.is_nested(other, t)),
    )
    fixed = None
    for term in kept_fixed:
        fixed = term if fixed is None else cross_terms(fixed, term)
    others = tuple(term for term in tops if term is not unit)
    return Roles(new, unit, any(unit is top for top in tops), others, fixed)
