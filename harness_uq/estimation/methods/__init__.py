"""The built-in estimators, offered through the same hook as anyone's: whatever a module here lists as ESTIMATORS."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from harness_uq.plugins.hookspecs import hookimpl
from harness_uq.plugins.protocols import Estimator


@hookimpl
def harness_uq_estimators() -> Iterable[Estimator]:
    """Every built-in method."""
    for module in iter_modules(__path__):
        yield from import_module(f"{__name__}.{module.name}").ESTIMATORS
