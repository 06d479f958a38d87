"""Limits of the size and the structure of the package. The table at the top has all of them."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import harness_uq
from harness_uq.commands.main import main
from harness_uq.commands.parser import COMMANDS
from tests.conftest import ROOT

# limit: most that is allowed now, aim. An allowed value may be lowered and never raised.
LIMITS = {
    "lines of harness_uq": (64_950, 57_000),
    "lines of adapters": (16_500, 16_500),
    "packages at the top of harness_uq": (9, 10),
    "names in harness_uq": (45, 50),
    "import cycles": (0, 0),
    "imports of own modules through strings": (0, 0),
    "commands in the main help": (12, 12),
    "lines of the help of a command": (45, 45),
    "options in the help of a command": (16, 16),
    "columns of the help": (80, 80),
}
# modules that may import own modules through strings: tables of commands, formats, results, methods and plugins
TABLES = {
    "harness_uq.commands.parser",
    "harness_uq.inference.methods",
    "harness_uq.output.formats",
    "harness_uq.inference.load_plugins",
    "harness_uq.io.plugins.manager",
    "harness_uq_formats.reader",
    "harness_uq_inspect",
}
ADAPTERS = ("harness_uq_formats", "harness_uq_inspect", "harness_uq_lm_eval")
FOLDERS = {"harness_uq": ROOT / "harness_uq"} | {name: ROOT / "adapters" / name for name in ADAPTERS}


@dataclass(frozen=True)
class Imports:
    """The own modules that a module imports when it is loaded or when its functions are called.

    Attributes
    ----------
    modules : all of them
    by_string : one list of modules for each call of `import_module`
    """

    modules: frozenset[str]
    by_string: Sequence[frozenset[str]]


def module_files(folders: Mapping[str, Path]) -> dict[str, Path]:
    """File of each module by its name."""
    files = {}
    for package, folder in folders.items():
        for path in sorted(folder.rglob("*.py")):
            parts = (package, *path.relative_to(folder).with_suffix("").parts)
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imports_of(name: str, path: Path, known: Mapping[str, Path]) -> Imports:
    """What a module imports: by statements, by the stub of `lazy_loader`, and by strings."""
    tree = ast.parse(path.read_text())
    statements = set(_statements(tree, name, known, is_package=path.stem == "__init__"))
    if any(_called(node) == "attach_stub" for node in ast.walk(tree)):
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        statements |= set(_statements(ast.parse(path.with_suffix(".pyi").read_text()), package, known, is_package=True))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "import_module"]
    by_string = [frozenset(_named_by(call.args[0], texts, name, known)) for call in calls]
    return Imports(frozenset(statements.union(*by_string)) - {name}, [modules for modules in by_string if modules])


def _statements(tree: ast.AST, name: str, known: Mapping[str, Path], *, is_package: bool) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            parents = name.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
            source = ".".join([*(parents if node.level else ()), *filter(None, [node.module])])
            for alias in node.names:
                yield from [one for one in (f"{source}.{alias.name}", source) if one in known][:1]
        yield from _statements(node, name, known, is_package=is_package)


def _called(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)


def _named_by(argument: ast.expr, texts: Iterable[str], name: str, known: Mapping[str, Path]) -> Iterator[str]:
    """The own modules that the argument of `import_module` can name, from all texts of the module.

    Of a name that is made of parts, the first ones are a package and the last is one of the texts or, if no text is a
    module of the package, any of its modules.
    """
    if isinstance(argument, ast.Constant):
        yield from {str(argument.value)} & known.keys()
    elif isinstance(argument, ast.JoinedStr):
        first = argument.values[0]
        prefix = str(first.value) if isinstance(first, ast.Constant) else f"{name}."
        inside = {module for module in known if module.startswith(prefix)}
        yield from {prefix + text for text in texts} & inside or inside
    else:
        yield from {text for text in texts if "." in text} & known.keys()


def import_graph(folders: Mapping[str, Path]) -> dict[str, Imports]:
    """What each module imports."""
    files = module_files(folders)
    return {name: imports_of(name, path, files) for name, path in files.items()}


def cycles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of modules that import each other directly or through others."""
    reached = {name: _reached_from(name, graph) for name in graph}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) for name in graph}
    return sorted(sorted(group) for group in groups if group)


def _reached_from(name: str, graph: Mapping[str, Iterable[str]]) -> set[str]:
    reached, pending = set[str](), [name]
    while pending:
        new = set(graph[pending.pop()]) - reached
        reached |= new
        pending += new
    return reached


def n_lines(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))


@pytest.fixture(scope="module")
def graph() -> dict[str, Imports]:
    return import_graph(FOLDERS)


def check(limit: str, value: int, details: object = None) -> None:
    allowed, aim = LIMITS[limit]
    assert value <= allowed, f"{limit}: {value}, allowed {allowed}, aim {aim}\n{details}"


def test_lines() -> None:
    check("lines of harness_uq", n_lines(ROOT / "harness_uq"))
    check("lines of adapters", n_lines(ROOT / "adapters"))


def test_packages_at_the_top() -> None:
    packages = sorted(path.parent.name for path in (ROOT / "harness_uq").glob("*/__init__.py"))
    check("packages at the top of harness_uq", len(packages), packages)


def test_public_names() -> None:
    names = vars(harness_uq)["__all__"]
    check("names in harness_uq", len(names), names)


def test_cycles(graph: Mapping[str, Imports]) -> None:
    found = cycles({name: imports.modules for name, imports in graph.items()})
    check("import cycles", len(found), "\n".join(map(", ".join, found)))


def test_imports_through_strings(graph: Mapping[str, Imports]) -> None:
    found = [(name, sorted(modules)) for name, one in graph.items() if name not in TABLES for modules in one.by_string]
    check("imports of own modules through strings", len(found), found)
    assert [name for name in TABLES if not graph[name].by_string] == []


def test_every_kind_of_import_is_found(tmp_path: Path) -> None:
    files = {
        "__init__.py": "import lazy_loader\nlazy_loader.attach_stub(__name__, __file__)",
        "__init__.pyi": "from .a import thing as thing",
        "a.py": "from importlib import import_module\ndef f():\n    from own import b\n    import_module('own.c')",
        "b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from own.a import thing",
        "c.py": "from . import b\nfrom .inside import table",
        "inside/__init__.py": "from ..b import f",
        "inside/table.py": "KINDS = {'x': 'one'}\ndef f():\n    return import_module(f'own.inside.{KINDS[\"x\"]}')",
        "inside/one.py": "import own.inside.two",
        "inside/two.py": "from own.inside.table import KINDS",
        "inside/all.py": "import_module(f'{__name__}.{name}')",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = import_graph({"own": tmp_path})
    assert {name: set(imports.modules) for name, imports in graph.items()} == {
        "own": {"own.a"},
        "own.a": {"own.b", "own.c"},
        "own.b": set(),
        "own.c": {"own.b", "own.inside.table"},
        "own.inside": {"own.b"},
        "own.inside.table": {"own.inside.one"},
        "own.inside.one": {"own.inside.two"},
        "own.inside.two": {"own.inside.table"},
        "own.inside.all": set(),
    }
    found = cycles({name: imports.modules for name, imports in graph.items()})
    assert found == [["own.inside.one", "own.inside.table", "own.inside.two"]]


@pytest.mark.parametrize("command", [*COMMANDS, "inspect", "lm-eval"])
def test_help_of_a_command(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    check("lines of the help of a command", len(lines), text)
    check("columns of the help", max(map(len, lines)), text)
    assert sum(line.startswith("  # ") for line in lines) in (1, 2, 3)
    start = next(number for number, line in enumerate(lines, 1) if line == "Options:")
    options = lines[start : lines.index("", start)]
    check("options in the help of a command", sum(line.startswith("  -") for line in options), text)
    assert [line for line in options if not re.match(r"  \S.*\S  +\S", line)] == []


def test_commands_in_the_main_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["--help"]) == 0
    listed = re.findall(r"^.{18} [a-z-]+ +[A-Z]", capsys.readouterr().out.partition("Examples:")[0], re.MULTILINE)
    check("commands in the main help", len(listed), listed)
