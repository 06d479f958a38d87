"""The built-in estimators, registered by the same hook as those of plugins: `ESTIMATORS` of each module here."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from harness_uq.io.plugins.hookspecs import hookimpl
from harness_uq.io.plugins.protocols import Estimator


@hookimpl
def harness_uq_estimators() -> Iterable[Estimator]:
    """Every built-in method."""
    for module in iter_modules(__path__):
        yield from import_module(f"{__name__}.{module.name}").ESTIMATORS
