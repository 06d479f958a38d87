"""Adapter of harness_uq for the result files of other tools, one module per format. The tools are not imported."""

from typing import TYPE_CHECKING

from harness_uq.plugin_api import hookimpl

if TYPE_CHECKING:
    from harness_uq_formats.reader import FormatReader
    from harness_uq_formats.write_every_eval_ever import EveryEvalEver

__all__ = ["harness_uq_formats", "harness_uq_harnesses"]


@hookimpl
def harness_uq_harnesses() -> "list[FormatReader]":
    """Register a reader for each format."""
    from harness_uq_formats.reader import FORMATS, FormatReader

    return [FormatReader(name, module) for name, module in FORMATS.items()]


@hookimpl
def harness_uq_formats() -> "list[EveryEvalEver]":
    """Register the output format `eee`."""
    from harness_uq_formats.write_every_eval_ever import EveryEvalEver

    return [EveryEvalEver()]
