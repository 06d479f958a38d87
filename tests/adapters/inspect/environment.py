"""Run commands with or without HARNESS_UQ in their environment."""

import os
import subprocess
from pathlib import Path

from tests.conftest import NO_NETWORK

LIVE = Path(__file__).parent / "live"  # contains the scripts, and a stand-in for tiktoken


def environment(**variables):
    """The environment of this process with these variables; None removes a variable."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("HARNESS_UQ", "INSPECT_"))}
    path = os.pathsep.join(filter(None, (str(LIVE), os.environ.get("PYTHONPATH"))))
    chosen = {**quiet, **NO_NETWORK, "PYTHONPATH": path, **variables}
    return {name: str(value) for name, value in chosen.items() if value is not None}


def run_with_uq(*arguments, cwd, HARNESS_UQ="bayes", **variables):
    """Run a command and return its output."""
    command = [str(argument) for argument in arguments]
    chosen = environment(HARNESS_UQ=HARNESS_UQ, **variables)
    done = subprocess.run(command, cwd=cwd, env=chosen, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
