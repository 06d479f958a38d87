"""The reference: a page for each room of public names, made from docstrings whenever the site is built."""

import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from sphinx.application import Sphinx

IN_ROOMS = ("harness_uq", "harness_uq.stats")
ON_ONE_PAGE = ("harness_uq.plots", "harness_uq_inspect")
FOLDER = "reference/made"


def rooms(package: ModuleType) -> dict[str, list[str]]:
    """Public names of a package, by the room in which they are written; of a small one, all together."""
    if package.__name__ in ON_ONE_PAGE:
        return {package.__name__: list(package.__all__)}
    depth = package.__name__.count(".") + 2
    found: dict[str, list[str]] = {}
    for name in package.__all__:
        thing = getattr(package, name)
        if inspect.ismodule(thing):
            continue
        home = (
            thing.__module__ if thing.__module__.startswith("harness_uq") else "harness_uq.plugins"
        )  # pluggy's marker
        found.setdefault(".".join(home.split(".")[:depth]), []).append(name)
    return dict(sorted(found.items()))


@cache
def modules() -> frozenset[str]:
    """Modules in which a public name is written."""
    packages = map(import_module, (*IN_ROOMS, *ON_ONE_PAGE))
    things = (getattr(package, name) for package in packages for name in package.__all__)
    return frozenset(thing.__module__ for thing in things if not inspect.ismodule(thing))


def page(package: ModuleType, room: str, names: list[str]) -> str:
    """Restructured text: what the room is about, its names in a table, and each with its docstring."""
    title = f"{package.__name__}: {room.rpartition('.')[2]}" if room != package.__name__ else room
    summary = (import_module(room).__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    lines = [title, "=" * len(title), "", summary, "", f".. currentmodule:: {package.__name__}", ""]
    lines += [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in names), ""]
    for name in names:
        lines += [f".. auto{_kind(getattr(package, name))}:: {name}", ""]
    return "\n".join(lines)


def _kind(thing: object) -> str:
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, Exception) else "class"
    return "function" if inspect.isroutine(thing) else "data"


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of every page."""
    for name in (*IN_ROOMS, *ON_ONE_PAGE):
        package = import_module(name)
        for room, names in rooms(package).items():
            yield f"{name}-{room.rpartition('.')[2]}.rst" if room != name else f"{name}.rst", page(package, room, names)


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


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir, FOLDER)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
