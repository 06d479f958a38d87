"""`harness-uq restore`: logs as they were before `rescore --in-place`."""

import argparse
import sys

from harness_uq.commands import _shared


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    parser = _shared.add_command(commands, "restore", "bring back logs as they were before rescore --in-place")
    _shared.add_logs(parser)


def run(args: argparse.Namespace) -> int:
    """Bring back and list."""
    from harness_uq.rescoring import restore

    back = restore(args.logs)
    for path in back:
        print(path)
    if not back:
        print("nothing to restore: no log under these paths was rescored in place", file=sys.stderr)
    return 0 if back else 1
