"""Run a program under a limit of memory, which a log must not exceed."""

import os
import subprocess
import sys
from pathlib import Path

GIGABYTE = 1 << 30
_SCRIPT = """
import re, resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)
sys.argv[1:] = sys.argv[2:]
from harness_uq.commands.main import main
status = main(sys.argv[1:])
# not ru_maxrss, which begins at the memory of the process that started this one
print("peak", re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
sys.exit(status)
"""


def run_command(
    *arguments: str | Path, memory: int = 3 * GIGABYTE, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of harness-uq with so many bytes of data at most."""
    command = [sys.executable, "-c", _SCRIPT, str(memory), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def peak_memory(done: subprocess.CompletedProcess[str]) -> int:
    """Bytes that the command needed at most."""
    return int(done.stdout.splitlines()[-1].removeprefix("peak ")) << 10
