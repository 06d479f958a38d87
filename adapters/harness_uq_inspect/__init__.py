"""Adapter of harness_uq for Inspect AI. Reading logs does not import inspect_ai; these names do.

from harness_uq_inspect import uq, bayes_at_n, pass_k      # for `metrics=[…]` of a task
from harness_uq_inspect import stop_when                   # for `early_stopping=…` of a task
from harness_uq_inspect import ActiveSource                # for `dataset=…` of a task
from harness_uq_inspect import uncertainty                 # for `inspect_ai.analysis.prepare`
"""

from importlib import import_module
from typing import TYPE_CHECKING

from harness_uq.plugin_api import hookimpl

if TYPE_CHECKING:
    from harness_uq_inspect.harness import InspectHarness
    from harness_uq_inspect.live.active_source import ActiveSource
    from harness_uq_inspect.live.early_stopping import stop_when
    from harness_uq_inspect.live.metrics import bayes_at_n, pass_k, uq
    from harness_uq_inspect.prepare_operation import uncertainty

__all__ = ["ActiveSource", "bayes_at_n", "harness_uq_harnesses", "pass_k", "stop_when", "uncertainty", "uq"]

_MODULE_OF = {
    "uq": "live.metrics",
    "bayes_at_n": "live.metrics",
    "pass_k": "live.metrics",
    "ActiveSource": "live.active_source",
    "stop_when": "live.early_stopping",
    "uncertainty": "prepare_operation",
}


@hookimpl
def harness_uq_harnesses() -> "list[InspectHarness]":
    """Register Inspect AI as a harness."""
    from harness_uq_inspect.harness import InspectHarness

    return [InspectHarness()]


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
