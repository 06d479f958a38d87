"""What a calibration run says about the default methods: rules that hold or not, and alarms for broken methods."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.calibration.design import NOMINAL
from harness_uq.calibration.results import CellResult, MethodResult, Reliability, Uniformity
from harness_uq.calibration.settings import SETTINGS

FLOOR = 0.90
COMFORT = 0.93
AVERAGED_TOLERANCE = 0.005
FALSE_ALARMS = 0.06
_SURE = 4.0  # Monte Carlo standard errors before a difference counts as an alarm


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rules for one setting at the nominal 95 %; a field is None where the setting has no such cells.

    Attributes
    ----------
    averaged_error : coverage averaged over the default's own prior, less the level, of the worst cell; `averaged_mc` is
        its Monte Carlo standard error
    mean_under_coverage : mean over fixed cells of max(0, .95 - coverage)
    n_low, n_low_unwarned : fixed cells under .90, and those of them in which fewer than half of the data sets, and of
        those missed, are warned of
    width_ratio : mean width over that of `narrowest`, the narrowest method without a cell under .90; None where no
        method has none
    warned_share : share of the cells covering .93 or more in which at least half of the data sets are warned of
    false_alarms : share of intervals without 0 where two systems are equally good
    n_null : simulated data sets of two equal systems
    worst : the cell that covers least
    """

    setting: str
    n_cells: int
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


def default_of(cell: CellResult) -> MethodResult:
    """Result of the setting's default method."""
    return cell.methods[SETTINGS[cell.setting].default]


def coverage_of(cell: CellResult, method: str | None = None) -> float:
    """Coverage at the nominal level."""
    result = default_of(cell) if method is None else cell.methods[method]
    return result.coverage[cell.at_nominal]


def warns_often(cell: CellResult) -> bool:
    """Whether at least half of the data sets carry a warning."""
    return default_of(cell).warned >= 0.5


def is_warned(cell: CellResult) -> bool:
    """Whether at least half of the data sets carry a warning, or half of those whose interval is wrong."""
    return warns_often(cell) or (default_of(cell).warned_of_missed or 0.0) >= 0.5


def judge(setting: str, cells: Sequence[CellResult]) -> Verdict:
    """Apply the rules to the cells of one setting."""
    mine = [cell for cell in cells if cell.setting == setting]
    averaged = [cell for cell in mine if cell.averaged]
    fixed = [cell for cell in mine if not cell.averaged]
    low = [cell for cell in fixed if coverage_of(cell) < FLOOR]
    calm = [cell for cell in mine if coverage_of(cell) >= COMFORT]
    far = max(averaged, key=lambda cell: abs(coverage_of(cell) - NOMINAL), default=None)
    ratio, narrowest = _width_ratio(setting, fixed)
    null = [cell for cell in mine if cell.is_null]
    runs = [default_of(cell).n for cell in null]
    alarms = [n * (1 - coverage_of(cell)) for n, cell in zip(runs, null, strict=True)]
    return Verdict(
        setting=setting,
        n_cells=len(mine),
        averaged_error=None if far is None else coverage_of(far) - NOMINAL,
        averaged_mc=0.0 if far is None else default_of(far).mc_error[far.at_nominal],
        mean_under_coverage=float(np.mean([max(0.0, NOMINAL - coverage_of(c)) for c in fixed])) if fixed else None,
        n_low=len(low),
        n_low_unwarned=sum(not is_warned(cell) for cell in low),
        width_ratio=ratio,
        narrowest=narrowest,
        warned_share=float(np.mean([warns_often(cell) for cell in calm])) if calm else None,
        false_alarms=sum(alarms) / sum(runs) if runs else None,
        n_null=sum(runs),
        worst=min(fixed, key=coverage_of, default=None),
    )


def _width_ratio(setting: str, cells: Sequence[CellResult]) -> tuple[float | None, str | None]:
    """The default's mean width relative to the narrowest method that covers .90 in all cells, itself included."""
    widths: dict[str, float] = {}
    for method in SETTINGS[setting].methods:
        given = [cell.methods.get(method) for cell in cells]
        found = [(r, c) for r, c in zip(given, cells, strict=True) if r is not None and r.refused < 1]
        if len(found) < len(cells) or not cells:
            continue
        if all(r.coverage[c.at_nominal] >= FLOOR for r, c in found) or method == SETTINGS[setting].default:
            widths[method] = float(np.mean([r.width[c.at_nominal] or 0.0 for r, c in found]))
    default = SETTINGS[setting].default
    sound = {
        method: width
        for method, width in widths.items()
        if method != default or all(coverage_of(cell) >= FLOOR for cell in cells)
    }
    if default not in widths or not sound:
        return None, None
    narrowest = min(sound, key=lambda method: sound[method])
    return widths[default] / sound[narrowest], narrowest


def alarms(
    cells: Sequence[CellResult], uniformity: Sequence[Uniformity] = (), reliability: Sequence[Reliability] = ()
) -> list[str]:
    """What cannot be chance: the sentences that a broken default method brings about, none for a sound one."""
    found = [text for cell in cells for text in _cell_alarms(cell)]
    found += [
        f"ranks of {u.posterior} ({u.design}) are not uniform: p = {u.p_value:.1g}"
        for u in uniformity
        if u.p_value < 1e-5 and u.posterior != "bayes-at-n"
    ]
    found += [
        f"P(A > B) of {r.comparison} ({r.design}) is off: p = {r.p_value:.1g}" for r in reliability if r.p_value < 1e-5
    ]
    return found


def _cell_alarms(cell: CellResult) -> list[str]:
    result, place = default_of(cell), cell.at_nominal
    coverage, error, level = result.coverage[place], _SURE * result.mc_error[place], cell.levels[place]
    if cell.averaged:
        tolerance = 1e-6 if not result.n else AVERAGED_TOLERANCE + error
        if abs(coverage - level) > tolerance:
            return [
                f"{cell.key}: covers {coverage:.4f} on average over its prior; {level:g} ± {tolerance:.2g} expected"
            ]
        return []
    if result.n and coverage + error < level - (NOMINAL - FLOOR) and not is_warned(cell):
        return [f"{cell.key}: covers {coverage:.3f}, without a warning"]
    return []
