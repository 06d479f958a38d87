"""Description of an interval method, for reports."""

from dataclasses import dataclass

from harness_uq.estimands import Scope


@dataclass(frozen=True, slots=True)
class MethodInfo:
    """Title, formula, sources and scopes of an interval method.

    Attributes
    ----------
    title : name of the method in words
    formula, text : formula and explanation as plain text, in which `<sub>` and `<sup>` are allowed
    sources : full references
    scopes : scopes that the interval refers to; in any other scope a note states that it is wider than necessary
    takes_groups : whether groups of tasks are supported
    """

    title: str
    formula: str = ""
    text: str = ""
    sources: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ("population",)
    takes_groups: bool = False
