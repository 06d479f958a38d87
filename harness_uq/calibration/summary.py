"""Calibration results as tables for a terminal, as the page docs/calibration.md, and as figures."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness_uq.calibration.before import FORMER, HEAD, before_and_after
from harness_uq.calibration.design import NOMINAL
from harness_uq.calibration.figures_of_papers import FIGURES
from harness_uq.calibration.results import CellResult, MethodResult, Reliability, Report, Uniformity
from harness_uq.calibration.settings import SETTINGS
from harness_uq.calibration.verdicts import (
    FALSE_ALARMS,
    FLOOR,
    Verdict,
    coverage_of,
    default_of,
    is_warned,
    judge,
    warns_often,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness_uq.plots import Series

_SIZE_NAMES = ("N", "questions")
# a figure tells seven lines apart
_DRAWN = {
    "clustered": (
        "bayes",
        "published clustered IS",
        "clustered-wilson",
        "clustered-t",
        "published clustered CLT",
        "cluster bootstrap",
        "unclustered clt",
    ),
    "iid": ("bayes", "beta, equal tails", "wilson", "clopper-pearson", "jeffreys", "clt", "bootstrap"),
}


def cell_table(cells: Sequence[CellResult]) -> str:
    """Coverage and mean width of every method in every cell, as plain text."""
    lines = []
    for setting in dict.fromkeys(cell.setting for cell in cells):
        lines.append(f"{SETTINGS[setting].title} ({setting})")
        for cell in (c for c in cells if c.setting == setting):
            lines.append(f"  {cell.family}: {cell.label}{_size_text(default_of(cell))}")
            width = max(len(name) for name in cell.methods)
            lines += [f"    {name:<{width}}  {_line(result, cell)}" for name, result in cell.methods.items()]
    return "\n".join(lines)


def _line(result: MethodResult, cell: CellResult) -> str:
    parts = []
    for level, coverage, error, width in zip(cell.levels, result.coverage, result.mc_error, result.width, strict=True):
        wide = "-" if width is None else f"{width:.4f}"
        parts.append(f"{level:g}: {coverage:.4f}{f' ± {error:.4f}' if result.n else ' exact'}, width {wide}")
    refused = f"  refused {result.refused:.0%}" if result.refused else ""
    warned = f"  warned {result.warned:.0%}" if result.warned else ""
    return "   ".join(parts) + refused + warned


def _size_text(result: MethodResult) -> str:
    return f" ({result.n} data sets)" if result.n else ""


def page(report: Report) -> str:
    """The page docs/calibration.md."""
    verdicts = [judge(name, report.cells) for name in SETTINGS if any(c.setting == name for c in report.cells)]
    parts = [_opening(report), _verdict_table(verdicts), _before_section(report.cells)]
    parts += [_setting_section(verdict, report.cells) for verdict in verdicts]
    parts += [_figures_section(report.cells), _sbc_section(report.uniformity), _reliability_section(report.reliability)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return f"""# Calibration

Simulated and exact coverage of the intervals, next to those of the methods in use. The command is

```
harness-uq calibrate --size {report.size} --seed {report.seed} --report docs/calibration
```

These results are of {report.date}, with {versions}; {_minutes(report):.0f} minutes of one core. Every cell has random
numbers of its own, so that `--jobs` changes nothing ([decision 016](decisions/016-calibration.md)). The numbers are in
[calibration/results.json](calibration/results.json). The default of each setting, `bayes` or the first method named, is
what `harness-uq estimate`, `compare` and `subset` print, warnings included. A method that refuses to give an interval,
or gives one of no width, has missed. Coverage of one proportion is a sum over all possible data, without Monte Carlo
error; elsewhere the number of data sets is given, and slow methods get fewer: with n data sets the standard error
of a coverage of .95 is .22 / √n, of .90 .30 / √n.{_carried_over(report)}

![coverage against level](calibration/coverage.svg)
![coverage against width](calibration/width.svg)
![coverage error against the number of questions](calibration/error.svg)

The first two figures show questions in clusters as Bowyer et al. (2025) draw them, six clusters of five; the third, one
proportion of a uniform prior. Bars are two Monte Carlo standard errors."""


def _carried_over(report: Report) -> str:
    if not report.earlier:
        return ""
    dates = sorted(set(report.earlier.values()))
    each = [f"{', '.join(name for name, of in report.earlier.items() if of == date)} of {date}" for date in dates]
    return f" Settings whose methods have not changed since are those of an earlier run: {'; '.join(each)}."


def _before_section(cells: Sequence[CellResult]) -> str:
    rows = before_and_after(cells)
    if not rows:
        return ""
    return f"""## Before and now

Where the default of a setting was another one, `{FORMER}` is that one's result in the same cells, on data sets of its
own.

{_markdown(HEAD, rows)}"""


def _minutes(report: Report) -> float:
    cells, ranks = report.cells, report.uniformity
    return (sum(cell.seconds for cell in cells) + sum(one.seconds for one in ranks)) / 60


def _verdict_table(verdicts: Sequence[Verdict]) -> str:
    rows = [_verdict_row(verdict) for verdict in verdicts]
    head = (
        "setting",
        "cells",
        "averaged over the prior, worst",
        "mean under-coverage",
        "under .90",
        "without warning",
        "width / narrowest sound",
        "calm cells warned of",
        "false alarms",
    )
    return f"""## Defaults at nominal 95 %

*Averaged over the prior*: coverage less .95 where parameters come from the method's own prior, or from its model's for
clustered, nested, benchmark and groups, which are wider for what their models may miss. The other columns are about
cells with fixed parameters: the mean of .95 less coverage, where that is positive; cells under .90, and those of
them in which the software says nothing (fewer than half of the data sets, and of those that miss, carry a warning);
mean width over that of the narrowest method without a cell under .90; the share of cells covering .93 or more in
which it warns all the same; and intervals that exclude 0 where two systems are equally good.

{_markdown(head, rows)}"""


def _verdict_row(v: Verdict) -> tuple[str, ...]:
    averaged = "-" if v.averaged_error is None else f"{v.averaged_error:+.4f} ± {v.averaged_mc:.4f}"
    ratio = "no sound method" if v.width_ratio is None else f"{v.width_ratio:.2f} ({v.narrowest})"
    return (
        v.setting,
        str(v.n_cells),
        averaged,
        "-" if v.mean_under_coverage is None else f"{v.mean_under_coverage:.4f}",
        str(v.n_low),
        str(v.n_low_unwarned),
        ratio,
        "-" if v.warned_share is None else f"{v.warned_share:.0%}",
        "-" if v.false_alarms is None else f"{v.false_alarms:.3f} of {v.n_null}",
    )


def _setting_section(verdict: Verdict, cells: Sequence[CellResult]) -> str:
    setting = SETTINGS[verdict.setting]
    mine = [cell for cell in cells if cell.setting == setting.name]
    parts = [f"## {setting.title}", _worst_words(verdict)]
    for family in dict.fromkeys(cell.family for cell in mine):
        part = [cell for cell in mine if cell.family == family]
        parts.append(f"### {setting.name}: {family}\n\n" + (_full(part) if len(part) <= 16 else _condensed(part)))
    return "\n\n".join(parts)


def _worst_words(verdict: Verdict) -> str:
    if verdict.worst is None:
        return ""
    cell, result = verdict.worst, default_of(verdict.worst)
    error = f" ± {result.mc_error[cell.at_nominal]:.3f}" if result.n else ""
    words = f"The default's worst cell is {cell.family}, {cell.label}: it covers {coverage_of(cell):.3f}{error}."
    if not result.warned:
        return f"{words} The software does not warn there."
    said = "; ".join(f"“{text}” ({share:.0%} of data sets)" for text, share in result.warnings.items())
    return f"{words} There the software says: {said}."


def _full(cells: Sequence[CellResult]) -> str:
    """A row a cell, a column a method: coverage / mean width at the nominal level."""
    methods = list(dict.fromkeys(name for cell in cells for name in cell.methods))
    rows = [
        (cell.label, _count(default_of(cell)), *(_entry(cell, name) for name in methods), _warned(cell))
        for cell in cells
    ]
    return "Coverage / mean width at 95 %.\n\n" + _markdown(("cell", "data sets", *methods, "warned"), rows)


def _count(result: MethodResult) -> str:
    return str(result.n) if result.n else "exact"


def _warned(cell: CellResult) -> str:
    default = default_of(cell)
    if warns_often(cell) or not is_warned(cell):
        return f"{default.warned:.0%}"
    return f"{default.warned:.0%} ({default.warned_of_missed:.0%} of those that miss)"


def _entry(cell: CellResult, method: str) -> str:
    result = cell.methods.get(method)
    if result is None or result.refused == 1:
        return "-"
    width, coverage = result.width[cell.at_nominal], result.coverage[cell.at_nominal]
    return f"{coverage:.3f} / {width:.3f}" if width is not None else f"{coverage:.3f} / -"


def _condensed(cells: Sequence[CellResult]) -> str:
    """A row a method over all cells, then the ten cells that the default covers least."""
    methods = list(dict.fromkeys(name for cell in cells for name in cell.methods))
    rows = []
    for name in methods:
        known = [(found, c) for c in cells if (found := c.methods.get(name)) and found.refused < 1]
        covered = [(found.coverage[c.at_nominal], c) for found, c in known]
        if not covered:
            continue
        shares = np.array([share for share, _ in covered])
        widths = [w for _, c in covered if (w := c.methods[name].width[c.at_nominal]) is not None]
        worst = min(covered, key=lambda pair: pair[0])
        rows.append(
            (
                name,
                f"{shares.mean():.3f}",
                f"{np.mean(np.maximum(NOMINAL - shares, 0)):.3f}",
                f"{np.sum(shares < FLOOR)} of {len(shares)}",
                f"{worst[0]:.3f} ({worst[1].label})",
                f"{np.mean(widths):.4f}" if widths else "-",
            )
        )
    head = ("method", "mean coverage", "mean under-coverage", "cells under .90", "worst cell", "mean width")
    least = sorted(cells, key=coverage_of)[:10]
    return f"{_markdown(head, rows)}\n\nThe ten cells that the default covers least:\n\n{_least(least)}"


def _least(cells: Sequence[CellResult]) -> str:
    rows = [
        (
            cell.label,
            _count(default_of(cell)),
            f"{coverage_of(cell):.3f} ± {default_of(cell).mc_error[cell.at_nominal]:.3f}",
            _warned(cell),
        )
        for cell in cells
    ]
    return _markdown(("cell", "data sets", "coverage", "warned"), rows)


def _figures_section(cells: Sequence[CellResult]) -> str:
    """Every method of the papers' clustered and paired figures: ours, theirs."""
    rows = []
    for cell in cells:
        for method, theirs in FIGURES.get(cell.key, {}).items():
            if method in cell.methods:
                result, place = cell.methods[method], cell.at_nominal
                ours, error = result.coverage[place], result.mc_error[place]
                rows.append((cell.label, method, f"{ours:.3f} ± {error:.3f}", f"{theirs:.3f}", f"{ours - theirs:+.3f}"))
    if not rows:
        return ""
    return f"""## Against the published figures

Coverage at nominal 95 % in the generators of Bowyer et al. (2025, Figures 3 and 5), and what their figures show. These
rest on 100 values of theta; with two clusters of five an exact sum over all data gives .426 for the clustered CLT, .441
for the bootstrap and .761 for Wilson, up to .018 from the figure.

{_markdown(("data", "method", "here", "figure", "difference"), rows)}"""


def _sbc_section(uniformity: Sequence[Uniformity]) -> str:
    rows = [(u.posterior, u.design, str(u.n), _bars(u.counts), f"{u.p_value:.3g}") for u in uniformity]
    if not rows:
        return ""
    return f"""## Simulation-based calibration

Parameters drawn from each posterior's prior, data from the parameters: the posterior probability below the truth must
be uniform (Talts et al. 2018). Histogram of 20 bins from 0 to twice the expected count, and the chi-squared test's
p-value. `benchmark`, `group`, `pass@2, benchmark` and `bayes-at-n` match a Beta to the posterior's two moments, and are
that much off.

{_markdown(("posterior", "data", "simulations", "ranks", "p"), rows)}"""


def _bars(counts: Sequence[int]) -> str:
    ticks, expected = "▁▂▃▄▅▆▇█", sum(counts) / len(counts)
    return "`" + "".join(ticks[min(int(4 * count / expected), 7)] for count in counts) + "`"


def _reliability_section(reliability: Sequence[Reliability]) -> str:
    if not reliability:
        return ""
    rows = [
        (
            r.comparison,
            r.design,
            str(r.n),
            " ".join(f"{o:.2f}" if c else "-" for o, c in zip(r.observed, r.counts, strict=True)),
            f"{r.p_value:.3g}",
        )
        for r in reliability
    ]
    head = ("comparison", "data", "simulations", "A better, by tenth of P(A > B)", "p")
    return f"""## P(A > B)

How often A was better in truth, in each tenth of P(A > B); .05, .15, … is perfect. False alarms of the intervals stand
in the first table; at nominal 5 % they may be {FALSE_ALARMS:.0%}.

{_markdown(head, rows)}"""


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figures(cells: Sequence[CellResult]) -> "dict[str, Figure]":
    """The papers' figures from the settings at hand: coverage by level, by width, and its error by size.

    Raises
    ------
    MissingDependencyError : if matplotlib is not installed
    """
    from harness_uq import plots

    found: dict[str, Figure] = {}
    curves = [c for c in cells if len(c.levels) > 1 and c.setting == "clustered" and c.family == "paper"]
    if curves:
        cell = curves[min(1, len(curves) - 1)]
        found["coverage"] = plots.coverage(_by_level(cell))
        found["width"] = plots.coverage_against_width(_by_width(curves), NOMINAL)
    sized = [c for c in cells if c.setting == "iid" and c.family == "prior"]
    if sized:
        found["error"] = plots.coverage_error(_error_by_size(sized))
    return found


def _drawn(cell: CellResult) -> list[str]:
    return [name for name in _DRAWN[cell.setting] if name in cell.methods]


def _by_level(cell: CellResult) -> "Mapping[str, Series]":
    return {
        name: {"x": cell.levels, "y": cell.methods[name].coverage, "mc_error": cell.methods[name].mc_error}
        for name in _drawn(cell)
    }


def _by_width(cells: Sequence[CellResult]) -> "Mapping[str, Series]":
    """Coverage against mean width at the nominal level, a point a cell."""
    series: dict[str, Series] = {}
    for name in _drawn(cells[0]):
        points = [(c.methods[name].width[c.at_nominal], c.methods[name].coverage[c.at_nominal]) for c in cells]
        kept = [(w, p) for w, p in points if w is not None]
        series[name] = {"x": [w for w, _ in kept], "y": [p for _, p in kept]}
    return series


def _error_by_size(cells: Sequence[CellResult]) -> "Mapping[str, Series]":
    sizes = [next(float(c.parameters[name]) for name in _SIZE_NAMES if name in c.parameters) for c in cells]
    return {name: {"x": sizes, "y": [coverage_of(c, name) - NOMINAL for c in cells]} for name in _drawn(cells[0])}
