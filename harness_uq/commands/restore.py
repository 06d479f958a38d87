"""`harness-uq restore`: logs as they were before `rescore --in-place`."""

import argparse
import sys

from harness_uq.commands import options as _options
from harness_uq.commands import reading as _reading
from harness_uq.commands import saying as _saying


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(commands, "restore", "undo rescore --in-place; what a live run wrote stays")
    _options.add_logs(parser)


def run(args: argparse.Namespace) -> int:
    """Bring back and list."""
    from harness_uq.rescoring import restore

    _reading.clear_leftovers(args.logs)
    done = restore(args.logs)
    for path in done.restored:
        print(path)
    for path, message in done.failures:
        _saying.complain(f"error: {path}: {message}")
    if not (done.restored or done.failures):
        print("nothing to restore: no log under these paths was rescored in place", file=sys.stderr)
    return 0 if done.restored and not done.failures else 1
