"""Scans into a store that a test kills: processes forked from one that has imported everything."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PROGRAM = """
import contextlib, os, sys
import pyarrow.parquet
from harness_uq import Options
from harness_uq.analyses.scan.scan_logs import scan

with contextlib.suppress(ImportError):
    import s3fs
logs, first, store = sys.argv[1:]
scan(first, Options(method="wilson"))  # imports what a scan needs
for level in sys.stdin:
    if (child := os.fork()) == 0:
        scan(logs, Options(method="wilson", level=float(level)), store=store)
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


@dataclass(frozen=True)
class Scanning:
    pid: int
    told: IO[str]

    def is_running(self) -> bool:
        with suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return True
        return False

    def kill(self) -> None:
        """Kill the process, and wait for its end."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        assert self.told.readline() == "ended\n"


@contextmanager
def scans_to_kill(logs: Path, store: str) -> Iterator[Callable[..., Scanning]]:
    """`start(level=…)` starts a process that scans the logs into the store."""
    command = [sys.executable, "-c", PROGRAM, logs, min(logs.glob("[0-9]*.eval")), store]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, told = process.stdin, process.stdout

        def start(*, level: float) -> Scanning:
            requests.write(f"{level}\n")
            requests.flush()
            return Scanning(int(told.readline()), told)

        yield start
