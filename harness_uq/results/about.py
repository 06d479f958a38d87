"""What a method says of itself, for reports and pages."""

from dataclasses import dataclass

from harness_uq.estimands import Scope


@dataclass(frozen=True, slots=True)
class About:
    """Title, formula and sources of a method, and what it is for.

    Attributes
    ----------
    title : in words
    formula, text : plain text, in which `<sub>` and `<sup>` may stand
    sources : full references
    scopes : those that its interval is about; in another one a note says that it is wider
    takes_groups : whether it estimates groups of tasks too
    """

    title: str
    formula: str = ""
    text: str = ""
    sources: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ("population",)
    takes_groups: bool = False
