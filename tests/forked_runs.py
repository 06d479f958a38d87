"""Run Python programs as `subprocess.run` does, spared the seconds in which each would import a harness."""

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

SERVER = Path(__file__).with_name("fork_server.py")


def run_forked(
    arguments: Sequence[object],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    modules: tuple[str, ...],
    before: str = "",
    timeout: float = 600,
) -> "subprocess.CompletedProcess[str]":
    """Outcome of `python ARGUMENTS` in a process forked from one that has imported `modules`.

    What Python itself reads from the environment at its start is as in the first run with these modules.
    """
    server = _server(modules, environment.get("PYTHONPATH", ""))
    with tempfile.TemporaryDirectory() as folder:
        out, err = (Path(folder, name) for name in ("out", "err"))
        out.touch()
        err.touch()
        given = list(map(str, arguments))
        request = {"arguments": given, "environment": dict(environment), "cwd": str(cwd), "before": before}
        code = _ask(server, json.dumps(request | {"out": str(out), "err": str(err)}), timeout)
        return subprocess.CompletedProcess(given, code, out.read_text("utf-8"), err.read_text("utf-8"))


def _ask(server: "subprocess.Popen[str]", request: str, timeout: float) -> int:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{request}\n")
    server.stdin.flush()
    answered, _, _ = select.select([server.stdout], [], [], timeout)
    reply = server.stdout.readline() if answered else ""
    if not reply:
        server.kill()
        raise TimeoutError(f"no end after {timeout} seconds, or the server of forks died: {request:.500}")
    return int(reply)


@cache
def _server(modules: tuple[str, ...], python_path: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(SERVER), *modules]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": python_path}, text=True, **pipes)
    atexit.register(_end, server)
    return server


def _end(server: "subprocess.Popen[str]") -> None:
    with server:
        server.kill()
