"""What several test modules need: reference data beside the repository, and logs that the real harnesses wrote."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
# a proxy that nobody answers: whoever reaches for the network fails
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")

# a property's first example may import half of scipy, and CI machines are slow: time is no property here
settings.register_profile("harness_uq", deadline=None, derandomize=True)
settings.load_profile("harness_uq")

RunPython = Callable[..., str]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data and papers beside the repository."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        _absent(f"no reference data at {folder}")
    return folder


@pytest.fixture(scope="session")
def run_python() -> RunPython:
    """`run_python(*arguments, cwd=folder)` runs Python with the examples on its path and returns what it printed."""
    return _run_python


@pytest.fixture(scope="session")
def lm_eval_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `lm-eval/<system>/` logs of both example systems, written once by lm-evaluation-harness."""
    return _example_runs("lm_eval", "run_lm_eval.py", tmp_path_factory)


@pytest.fixture(scope="session")
def inspect_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `inspect/<system>/` logs of both example systems, written once by Inspect AI."""
    return _example_runs("inspect_ai", "run_inspect.py", tmp_path_factory)


def _example_runs(package: str, script: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec(package) is None:
        _absent(f"{package} is not installed")
    folder = tmp_path_factory.mktemp(package)
    _run_python(EXAMPLES / script, "--output", folder, cwd=folder)
    return folder


def _run_python(*arguments: str | Path, cwd: Path) -> str:
    environment = {**os.environ, **NO_NETWORK, "PYTHONPATH": str(EXAMPLES)}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _absent(what: str) -> None:
    if os.environ.get("CI") or os.environ.get("HARNESS_UQ_REQUIRE_ALL"):
        pytest.fail(f"{what}, and this run must skip nothing")
    pytest.skip(what)
