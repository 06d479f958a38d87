"""Fixtures: modules of Inspect AI as a reference; tests that need it are skipped if it is not installed."""

import importlib
import os
from types import ModuleType

import pytest

# scripts that tests run in separate processes
collect_ignore = [
    *(f"live/{name}.py" for name in ("fault_runs", "fork_imports", "live_runs", "live_tasks", "missing_name_runs")),
    "live/matrix_runs.py",
    "live/stopping_runs.py",
    *(f"read/{name}.py" for name in ("watched_run", "write_logs")),
]


@pytest.fixture(scope="session")
def inspect_scorer() -> ModuleType:
    """The module `inspect_ai.scorer`, imported before anything is timed."""
    return _module("inspect_ai.scorer")


@pytest.fixture(scope="session")
def inspect_log() -> ModuleType:
    """The module `inspect_ai.log`."""
    return _module("inspect_ai.log")


def _module(name: str) -> ModuleType:
    if os.environ.get("HARNESS_UQ_REQUIRE_ALL"):
        return importlib.import_module(name)
    return pytest.importorskip(name)
