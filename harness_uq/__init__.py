"""Honest uncertainty for LLM evaluation harnesses."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
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
    from harness_uq.errors import HarnessUqError, LogError
    from harness_uq.hookspecs import Found, Run, hookimpl
    from harness_uq.structure import CatalogueEntry

_HOMES = {
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
    "errors": ("HarnessUqError", "LogError"),
    "hookspecs": ("Found", "Run", "hookimpl"),
    "structure": ("CatalogueEntry",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CandidateField",
    "CatalogueEntry",
    "Classifications",
    "Declaration",
    "Found",
    "HarnessUqError",
    "LogError",
    "Questions",
    "Records",
    "Reported",
    "Run",
    "Scores",
    "Source",
    "TaskLog",
    "Totals",
    "hookimpl",
]


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
