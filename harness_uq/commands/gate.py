"""`harness-uq gate`: pass or fail a new system against a baseline."""

import argparse
import shlex
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from fnmatch import fnmatchcase
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, logs_argument
from harness_uq.messages.catalogue.command_line import SETTINGS_USED
from harness_uq.messages.errors import HarnessUqError, StructureError, UsageError, unknown_name
from harness_uq.options import COUNT, OVERALL, Option

if TYPE_CHECKING:
    from harness_uq.data.task_log import Source, TaskLog
    from harness_uq.io.human_labels import Label
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.io.readers import Reading
    from harness_uq.options import Options
    from harness_uq.results.gate import Gate

FAILED, UNDECIDED, BROKEN = 1, 3, 4


USAGE = "NEW [--baseline OLD --margin D] [--at-least B] [options]"
EXAMPLES = (
    ("Fail if the new system is worse by more than 1 point", "harness-uq gate runs/b --baseline runs/a --margin 0.01"),
    (
        "Fail if the data show a score below 0.8, pass if they show at least 0.8",
        "harness-uq gate runs/b --at-least gsm8k=0.8",
    ),
    ("The same with a JUnit file for CI", "harness-uq gate runs/b --baseline runs/a --margin 0.01 --output gate.xml"),
)
DETAILS = """\
Decisions:
  fail       NEW is worse than OLD by more than the margin on at least one
             score, or a score is beyond its bound (--at-least, --at-most),
             corrected for the number of tests (Holm).
  pass       NEW is not worse than OLD by more than the margin, over all tasks
             that share a metric, and all scores are within their bounds.
  undecided  The data are insufficient for pass and for fail, or NEW lacks a
             task that OLD has.
"""
EXIT_CODES = "0 pass, 1 fail, 2 wrong arguments, 3 undecided, 4 no decision"


_ARGUMENTS = (
    logs_argument(
        "new",
        "NEW",
        help="Runs of the new system; NAME=NEW names it. With --self-test: runs of any systems, or a store",
    ),
    Option(
        name="baseline",
        group="Data",
        metavar="OLD",
        nargs="+",
        group_of_one="mode",
        help="Use these runs, or this system of NEW, as baseline; or a store; several arguments are repeated runs",
    ),
    Option(
        name="history",
        group="Data",
        metavar="LOG",
        nargs="+",
        help="Identify flaky questions from more runs of the baseline's system, or from a store of such runs",
        basic="",
    ),
    Option(
        name="self_test",
        group="Data",
        nargs="?",
        const="auto",
        group_of_one="mode",
        choices=("auto", "runs", "epochs", "halves"),
        metavar="KIND",
        help="Print how often the gate fails equal systems; KIND: auto, runs, epochs or halves (default: auto)",
    ),
    Option(
        name="n_simulations",
        rule=COUNT,
        default=200,
        metavar="N",
        help="Run N simulations in the self-test (default: {default})",
        basic="",
    ),
    Option(
        name="on_undecided",
        group="Output",
        choices=("pass", "fail"),
        metavar="RESULT",
        help="Count an undecided gate as pass or fail",
    ),
    Option(
        name="annotations",
        group="Output",
        metavar="FILE",
        help="Also write the decisions to FILE as GitHub annotations, which a workflow step must print",
        basic="",
    ),
)


def run(args: argparse.Namespace) -> int:
    """Read, decide, print."""
    try:
        args.resources = _names_resources(args)
        plugins = _load.plugins_of_command(args)
        with _emit.emitting(args, "self_tests" if args.self_test else "gates") as emitter:
            return _self_test(args, plugins, emitter) if args.self_test else _gate(args, plugins, emitter)
    except StructureError as error:
        raise UsageError(str(error)) from error
    except UsageError:
        raise
    except HarnessUqError as error:
        _console.print_error(f"harness-uq: error: No decision: {error}")
        return BROKEN


def _gate(args: argparse.Namespace, plugins: "Plugins", emitter: _emit.Emitter) -> int:
    from harness_uq.analyses.gating.gate import gate
    from harness_uq.data.selection import LogFilter
    from harness_uq.inference.compared_runs import named_alike
    from harness_uq.results.gate import gate_answer

    news = [_load.scan_named(args, argument, plugins).reading for argument in args.new]
    sources = {log.source for reading in news for log in reading.logs}
    if _names_system(args.baseline, news):
        news, baselines = _split(news, args.baseline[0])
        names: list[str | None] = [None] * len(baselines)
    else:
        names = [_load.parse_named_path(argument)[0] for argument in args.baseline or ()]
        baselines = [_baseline(args, argument, sources, plugins) for argument in args.baseline or ()]
    further = [_load.read_runs_or_store(args, argument, plugins) for argument in args.history or ()]
    readings = [*news, *baselines, *further]
    errors = _load.reading_errors(*readings)
    if _load.report_read_errors(*readings):
        emitter.emit_errors(errors)
        return BROKEN
    new = [_side(args, "The new runs", reading, None) for reading in news]
    baseline = [_side(args, "The baseline runs", reading, name) for name, reading in zip(names, baselines, strict=True)]
    _check_one_system(args, "new", new)
    _check_one_system(args, "baseline", baseline)
    named = named_alike([*new, *baseline])
    new, baseline = named[: len(new)], named[len(new) :]
    with _console.checking_arguments():
        LogFilter(models=tuple(args.model)).check([log for reading in readings for log in reading.logs])
    every = [log for logs in (*new, *baseline) for log in logs]
    _check_selected(args, {log.task for reading in readings for log in reading.logs}, {log.task for log in every})
    options = _gate_options(args, every)
    labels = _labels(args, every)
    any_model = replace(_load.log_filter(args), models=())
    history = [log for reading in further for log in any_model.of(reading.logs)]
    result = gate(
        new,
        baseline or None,
        options,
        labels=labels,
        grader_shift=args.grader_shift,
        history=history if args.history else None,
        plugins=plugins,
    )
    result = replace(result, on_undecided=args.on_undecided)
    if args.settings.path:
        used = SETTINGS_USED(path=relpath(args.settings.path))
        result = replace(result, messages=(*result.messages, used))
    elif args.notes:
        _console.print_error("No settings file is used")
    if args.output and not _emit.is_stream(Path(args.output)):
        print(gate_answer(result))
    emitter.emit({"gates": [result]}, errors)
    if args.annotations:
        _write_annotations(args.annotations, result)
    if _console.report_failures(row.comparison for row in result.rows):
        return BROKEN
    return {"pass": 0, "fail": FAILED, "undecided": UNDECIDED}[result.outcome]


def _write_annotations(path: str, result: "Gate") -> None:
    from harness_uq.commands.emit import write_place
    from harness_uq.results.documents import render_results

    rendered = render_results([result], "github")
    write_place(path, rendered if isinstance(rendered, bytes) else f"{rendered}\n".encode())


def _names_resources(args: argparse.Namespace) -> bool:
    """Whether a requirement or a margin names a cost, tokens or another resource."""
    from harness_uq.analyses.gating.requirements import named_metrics, reads_resources

    options = _load.options_of(args)
    given = (options.at_least, options.at_most, options.improve_by, dict(args.margin))
    return reads_resources(named_metrics(name for one in given if isinstance(one, Mapping) for name in one))


def _names_system(baseline: "Sequence[str] | None", news: "Sequence[Reading]") -> bool:
    """Whether `--baseline` is no path, but the name of a system in the new runs."""
    from harness_uq.data.selection import matches_system
    from harness_uq.io.paths import exists

    systems = {log.system for reading in news for log in reading.logs}
    is_name = baseline is not None and len(baseline) == 1 and any(matches_system(name, baseline) for name in systems)
    return is_name and not exists(baseline[0])  # type: ignore[index]


def _split(news: "Sequence[Reading]", name: str) -> "tuple[list[Reading], list[Reading]]":
    """The runs of the other systems, and those of the system with this name."""
    from harness_uq.data.selection import matches_system

    def part(reading: "Reading", *, is_baseline: bool) -> "Reading":
        logs = tuple(log for log in reading.logs if matches_system(log.system, [name]) == is_baseline)
        return replace(reading, logs=logs) if not is_baseline else type(reading)(logs)

    new, baseline = ([part(reading, is_baseline=one) for reading in news] for one in (False, True))
    if not any(reading.logs for reading in new):
        raise UsageError(f"The new runs contain only the system of --baseline: {name}. Add runs of another system.")
    return [reading for reading in new if reading.logs], [reading for reading in baseline if reading.logs]


def _check_one_system(args: argparse.Namespace, side: str, runs: "Sequence[Sequence[TaskLog]]") -> None:
    """Check that the runs of one side belong to one system. Raises UsageError if they do not; the message explains how
    to name them.
    """
    systems = sorted({log.system for logs in runs for log in logs})
    if len(systems) > 1:
        raise UsageError(
            f"The {side} runs belong to several systems: {', '.join(systems)}. {_with_baseline(args)}If they are "
            "repeated runs of one system, name all of them alike, such as main=RUN1 main=RUN2."
        )


def _with_baseline(args: argparse.Namespace) -> str:
    """How to compare two runs that were both given as new; empty if there is a baseline or a single run."""
    if args.baseline or len(args.new) < 2:
        return ""
    new, old = map(shlex.quote, args.new[:2])
    return f"If the second is the baseline, use harness-uq gate {new} --baseline {old} --margin 0.01. "


def _check_selected(args: argparse.Namespace, tasks: Set[str], selected: Set[str]) -> None:
    """Check that the selection of tasks contains each task in the logs that a requirement names. Raises UsageError if
    it does not.
    """
    from harness_uq.analyses.gating.requirements import check_selected, requirements_of

    options = _load.options_of(args)
    requirements = requirements_of(options.at_least, options.at_most)
    bounds = [one.task for one in requirements if one.task is not None]
    margins = [name for name, _ in args.margin if name]
    required = options.improve_by if isinstance(options.improve_by, Mapping) else {}
    improvements = [name for name in required if name]
    with _console.checking_arguments():
        for option, names in (("A bound", bounds), ("--margin", margins), ("A required improvement", improvements)):
            check_selected(option, [name for name in names if any(fnmatchcase(task, name) for task in tasks)], selected)


def _labels(args: argparse.Namespace, logs: "Sequence[TaskLog]") -> "str | Sequence[Label] | None":
    """The human labels, if they are given. Raises UsageError if they cannot be read."""
    from harness_uq.io.human_labels import human_labels

    if args.labels is None:
        return None
    with _console.checking_arguments():
        return human_labels(args.labels, logs, args.inclusion_probabilities)


def _baseline(args: argparse.Namespace, argument: str, new: "Set[Source]", plugins: "Plugins") -> "Reading":
    """The baseline runs; of a store, all runs except the new ones. Raises HarnessUqError if a store cannot be read, or
    contains no other runs.
    """
    from harness_uq.analyses.store.read import is_store, stored_logs
    from harness_uq.io.readers import Reading

    store = _load.parse_named_path(argument)[1]
    if not is_store(store):
        return _load.scan_named(args, argument, plugins).reading
    older = tuple(log for log in stored_logs(store) if log.source not in new)
    if not older:
        raise HarnessUqError(f"The store {store} contains no runs besides the new ones, so there is no baseline.")
    return Reading(older)


def _side(args: argparse.Namespace, whose: str, reading: "Reading", name: str | None) -> "list[TaskLog]":
    """The selected logs of one side, with the system renamed to `name`; `--model` selects one of several systems.
    Raises UsageError if several systems remain, or a pattern matches nothing.
    """
    from harness_uq.data.selection import matches_system

    systems = sorted({log.system for log in reading.logs})
    label_metrics = _load.label_metrics(args.labels)
    any_model = replace(_load.log_filter(args, label_metrics), models=())
    with _console.checking_arguments():
        any_model.check(reading.logs)
    chosen = [system for system in systems if len(systems) == 1 or matches_system(system, args.model)]
    if len(chosen) != 1:
        path = _load.parse_named_path(args.new[0])[1]
        if args.baseline == [path] and len(systems) > 1:  # two systems of one file
            advice = f"Name the one that is the baseline, such as --baseline {shlex.quote(systems[-1])}."
        else:
            advice = f"Select one, such as --model {shlex.quote(systems[0])}."
        raise UsageError(f"{whose} contain several systems: {', '.join(systems)}. {advice}")
    selected = replace(any_model, models=tuple(chosen)).of(reading.logs)
    return [log if name is None else replace(log, system=name) for log in selected]


def _self_test(args: argparse.Namespace, plugins: "Plugins", emitter: _emit.Emitter) -> int:
    from harness_uq.analyses.gating.self_test import self_test
    from harness_uq.analyses.store.read import is_store, stored_logs
    from harness_uq.io.readers import Reading

    is_kept = len(args.new) == 1 and is_store(args.new[0])
    reading = Reading(stored_logs(args.new[0])) if is_kept else _load.read(args, args.new, plugins)
    errors = _load.reading_errors(reading)
    if _load.report_read_errors(reading):
        emitter.emit_errors(errors)
        return BROKEN
    logs = _load.select_logs(args, [reading])
    kind = None if args.self_test == "auto" else args.self_test
    test = self_test(logs, _gate_options(args, logs), kind=kind, n=args.n_simulations, plugins=plugins)
    emitter.emit({"self_tests": [test]}, errors)
    return 0 if test.is_within_alpha else FAILED


def _gate_options(args: argparse.Namespace, logs: "Sequence[TaskLog]") -> "Options":
    """The options of the gate; the name of a margin is a task, or else a metric. Raises UsageError if a task, metric or
    field given as an argument is not in the logs.
    """
    from harness_uq.analyses.gating.requirements import ERROR_RATE

    options = _load.of_logged_tasks(args, _load.options_of(args), logs)
    if not args.baseline and None not in dict(args.improve_by):
        options = replace(options, improve_by=dict(args.improve_by))
    _load.check_names(options.structure, logs)
    tasks = {OVERALL, *(log.task for log in logs)}
    metrics = {data.metric for log in logs for data in log.data}
    is_compared = args.baseline or args.self_test
    if is_compared and not (args.margin or options.margin or options.margins or options.improve_by):
        raise UsageError("No margin given. Set one, such as --margin 0.01, or in the settings file.")
    if not (is_compared or options.at_least or options.at_most):
        raise UsageError(
            f"Nothing to decide. {_with_baseline(args)}"
            "Give a --baseline with a --margin, or a bound such as --at-least 0.8."
        )
    for option, given in (("--margin", args.margin), ("--improve-by", args.improve_by)):
        if unknown := sorted({name for name, _ in given if name} - tasks - metrics - {ERROR_RATE}):
            raise UsageError(unknown_name(f"task or metric of {option}", unknown[0], tasks | metrics, plural="names"))
    known = tasks | metrics | {ERROR_RATE}
    return replace(options, margins={name: margin for name, margin in options.margins.items() if name in known})


PAGES = {
    "gate": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, details=DETAILS, exit_codes=EXIT_CODES)
}
