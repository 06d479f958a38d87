"""Results of simulations, as kept in JSON lines: one line a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from harness_uq.calibration.design import NOMINAL
from harness_uq.errors import LogError


@dataclass(frozen=True, slots=True)
class MethodResult:
    """What a method did in a cell.

    Attributes
    ----------
    n : data sets it answered or refused; 0 where the numbers are exact
    coverage : share of data sets whose interval held the truth, by level; a refusal holds nothing
    width : mean width of the intervals given, by level; None where there was none
    refused, warned : shares of data sets
    warned_of_missed : share of those missed at the nominal level that carry a warning; None where none was missed, or
        it was not counted
    warnings : share of data sets by text, numbers left out
    """

    n: int
    coverage: tuple[float, ...]
    width: tuple[float | None, ...]
    refused: float = 0.0
    warned: float = 0.0
    warnings: Mapping[str, float] = field(default_factory=dict)
    warned_of_missed: float | None = None

    @property
    def mc_error(self) -> tuple[float, ...]:
        """Monte Carlo standard error of the coverage, by level; 0 where exact."""
        if not self.n:
            return (0.0,) * len(self.coverage)
        # one success and one failure added: no error of 0 from a finite simulation
        p = (np.array(self.coverage) * self.n + 1) / (self.n + 2)
        return tuple(float(e) for e in np.sqrt(p * (1 - p) / self.n))


@dataclass(frozen=True, slots=True)
class CellResult:
    """A simulated cell.

    Attributes
    ----------
    key : of the cell; with `seed`, `version` and `n_data_sets` the identity of the line
    methods : by name
    seconds : of one core
    """

    key: str
    setting: str
    family: str
    label: str
    parameters: Mapping[str, str]
    averaged: bool
    is_null: bool
    levels: tuple[float, ...]
    n_data_sets: int
    seed: int
    version: str
    methods: Mapping[str, MethodResult]
    seconds: float = 0.0

    @property
    def identity(self) -> str:
        """Equal for results that need not be computed again."""
        return f"{self.key}|{self.n_data_sets}|{self.seed}|{self.version}|{self.levels}|{sorted(self.methods)}"

    @property
    def at_nominal(self) -> int:
        """Place of the nominal level in `levels`."""
        return nominal_place(self.levels)


def nominal_place(levels: Sequence[float]) -> int:
    """Place of the nominal level, .95, or of the last one."""
    return levels.index(NOMINAL) if NOMINAL in levels else len(levels) - 1


@dataclass(frozen=True, slots=True)
class Uniformity:
    """Simulation-based calibration of one posterior.

    Attributes
    ----------
    posterior, design : which, and of which data
    counts : histogram of the truth's posterior ranks in equal bins
    p_value : chi-squared test that the ranks are uniform
    """

    posterior: str
    design: str
    n: int
    counts: tuple[int, ...]
    p_value: float
    seed: int
    version: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often A is better where P(A > B) says p.

    Attributes
    ----------
    counts : comparisons in each tenth of p
    forecast, observed : mean p, and share in which A is better; 0 where a bin is empty
    p_value : chi-squared test that they agree
    """

    comparison: str
    design: str
    n: int
    counts: tuple[int, ...]
    forecast: tuple[float, ...]
    observed: tuple[float, ...]
    p_value: float


@dataclass(frozen=True, slots=True)
class Report:
    """A committed calibration run.

    Attributes
    ----------
    seconds : of the clock
    earlier : date by setting, where results of an earlier run stand in for it
    """

    size: str
    seed: int
    versions: Mapping[str, str]
    date: str
    seconds: float
    cells: tuple[CellResult, ...]
    uniformity: tuple[Uniformity, ...]
    reliability: tuple[Reliability, ...] = ()
    earlier: Mapping[str, str] = field(default_factory=dict)


def read_lines(path: Path) -> list[CellResult]:
    """Results of an interrupted run; a last line cut short is left out."""
    if not path.exists():
        return []
    found: list[CellResult] = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(msgspec.json.decode(line, type=CellResult))
        except msgspec.DecodeError:
            continue
    return found


def append_line(path: Path, result: CellResult) -> None:
    """Keep one result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(msgspec.json.encode(result) + b"\n")


def read_report(path: Path) -> Report:
    """A report written by `write_report`.

    Raises
    ------
    LogError : if there is none
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise LogError(f"{path} holds no results of a calibration: {error}") from None


def write_report(path: Path, report: Report) -> None:
    """Write a report, a cell a line, numbers rounded to six digits."""
    text = msgspec.json.encode(_rounded(msgspec.to_builtins(report)))
    text = (
        text.replace(b'{"key":', b'\n{"key":')
        .replace(b'{"posterior":', b'\n{"posterior":')
        .replace(b'{"comparison":', b'\n{"comparison":')
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text + b"\n")


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(part) for part in value]
    return value
