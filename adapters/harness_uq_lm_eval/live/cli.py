"""`harness-uq lm-eval …`: run lm-eval's command line, whose command `run` also accepts the `--uq` options."""

import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Final
from unittest import mock

from harness_uq.plugin_api import HarnessUqError, MissingDependencyError
from harness_uq_lm_eval.live.run_arguments import CommandLine, add_uq_options

_OWN_PREFIX: Final = "harness_uq"
_HELP: Final = """\
usage: harness-uq lm-eval run [--uq METHOD] [options of lm-eval run]
       harness-uq lm-eval (ls | validate) [options]
       harness-uq lm-eval (install-hook | remove-hook)

Run lm-eval with intervals in its output.

Examples:
  # Add intervals to the tables and results of a run
  harness-uq lm-eval run --model hf --tasks gsm8k
  # Also compare the new run with an earlier run
  harness-uq lm-eval run --model hf --tasks gsm8k --uq-compare runs/a
  # Run 300 questions, chosen during the run by the scores of earlier runs
  harness-uq lm-eval run --model hf --tasks gsm8k --uq-questions 300 \\
    --uq-reference-runs runs/earlier

Options:
{options}
  -h, --help                Show this help and exit

Commands:
  install-hook              Add these options to lm-eval run in this environment
  remove-hook               Remove these options from the command lm-eval run

Without --uq, the method is that of the environment variable HARNESS_UQ, or else
bayes. In the column Stderr, the standard error of harness-uq replaces that of
lm-eval, unless --uq-keep-stderr is given. For the options of lm-eval run, see
harness-uq lm-eval run --help.

Exit codes: those of lm-eval, 2 if an option --uq is invalid
"""


def main(argv: Sequence[str]) -> int:
    """Run lm-eval with these arguments.

    `argv`: arguments of lm-eval such as `run --model … --uq bayes`, or `install-hook`, `remove-hook` or `--help`.
    Returns exit code of lm-eval.
    """
    if not argv or list(argv) in (["--help"], ["-h"]):
        from harness_uq_lm_eval.live.options import OPTIONS

        sys.stdout.write(_HELP.format(options="\n".join(option.help_line for option in OPTIONS)))
        return 0
    if list(argv[:1]) in (["install-hook"], ["remove-hook"]):
        from harness_uq_lm_eval.live import startup_hook

        sys.stdout.write((startup_hook.install() if argv[0] == "install-hook" else startup_hook.remove()) + "\n")
        return 0
    try:
        from lm_eval._cli import HarnessCLI
        from lm_eval.utils import setup_logging
    except ImportError as error:
        raise MissingDependencyError(
            f"lm-eval 0.4.11 or later cannot be imported ({error}): pip install 'harness-uq[lm-eval]'"
        ) from None
    setup_logging()
    with mock.patch.object(sys, "argv", ["lm-eval", *map(_with_uq, argv)]):
        command_line: CommandLine = HarnessCLI()
        add_uq_options(command_line, default="bayes")
        code = _exit_code(lambda: command_line.execute(command_line.parse_args()))
    if code == 0 and any(_with_uq(argument).partition("=")[0] == "--uq" for argument in argv):
        from harness_uq_lm_eval.live import startup_hook

        startup_hook.offer()
    return code


def _with_uq(argument: str) -> str:
    """The argument, with `--uq` for the other spelling of this option, `--method`."""
    name, equals, value = argument.partition("=")
    return f"--uq{equals}{value}" if name == "--method" else argument


def _exit_code(call: Callable[[], None]) -> int:
    try:
        call()
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        sys.stderr.write(f"{stop.code}\n")
        return 1
    except HarnessUqError:
        raise
    except Exception as error:
        if not _is_of_lm_eval(error):
            raise
        report = traceback.TracebackException.from_exception(error)
        _remove_own_frames(report, error)
        sys.stderr.writelines(report.format())
        return 1
    return 0


def _is_of_lm_eval(error: BaseException) -> bool:
    """Whether an error is lm-eval's: of its and our packages in the traceback, the innermost is lm-eval."""
    packages = [name for name in _packages(error) if name == "lm_eval" or name.startswith(_OWN_PREFIX)]
    return packages[-1:] == ["lm_eval"]


def _packages(error: BaseException) -> list[str]:
    """Top-level package of each frame of the traceback."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return [str(frame.f_globals.get("__name__")).partition(".")[0] for frame in frames]


def _remove_own_frames(report: traceback.TracebackException, error: BaseException) -> None:
    """Reduce the report of an error, and of the errors that led to it, to frames that are not harness_uq's."""
    entries = zip(report.stack, _packages(error), strict=True)
    report.stack = traceback.StackSummary.from_list([e for e, name in entries if not name.startswith(_OWN_PREFIX)])
    for its_report, its_error in ((report.__cause__, error.__cause__), (report.__context__, error.__context__)):
        if its_report is not None and its_error is not None:
            _remove_own_frames(its_report, its_error)
