"""The structure that the documentation describes: few modules outside packages, no packages that import each other, no
private names imported across modules, little duplicated code.
"""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from tests.conftest import ROOT

grimp = pytest.importorskip("grimp")

PACKAGES = {"harness_uq": ROOT} | dict.fromkeys(
    ("harness_uq_lm_eval", "harness_uq_inspect", "harness_uq_formats"), ROOT / "adapters"
)
PAGE = (ROOT / "docs/architecture.md").read_text()
GRAPH = grimp.build_graph(*PACKAGES, cache_dir=None)


def layers() -> list[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(contract["layers"] for contract in contracts if contract.get("containers") == ["harness_uq"])


def test_few_modules_are_outside_packages_and_layers_are_few() -> None:
    loose = [path for path in (ROOT / "harness_uq").glob("*.py") if path.name != "__init__.py"]
    assert len(loose) <= 8
    assert len(layers()) <= 12


@pytest.mark.parametrize("package", [name.strip() for layer in layers() for name in layer.split("|")])
def test_the_page_describes_every_package(package: str) -> None:
    assert f"`{package}`" in PAGE


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


def telling_lines(text: str) -> list[str]:
    """Lines other than blank lines, lone punctuation, comments and imports."""
    text = re.sub(r"^(from|import) [^(\n]*\([^)]*\)", "", text, flags=re.M)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if re.search(r"\w", line) and not line.startswith(("#", "import ", "from "))]


def pairs_of_six_lines(texts: dict[str, str]) -> set[tuple[str, str]]:
    """Pairs of files (or a file and itself) that share six lines in a row."""
    places = defaultdict(list)
    for path, text in texts.items():
        lines = telling_lines(text)
        for at in range(len(lines) - 5):
            places[tuple(lines[at : at + 6])].append((path, at))
    return {
        (a, b)
        for same in places.values()
        for (a, at_a), (b, at_b) in combinations(same, 2)
        if a != b or abs(at_a - at_b) >= 6
    }


def test_six_shared_lines_are_found_within_a_file_and_across_two() -> None:
    six = "a = 1\nb = 2\n\nc = 3\n# why\nd = 4\ne = 5\nf = 6\n"
    assert pairs_of_six_lines({"a.py": six, "b.py": f"import x\n{six}g = 7"}) == {("a.py", "b.py")}
    assert pairs_of_six_lines({"a.py": six + six}) == {("a.py", "a.py")}
    assert pairs_of_six_lines({"a.py": six, "b.py": six.replace("c = 3", "c = 4")}) == set()


def test_few_lines_are_duplicated_and_none_in_two_packages() -> None:
    texts = {
        path.relative_to(root).as_posix(): path.read_text()
        for package, root in PACKAGES.items()
        for path in (root / package).rglob("*.py")
        if path.name != "options_typed.py"  # which a tool writes
    }
    pairs = pairs_of_six_lines(texts)
    assert len(pairs) <= 10, sorted(pairs)
    assert {pair for pair in pairs if len({Path(path).parts[:2] for path in pair}) > 1} == set()
