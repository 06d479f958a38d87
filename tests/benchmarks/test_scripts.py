"""The scripts in benchmarks/ are run by hand, so a renamed function would be noticed late."""

import ast
import importlib
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_what_a_script_imports_from_the_package_exists(script: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(script.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    for node in imports:
        if node.module and node.module.startswith("harness_uq"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")
