"""`harness-uq structure`: show clusters, trials and score types with their evidence, and what the data support."""

import argparse

from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, logs_argument
from harness_uq.options import Option

USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Show everything that was detected in a folder, and the next commands", "harness-uq structure results/"),
    ("Check in a script that questions and trials are identified", "harness-uq structure results/ --check"),
    ("Show the clusters that a field defines", "harness-uq structure results/ --cluster drop=section_id"),
)


_ARGUMENTS = (
    logs_argument(),
    Option(
        name="check",
        group="Data",
        is_flag=True,
        help="Exit with code 1 if questions or trials are unidentified",
    ),
    Option(
        name="suggest_mapping",
        group="Data",
        is_flag=True,
        help="Print a mapping of columns for harness-uq.toml; inferred from the first records of each file",
    ),
)


def run(args: argparse.Namespace) -> int:
    """Read, detect, print, or print a mapping; with `--check`, code 1 if questions or trials are not identified."""
    if args.suggest_mapping:
        from harness_uq.io.tables.suggest_mapping import suggest_mapping

        print("\n".join(map(suggest_mapping, args.logs)), end="")
        return 0
    return show(args, check=args.check)


def show(args: argparse.Namespace, *, check: bool = False) -> int:
    """Read, detect, print, also for `estimate --structure`."""
    from harness_uq.analyses.detect_structure import detect_structure
    from harness_uq.analyses.summarize_data import summarize_data
    from harness_uq.io.readers import explain_unread
    from harness_uq.messages.control_characters import escape_control

    with _emit.emitting(args, "structures", "summary") as emitter:
        plugins = _load.plugins_of_command(args)
        options = _load.options_of(args)
        reading = _load.read(args, args.logs, plugins, need_scores=False)
        logs = _load.select_logs(args, [reading])
        _load.check_names(options.structure, logs)
        structures = detect_structure(logs, options, plugins=plugins)
        unread = explain_unread(reading, plugins.harnesses)
        summary = summarize_data(structures, _data_arguments(args), unread=unread)
        emitter.emit({"structures": structures, "summary": [summary]}, _load.reading_errors(reading))
    if emitter.output_format.name == "table" and args.settings.path:
        settings = "; ".join(args.settings.descriptions()) or "none"
        print("\n" + escape_control(f"Settings from {args.settings.path}: {settings}"))
    return _load.report_read_errors(reading) or int(check and not summary.is_identified)


def _data_arguments(args: argparse.Namespace) -> list[str]:
    """The paths and options that determine which data are read, for the commands that use the same data."""
    words = list(args.logs)
    for name, values in (("--task", args.task), ("--metric", args.metric), ("--filter", args.filter)):
        words += [word for value in values for word in (name, value)]
    words += [word for value in args.model for word in ("--model", value)]
    words += [word for value in args.cluster for word in ("--cluster", value)]
    words += [word for metric, (low, high) in args.range for word in ("--range", f"{metric}={low:g},{high:g}")]
    words += [word for role, names in args.column for word in ("--column", f"{role}={','.join(names)}")]
    if args.settings_file is not None:
        words += ["--settings", args.settings_file]
    return [*words, "--isolated"] if args.isolated else words


PAGES = {"structure": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS)}
