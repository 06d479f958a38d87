"""The house is as the documentation draws it: few loose modules, no two-way tie, nothing private across modules."""

import ast
import tomllib
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT

grimp = pytest.importorskip("grimp")

PACKAGES = {"harness_uq": ROOT, "harness_uq_lm_eval": ROOT / "adapters", "harness_uq_inspect": ROOT / "adapters"}
PAGE = (ROOT / "docs/architecture.md").read_text()
GRAPH = grimp.build_graph(*PACKAGES)


def layers() -> list[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(contract["layers"] for contract in contracts if contract.get("containers") == ["harness_uq"])


def test_few_modules_lie_loose_and_few_layers_hold_them() -> None:
    loose = [path for path in (ROOT / "harness_uq").glob("*.py") if path.name != "__init__.py"]
    assert len(loose) <= 12
    assert len(layers()) <= 15


@pytest.mark.parametrize("room", [room.strip() for layer in layers() for room in layer.split("|")])
def test_every_room_is_in_the_picture(room: str) -> None:
    assert f"`{room}`" in PAGE


def folder_of(module: str) -> str:
    return module if GRAPH.find_children(module) else module.rpartition(".")[0]


def test_no_two_folders_import_each_other() -> None:
    ties = {
        (folder_of(a), folder_of(b))
        for a in GRAPH.modules
        for b in GRAPH.find_modules_directly_imported_by(a)
        if b in GRAPH.modules
    }
    inside = [(a, b) for a, b in ties if a < b and (b, a) in ties]
    assert [pair for pair in inside if not pair[1].startswith(f"{pair[0]}.")] == []


def sources() -> Iterator[tuple[str, ast.Module]]:
    for package, root in PACKAGES.items():
        for path in sorted((root / package).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def test_no_private_name_is_imported_from_another_module() -> None:
    found = [
        f"{path}: {node.module}.{name.name}"
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.name.startswith("_") and not name.name.startswith("__")
        if str(node.module).split(".")[0] in PACKAGES
    ]
    assert found == []
