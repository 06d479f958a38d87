"""Honest uncertainty for LLM evaluation harnesses."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from harness_uq.data import Classifications, Questions, Records, Reported, Scores, Source, TaskLog, Totals
    from harness_uq.errors import HarnessUqError

_HOMES = {
    "data": ("Classifications", "Questions", "Records", "Reported", "Scores", "Source", "TaskLog", "Totals"),
    "errors": ("HarnessUqError",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
