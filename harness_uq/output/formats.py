"""The registry of output formats.

A format is an object with a name, a file suffix, the result lists that it accepts and a `render` method. Commands,
`--format`, `--output FILE` and `ResultList` look formats up here; plugins add formats with the hook
`harness_uq_formats`.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from harness_uq.io.plugins.hookspecs import hookimpl
from harness_uq.io.plugins.manager import FORMAT, built_in, collect_installed
from harness_uq.io.plugins.protocols import Format, Layout, ReadError, RenderOptions, ResultSet
from harness_uq.messages.errors import DataError, unknown_name
from harness_uq.output.document import OVERALL

if TYPE_CHECKING:
    from harness_uq.io.plugins.manager import Plugins

__all__ = [
    "BUILT_IN",
    "Layout",
    "ReadError",
    "RenderOptions",
    "ResultSet",
    "all_formats",
    "format_named",
    "format_of_file",
    "formats_for",
    "installed_formats",
]

PAGE_LISTS = frozenset(
    {
        *(OVERALL, "estimates", "comparisons", "rankings", "plans"),
        *("resource_use", "breakdowns", "difference_breakdowns", "histories"),
    }
)
_GATES = frozenset({"gates"})


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A built-in format, whose module is loaded when it renders.

    `module`, `function`: module of this package and its function that renders results.
    """

    name: str
    suffix: str
    module: str
    function: str = "render"
    accepts: Set[str] | None = None
    has_errors: bool = False
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:
        """The results in this format."""
        module: Any = import_module(f"harness_uq.output.{self.module}")
        rendered: str = getattr(module, self.function)(results, options)
        return rendered


BUILT_IN: Mapping[str, Format] = {
    one.name: one
    for one in (
        BuiltIn("table", ".txt", "terminal"),
        BuiltIn("json", ".json", "data", "render_json", has_errors=True),
        BuiltIn("csv", ".csv", "data", "render_csv"),
        BuiltIn("markdown", ".md", "markdown"),
        BuiltIn("latex", ".tex", "latex"),
        BuiltIn("html", ".html", "html", accepts=PAGE_LISTS),
        BuiltIn("junit", ".xml", "ci", "render_junit", _GATES),
        BuiltIn("github", ".annotations", "ci", "render_github", _GATES),
    )
}


def all_formats(plugins: "Plugins | None" = None) -> dict[str, Format]:
    """Every format by its name: the built-in ones, then those of plugins."""
    return dict(BUILT_IN) | dict(plugins.formats if plugins else {})


def installed_formats() -> dict[str, Format]:
    """The built-in formats and those of the installed plugins."""
    return all_formats() | collect_installed(FORMAT, built_in("output formats", __name__))


@hookimpl
def harness_uq_formats() -> list[Format]:
    """The built-in formats."""
    return list(BUILT_IN.values())


def format_named(name: str, plugins: "Plugins | None" = None) -> Format:
    """The format of this name. Raises DataError if no format has this name."""
    formats = all_formats(plugins)
    if name not in formats:
        raise DataError(unknown_name("format", name, formats))
    return formats[name]


def format_of_file(path: str, plugins: "Plugins | None" = None) -> Format:
    """The format that the suffix of a file or URL names. Raises DataError if no format has this suffix."""
    suffix = PurePosixPath(path.replace("\\", "/")).suffix.lower()
    formats = all_formats(plugins)
    for one in formats.values():
        if one.suffix == suffix:
            return one
    known = ", ".join(sorted(f"{one.suffix} ({one.name})" for one in formats.values()))
    raise DataError(f"No output format has the suffix of {path!r}. Add --format, or use one of {known}.")


def formats_for(names: Iterable[str], plugins: "Plugins | None" = None) -> dict[str, Format]:
    """The formats that can render all of these result lists."""
    wanted = set(names)
    return {name: one for name, one in all_formats(plugins).items() if one.accepts is None or wanted <= one.accepts}
