"""Elements of a simulation: cells (data-generating designs), data sets with true values, and answers to them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from harness_uq.messages import Message

Size = Literal["smoke", "standard"]
Parameter = float | str

LEVELS = (0.8, 0.9, 0.95, 0.99)
NOMINAL = 0.95

_FRACTION = re.compile(r"(?<![\d.])0\.(?=\d)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A design that generates data sets.

    Attributes
    ----------
    setting : str
        Name of the setting.
    family : str
        Family of cells that are summarized together, such as ``paper``, ``prior`` or ``fixed``.
    parameters : mapping of str to float or str
        Parameters, in the order of the label.
    n_data_sets : int
        Number of simulated data sets; 0 if the coverage is exact.
    averaged : bool
        Whether parameters are drawn from the prior of the default method, so that its coverage should equal the level.
    levels : tuple of float
        Nominal levels, including the one at which methods are assessed.
    is_null : bool
        Whether two systems are equally good, so that an interval that excludes 0 is a false positive.
    """

    setting: str
    family: str
    parameters: Mapping[str, Parameter]
    n_data_sets: int
    averaged: bool = False
    levels: tuple[float, ...] = (NOMINAL,)
    is_null: bool = False

    @property
    def label(self) -> str:
        """Parameters as text, such as ``theta 0.99, clusters 588×16, d inf``."""
        values = (value if isinstance(value, str) else f"{value:g}" for value in self.parameters.values())
        return ", ".join(f"{name} {value}" for name, value in zip(self.parameters, values, strict=True))

    @property
    def key(self) -> str:
        """Identifier of the cell, stable across runs."""
        return f"{self.setting}/{self.family}/{self.label}"

    @property
    def seed_key(self) -> str:
        """Key from which random numbers are seeded: `key` with text parameters as in the first version.

        They had no zero before a decimal point. Results that were stored at that time stay reproducible.
        """
        values = (_FRACTION.sub(".", v) if isinstance(v, str) else f"{v:g}" for v in self.parameters.values())
        label = ", ".join(f"{name} {value}" for name, value in zip(self.parameters, values, strict=True))
        return f"{self.setting}/{_FRACTION.sub('.', self.family)}/{label}"

    def number(self, name: str) -> float:
        """The parameter `name` as a number."""
        return float(self.parameters[name])

    def text(self, name: str) -> str:
        """The parameter `name` as text."""
        return str(self.parameters[name])


@dataclass(frozen=True, slots=True)
class Answer:
    """A method's intervals for one data set.

    Attributes
    ----------
    ends : (low, high) at each level asked for
    warnings : of the estimate
    """

    ends: tuple[tuple[float, float], ...]
    warnings: tuple[Message, ...] = ()


class DataSet(ABC):
    """Simulated data and the true value of the estimand."""

    truth: float

    @property
    @abstractmethod
    def key(self) -> bytes:
        """Key that is equal for data sets to which every method gives the same answer."""

    @abstractmethod
    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        """Intervals of a method; None if it refuses to give one."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A family of evaluations with the methods to compare.

    Attributes
    ----------
    name, title : str
        Name on the command line, and title in the report.
    methods : tuple of str
        Names of all methods, with the default first.
    cells : callable
        Returns the cells of a size.
    draw : callable
        Draws a data set of a cell.
    every : mapping of str to int
        Slow methods are applied to every n-th data set.
    every_of_paper : mapping of str to int
        The same for the cells of the papers.
    only_in_paper : frozenset of str
        Methods that are applied to the cells of the papers only.
    """

    name: str
    title: str
    methods: tuple[str, ...]
    cells: Callable[[Size], list[Cell]]
    draw: Callable[[Cell, np.random.Generator], DataSet]
    every: Mapping[str, int] = field(default_factory=dict)
    every_of_paper: Mapping[str, int] = field(default_factory=dict)
    only_in_paper: frozenset[str] = frozenset()

    def takes(self, cell: Cell, method: str, i: int) -> bool:
        """Whether a method is applied to the i-th data set; outside the papers' cells the default is applied to all."""
        if cell.family != "paper" and method in self.only_in_paper:
            return False
        if cell.family == "paper":
            return i % self.every_of_paper.get(method, 1) == 0
        return method == self.default or i % (10 if cell.averaged else self.every.get(method, 1)) == 0

    @property
    def default(self) -> str:
        """Default method of the package."""
        return self.methods[0]
