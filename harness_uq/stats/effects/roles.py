"""Which factor of a crossed table does what: the unit that scores are drawn in, what is new besides, what stays."""

from dataclasses import dataclass

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.effects.design import Design, Term, joined


@dataclass(frozen=True, eq=False)
class Roles:
    """Which factor does what.

    Attributes
    ----------
    names : as asked for
    unit : the top factor that has most below it
    unit_is_new : whether its levels are a sample
    others : further new factors that lie within no other new one
    fixed : combination of the levels that stay; None where none does
    """

    names: tuple[str, ...]
    unit: Term
    unit_is_new: bool
    others: tuple[Term, ...]
    fixed: Term | None


def roles_of(design: Design, new: tuple[str, ...]) -> Roles:
    """Roles of the factors where those named in `new` are a sample.

    Raises
    ------
    DataError : if `new` is empty or names no factor
    NotEstimableError : if a new factor has a single level
    """
    names = [term.name for term in design.factors]
    unknown = sorted(set(new) - set(names))
    if unknown or not new:
        raise DataError(f"new must name one or more of the factors {', '.join(names)}; got {unknown or 'none'}")
    sampled = [term for term in design.factors if term.name in new]
    for term in sampled:
        if term.n_levels == 1:
            raise NotEstimableError(
                f"{term.name} has one level: how much the score varies between levels of {term.name} cannot be seen "
                f"in one; two are the least, or leave {term.name} out of the new ones"
            )
    tops = [term for term in sampled if not any(design.is_nested(term, other) for other in sampled)]
    stay = [t for t in design.factors if t not in sampled and not any(design.is_nested(t, top) for top in tops)]

    def below(term: Term) -> int:
        return max(other.n_levels for other in design.factors if other is term or design.is_nested(other, term))

    unit = max((*tops, *(t for t in stay if not any(design.is_nested(top, t) for top in tops))), key=below)
    fixed = None
    for term in stay:
        fixed = term if fixed is None else joined(fixed, term)
    others = tuple(term for term in tops if term is not unit)
    return Roles(new, unit, any(unit is top for top in tops), others, fixed)
