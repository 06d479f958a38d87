"""Inspect AI itself, as a reference; tests that need it are skipped where it is not installed."""

import importlib
import os
from types import ModuleType

import pytest

# scripts that tests start in processes of their own, from this folder
collect_ignore = ["fault_runs.py", "live_runs.py", "live_tasks.py", "seam_runs.py", "stopping_runs.py", "write_logs.py"]


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
