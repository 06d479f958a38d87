"""Run Python programs as `subprocess.run` does, spared the seconds in which each would import a harness."""

import atexit
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

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


def forked_program(path: Path, code: str, *, modules: tuple[str, ...], python_path: str) -> None:
    """Write a program that shells can run: Python with this code, forked from a process that has imported `modules`."""
    requests, replies = _pipes_of_server(modules, python_path)
    path.write_text(PROGRAM.format(python=sys.executable, code=code, requests=requests, replies=replies), "utf-8")
    path.chmod(0o755)


PROGRAM = """#!{python} -IS
import json, os, sys

streams = {{name: f"/proc/{{os.getpid()}}/fd/{{number}}" for name, number in (("out", 1), ("err", 2))}}
request = {{"arguments": ["-c", {code!r}, *sys.argv[1:]], "environment": dict(os.environ), "cwd": os.getcwd()}}
with open({requests!r}, "w") as file:
    print(json.dumps(request | streams | {{"before": ""}}), file=file)
with open({replies!r}) as file:
    sys.exit(int(file.readline().split()[0]))
"""


@cache
def _pipes_of_server(modules: tuple[str, ...], python_path: str) -> tuple[str, str]:
    """Named pipes to and from a server."""
    folder = tempfile.mkdtemp()
    names = f"{folder}/requests", f"{folder}/replies"
    for name in names:
        os.mkfifo(name)
    # open for both directions: else a server ends with the first program that closes its end
    given, said = (os.open(name, os.O_RDWR) for name in names)
    environment = {**os.environ, "PYTHONPATH": python_path}
    server = subprocess.Popen([sys.executable, str(SERVER), *modules], env=environment, stdin=given, stdout=said)
    atexit.register(shutil.rmtree, folder)
    atexit.register(_end, server)
    return names


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
    return int(reply.split()[0])


@cache
def _server(modules: tuple[str, ...], python_path: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(SERVER), *modules]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": python_path}, text=True, **pipes)
    atexit.register(_end, server)
    return server


def _end(server: "subprocess.Popen[Any]") -> None:
    with server:
        server.kill()
