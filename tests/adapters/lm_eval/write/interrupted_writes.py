"""Rescore and restore a run in forked processes, each of which dies or fails at another of its audited calls.

Usage: interrupted_writes.py RUN WORK KIND. Prints the number of calls tried; an AssertionError says what was lost.
"""

import errno
import os
import shutil
import signal
import sys
from pathlib import Path

from harness_uq import LogError
from harness_uq.io.atomic_write import remove_temporary_files
from harness_uq_lm_eval.harness import LmEvalHarness
from harness_uq_lm_eval.write import writeback

CALLS = ("open", "os.", "shutil.", "tempfile.", "fcntl.")


def main(stock, work, kind):
    before = {path.name: path.read_bytes() for path in Path(stock).iterdir()}
    place = 0
    while _cut_off(place := place + 1, stock, folder := Path(work, str(place)), kind):
        _nothing_is_lost(folder, before)
    print(place - 1)


def _cut_off(place, stock, folder, kind):
    """Whether the process reached its call number `place`."""
    shutil.copytree(stock, folder)
    child = os.fork()
    if not child:
        code = 1
        try:
            code = _child(place, folder, kind)
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 3, -signal.SIGKILL), f"call {place}: exit code {status}"
    return status != 0


def _child(place, folder, kind):
    harness, calls = LmEvalHarness(), 0
    (run,) = harness.find(sorted(map(str, folder.iterdir()))).runs

    def hook(event, arguments):
        nonlocal calls
        if event.startswith(CALLS):
            calls += 1
            if calls == place:
                if kind == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError(getattr(errno, kind), "injected")

    sys.addaudithook(hook)
    try:
        harness.write(run, [], None, settings={})
        harness.restore(run.results)
    except (LogError, OSError):
        return 3
    return 0 if calls < place else 3


def _nothing_is_lost(folder, before):
    (results,) = folder.glob("results_*.json")
    original = writeback.original_path(results)
    kept = original if original.exists() else results
    assert kept.read_bytes() == before[results.name], sorted(map(str, folder.iterdir()))
    remove_temporary_files([folder])
    writeback.restore(str(results))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


if __name__ == "__main__":
    main(*sys.argv[1:])
