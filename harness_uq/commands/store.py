"""`harness-uq store`: what a store holds, whether it is sound, and what can go."""

import argparse
from typing import TYPE_CHECKING

from harness_uq.commands import options as _options
from harness_uq.commands import saying as _saying

if TYPE_CHECKING:
    from harness_uq.scaling.store import Store

_EPILOG = """\
examples:
  harness-uq estimate logs/ --store kept   fill it, and use what it holds
  harness-uq store ls kept                 what it holds, by options
  harness-uq store verify kept             read every byte of it; exit code 1 where something is damaged
  harness-uq store gc kept                 drop what is of logs that changed or are gone, or of other versions
"""


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(commands, "store", "look after a folder of kept results (--store)", epilog=_EPILOG)
    parser.add_argument("action", choices=["ls", "verify", "gc"], help="list, check, or drop what is of no use")
    parser.add_argument("store", metavar="DIR", help="folder or URL of the store")


def run(args: argparse.Namespace) -> int:
    """Open the store and do what is asked."""
    from harness_uq.errors import HarnessUqError, MissingDependencyError
    from harness_uq.logs import places

    try:
        from harness_uq.scaling.store import Store
    except ImportError:
        raise MissingDependencyError("a store needs pyarrow: pip install 'harness-uq[store]'") from None
    if not places.is_remote(args.store) and not places.local_path(args.store).is_dir():
        raise HarnessUqError(f"{args.store}: no such folder")
    return {"ls": _list, "verify": _verify, "gc": _collect}[args.action](Store(args.store))


def _list(store: "Store") -> int:
    from harness_uq.scaling.upkeep import holdings

    for holding in holdings(store):
        days = holding.first if holding.first == holding.last else f"{holding.first} to {holding.last}"
        print(f"{holding.kind:9} {holding.n_logs:8,} logs  {days}  {holding.options or ''}".rstrip())
    for place, message in store.trouble:
        _saying.complain(f"error: {place}: {message}")
    return 1 if store.trouble else 0


def _verify(store: "Store") -> int:
    from harness_uq.plugins.manager import load_plugins
    from harness_uq.scaling.upkeep import problems

    found = dict(problems(store, load_plugins()))
    for place, message in found.items():
        _saying.complain(f"error: {place}: {message}")
    n_files = sum(1 for _ in store.files())
    print(f"{n_files - len(found):,} of {n_files:,} files are sound")
    return 1 if found else 0


def _collect(store: "Store") -> int:
    from harness_uq.plugins.manager import load_plugins
    from harness_uq.scaling.upkeep import collect

    for what, number in collect(store, load_plugins()).items():
        print(f"{number:8,} {what} dropped")
    return 0
