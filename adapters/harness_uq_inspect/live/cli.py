"""`harness-uq inspect …`: run Inspect's command line, with `--uq` options passed as environment variables."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from traceback import walk_tb
from typing import Final

from harness_uq.plugin_api import LIVE_OPTIONS, HarnessUqError, MissingDependencyError, UsageError, escape_control
from harness_uq_inspect.live.environment import DEFAULT, VARIABLE, is_enabled

_RUNS: Final = (["eval"], ["eval-set"], ["eval-retry"], ["score"])  # commands that add intervals without `--uq`
_HELP: Final = """\
usage: harness-uq inspect COMMAND [--uq METHOD] [options of inspect COMMAND]

Run inspect with intervals in its output.

Examples:
  # Add intervals to the log, and print a table of intervals at the end
  harness-uq inspect eval task.py --model openai/gpt-4o
  # Also compare the new run with an earlier run
  harness-uq inspect eval task.py --uq-compare logs/earlier.eval
  # Run 300 questions, chosen during the run by the scores of earlier runs
  harness-uq inspect eval task.py --uq-questions 300 \\
    --uq-reference-runs logs/earlier

Options:
{options}
  -h, --help                Show this help and exit

Environment:
  HARNESS_UQ=METHOD         Add intervals to runs of the command inspect, too
  HARNESS_UQ_LEVEL=P        Set the option --uq-level; the others alike

Intervals are added to each log of inspect eval, eval-set, eval-retry and score.
Without --uq, the method is that of HARNESS_UQ, or else bayes. In the log, the
standard error of harness-uq replaces the value of stderr, unless
--uq-keep-stderr is given. The options --uq-cluster and --uq-reference-runs are
repeatable; FIELD may be TASK=FIELD.

Exit codes: those of inspect, 2 if an option --uq is invalid
"""


def main(argv: Sequence[str]) -> int:
    """Run Inspect and return its exit code, or 2 if a `--uq` option is invalid."""
    if not argv or list(argv) in (["--help"], ["-h"]):
        sys.stdout.write(_HELP.format(options="\n".join(option.help_line for option in LIVE_OPTIONS)))
        return 0
    original_environment, original_argv, variables = dict(os.environ), sys.argv, dict[str, str]()
    restore: Callable[[], None] = lambda: None  # noqa: E731 - nothing to undo unless `--uq-questions` is given
    try:
        from harness_uq_inspect.live.settings import settings_from_environment, split_arguments

        inspect_arguments, variables = split_arguments(argv)
        is_run = inspect_arguments[:1] in _RUNS
        os.environ.update({**({DEFAULT: "bayes"} if is_run else {}), **variables})
        if is_enabled() and (is_run or variables):
            settings = settings_from_environment()
            if settings.questions is not None:
                from harness_uq_inspect.live import choose_samples

                choose_samples.check_arguments(inspect_arguments)
                restore = choose_samples.install(settings)
        elif variables.keys() - {VARIABLE}:
            options = sorted(option.flag for option in LIVE_OPTIONS[1:] if option.variable in variables)
            raise UsageError(f"{', '.join(options)} can only be used with --uq: add --uq bayes.")
        sys.argv = ["inspect", *inspect_arguments]  # `--detach` passes this to the process that it starts
        return _run_inspect()
    except HarnessUqError as error:
        sys.stderr.write(escape_control(f"harness-uq inspect: error: {error}") + "\n")
        return 2
    finally:
        restore()
        sys.argv = original_argv
        for name in {*variables, DEFAULT}:
            os.environ.pop(name, None)
            if name in original_environment:
                os.environ[name] = original_environment[name]


def _run_inspect() -> int:
    scripts = list(entry_points(group="console_scripts", name="inspect"))
    if not scripts:
        raise MissingDependencyError("Inspect AI is not installed: pip install 'harness-uq[inspect]'")
    try:
        scripts[0].load()()
    except SystemExit as stop:
        return _exit_code(stop)
    except HarnessUqError:
        raise
    except BaseException as error:
        if not _is_of_inspect(error):
            raise
        return _show_as_inspect(error)
    return 0


def _exit_code(stop: SystemExit) -> int:
    return stop.code if isinstance(stop.code, int) else int(stop.code is not None)


def _is_of_inspect(error: BaseException) -> bool:
    """Whether an error is Inspect's: an interruption, or, of its and our frames in the traceback, the last is its."""
    frames = (str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in walk_tb(error.__traceback__))
    packages = [name for name in frames if name == "inspect_ai" or name.startswith("harness_uq")]
    return packages[-1:] == ["inspect_ai"] or not isinstance(error, Exception)


def _show_as_inspect(error: BaseException) -> int:
    """Print an error as Inspect does, without our frames, and return the exit code."""
    its_traceback = error.__traceback__
    while its_traceback is not None and its_traceback.tb_frame.f_globals.get("__name__") == __name__:
        its_traceback = its_traceback.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(its_traceback), its_traceback)
    except SystemExit as stop:
        return _exit_code(stop)
    return 1
