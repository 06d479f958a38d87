"""The reference: pages generated when the site is built.

Each subpackage with public names has a page, from its docstrings, and the commands have one, from their parsers.
"""

import inspect
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

from harness_uq.commands.parser import COMMANDS, build_parser

BY_SUBPACKAGE = ("harness_uq", "harness_uq.stats")
ON_ONE_PAGE = ("harness_uq.plots", "harness_uq.testing", "harness_uq.plugin_api", "harness_uq_inspect")
FOLDER = "reference/made"
_COMMANDS = (
    "This page contains the help of every command, as ``harness-uq COMMAND --help-all`` prints it. ``--help`` prints "
    "only the most common options. Each help begins with examples. ``harness-uq lm-eval`` and ``harness-uq inspect`` "
    "run a harness; see :doc:`/howto/lm-eval` and :doc:`/howto/inspect`."
)


def subpackages(package: ModuleType) -> dict[str, list[str]]:
    """Public names of a package by the subpackage that defines them; the names of a small package form one group."""
    if package.__name__ in ON_ONE_PAGE:
        return {package.__name__: _names_of_its_own(package)}
    depth = package.__name__.count(".") + 2
    groups: dict[str, list[str]] = {}
    for name in package.__all__:
        thing = getattr(package, name)
        if inspect.ismodule(thing) or name == "__version__":
            continue
        home = (
            thing.__module__ if thing.__module__.startswith("harness_uq") else "harness_uq.io.plugins"
        )  # pluggy's marker
        groups.setdefault(".".join(home.split(".")[:depth]), []).append(name)
    return dict(sorted(groups.items()))


def _names_of_its_own(package: ModuleType) -> list[str]:
    """Public names without modules and without those that harness_uq or its statistics document."""
    documented = {name for other in BY_SUBPACKAGE for name in import_module(other).__all__}
    documented.add("__version__")
    return [name for name in package.__all__ if name not in documented and not inspect.ismodule(getattr(package, name))]


@cache
def modules() -> frozenset[str]:
    """Modules in which a public name is written."""
    packages = map(import_module, (*BY_SUBPACKAGE, *ON_ONE_PAGE))
    things = (getattr(package, name) for package in packages for name in package.__all__)
    return frozenset(thing.__module__ for thing in things if hasattr(thing, "__module__"))


def page(package: ModuleType, subpackage: str, names: list[str]) -> str:
    """Restructured text: a summary of the subpackage, a table of its names, and the docstring of each name."""
    title = f"{package.__name__}: {subpackage.rpartition('.')[2]}" if subpackage != package.__name__ else subpackage
    summary = (import_module(subpackage).__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    lines = [title, "=" * len(title), "", summary, "", f".. currentmodule:: {package.__name__}", ""]
    lines += [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in names), ""]
    for name in names:
        lines += [f".. auto{_kind(getattr(package, name))}:: {name}", ""]
    return "\n".join(lines)


def _kind(thing: object) -> str:
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, Exception) else "class"
    return "function" if inspect.isroutine(thing) else "data"


def commands_page() -> str:
    """Restructured text: the help of each command, as its parser prints it to 80 columns."""
    title = "Command line"
    lines = [title, "=" * len(title), "", _COMMANDS, ""]
    with _eighty_columns():
        for command in COMMANDS.values():
            heading = f"harness-uq {command.name}"
            text = build_parser(command).format_help().splitlines()
            lines += [heading, "-" * len(heading), "", "::", "", *(f"    {line}".rstrip() for line in text), ""]
    return "\n".join(lines)


@contextmanager
def _eighty_columns() -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of every page."""
    yield "commands.rst", commands_page()
    for name in (*BY_SUBPACKAGE, *ON_ONE_PAGE):
        package = import_module(name)
        for subpackage, names in subpackages(package).items():
            yield (
                f"{name}-{subpackage.rpartition('.')[2]}.rst" if subpackage != name else f"{name}.rst",
                page(package, subpackage, names),
            )


def write(folder: Path) -> None:
    """Write the pages, and leave alone those that have not changed."""
    folder.mkdir(parents=True, exist_ok=True)
    made = dict(pages())
    for path in folder.glob("*.rst"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def correct_links(app: Sphinx, name: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Let pages of source code link to names of a small package by its name.

    Sphinx knows one package for each module, although a module may contain names of several.
    """
    if name.startswith("_modules/"):
        for package in ON_ONE_PAGE:
            wrong = rf"({FOLDER}/{re.escape(package)}\.html#)harness_uq\.(?!{package.removeprefix('harness_uq.')}\.)"
            context["body"] = re.sub(wrong, rf"\g<1>{package}.", context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir, FOLDER)))
    app.connect("html-page-context", correct_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
