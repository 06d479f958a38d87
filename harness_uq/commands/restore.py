"""`harness-uq restore`: logs as they were before `rescore --in-place`."""

import argparse
import sys

from harness_uq.commands import shared as _shared


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    parser = _shared.add_command(commands, "restore", "undo rescore --in-place; what a live run wrote stays")
    _shared.add_logs(parser)


def run(args: argparse.Namespace) -> int:
    """Bring back and list."""
    from harness_uq.rescoring import restore

    _shared.clear_leftovers(args.logs)
    done = restore(args.logs)
    for path in done.restored:
        print(path)
    for path, message in done.failures:
        _shared.complain(f"error: {path}: {message}")
    if not (done.restored or done.failures):
        print("nothing to restore: no log under these paths was rescored in place", file=sys.stderr)
    return 0 if done.restored and not done.failures else 1
