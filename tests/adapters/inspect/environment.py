"""Run commands with or without HARNESS_UQ in their environment."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import NO_NETWORK
from tests.forked_runs import run_forked

LIVE = Path(__file__).parent / "live"  # contains the scripts, and a stand-in for tiktoken


def environment(**variables):
    """The environment of this process with these variables; None removes a variable."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("HARNESS_UQ", "INSPECT_"))}
    path = os.pathsep.join(filter(None, (str(LIVE), os.environ.get("PYTHONPATH"))))
    chosen = {**quiet, **NO_NETWORK, "PYTHONPATH": path, **variables}
    return {name: str(value) for name, value in chosen.items() if value is not None}


def run_with_uq(*arguments, cwd, HARNESS_UQ="bayes", **variables):
    """Run a Python program in a process that has imported Inspect, and return its output."""
    if arguments[0] == sys.executable:
        arguments = arguments[1:]
    chosen = environment(HARNESS_UQ=HARNESS_UQ, **variables)
    return _output(run_forked(arguments, cwd=cwd, environment=chosen, modules=("fork_imports",)))


def run_as_command(*arguments, cwd, HARNESS_UQ="bayes", **variables):
    """Run a command in a process that the operating system starts, and return its output."""
    command = [str(argument) for argument in arguments]
    chosen = environment(HARNESS_UQ=HARNESS_UQ, **variables)
    return _output(subprocess.run(command, cwd=cwd, env=chosen, capture_output=True, text=True, timeout=600))


def _output(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
