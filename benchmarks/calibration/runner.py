"""Simulation of cells: resumable, in parallel, with one computation for equal data sets."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from zlib import crc32

import joblib
import numpy as np

from benchmarks.calibration.results import CellResult, MethodSummary, append_line, nominal_place, read_lines
from benchmarks.calibration.scenarios import PRIORS, SETTINGS, exact
from benchmarks.calibration.scenarios.types import NOMINAL, Answer, Cell, DataSet, Scenario, Size
from harness_uq import __version__
from harness_uq.data.task_log import FloatArray
from harness_uq.messages import Message
from harness_uq.messages.errors import DataError
from harness_uq.stats.proportion.coverage import coverage_at

# below this coverage the default is simulated again with EXTENSION times as many data sets
EXTENSION_COVERAGE, EXTENSION = 0.92, 4
# below this coverage the new simulation continues to MAX_EXTENSION times as many data sets
MAX_EXTENSION_COVERAGE, MAX_EXTENSION = 0.91, 16
ROUNDING = 1e-12
_KEPT_WARNINGS = 4


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """Cells and methods to simulate.

    Attributes
    ----------
    settings : tuple of str
        Names of settings (default: all).
    size : {"smoke", "standard"}
        ``smoke`` takes about a minute, ``standard`` about half an hour.
    methods : tuple of str or None
        Names of methods; None for all.
    levels : tuple of float or None
        Nominal levels; None for those of the papers.
    sizes : tuple of int or None
        Numbers of questions (parameter ``N`` or ``questions`` of the cells); None for all.
    seed : int
        Random seed.
    jobs : int
        Number of processes.
    """

    settings: tuple[str, ...] = tuple(SETTINGS)
    size: Size = "smoke"
    methods: tuple[str, ...] | None = None
    levels: tuple[float, ...] | None = None
    sizes: tuple[int, ...] | None = None
    seed: int = 0
    jobs: int = 1

    def cells(self) -> list[Cell]:
        """Cells of the plan.

        Raises
        ------
        DataError
            If a setting is unknown.
        """
        unknown = [name for name in self.settings if name not in SETTINGS]
        if unknown:
            raise DataError(f"unknown setting {unknown[0]!r}; available are {', '.join(SETTINGS)}")
        cells = [cell for name in self.settings for cell in SETTINGS[name].cells(self.size) if self._keeps(cell)]
        return cells if self.levels is None else [replace(cell, levels=self.levels) for cell in cells]

    def _keeps(self, cell: Cell) -> bool:
        n = cell.parameters.get("N", cell.parameters.get("questions"))
        return self.sizes is None or n is None or int(n) in self.sizes

    def methods_of(self, setting: Scenario) -> tuple[str, ...]:
        """Methods of a setting to run, including its default."""
        if self.methods is None:
            return setting.methods
        return tuple(name for name in setting.methods if name in (setting.default, *self.methods))


def run_simulations(plan: SimulationPlan, *, kept: Path | None = None) -> list[CellResult]:
    """Simulate all cells of a plan that have no stored result yet.

    Parameters
    ----------
    plan : SimulationPlan
        Cells and methods.
    kept : Path, optional
        File of JSON lines to resume from and to append to.

    Returns
    -------
    list of CellResult
        One result per cell, in the order of the plan.
    """
    cells = plan.cells()
    done = {result.identity: result for result in (read_lines(kept) if kept else [])}
    identities = [_identity(cell, plan) for cell in cells]
    todo = [cell for cell, identity in zip(cells, identities, strict=True) if identity not in done]
    for result in _results(todo, plan):
        done[result.identity] = result
        if kept:
            append_line(kept, result)
    return [done[identity] for identity in identities]


def _identity(cell: Cell, plan: SimulationPlan) -> str:
    setting = SETTINGS[cell.setting]
    names = [name for name in plan.methods_of(setting) if cell.n_data_sets == 0 or setting.takes(cell, name, 0)]
    methods = dict.fromkeys(names, MethodSummary(0, (), ()))
    return _result(cell, plan, methods, 0.0).identity


def _results(cells: Sequence[Cell], plan: SimulationPlan) -> Iterator[CellResult]:
    if plan.jobs == 1 or len(cells) < 2:
        yield from (simulate(cell, plan) for cell in cells)
        return
    parallel = joblib.Parallel(n_jobs=plan.jobs, return_as="generator_unordered")
    yield from parallel(joblib.delayed(simulate)(cell, plan) for cell in cells)


def simulate(cell: Cell, plan: SimulationPlan) -> CellResult:
    """Coverage and width of every method in one cell."""
    start = time.process_time()
    setting = SETTINGS[cell.setting]
    names = plan.methods_of(setting)
    methods = _exact(cell, names) if cell.n_data_sets == 0 else _simulated(cell, setting, names, plan.seed)
    return _result(cell, plan, methods, time.process_time() - start)


def _result(cell: Cell, plan: SimulationPlan, methods: dict[str, MethodSummary], seconds: float) -> CellResult:
    parameters = {name: str(value) for name, value in cell.parameters.items()}
    return CellResult(
        key=cell.key,
        setting=cell.setting,
        family=cell.family,
        label=cell.label,
        parameters=parameters,
        averaged=cell.averaged,
        is_null=cell.is_null,
        levels=cell.levels,
        n_data_sets=cell.n_data_sets,
        seed=plan.seed,
        version=__version__,
        methods=methods,
        seconds=round(seconds, 2),
    )


def _exact(cell: Cell, names: Sequence[str]) -> dict[str, MethodSummary]:
    n, text = int(cell.number("N")), str(cell.parameters["theta"])
    theta = PRIORS.get(text) or float(text)
    probabilities = exact.chances(theta, n)
    summaries = {}
    for name in names:
        tables = [exact.cached_table(name, n, level) for level in cell.levels]
        coverage = tuple(
            exact.coverage_averaged(theta, ends) if isinstance(theta, tuple) else float(coverage_at(theta, ends))
            for ends in tables
        )
        width = tuple(float(probabilities @ (high - low)) for low, high in tables)
        table = exact.warnings_table(n) if name == "bayes" else [()] * (n + 1)
        warned = float(probabilities @ [bool(warnings) for warnings in table])
        summaries[name] = MethodSummary(0, coverage, width, 0.0, warned, _shares(table, probabilities))
    return summaries


def _shares(warned: Sequence[tuple[Message, ...]], chances: FloatArray) -> dict[str, float]:
    """How often each warning occurs, by its code."""
    shares: defaultdict[str, float] = defaultdict(float)
    for warnings, chance in zip(warned, chances, strict=True):
        for code in {warning.code for warning in warnings}:
            shares[code] += float(chance)
    return dict(shares)


@dataclass(slots=True)
class _Tally:
    """Running totals of one method in one cell."""

    levels: tuple[float, ...]
    n: int = 0
    refused: int = 0
    warned: int = 0
    warned_of_missed: int = 0
    held: "np.ndarray[tuple[int], np.dtype[np.float64]]" = field(init=False)
    width: "np.ndarray[tuple[int], np.dtype[np.float64]]" = field(init=False)
    warnings: "Counter[str]" = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.held, self.width = np.zeros(len(self.levels)), np.zeros(len(self.levels))

    def add(self, answer: Answer | None, truth: float) -> None:
        self.n += 1
        if answer is None:
            self.refused += 1
            return
        low, high = np.array(answer.ends).T
        held = (low - ROUNDING <= truth) & (truth <= high + ROUNDING)
        self.held += held
        self.width += high - low
        self.warned_of_missed += bool(answer.warnings) and not held[nominal_place(self.levels)]
        self.warned += bool(answer.warnings)
        self.warnings.update({warning.code for warning in answer.warnings})

    def result(self) -> MethodSummary:
        answered = self.n - self.refused
        width = tuple(float(w) / answered for w in self.width) if answered else (None,) * len(self.levels)
        shares = {code: count / self.n for code, count in self.warnings.most_common(_KEPT_WARNINGS)}
        coverage = tuple(float(h) / self.n for h in self.held)
        missed = answered - int(self.held[nominal_place(self.levels)])
        warned_of_missed = self.warned_of_missed / missed if missed else None
        return MethodSummary(
            self.n, coverage, width, self.refused / self.n, self.warned / self.n, shares, warned_of_missed
        )


def _simulated(cell: Cell, setting: Scenario, names: Sequence[str], seed: int) -> dict[str, MethodSummary]:
    """Simulate all methods on `n_data_sets`, and the default again if its coverage is below 0.92.

    The second simulation has four times as many data sets, or sixteen times as many if its coverage is below 0.91. The
    data sets that led to it are discarded, because including them would bias the coverage downwards.
    """
    rng = np.random.default_rng([seed, crc32(cell.seed_key.encode())])
    tallies = {name: _Tally(cell.levels) for name in names}
    answers: dict[tuple[str, bytes], Answer | None] = {}

    def take(data: DataSet, name: str) -> None:
        key = name, data.key
        if key not in answers:
            answers[key] = data.answer(name, cell.levels, rng)
        tallies[name].add(answers[key], data.truth)

    for i in range(cell.n_data_sets):
        data = setting.draw(cell, rng)
        for name in names:
            if setting.takes(cell, name, i):
                take(data, name)
    default = tallies[setting.default]
    if cell.levels == (NOMINAL,) and not cell.averaged and default.held[0] < EXTENSION_COVERAGE * default.n:
        tallies[setting.default] = _Tally(cell.levels)
        for _ in range(EXTENSION * cell.n_data_sets):
            take(setting.draw(cell, rng), setting.default)
        default = tallies[setting.default]
        if default.held[0] < MAX_EXTENSION_COVERAGE * default.n:
            for _ in range((MAX_EXTENSION - EXTENSION) * cell.n_data_sets):
                take(setting.draw(cell, rng), setting.default)
    return {name: tally.result() for name, tally in tallies.items() if tally.n}
