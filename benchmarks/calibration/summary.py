"""Calibration results as text tables, as the page docs/calibration.md, and as figures."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.calibration.default_changes import FORMER, HEAD, before_and_after
from benchmarks.calibration.published_coverage import FIGURES
from benchmarks.calibration.results import CalibrationReport, CellResult, MethodSummary, Reliability, Uniformity
from benchmarks.calibration.scenarios import SETTINGS
from benchmarks.calibration.scenarios.types import NOMINAL
from benchmarks.calibration.verdicts import (
    FALSE_ALARMS,
    FLOOR,
    Verdict,
    coverage_of,
    default_of,
    is_warned,
    judge_method,
    warns_often,
)
from harness_uq.messages import MESSAGE_REGISTRY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from benchmarks.calibration.coverage_curves import Series

_SIZE_NAMES = ("N", "questions")
_FAMILY_NAMES = {
    "easy and unsolvable": "easy and unsolvable questions",  # prose: ignore
    "kinds": "types of scores",
    "few": "few clusters",
}
# seven lines can be distinguished in a figure
_PLOTTED = {
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
            n, family = default_of(cell).n, _FAMILY_NAMES.get(cell.family, cell.family)
            lines.append(f"  {family}: {cell.label}{f' ({n} data sets)' if n else ''}")
            width = max(len(name) for name in cell.methods)
            lines += [f"    {name:<{width}}  {_line(result, cell)}" for name, result in cell.methods.items()]
    return "\n".join(lines)


def _line(result: MethodSummary, cell: CellResult) -> str:
    parts = []
    for level, coverage, error, width in zip(cell.levels, result.coverage, result.mc_error, result.width, strict=True):
        width_text = "-" if width is None else f"{width:.4f}"
        parts.append(f"{level:g}: {coverage:.4f}{f' ± {error:.4f}' if result.n else ' exact'}, width {width_text}")
    refused = f"  refused {result.refused:.0%}" if result.refused else ""
    warned = f"  warned {result.warned:.0%}" if result.warned else ""
    return "   ".join(parts) + refused + warned


def page(report: CalibrationReport) -> str:
    """The page docs/calibration.md."""
    verdicts = [judge_method(name, report.cells) for name in SETTINGS if any(c.setting == name for c in report.cells)]
    parts = [_opening(report), _verdict_table(verdicts), _before_section(report.cells)]
    parts += [_setting_section(verdict, report.cells) for verdict in verdicts]
    parts += [_figures_section(report.cells), _sbc_section(report.uniformity), _reliability_section(report.reliability)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(report: CalibrationReport) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return f"""# Calibration

This page reports the coverage and the width of intervals in simulations, for the default methods and for alternative
methods. Coverage is the share of simulated data sets whose interval contains the true value. To repeat the simulations,
run

```
python -m benchmarks.calibration --size {report.size} --seed {report.seed} --report docs/calibration
```

The results were computed on {report.date} with {versions}. The simulations took {_minutes(report):.0f} minutes on one
core. The file [calibration/results.json](calibration/results.json) contains the results.

This page uses the following terms:

- A *setting* is a type of data, such as clustered questions. Each setting has its own section on this page.
- A *family* is a group of similar simulations within a setting. In the families *prior* and *paper*, the true
  accuracies and the other parameters are drawn at random from a prior distribution. In the simulations of the family
  *paper*, the parameters are drawn from the prior of Bowyer et al. (2025). In most other families of simulations, such
  as the family *fixed*, the accuracies and the other parameters have fixed values.
- A *cell* is a simulation with one combination of parameters. Each family consists of one or more cells. The results do
  not depend on the option `--jobs`, because each cell uses its own random number generator ([decision
  016](decisions/016-calibration.md)).
- The *default method* of a setting is the method that `harness-uq estimate`, `compare` or `subset` uses for this type
  of data, including the warnings that the command prints. In the tables of this page, the default method is called
  `bayes`. If the tables of a setting do not contain the method `bayes`, the first method in the tables is the default.

The section about each setting begins with a table about the simulation (cell) in which the default method has the
lowest coverage. Only simulations with fixed parameters are considered. The table shows the lowest coverage, the
parameters of the simulation with the lowest coverage, and the warnings that `harness-uq` prints for its data sets.

The tables use the following abbreviations for the parameters of a simulation:

- `theta` is the true accuracy, and `N` is the number of questions. `theta_A` and `theta_B` are the accuracies of two
  systems.
- `clusters 10×6×2` means 10 clusters of 6 questions with 2 trials per question. `tasks 20×50` means 20 tasks of 50
  questions.
- `d` and `e` are the concentrations of the Beta distributions from which success rates are drawn. If the concentration
  `d` is large, the clusters (or tasks) have similar success rates. If the concentration `e` is large, the questions of
  a cluster have similar success rates.
- `rho` is the correlation of two latent normal variables that determine the answers of two systems to a question.

The results were computed as follows:

- If a method returns no interval or an interval of zero width, the true value counts as not contained in the interval.
- The coverage of intervals for one proportion is computed exactly, as a sum over all possible numbers of right answers.
  The coverage of intervals for any other estimand, such as the difference between two systems, is estimated by
  simulation and therefore has a Monte Carlo error. For n data sets, the standard error is 0.22 / √n for a coverage near
  0.95 and 0.30 / √n for a coverage near 0.90. Slow methods are applied to fewer data sets.{_carried_over(report)}

![coverage against level](calibration/coverage.svg)
![coverage against width](calibration/width.svg)
![coverage error against the number of questions](calibration/error.svg)

The first two figures show simulations with six clusters of five questions, as in Bowyer et al. (2025). The third figure
shows simulations of one proportion with a uniform prior. The error bars extend two Monte Carlo standard errors to each
side."""


def _carried_over(report: CalibrationReport) -> str:
    if not report.earlier:
        return ""
    dates = sorted(set(report.earlier.values()))
    each = [f"{', '.join(name for name, of in report.earlier.items() if of == date)} ({date})" for date in dates]
    settings = "; ".join(each)
    return f"\n- Results from an earlier run are shown for the settings whose methods have not changed: {settings}."


def _before_section(cells: Sequence[CellResult]) -> str:
    rows = before_and_after(cells)
    if not rows:
        return ""
    return f"""## Changes of defaults

Some default methods have been changed. The following table compares the earlier and the current default methods. The
results of the earlier default methods come from an earlier run of the simulations, in which some of the simulated data
sets were different. In entries with an arrow, the value before the arrow is for the earlier default method, and the
value after the arrow is for the current default method. In the sections below, the earlier default method is named
`{FORMER}`.

{_markdown(HEAD, rows)}"""


def _minutes(report: CalibrationReport) -> float:
    cells, ranks = report.cells, report.uniformity
    return (sum(cell.seconds for cell in cells) + sum(one.seconds for one in ranks)) / 60


def _verdict_table(verdicts: Sequence[Verdict]) -> str:
    rows = [_verdict_row(verdict) for verdict in verdicts]
    head = (
        "setting",
        "cells",
        "error averaged over the prior",
        "mean under-coverage",
        "cells below 0.90",
        "cells below 0.90 without a warning",
        "width / narrowest valid method",
        "warnings at good coverage",
        "false positives",
    )
    return f"""## Defaults at nominal 95 %

The table summarizes the default method of each setting. The following column is computed from cells whose parameters
are drawn from the prior of the method:

- The column *error averaged over the prior* shows the average coverage over parameters drawn from the prior, minus the
  nominal 0.95. If several cells of a setting have parameters drawn from the prior, the column *error averaged over the
  prior* shows the error that is farthest from 0. In the settings `clustered`, `nested`, `benchmark` and `groups`, the
  parameters are drawn from the prior of a statistical model. In the same four settings, the default intervals are wider
  than the intervals of the statistical model, to account for deviations from the model.

The columns *cells* (the number of simulations), *warnings at good coverage* and *false positives* also take simulations
with randomly drawn parameters into account. All other columns are computed only from simulations (cells) with fixed
parameters:

- The column *mean under-coverage* shows how far the coverage is below 0.95 on average. The under-coverage of a cell
  with a coverage above 0.95 is 0.
- The column *cells below 0.90* shows the number of cells with a coverage below 0.90.
- The column *cells below 0.90 without a warning* shows the number of simulations (cells) with a coverage below 0.90 and
  few warnings. *Few warnings* means that `harness-uq` prints a warning for fewer than half of all data sets, and also
  for fewer than half of the data sets whose interval misses the true value.
- The column *width / narrowest valid method* shows the mean width of the default interval, divided by the mean width of
  the narrowest valid interval. A method is valid if its coverage is at least 0.90 in all simulations (cells) of the
  setting.
- The column *warnings at good coverage* is computed from the simulations (cells) in which the default method has a
  coverage of at least 0.93. The column shows the share of these simulations in which at least half of the data sets
  lead to a warning.
- The column *false positives* shows the share of intervals for a difference that exclude 0 although both systems are
  equally good.

{_markdown(head, rows)}"""


def _verdict_row(v: Verdict) -> tuple[str, ...]:
    averaged = "-" if v.averaged_error is None else f"{v.averaged_error:+.4f} ± {v.averaged_mc:.4f}"
    ratio = "no valid method" if v.width_ratio is None else f"{v.width_ratio:.2f} ({v.narrowest})"
    return (
        v.setting,
        str(v.n_scores),
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
    setting_cells = [cell for cell in cells if cell.setting == setting.name]
    parts = [f"## {setting.title}", _lowest_coverage(verdict)]
    for family in dict.fromkeys(cell.family for cell in setting_cells):
        family_cells = [cell for cell in setting_cells if cell.family == family]
        parts.append(
            f"### {setting.name}: {_FAMILY_NAMES.get(family, family)}\n\n"
            + (_full(family_cells) if len(family_cells) <= 16 else _condensed(family_cells))
        )
    return "\n\n".join(parts)


def _lowest_coverage(verdict: Verdict) -> str:
    if verdict.worst is None:
        return ""
    cell, result = verdict.worst, default_of(verdict.worst)
    error = f" ± {result.mc_error[cell.at_nominal]:.3f}" if result.n else ""
    warnings = "; ".join(f"{_named(code)} ({share:.0%})" for code, share in result.warnings.items())
    head = ("lowest coverage of the default", "family", "parameters", "warnings (share of data sets)")
    row = (
        f"{coverage_of(cell):.3f}{error}",
        _FAMILY_NAMES.get(cell.family, cell.family),
        cell.label,
        warnings if result.warned else "none",
    )
    return _markdown(head, [row])


def _named(code: str) -> str:
    kind = MESSAGE_REGISTRY.find(code)
    return f"[{code}](reference/messages.md#{code.lower()}-{kind.name}) {kind.name}" if kind else code


def _full(cells: Sequence[CellResult]) -> str:
    """One row per cell and one column per method: coverage / mean width at the nominal level."""
    methods = list(dict.fromkeys(name for cell in cells for name in cell.methods))
    rows = [
        (cell.label, str(default_of(cell).n or "exact"), *(_entry(cell, name) for name in methods), _warned(cell))
        for cell in cells
    ]
    head = ("cell", "data sets", *methods, "with a warning")
    text = "Each entry contains the coverage and the mean width of the nominal 95 % intervals of a method:"
    return f"{text}\n\n{_markdown(head, rows)}"


def _warned(cell: CellResult) -> str:
    default = default_of(cell)
    if warns_often(cell) or not is_warned(cell):
        return f"{default.warned:.0%}"
    return f"{default.warned:.0%} ({default.warned_of_missed:.0%} of missed data sets)"


def _entry(cell: CellResult, method: str) -> str:
    result = cell.methods.get(method)
    if result is None or result.refused == 1:
        return "-"
    width, coverage = result.width[cell.at_nominal], result.coverage[cell.at_nominal]
    return f"{coverage:.3f} / {width:.3f}" if width is not None else f"{coverage:.3f} / -"


def _condensed(cells: Sequence[CellResult]) -> str:
    """One row per method over all cells, then the ten cells with the lowest coverage of the default."""
    methods = list(dict.fromkeys(name for cell in cells for name in cell.methods))
    rows = []
    for name in methods:
        answered = [(summary, c) for c in cells if (summary := c.methods.get(name)) and summary.refused < 1]
        covered = [(summary.coverage[c.at_nominal], c) for summary, c in answered]
        if not covered:
            continue
        shares = np.array([share for share, _ in covered])
        widths = [w for _, c in covered if (w := c.methods[name].width[c.at_nominal]) is not None]
        lowest = min(covered, key=lambda pair: pair[0])
        rows.append(
            (
                name,
                f"{shares.mean():.3f}",
                f"{np.mean(np.maximum(NOMINAL - shares, 0)):.3f}",
                f"{np.sum(shares < FLOOR)} of {len(shares)}",
                f"{lowest[0]:.3f} ({lowest[1].label})",
                f"{np.mean(widths):.4f}" if widths else "-",
            )
        )
    head = ("method", "mean coverage", "mean under-coverage", "cells below 0.90", "lowest coverage", "mean width")
    worst_cells = sorted(cells, key=coverage_of)[:10]
    text = "The next table shows the ten cells in which the default method has the lowest coverage:"
    return f"{_markdown(head, rows)}\n\n{text}\n\n{_least(worst_cells)}"


def _least(cells: Sequence[CellResult]) -> str:
    rows = [
        (
            cell.label,
            str(default_of(cell).n or "exact"),
            f"{coverage_of(cell):.3f} ± {default_of(cell).mc_error[cell.at_nominal]:.3f}",
            _warned(cell),
        )
        for cell in cells
    ]
    return _markdown(("cell", "data sets", "coverage", "with a warning"), rows)


def _figures_section(cells: Sequence[CellResult]) -> str:
    """Comparison with the published figures for clustered and paired data."""
    rows = []
    for cell in cells:
        for method, published in FIGURES.get(cell.key, {}).items():
            if method in cell.methods:
                result, index = cell.methods[method], cell.at_nominal
                coverage, error = result.coverage[index], result.mc_error[index]
                rows.append(
                    (
                        cell.label,
                        method,
                        f"{coverage:.3f} ± {error:.3f}",
                        f"{published:.3f}",
                        f"{coverage - published:+.3f}",
                    )
                )
    if not rows:
        return ""
    return f"""## Comparison with published figures

The table shows the coverage of nominal 95 % intervals for the simulation designs of Bowyer et al. (2025). The published
coverage was read from Figures 3 and 5 of the paper.

The published coverages have a Monte Carlo error, because they are based on 100 values of the accuracy theta. For two
clusters of five questions, the exact coverage can be computed as a sum over all possible data sets. The exact coverage
is 0.426 for the clustered CLT interval, 0.441 for the bootstrap interval and 0.761 for the Wilson interval. The
published coverages differ from the exact coverage by up to 0.018.

{_markdown(("data", "method", "this package", "published figure", "difference"), rows)}"""


def _sbc_section(uniformity: Sequence[Uniformity]) -> str:
    rows = [(u.posterior, u.design, str(u.n), _bars(u.counts), f"{u.p_value:.3g}") for u in uniformity]
    if not rows:
        return ""
    return f"""## Simulation-based calibration

Simulation-based calibration checks whether a posterior is computed correctly. Many parameter values are drawn from the
prior, and a data set is simulated with each of them. The rank of the true parameter value is the posterior probability
of all values below the true value. If the posterior is computed correctly, the rank of the true parameter value is
uniformly distributed between 0 and 1 (Talts et al. 2018).

The table shows histograms of the ranks in 20 bins. The vertical axis of each histogram ranges from 0 to twice the
expected count per bin. The last column contains the p-value of the chi-squared test of uniformity. In the rows
`benchmark`, `group`, `pass@2, benchmark` and `bayes-at-n`, the posterior is approximated by a Beta distribution with
the same mean and variance. If a posterior is only an approximation, the ranks of the true parameter values are not
exactly uniformly distributed.

{_markdown(("posterior", "data", "simulations", "histogram of ranks", "p-value"), rows)}"""


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
    head = ("comparison", "data", "simulations", "share of data sets in which A is better", "p-value")
    return f"""## Calibration of P(A > B)

P(A > B) is the reported probability that system A is better than system B. The simulated data sets are divided
according to P(A > B) into ten ranges: 0 to 0.1, 0.1 to 0.2, and so on. For each of the ten ranges of P(A > B), the
table shows the share of data sets in which system A is truly better. For example, if P(A > B) is perfectly calibrated,
system A is truly better in about 5 % of the data sets with P(A > B) between 0 and 0.1.

The first table on this page shows the share of false positives, that is, of intervals that exclude 0 although the
systems are equally good. The nominal share of false positives is 5 %. A default method is accepted if its share of
false positives is at most {FALSE_ALARMS:.0%}.

{_markdown(head, rows)}"""


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figures(cells: Sequence[CellResult]) -> "dict[str, Figure]":
    """Figures of coverage by level, coverage by width, and coverage error by size, for the settings that are present.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    from benchmarks.calibration import coverage_curves

    result: dict[str, Figure] = {}
    curves = [c for c in cells if len(c.levels) > 1 and c.setting == "clustered" and c.family == "paper"]
    if curves:
        cell = curves[min(1, len(curves) - 1)]
        by_level: dict[str, Series] = {
            name: {"x": cell.levels, "y": cell.methods[name].coverage, "mc_error": cell.methods[name].mc_error}
            for name in _plotted_methods(cell)
        }
        result["coverage"] = coverage_curves.coverage(by_level)
        result["width"] = coverage_curves.coverage_against_width(_by_width(curves), NOMINAL)
    sized = [c for c in cells if c.setting == "iid" and c.family == "prior"]
    if sized:
        result["error"] = coverage_curves.coverage_error(_error_by_size(sized))
    return result


def _plotted_methods(cell: CellResult) -> list[str]:
    return [name for name in _PLOTTED[cell.setting] if name in cell.methods]


def _by_width(cells: Sequence[CellResult]) -> "Mapping[str, Series]":
    """Coverage against mean width at the nominal level, with one point per cell."""
    series: dict[str, Series] = {}
    for name in _plotted_methods(cells[0]):
        points = [(c.methods[name].width[c.at_nominal], c.methods[name].coverage[c.at_nominal]) for c in cells]
        available = [(w, p) for w, p in points if w is not None]
        series[name] = {"x": [w for w, _ in available], "y": [p for _, p in available]}
    return series


def _error_by_size(cells: Sequence[CellResult]) -> "Mapping[str, Series]":
    sizes = [next(float(c.parameters[name]) for name in _SIZE_NAMES if name in c.parameters) for c in cells]
    return {
        name: {"x": sizes, "y": [coverage_of(c, name) - NOMINAL for c in cells]} for name in _plotted_methods(cells[0])
    }
