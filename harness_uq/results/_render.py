"""The one place where results reach up to the output formats: by name, when a result is rendered."""

from collections.abc import Sequence
from importlib import import_module

from harness_uq.results.result_set import RenderOptions


def render(results: Sequence[object], output_format: str, options: RenderOptions) -> str | bytes:
    """Results of one kind in the output format of this name.

    Raises
    ------
    DataError : if the format does not exist
    """
    rendered: str | bytes = import_module("harness_uq.output.formats").render_results(results, output_format, options)
    return rendered


def has_format(name: str) -> bool:
    """Whether an output format has this name."""
    formats = import_module("harness_uq.output.formats").installed_formats()
    return name in formats
