"""Honest uncertainty for LLM evaluation harnesses."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from harness_uq import stats
    from harness_uq.analysis import Options, estimate, estimate_scores, structures
    from harness_uq.comparing import CompareOptions, compare
    from harness_uq.comparisons import Comparison, Difference, Plan, Ranking
    from harness_uq.components import Components
    from harness_uq.data import (
        CandidateField,
        Classifications,
        Declaration,
        Questions,
        Records,
        Reported,
        Scores,
        Source,
        TaskLog,
        Totals,
    )
    from harness_uq.errors import (
        DataError,
        HarnessUqError,
        LogError,
        MissingDependencyError,
        NotEstimableError,
        PluginError,
        StructureError,
        UnreliableError,
    )
    from harness_uq.hookspecs import Estimator, Found, Harness, Problem, Run, hookimpl
    from harness_uq.planning import PlanOptions, plan
    from harness_uq.plugins import load_plugins
    from harness_uq.ranking import RankOptions, rank
    from harness_uq.reading import Reading, read_logs
    from harness_uq.report.comparison_text import comparisons_as
    from harness_uq.report.text import estimates_table
    from harness_uq.results import Estimate, Interval
    from harness_uq.selection import method_names
    from harness_uq.structure import CatalogueEntry, Structure, StructureOptions

_HOMES = {
    "analysis": (
        "Options",
        "estimate",
        "estimate_scores",
        "structures",
    ),
    "comparing": (
        "CompareOptions",
        "compare",
    ),
    "comparisons": (
        "Comparison",
        "Difference",
        "Plan",
        "Ranking",
    ),
    "components": ("Components",),
    "data": (
        "CandidateField",
        "Classifications",
        "Declaration",
        "Questions",
        "Records",
        "Reported",
        "Scores",
        "Source",
        "TaskLog",
        "Totals",
    ),
    "errors": (
        "DataError",
        "HarnessUqError",
        "LogError",
        "MissingDependencyError",
        "NotEstimableError",
        "PluginError",
        "StructureError",
        "UnreliableError",
    ),
    "hookspecs": (
        "Estimator",
        "Found",
        "Harness",
        "Problem",
        "Run",
        "hookimpl",
    ),
    "planning": (
        "PlanOptions",
        "plan",
    ),
    "plugins": ("load_plugins",),
    "ranking": (
        "RankOptions",
        "rank",
    ),
    "reading": (
        "Reading",
        "read_logs",
    ),
    "report.comparison_text": ("comparisons_as",),
    "report.text": ("estimates_table",),
    "results": (
        "Estimate",
        "Interval",
    ),
    "selection": ("method_names",),
    "structure": (
        "CatalogueEntry",
        "Structure",
        "StructureOptions",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CandidateField",
    "CatalogueEntry",
    "Classifications",
    "CompareOptions",
    "Comparison",
    "Components",
    "DataError",
    "Declaration",
    "Difference",
    "Estimate",
    "Estimator",
    "Found",
    "Harness",
    "HarnessUqError",
    "Interval",
    "LogError",
    "MissingDependencyError",
    "NotEstimableError",
    "Options",
    "Plan",
    "PlanOptions",
    "PluginError",
    "Problem",
    "Questions",
    "RankOptions",
    "Ranking",
    "Reading",
    "Records",
    "Reported",
    "Run",
    "Scores",
    "Source",
    "Structure",
    "StructureError",
    "StructureOptions",
    "TaskLog",
    "Totals",
    "UnreliableError",
    "compare",
    "comparisons_as",
    "estimate",
    "estimate_scores",
    "estimates_table",
    "hookimpl",
    "load_plugins",
    "method_names",
    "plan",
    "rank",
    "read_logs",
    "stats",
    "structures",
]


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    if name == "stats":
        return import_module(f"{__name__}.stats")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
