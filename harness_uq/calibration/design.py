"""What a simulation is made of: cells (a way to generate data), data sets with their truth, and answers to them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Size = Literal["smoke", "standard"]
Parameter = float | str

LEVELS = (0.8, 0.9, 0.95, 0.99)
NOMINAL = 0.95


@dataclass(frozen=True, slots=True)
class Cell:
    """One way to generate data sets.

    Attributes
    ----------
    setting : name of the setting it belongs to
    family : `paper`, `prior`, `fixed`, …: cells that are summarised together
    parameters : by name, in the order of the label
    n_data_sets : how many to simulate; 0 where the coverage is exact
    averaged : parameters are drawn from the default method's own prior, where its coverage is the level
    levels : nominal levels; the one at which methods are judged is among them
    is_null : two systems are equally good, so that an interval without 0 is a false alarm
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
        """Parameters in words, such as `theta 0.99, clusters 588×16, d inf`."""
        return ", ".join(f"{name} {_text(value)}" for name, value in self.parameters.items())

    @property
    def key(self) -> str:
        """Identity of the cell, stable across runs."""
        return f"{self.setting}/{self.family}/{self.label}"

    def number(self, name: str) -> float:
        """The parameter `name` as a number."""
        return float(self.parameters[name])

    def text(self, name: str) -> str:
        """The parameter `name` as text."""
        return str(self.parameters[name])


def _text(value: Parameter) -> str:
    return value if isinstance(value, str) else f"{value:g}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A method's intervals for one data set.

    Attributes
    ----------
    ends : (low, high) at each level asked for
    warnings : what the software says beside the interval
    """

    ends: tuple[tuple[float, float], ...]
    warnings: tuple[str, ...] = ()


class DataSet(ABC):
    """Simulated data and the true value of the estimand."""

    truth: float

    @property
    @abstractmethod
    def key(self) -> bytes:
        """Equal for data sets to which every method gives the same answer."""

    @abstractmethod
    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        """Intervals of a method; None where it refuses to give one."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A family of evaluations, and the methods that answer them.

    Attributes
    ----------
    name, title : for the command line, and for the report
    default : name of the method that the software uses unless told otherwise
    methods : names of all methods, the default first
    cells : of a size
    draw : a data set of a cell
    every : of slow methods, the n-th data sets that they get; `every_of_paper` in the papers' cells
    only_in_paper : methods that the other cells do without
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
        """Whether a method gets the i-th data set; outside the papers' cells the default gets all."""
        if cell.family != "paper" and method in self.only_in_paper:
            return False
        if cell.family == "paper":
            return i % self.every_of_paper.get(method, 1) == 0
        return method == self.default or i % (10 if cell.averaged else self.every.get(method, 1)) == 0

    @property
    def default(self) -> str:
        """The method that the software uses unless told otherwise."""
        return self.methods[0]
