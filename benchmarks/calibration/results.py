"""Results of simulations, stored as JSON lines with one line per cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.calibration.scenarios.types import NOMINAL
from harness_uq.messages.errors import LogError


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """Coverage and width of a method in one cell.

    Attributes
    ----------
    n : int
        Number of data sets; 0 if the numbers are exact.
    coverage : tuple of float
        Share of data sets whose interval contains the true value, by level. A refusal counts as a miss.
    width : tuple of float or None
        Mean width of the intervals, by level; None if there was none.
    refused, warned : float
        Share of data sets for which the method refused to give an interval, or gave a warning.
    warned_of_missed : float or None
        Share with a warning among the data sets whose nominal interval missed the true value; None if there was none or
        it was not counted.
    warnings : mapping of str to float
        Share of data sets with each warning, by the code of the warning.
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
        """Monte Carlo standard error of the coverage, by level; 0 if exact."""
        if not self.n:
            return (0.0,) * len(self.coverage)
        # one success and one failure are added, so that the error of a finite simulation is positive
        p = (np.array(self.coverage) * self.n + 1) / (self.n + 2)
        return tuple(float(e) for e in np.sqrt(p * (1 - p) / self.n))


@dataclass(frozen=True, slots=True)
class CellResult:
    """Result of a simulated cell.

    Attributes
    ----------
    key : str
        Key of the cell; with `seed`, `version` and `n_data_sets` it identifies the result.
    methods : mapping of str to MethodSummary
        Results by method.
    seconds : float
        CPU time on one core.
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
    methods: Mapping[str, MethodSummary]
    seconds: float = 0.0

    @property
    def identity(self) -> str:
        """Text that is equal for results that need not be computed again."""
        return f"{self.key}|{self.n_data_sets}|{self.seed}|{self.version}|{self.levels}|{sorted(self.methods)}"

    @property
    def at_nominal(self) -> int:
        """Index of the nominal level in `levels`."""
        return nominal_place(self.levels)


def nominal_place(levels: Sequence[float]) -> int:
    """Index of the nominal level 0.95, or of the last level."""
    return levels.index(NOMINAL) if NOMINAL in levels else len(levels) - 1


@dataclass(frozen=True, slots=True)
class Uniformity:
    """Simulation-based calibration of one posterior.

    Attributes
    ----------
    posterior, design : str
        Name of the posterior, and the data design.
    counts : tuple of int
        Histogram of the posterior ranks of the true value in equal bins.
    p_value : float
        Chi-squared test of uniform ranks.
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
    """Calibration of P(A > B): how often A is better when P(A > B) is p.

    Attributes
    ----------
    counts : tuple of int
        Number of comparisons in each tenth of p.
    forecast, observed : tuple of float
        Mean p, and share in which A is better; 0 if a bin is empty.
    p_value : float
        Chi-squared test that both agree.
    """

    comparison: str
    design: str
    n: int
    counts: tuple[int, ...]
    forecast: tuple[float, ...]
    observed: tuple[float, ...]
    p_value: float


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A committed calibration run.

    Attributes
    ----------
    seconds : float
        Elapsed time.
    earlier : mapping of str to str
        Date of the earlier run by setting, for settings with results of an earlier run.
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
    """Results of an interrupted run, without a truncated last line."""
    if not path.exists():
        return []
    results: list[CellResult] = []
    for line in path.read_bytes().splitlines():
        try:
            results.append(msgspec.json.decode(line, type=CellResult))
        except msgspec.DecodeError:
            continue
    return results


def append_line(path: Path, result: CellResult) -> None:
    """Append one result to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(msgspec.json.encode(result) + b"\n")


def read_report(path: Path) -> CalibrationReport:
    """Read a report written by `write_report`.

    Raises
    ------
    LogError
        If the file cannot be read or is not a report.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=CalibrationReport)
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise LogError(f"{path} is not a calibration report: {error}") from None


def write_report(path: Path, report: CalibrationReport) -> None:
    """Write a report with one cell per line and numbers rounded to six digits."""
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
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(item) for item in value]
    return value
