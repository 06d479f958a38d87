"""The registry of output formats.

A format is an object with a name, a file suffix, the result lists that it accepts and a `render` method. Commands,
`--format`, `--output FILE` and `ResultList` look formats up here; plugins add formats with the hook
`harness_uq_formats`.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from harness_uq.errors import DataError, unknown_name
from harness_uq.plugins.hookspecs import hookimpl
from harness_uq.plugins.loader import FORMAT
from harness_uq.plugins.manager import built_in, collect_installed
from harness_uq.plugins.protocols import Format
from harness_uq.results.result_set import Layout, ReadError, RenderOptions, ResultSet

if TYPE_CHECKING:
    from harness_uq.plugins.manager import Plugins

__all__ = [
    "Format",
    "Layout",
    "ReadError",
    "RenderOptions",
    "ResultSet",
    "all_formats",
    "format_named",
    "format_of_file",
    "formats_for",
    "installed_formats",
    "is_built_in",
    "render_lists",
    "render_results",
]

# name of each built-in format, and the module whose FORMAT it is
_BUILT_IN = {
    "table": "text",
    "json": "json_document",
    "csv": "csv_records",
    "markdown": "markdown",
    "latex": "latex",
    "html": "html_page",
    "eee": "every_eval_ever",
    "junit": "junit",
    "github": "github",
}


def all_formats(plugins: "Plugins | None" = None) -> dict[str, Format]:
    """Every format by its name: the built-in ones, then those of plugins."""
    return {name: _built_in(name) for name in _BUILT_IN} | dict(plugins.formats if plugins else {})


@hookimpl
def harness_uq_formats() -> list[Format]:
    """The built-in formats."""
    return list(all_formats().values())


def format_named(name: str, plugins: "Plugins | None" = None) -> Format:
    """The format of this name; a built-in one is found without loading the others.

    Raises
    ------
    DataError : if no format has this name
    """
    if name in _BUILT_IN:
        return _built_in(name)
    formats = all_formats(plugins)
    if name not in formats:
        raise DataError(unknown_name("format", name, formats))
    return formats[name]


def format_of_file(path: str, plugins: "Plugins | None" = None) -> Format:
    """The format that the suffix of a file or URL names.

    Raises
    ------
    DataError : if no format has this suffix
    """
    suffix = PurePosixPath(path.replace("\\", "/")).suffix.lower()
    formats = all_formats(plugins)
    for one in formats.values():
        if one.suffix == suffix:
            return one
    known = ", ".join(sorted(f"{one.suffix} ({one.name})" for one in formats.values()))
    raise DataError(f"No output format has the suffix of {path!r}. Add --format, or use one of {known}.")


def is_built_in(name: str) -> bool:
    """Whether a built-in format has this name."""
    return name in _BUILT_IN


def formats_for(names: Iterable[str], plugins: "Plugins | None" = None) -> dict[str, Format]:
    """The formats that can render all of these result lists."""
    wanted = set(names)
    return {name: one for name, one in all_formats(plugins).items() if one.accepts is None or wanted <= one.accepts}


def installed_formats() -> dict[str, Format]:
    """The built-in formats and those of the installed plugins."""
    return all_formats() | collect_installed(FORMAT, built_in("output formats", __name__))


def render_results(results: Sequence[object], name: str = "table", options: RenderOptions | None = None) -> str | bytes:
    """Results of one kind in an output format.

    Parameters
    ----------
    results : estimates, comparisons, rankings, plans or other results
    name : a built-in format or one of a plugin
    options : options of rendering

    Raises
    ------
    DataError : if the format does not exist
    """
    from harness_uq.output.document import list_name

    return render_lists({list_name(results[0]): results} if results else {}, name, options or RenderOptions())


def render_lists(lists: Mapping[str, Sequence[object]], name: str, options: RenderOptions) -> str | bytes:
    """Results of several kinds, by the names of their lists, in an output format.

    Raises
    ------
    DataError : if the format does not exist
    """
    formats = {name: _built_in(name)} if name in _BUILT_IN else installed_formats()
    if name not in formats:
        raise DataError(unknown_name("format", name, formats))
    return formats[name].render(ResultSet(lists), options)


def _built_in(name: str) -> Format:
    return cast("Format", import_module(f"harness_uq.output.{_BUILT_IN[name]}").FORMAT)
