"""The one place where results reach up to output formats and figures: by name, when a result is rendered."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from harness_uq.results.result_set import RenderOptions, ResultSet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lists_of(results: Sequence[object]) -> dict[str, Sequence[object]]:
    """Results of one kind under the name of their list in documents, such as `estimates`."""
    return {import_module("harness_uq.output.document").list_name(results[0]): results} if results else {}


def render(lists: Mapping[str, Sequence[object]], output_format: str, options: RenderOptions) -> str | bytes:
    """Results in the output format of this name.

    Raises
    ------
    DataError : if the format does not exist
    """
    formats = import_module("harness_uq.output.formats")
    rendered: str | bytes = formats.render_lists(lists, output_format, options)
    return rendered


def document(lists: Mapping[str, Sequence[object]]) -> dict[str, object]:
    """The document that `--format json` prints."""
    made: dict[str, object] = import_module("harness_uq.output.json_document").result_document(ResultSet(lists))
    return made


def plot(results: Sequence[object], **options: Any) -> "Figure":
    """Figure of results of one kind.

    Raises
    ------
    DataError : if there is no figure of such results, or it shows a single one of them
    MissingDependencyError : if matplotlib is not installed
    """
    figure: Figure = import_module("harness_uq.plots").figure_of(results, **options)
    return figure


def has_format(name: str) -> bool:
    """Whether an output format has this name."""
    formats = import_module("harness_uq.output.formats").installed_formats()
    return name in formats
