"""Rules for the coverage of default methods, and alarms for faulty methods."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.calibration.results import CellResult, MethodSummary, Reliability, Uniformity
from benchmarks.calibration.scenarios import SETTINGS
from benchmarks.calibration.scenarios.types import NOMINAL

FLOOR = 0.90  # lowest acceptable coverage
GOOD_COVERAGE = 0.93
AVERAGED_TOLERANCE = 0.005
# settings whose default is wider than the posterior of its model, and by how much coverage may exceed the level there
WIDER_THAN_POSTERIOR = frozenset({"clustered", "nested", "benchmark", "groups"})
WIDENED_TOLERANCE = 0.02
FALSE_ALARMS = 0.06
_ALARM_ERRORS = 4.0  # number of Monte Carlo standard errors for an alarm


@dataclass(frozen=True, slots=True)
class Verdict:
    """Performance of the default method of one setting at nominal 95 %; a field is None without such cells.

    Attributes
    ----------
    averaged_error : float or None
        Coverage averaged over the default's own prior, minus the level, for the cell with the largest difference.
    averaged_mc : float
        Monte Carlo standard error of `averaged_error`.
    mean_under_coverage : float or None
        Mean over fixed cells of max(0, 0.95 - coverage).
    n_low, n_low_unwarned : int
        Number of fixed cells with coverage below 0.90, and of those without a warning in at least half of the data sets
        or of the missed data sets.
    width_ratio : float or None
        Mean width relative to `narrowest`; None if no method has coverage of at least 0.90 in all cells.
    narrowest : str or None
        Narrowest method with coverage of at least 0.90 in all cells.
    warned_share : float or None
        Share of the cells with coverage of at least 0.93 in which at least half of the data sets have a warning.
    false_alarms : float or None
        Share of intervals that exclude 0 for two equal systems.
    n_null : int
        Number of simulated data sets with two equal systems.
    worst : CellResult or None
        Cell with the lowest coverage.
    """

    setting: str
    n_scores: int
    averaged_error: float | None
    averaged_mc: float
    mean_under_coverage: float | None
    n_low: int
    n_low_unwarned: int
    width_ratio: float | None
    narrowest: str | None
    warned_share: float | None
    false_alarms: float | None
    n_null: int
    worst: CellResult | None


def default_of(cell: CellResult) -> MethodSummary:
    """Result of the setting's default method."""
    return cell.methods[SETTINGS[cell.setting].default]


def coverage_of(cell: CellResult, method: str | None = None) -> float:
    """Coverage at the nominal level."""
    result = default_of(cell) if method is None else cell.methods[method]
    return result.coverage[cell.at_nominal]


def warns_often(cell: CellResult) -> bool:
    """Whether at least half of the data sets have a warning."""
    return default_of(cell).warned >= 0.5


def is_warned(cell: CellResult) -> bool:
    """Whether at least half of the data sets, or of those whose interval misses the true value, have a warning."""
    return warns_often(cell) or (default_of(cell).warned_of_missed or 0.0) >= 0.5


def judge_method(setting: str, cells: Sequence[CellResult]) -> Verdict:
    """Apply the rules to the cells of one setting."""
    setting_cells = [cell for cell in cells if cell.setting == setting]
    averaged = [cell for cell in setting_cells if cell.averaged]
    fixed = [cell for cell in setting_cells if not cell.averaged]
    low = [cell for cell in fixed if coverage_of(cell) < FLOOR]
    good = [cell for cell in setting_cells if coverage_of(cell) >= GOOD_COVERAGE]
    farthest = max(averaged, key=lambda cell: abs(coverage_of(cell) - NOMINAL), default=None)
    ratio, narrowest = _width_ratio(setting, fixed)
    null_cells = [cell for cell in setting_cells if cell.is_null]
    runs = [default_of(cell).n for cell in null_cells]
    n_false_alarms = [n * (1 - coverage_of(cell)) for n, cell in zip(runs, null_cells, strict=True)]
    return Verdict(
        setting=setting,
        n_scores=len(setting_cells),
        averaged_error=None if farthest is None else coverage_of(farthest) - NOMINAL,
        averaged_mc=0.0 if farthest is None else default_of(farthest).mc_error[farthest.at_nominal],
        mean_under_coverage=float(np.mean([max(0.0, NOMINAL - coverage_of(c)) for c in fixed])) if fixed else None,
        n_low=len(low),
        n_low_unwarned=sum(not is_warned(cell) for cell in low),
        width_ratio=ratio,
        narrowest=narrowest,
        warned_share=float(np.mean([warns_often(cell) for cell in good])) if good else None,
        false_alarms=sum(n_false_alarms) / sum(runs) if runs else None,
        n_null=sum(runs),
        worst=min(fixed, key=coverage_of, default=None),
    )


def _width_ratio(setting: str, cells: Sequence[CellResult]) -> tuple[float | None, str | None]:
    """Mean width of the default relative to the narrowest method with coverage of at least 0.90 in all cells."""
    widths: dict[str, float] = {}
    for method in SETTINGS[setting].methods:
        results = [cell.methods.get(method) for cell in cells]
        answered = [(r, c) for r, c in zip(results, cells, strict=True) if r is not None and r.refused < 1]
        if len(answered) < len(cells) or not cells:
            continue
        if all(r.coverage[c.at_nominal] >= FLOOR for r, c in answered) or method == SETTINGS[setting].default:
            widths[method] = float(np.mean([r.width[c.at_nominal] or 0.0 for r, c in answered]))
    default = SETTINGS[setting].default
    eligible = {
        method: width
        for method, width in widths.items()
        if method != default or all(coverage_of(cell) >= FLOOR for cell in cells)
    }
    if default not in widths or not eligible:
        return None, None
    narrowest = min(eligible, key=lambda method: eligible[method])
    return widths[default] / eligible[narrowest], narrowest


def alarms(
    cells: Sequence[CellResult], uniformity: Sequence[Uniformity] = (), reliability: Sequence[Reliability] = ()
) -> list[str]:
    """Alarms for deviations that are too large to be random; empty if all default methods are valid."""
    texts = [text for cell in cells for text in _cell_alarms(cell)]
    texts += [
        f"ranks of {u.posterior} ({u.design}) are not uniform: p = {u.p_value:.1g}"
        for u in uniformity
        if u.p_value < 1e-5 and u.posterior != "bayes-at-n"
    ]
    texts += [
        f"P(A > B) of {r.comparison} ({r.design}) is not calibrated: p = {r.p_value:.1g}"
        for r in reliability
        if r.p_value < 1e-5
    ]
    return texts


def _cell_alarms(cell: CellResult) -> list[str]:
    result, place = default_of(cell), cell.at_nominal
    coverage, error, level = result.coverage[place], _ALARM_ERRORS * result.mc_error[place], cell.levels[place]
    if cell.averaged:
        below = 1e-6 if not result.n else AVERAGED_TOLERANCE + error
        above = WIDENED_TOLERANCE + error if cell.setting in WIDER_THAN_POSTERIOR else below
        if not -below <= coverage - level <= above:
            permitted = f"{level - below:.3g} to {level + above:.3g}"
            return [f"{cell.key}: coverage averaged over the prior is {coverage:.4f}, not {permitted}"]
        return []
    if result.n and coverage + error < level - (NOMINAL - FLOOR) and not is_warned(cell):
        return [f"{cell.key}: coverage is {coverage:.3f}, without a warning"]
    return []
