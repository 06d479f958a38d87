"""Simulate cells: resumable, in parallel, equal data sets answered once."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import numpy as np

from harness_uq import __version__
from harness_uq.calibration import exact
from harness_uq.calibration.design import NOMINAL, Answer, Cell, DataSet, Setting, Size
from harness_uq.calibration.results import CellResult, MethodResult, append_line, nominal_place, read_lines
from harness_uq.calibration.settings import PRIORS, SETTINGS
from harness_uq.errors import DataError, MissingDependencyError
from harness_uq.logs.data import FloatArray
from harness_uq.stats.proportion.coverage import coverage_at

CLOSE_CALL = 0.92
EXTENSION = 4
VERY_CLOSE, MOST = 0.91, 16
ROUNDING = 1e-12
_KEPT_WARNINGS = 4

Progress = Callable[[Iterable[CellResult], int], Iterable[CellResult]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to simulate.

    Attributes
    ----------
    settings : names, all by default
    size : `smoke` takes a minute, `standard` half an hour
    methods : names; None for all
    levels : None for those of the papers
    sizes : numbers of questions to keep, as in the cells' `N` or `questions`; None for all
    seed, jobs : jobs are processes
    """

    settings: tuple[str, ...] = tuple(SETTINGS)
    size: Size = "smoke"
    methods: tuple[str, ...] | None = None
    levels: tuple[float, ...] | None = None
    sizes: tuple[int, ...] | None = None
    seed: int = 0
    jobs: int = 1

    def cells(self) -> list[Cell]:
        """The cells of the plan.

        Raises
        ------
        DataError : if no setting has that name
        """
        unknown = [name for name in self.settings if name not in SETTINGS]
        if unknown:
            raise DataError(f"no setting is called {unknown[0]!r}; there are {', '.join(SETTINGS)}")
        cells = [cell for name in self.settings for cell in SETTINGS[name].cells(self.size) if self._keeps(cell)]
        return cells if self.levels is None else [replace(cell, levels=self.levels) for cell in cells]

    def _keeps(self, cell: Cell) -> bool:
        n = cell.parameters.get("N", cell.parameters.get("questions"))
        return self.sizes is None or n is None or int(n) in self.sizes

    def methods_of(self, setting: Setting) -> tuple[str, ...]:
        """Names of the setting's methods to run; the default is always among them."""
        if self.methods is None:
            return setting.methods
        return tuple(name for name in setting.methods if name in (setting.default, *self.methods))


def run(plan: Plan, *, kept: Path | None = None, progress: Progress | None = None) -> list[CellResult]:
    """Simulate every cell of a plan that `kept` does not hold yet.

    Parameters
    ----------
    kept : file of JSON lines to resume from and to append to; None keeps nothing
    progress : wraps the iteration over results, of which it is told the number

    Returns
    -------
    One result a cell, in the plan's order
    """
    cells = plan.cells()
    done = {result.identity: result for result in (read_lines(kept) if kept else [])}
    identities = [_identity(cell, plan) for cell in cells]
    todo = [cell for cell, identity in zip(cells, identities, strict=True) if identity not in done]
    stream = _results(todo, plan)
    for result in progress(stream, len(todo)) if progress else stream:
        done[result.identity] = result
        if kept:
            append_line(kept, result)
    return [done[identity] for identity in identities]


def _identity(cell: Cell, plan: Plan) -> str:
    setting = SETTINGS[cell.setting]
    names = [name for name in plan.methods_of(setting) if cell.n_data_sets == 0 or setting.takes(cell, name, 0)]
    methods = dict.fromkeys(names, MethodResult(0, (), ()))
    return _result(cell, plan, methods, 0.0).identity


def _results(cells: Sequence[Cell], plan: Plan) -> Iterator[CellResult]:
    if plan.jobs == 1 or len(cells) < 2:
        yield from (simulate(cell, plan) for cell in cells)
        return
    if find_spec("joblib") is None:
        raise MissingDependencyError("several jobs need joblib; pip install 'harness-uq[calibrate]' brings it")
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=plan.jobs, return_as="generator_unordered")
    yield from parallel(delayed(simulate)(cell, plan) for cell in cells)


def simulate(cell: Cell, plan: Plan) -> CellResult:
    """Coverage and width of every method in one cell."""
    start = time.process_time()
    setting = SETTINGS[cell.setting]
    names = plan.methods_of(setting)
    methods = _exact(cell, names) if cell.n_data_sets == 0 else _simulated(cell, setting, names, plan.seed)
    return _result(cell, plan, methods, time.process_time() - start)


def _result(cell: Cell, plan: Plan, methods: dict[str, MethodResult], seconds: float) -> CellResult:
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


def _exact(cell: Cell, names: Sequence[str]) -> dict[str, MethodResult]:
    n, text = int(cell.number("N")), str(cell.parameters["theta"])
    theta = PRIORS.get(text) or float(text)
    chances = exact.chances(theta, n)
    found = {}
    for name in names:
        tables = [exact.cached_table(name, n, level) for level in cell.levels]
        coverage = tuple(
            exact.coverage_averaged(theta, ends) if isinstance(theta, tuple) else float(coverage_at(theta, ends))
            for ends in tables
        )
        width = tuple(float(chances @ (high - low)) for low, high in tables)
        said = exact.warnings_table(n) if name == "bayes" else [()] * (n + 1)
        warned = float(chances @ [bool(warnings) for warnings in said])
        found[name] = MethodResult(0, coverage, width, 0.0, warned, _shares(said, chances))
    return found


def _shares(said: Sequence[tuple[str, ...]], chances: FloatArray) -> dict[str, float]:
    """How often each warning comes, numbers left out of it."""
    shares: defaultdict[str, float] = defaultdict(float)
    for warnings, chance in zip(said, chances, strict=True):
        for text in {_without_numbers(text) for text in warnings}:
            shares[text] += float(chance)
    return dict(shares)


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?", "#", text)


@dataclass(slots=True)
class _Tally:
    """Running sums of one method in one cell."""

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
        self.warnings.update({_without_numbers(text) for text in answer.warnings})

    def result(self) -> MethodResult:
        answered = self.n - self.refused
        width = tuple(float(w) / answered for w in self.width) if answered else (None,) * len(self.levels)
        shares = {text: count / self.n for text, count in self.warnings.most_common(_KEPT_WARNINGS)}
        coverage = tuple(float(h) / self.n for h in self.held)
        missed = answered - int(self.held[nominal_place(self.levels)])
        warned_of_missed = self.warned_of_missed / missed if missed else None
        return MethodResult(
            self.n, coverage, width, self.refused / self.n, self.warned / self.n, shares, warned_of_missed
        )


def _simulated(cell: Cell, setting: Setting, names: Sequence[str], seed: int) -> dict[str, MethodResult]:
    """All methods on `n_data_sets`; where the default covers less than .92, it anew on four times as many.

    The data sets that called for more do not count: kept, they would pull the coverage down. Where the new ones cover
    less than .91 they go on, to sixteen times as many.
    """
    rng = np.random.default_rng([seed, crc32(cell.key.encode())])
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
    if cell.levels == (NOMINAL,) and not cell.averaged and default.held[0] < CLOSE_CALL * default.n:
        tallies[setting.default] = _Tally(cell.levels)
        for _ in range(EXTENSION * cell.n_data_sets):
            take(setting.draw(cell, rng), setting.default)
        default = tallies[setting.default]
        if default.held[0] < VERY_CLOSE * default.n:
            for _ in range((MOST - EXTENSION) * cell.n_data_sets):
                take(setting.draw(cell, rng), setting.default)
    return {name: tally.result() for name, tally in tallies.items() if tally.n}
