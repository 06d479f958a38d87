"""Commands about files and the installation: example files, intervals in logs, stores, plugins and completion."""

import argparse
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import METHODS, Page, format_argument, logs_argument
from harness_uq.messages.catalogue.reading import OUTPUT_LINK_LEADS_OUTSIDE
from harness_uq.messages.errors import LogError, MissingDependencyError, UsageError
from harness_uq.options import Option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness_uq.analyses.store.store import Store
    from harness_uq.io.plugins.manager import InstalledPlugin, Plugins
    from harness_uq.options import Options

_FILES = ("LOG", "RUN", "NEW", "OLD", "FILE", "DIR")

_DEMO_EXAMPLES = (
    ("Write example logs to the folder demo-output", "harness-uq demo"),
    ("Compare the two systems of the example logs", "harness-uq compare demo-output/lm-eval"),
    ("Write example tables to the folder demo-tables", "harness-uq demo --tables"),
)
_DEMO_DETAILS = """\
The example files are part of harness-uq. The logs are from runs of two scripted
systems, scripted-small and scripted-large, in lm-eval and Inspect AI. The
tables contain simulated scores: answers.csv has missing scores, agents.csv and
tokens.csv have costs, grades.csv has the scores of a model grader, labels.csv
has human labels, and the folder nightly has 20 nightly runs. The folder tasks
and the file inspect_tasks.py contain the tasks of both harnesses. If you run
the command again, it replaces the files with identical files.
"""
_DEMO_LOGS = """\
{folder} contains logs of lm-eval and Inspect AI for two scripted systems.

Scores with intervals:
  harness-uq estimate {path}/lm-eval/scripted-large
Is one system better than the other?
  harness-uq compare {path}/lm-eval
The same for each category of questions:
  harness-uq compare {path}/lm-eval --task demo_passages --by category
The same in the logs of Inspect AI:
  harness-uq compare {path}/inspect
How many questions are needed to find a difference of 5 points?
  harness-uq plan {path}/lm-eval --task demo_passages --difference 0.05
One HTML page with all results:
  harness-uq report {path}/lm-eval --output report.html
Tables for the other examples of the documentation:
  harness-uq demo --tables"""
_DEMO_TABLES = """\
{folder} contains tables with simulated scores.

Is one system better than the other on easy and on hard questions?
  harness-uq compare {path}/answers.csv --by level
Which system is better, if human labels correct the errors of the grader?
  harness-uq compare {path}/grades.csv --labels {path}/labels.csv
What does a solved question cost?
  harness-uq estimate {path}/agents.csv --resources
When did the score of the nightly runs change?
  harness-uq history nightly={path}/nightly"""


def _demo(args: argparse.Namespace) -> int:
    """Write the files, and print what to try next."""
    from harness_uq.io.example_logs import demo
    from harness_uq.messages.control_characters import escape_lines

    folder = demo(args.folder, tables=args.tables)
    text = _DEMO_TABLES if args.tables else _DEMO_LOGS
    print(escape_lines(text.format(folder=folder, path=shlex.quote(str(folder)))))
    return 0


_PLUGINS_EXAMPLES = (
    ("List all plugins with their packages", "harness-uq plugins"),
    ("Find out why a plugin was skipped", "harness-uq plugins --debug"),
)
_PLUGINS_DETAILS = """\
A plugin that cannot be loaded, or lacks a part, is skipped with a warning.
"""
_PLUGIN_EXAMPLE = """\
A plugin with a method for --uq (Python's help(harness_uq.plugin_api) has more):
"""


def _plugin_example() -> str:
    """A module with an interval method and its entry point, from the documentation of `plugin_api`."""
    from harness_uq import plugin_api

    text = (plugin_api.__doc__ or "").partition("::\n\n  ")[2].partition("\n\n`help()`")[0]
    return text.replace("\n    ", "\n  ") + "\n"


def _plugins(args: argparse.Namespace) -> int:
    """Load the plugins and list them."""
    import json

    from harness_uq.inference.load_plugins import load_plugins
    from harness_uq.messages.control_characters import escape_lines
    from harness_uq.output.sanitize import json_text

    installed = load_plugins().installed
    if args.format == "json":
        print(json_text(json.dumps({"plugins": [plugin.to_dict() for plugin in installed]}, indent=2)))
    else:
        print(escape_lines(_plugin_table(installed)))
    return 0


def _plugin_table(installed: "Sequence[InstalledPlugin]") -> str:
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


_STORE_EXAMPLES = (
    ("List the stored results, grouped by options", "harness-uq store ls results-store/"),
    ("Read every file and report damage", "harness-uq store verify results-store/"),
    ("Remove results of changed or deleted logs", "harness-uq store gc results-store/"),
)
_STORE_DETAILS = """\
The option --store of other commands creates a result store and adds results to
it, as in harness-uq estimate results/ --store results-store/.
"""


def _store(args: argparse.Namespace) -> int:
    """Open the store and run the action."""
    from harness_uq.io import paths as io_paths
    from harness_uq.messages.errors import HarnessUqError

    try:
        from harness_uq.analyses.store.store import Store
    except ImportError:
        raise MissingDependencyError(
            "A store requires pyarrow. Install it with: pip install 'harness-uq[store]'"
        ) from None
    if not io_paths.is_remote(args.store) and not io_paths.local_path(args.store).is_dir():
        raise HarnessUqError(f"Folder not found: {args.store}. Give a folder that --store created.")
    return {"ls": _list, "verify": _verify, "gc": _collect}[args.action](Store(args.store))


def _list(store: "Store") -> int:
    from harness_uq.analyses.store.maintenance import summarize_store
    from harness_uq.messages.control_characters import escape_control

    for holding in summarize_store(store):
        days = holding.first if holding.first == holding.last else f"{holding.first} to {holding.last}"
        line = f"{holding.kind:9} {holding.n_logs:8,} logs  {days}  {_options_text(holding.options)}"
        print(escape_control(line.rstrip()))
    for place, message in store.unreadable_files:
        _console.print_message(message, place)
    return 1 if store.unreadable_files else 0


def _options_text(options: str | None) -> str:
    """The options that are set, such as `level=0.95, method=bayes`; the text as it is, if it is not a JSON object."""
    import json

    try:
        values = json.loads(options or "{}")
    except ValueError:
        return options or ""
    return ", ".join(_settings(values)) if isinstance(values, dict) else options or ""


def _settings(values: "Mapping[str, object]", prefix: str = "") -> "Iterator[str]":
    """`NAME=VALUE` of each value that is set; the names of nested values are joined by dots."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _settings(value, f"{prefix}{name}.")
        elif value is not None and value is not False and value != "" and name != "origin":
            yield f"{prefix}{name}={value}"


def _verify(store: "Store") -> int:
    from harness_uq.analyses.store.maintenance import find_damage

    damaged = dict(find_damage(store, _console.load_and_report_plugins()))
    for place, message in damaged.items():
        _console.print_message(message, place)
    n_files = sum(1 for _ in store.files())
    print(f"{n_files - len(damaged):,} of {n_files:,} files are intact.")
    return 1 if damaged else 0


def _collect(store: "Store") -> int:
    from harness_uq.analyses.active.history import remove_outdated_models
    from harness_uq.analyses.store.maintenance import remove_outdated

    removed = remove_outdated(store, _console.load_and_report_plugins())
    removed["outdated models"] = remove_outdated_models(store.folder)
    for what, number in removed.items():
        print(f"{number:8,} {what} removed")
    return 0


_RESCORE_EXAMPLES = (
    ("Write copies of the logs, with intervals", "harness-uq rescore results/ --output-dir rescored/"),
    ("Change the logs themselves, which --undo reverses", "harness-uq rescore results/ --in-place"),
    (
        "Write the scores in the format of Every Eval Ever",
        "harness-uq rescore results/ --output-dir records/ --format eee",
    ),
)


def _rescore(args: argparse.Namespace) -> int:
    """Estimate, write the logs, and list the files; with `--undo`, restore them."""
    if args.undo:
        return _restore(args)
    from harness_uq.analyses.rescore import rescore
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.messages.redaction import redact

    _load.clear_leftovers(args.logs)
    plugins = _load.plugins_of_command(args)
    options = _load.options_of(args)
    _load.check_method(options, plugins)
    if args.format == "eee":
        return _write_records(args, options, plugins)
    done = rescore(
        args.logs,
        options,
        output=args.output_dir,
        plugins=plugins,
        progress=lambda runs: _console.track(runs, "Reading", len(runs)),
        selection=_load.log_filter(args),
        follow_links=args.follow_links,
    )
    for rescored in done.runs:
        n = sum(row.interval is not None for row in rescored.estimates)
        print(f"{escape_control(redact(rescored.files[0]))}: {n} of {len(rescored.estimates)} scores have an interval")
    for path, message in done.failures:
        _console.print_message(message, path)
    problem = _emit.nothing_estimable(options, [row for run in done.runs for row in run.estimates])
    return max(_emit.report_problem(problem), 1 if done.failures else 0)


def _write_records(args: argparse.Namespace, options: "Options", plugins: "Plugins") -> int:
    """Estimate, write the records of Every Eval Ever with the scores of their samples, and list the files. Raises
    UsageError with `--in-place`, and LogError if a link leads out of the output folder.
    """
    from harness_uq.analyses.estimate import estimate
    from harness_uq.io.paths import folder_of, is_inside, join, local_path, make_folder, write_bytes
    from harness_uq.io.plugins.protocols import WritesFiles
    from harness_uq.io.readers import read_logs, task_logs
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.messages.redaction import redact

    if args.in_place:
        raise UsageError("--format eee writes new files. Give --output-dir DIR instead of --in-place.")
    writer = plugins.formats.get("eee")
    if not isinstance(writer, WritesFiles):
        raise UsageError("--format eee requires the plugin harness_uq_formats.")
    reading = read_logs(
        args.logs,
        harnesses=plugins.harnesses,
        progress=lambda runs: _console.track(runs, "Reading", len(runs)),
        need_scores=True,
    )
    logs = _load.select_logs(args, [reading])
    _load.check_names(options.structure, logs)
    rows = estimate(logs, options, plugins=plugins)
    for file, content in writer.files(rows, task_logs(logs, plugins)):
        place = join(args.output_dir, *file.parts)
        if not is_inside(folder_of(place), args.output_dir):
            target = str(local_path(folder_of(place)).resolve())
            raise LogError(OUTPUT_LINK_LEADS_OUTSIDE(folder=args.output_dir, target=target))
        with _emit.reporting_write_errors(place):
            make_folder(folder_of(place))
            write_bytes(place, content.encode())
        print(escape_control(redact(place)))
    problem_code = _emit.report_problem(_emit.nothing_estimable(options, rows))
    return max(_load.report_read_errors(reading), _console.report_failures(rows), problem_code)


_RESTORE_EXAMPLES = (
    ("Restore all logs in a folder", "harness-uq restore results/"),
    ("Restore a single log", "harness-uq restore run.eval"),
    ("Restore all Inspect logs in a folder", "harness-uq restore 'logs/*.eval'"),
)
_RESTORE_DETAILS = """\
The command undoes the changes of harness-uq rescore --in-place. It keeps the
intervals that a harness wrote into its log during a run with --uq.
"""


def _restore(args: argparse.Namespace) -> int:
    """Restore the logs and list the files."""
    from harness_uq.analyses.rescore import restore
    from harness_uq.messages.control_characters import escape_control
    from harness_uq.messages.redaction import redact

    _load.clear_leftovers(args.logs)
    done = restore(args.logs, plugins=_console.load_and_report_plugins(), follow_links=args.follow_links)
    for path in done.restored:
        print(escape_control(redact(path)))
    for path, message in done.failures:
        _console.print_message(message, path)
    if not (done.restored or done.failures):
        print(
            "Nothing to restore: no log in these paths was changed by harness-uq rescore --in-place.", file=sys.stderr
        )
    return 0 if done.restored and not done.failures else 1


_COMPLETION_EXAMPLES = (
    ("For bash, write the script to a file that ~/.bashrc sources", "harness-uq completion bash > FILE"),
    ("For zsh, write the script to a folder that $fpath contains", "harness-uq completion zsh > DIR/_harness-uq"),
    ("For tcsh, write the script to a file that ~/.tcshrc sources", "harness-uq completion tcsh > FILE"),
)
_COMPLETION_DETAILS = """\
If the package bash-completion is installed, bash also reads the script from
~/.local/share/bash-completion/completions/harness-uq. After each update of
harness-uq, create the script again.
"""


def _completion(args: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ImportError:
        raise MissingDependencyError(
            "Shell completion requires shtab. Install it with: pip install 'harness-uq[completion]'"
        ) from None
    parser = _all_commands(args.parsers())
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, args.shell))
    return 0


def _all_commands(parsers: "Mapping[str, tuple[str, argparse.ArgumentParser]]") -> argparse.ArgumentParser:
    """A parser with all commands and harnesses as subcommands."""
    from harness_uq.io.plugins.manager import runners

    parser = argparse.ArgumentParser("harness-uq")
    parser.add_argument("--version", action="store_true", help="Show the version and exit")
    parser.add_argument("--debug", action="store_true", help="Show the traceback of an internal error")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (summary, command_parser) in parsers.items():
        subparsers.add_parser(name, help=summary, parents=[command_parser], add_help=False)
    for name in runners():
        if name not in parsers:
            subparsers.add_parser(name, help=f"Run {name} with intervals in its output")
    return parser


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


PAGES = {
    "demo": Page(
        usage="[DIR]",
        examples=_DEMO_EXAMPLES,
        run=_demo,
        arguments=(
            logs_argument(
                "folder",
                "DIR",
                nargs="?",
                help="Write the files to this folder; default: demo-output, with --tables demo-tables",
            ),
            Option(name="tables", group="Data", is_flag=True, help="Write tables instead of logs"),
        ),
        details=_DEMO_DETAILS,
    ),
    "plugins": Page(
        usage="[options]",
        examples=_PLUGINS_EXAMPLES,
        run=_plugins,
        arguments=(format_argument("table", "json"),),
        details=_PLUGINS_DETAILS + _PLUGIN_EXAMPLE + _plugin_example(),
    ),
    "store": Page(
        usage="(ls | verify | gc) DIR",
        examples=_STORE_EXAMPLES,
        run=_store,
        arguments=(
            Option(
                name="action",
                flags=("action",),
                group="Data",
                choices=("ls", "verify", "gc"),
                metavar="ACTION",
                help="List (ls), verify or clean up (gc); gc removes outdated results",
            ),
            logs_argument("store", "DIR", nargs=None, help="Use the result store in this folder or at this URL"),
        ),
        details=_STORE_DETAILS,
    ),
    "rescore": Page(
        usage="LOG [LOG ...] (--output-dir DIR | --in-place | --undo)",
        examples=_RESCORE_EXAMPLES,
        run=_rescore,
        arguments=(
            logs_argument(),
            Option(
                name="output_dir",
                group="Output",
                metavar="DIR",
                group_of_one="where",
                is_required=True,
                help="Write copies of the logs to this folder; the original logs do not change",
            ),
            Option(
                name="in_place",
                group="Output",
                is_flag=True,
                group_of_one="where",
                help="Change the original logs; use --undo to undo the change",
            ),
            Option(
                name="undo",
                group="Output",
                is_flag=True,
                group_of_one="where",
                help="Undo --in-place; like harness-uq restore",
            ),
            Option(
                name="format",
                group="Output",
                choices=("log", "eee"),
                default="log",
                help="Write logs (log) or files of Every Eval Ever (eee); with --output-dir (default: {default})",
            ),
        ),
        more=METHODS,
    ),
    "restore": Page(
        usage="LOG [LOG ...]",
        examples=_RESTORE_EXAMPLES,
        run=_restore,
        arguments=(logs_argument(),),
        details=_RESTORE_DETAILS,
    ),
    "completion": Page(
        usage="(bash | zsh | tcsh)",
        examples=_COMPLETION_EXAMPLES,
        run=_completion,
        arguments=(
            Option(
                name="shell",
                flags=("shell",),
                group="Data",
                choices=("bash", "zsh", "tcsh"),
                metavar="SHELL",
                help="Print the script for bash, zsh or tcsh",
            ),
        ),
        details=_COMPLETION_DETAILS,
    ),
}
