"""`harness-uq plugins`: the installed plugins, what each provides, and what was skipped and why."""

import argparse
from typing import TYPE_CHECKING

from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness_uq.plugins.loader import InstalledPlugin

USAGE = "[options]"
EXAMPLES = (
    ("List all plugins with their packages", "harness-uq plugins"),
    ("Print the same list as JSON", "harness-uq plugins --format json"),
    ("Find out why a plugin was skipped", "harness-uq plugins --debug"),
)
DETAILS = """\
A plugin is skipped with a warning if it cannot be loaded, lacks a required
attribute or uses the name of another plugin. All commands work without the
skipped plugin.
"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    _shared_options.add_format(parser, ["table", "json"])


def run(args: argparse.Namespace) -> int:
    """Load the plugins and list them."""
    import json

    from harness_uq.inference.load_plugins import load_plugins
    from harness_uq.messages.control_characters import escape_lines
    from harness_uq.output.sanitize import json_text

    installed = load_plugins().installed
    if args.format == "json":
        print(json_text(json.dumps({"plugins": [plugin.to_dict() for plugin in installed]}, indent=2)))
    else:
        print(escape_lines(_table(installed)))
    return 0


def _table(installed: "Sequence[InstalledPlugin]") -> str:
    """One row per plugin, then one paragraph per plugin that was skipped."""
    name_width = max(len(plugin.name) for plugin in installed) + 2
    package_width = max(len(plugin.distribution or "") for plugin in installed) + 2
    blocks = [f"{'Plugin':{name_width}}{'Package':{package_width}}Provides"]
    for plugin in installed:
        parts = [
            f"{plural if len(names) > 1 else plural.removesuffix('s')} {', '.join(names)}"
            for plural, names in plugin.provides.items()
        ]
        start = f"{plugin.name:{name_width}}{plugin.distribution or '':{package_width}}"
        blocks.append(_wrapped("; ".join(parts) or "nothing", start, len(start)))
    skipped = [plugin for plugin in installed if plugin.problems]
    blocks += ["\nSkipped:"] if skipped else []
    blocks += [_wrapped(f"{one.name} ({one.address}): {'; '.join(one.problems)}", "  ", 4) for one in skipped]
    return "\n".join(blocks)


def _wrapped(text: str, start: str, indent: int) -> str:
    import shutil
    from textwrap import fill

    width = shutil.get_terminal_size().columns
    return fill(text, width, initial_indent=start, subsequent_indent=" " * indent, break_on_hyphens=False)
