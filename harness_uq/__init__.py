"""Honest uncertainty for LLM evaluation harnesses."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from harness_uq import stats
    from harness_uq.api import compare, estimate, plan, rank
    from harness_uq.comparing.analysis import CompareOptions
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
    from harness_uq.estimating.analysis import Options, estimate_scores, structures
    from harness_uq.estimating.finding import Finding
    from harness_uq.estimating.selection import method_names
    from harness_uq.gating.analysis import GateOptions, gate
    from harness_uq.gating.self_test import self_test
    from harness_uq.logs.catalogue import Catalogue, CatalogueEntry
    from harness_uq.logs.data import (
        CandidateField,
        Classifications,
        Declaration,
        Questions,
        Records,
        Reported,
        RunFacts,
        Scores,
        Source,
        TaskLog,
        Totals,
    )
    from harness_uq.planning.analysis import PlanOptions
    from harness_uq.planning.components import Components
    from harness_uq.plugins.hookspecs import hookimpl
    from harness_uq.plugins.manager import load_plugins
    from harness_uq.plugins.protocols import Estimator, Found, Harness, Problem, Reader, Run, Runner, Settings, Writer
    from harness_uq.plugins.reading import Reading, read_logs
    from harness_uq.ranking.analysis import RankOptions
    from harness_uq.report.comparison_text import comparisons_as
    from harness_uq.report.rows import Rows
    from harness_uq.report.text import estimates_table
    from harness_uq.results.about import About
    from harness_uq.results.comparison import Comparison, Difference
    from harness_uq.results.estimate import Estimate, Interval
    from harness_uq.results.gate import Gate, GateRow, SelfTest
    from harness_uq.results.plan import Plan
    from harness_uq.results.ranking import Ranking
    from harness_uq.structure.facts import Structure, StructureOptions
    from harness_uq.tables.reading import read_table

_HOMES = {
    "api": (
        "compare",
        "estimate",
        "plan",
        "rank",
    ),
    "estimating.analysis": (
        "Options",
        "estimate_scores",
        "structures",
    ),
    "comparing.analysis": ("CompareOptions",),
    "gating.analysis": (
        "GateOptions",
        "gate",
    ),
    "gating.self_test": ("self_test",),
    "results.about": ("About",),
    "results.comparison": (
        "Comparison",
        "Difference",
    ),
    "results.gate": (
        "Gate",
        "GateRow",
        "SelfTest",
    ),
    "results.plan": ("Plan",),
    "results.ranking": ("Ranking",),
    "planning.components": ("Components",),
    "logs.data": (
        "CandidateField",
        "Classifications",
        "Declaration",
        "Questions",
        "Records",
        "Reported",
        "RunFacts",
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
    "plugins.hookspecs": ("hookimpl",),
    "plugins.protocols": (
        "Estimator",
        "Found",
        "Harness",
        "Problem",
        "Reader",
        "Run",
        "Runner",
        "Settings",
        "Writer",
    ),
    "planning.analysis": ("PlanOptions",),
    "plugins.manager": ("load_plugins",),
    "ranking.analysis": ("RankOptions",),
    "plugins.reading": (
        "Reading",
        "read_logs",
    ),
    "report.comparison_text": ("comparisons_as",),
    "report.rows": ("Rows",),
    "report.text": ("estimates_table",),
    "results.estimate": (
        "Estimate",
        "Interval",
    ),
    "estimating.finding": ("Finding",),
    "estimating.selection": ("method_names",),
    "logs.catalogue": (
        "Catalogue",
        "CatalogueEntry",
    ),
    "tables.reading": ("read_table",),
    "structure.facts": (
        "Structure",
        "StructureOptions",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "About",
    "CandidateField",
    "Catalogue",
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
    "Finding",
    "Found",
    "Gate",
    "GateOptions",
    "GateRow",
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
    "Reader",
    "Reading",
    "Records",
    "Reported",
    "Rows",
    "Run",
    "RunFacts",
    "Runner",
    "Scores",
    "SelfTest",
    "Settings",
    "Source",
    "Structure",
    "StructureError",
    "StructureOptions",
    "TaskLog",
    "Totals",
    "UnreliableError",
    "Writer",
    "compare",
    "comparisons_as",
    "estimate",
    "estimate_scores",
    "estimates_table",
    "gate",
    "hookimpl",
    "load_plugins",
    "method_names",
    "plan",
    "rank",
    "read_logs",
    "read_table",
    "self_test",
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
