"""`harness-uq lm-eval …`: lm-eval's own command line, whose `run` also takes `--uq` and its companions."""

import sys
from collections.abc import Callable, Sequence
from typing import Final
from unittest import mock

from harness_uq import MissingDependencyError
from harness_uq_lm_eval.live.command import CommandLine, extend

_HELP: Final = """\
usage: harness-uq lm-eval run … [--uq METHOD] [--uq_level LEVEL] [--uq_scope SCOPE] [--uq_cluster [TASK=]FIELD]
                                [--uq_compare RUN] [--uq_estimand ESTIMAND] [--uq_trials auto|on|off]
                                [--uq_keep_bootstrap]
       harness-uq lm-eval ls … | validate …
       harness-uq lm-eval install-hook | remove-hook

lm-eval's command line. Where --uq is given, or HARNESS_UQ is set, `run` prints intervals in its tables and writes them
into its results; without either the other options are an error.

  --uq METHOD                 bayes, wilson, t, clt or the name of an estimator
  --uq_level LEVEL            coverage of the intervals (0.95)
  --uq_scope SCOPE            population, benchmark or full (population)
  --uq_cluster [TASK=]FIELD   field of the documents that groups the questions, auto or none; may be repeated
  --uq_compare RUN            also compare with this logged run
  --uq_estimand ESTIMAND      of repeated trials: mean, pass@K, pass^K, G-pass@K:TAU, mG-pass@K or maj@K (mean)
  --uq_trials auto|on|off     score repeated trials one by one: where it takes a minute at most and asks no other
                              service, whatever it takes, or never (auto)
  --uq_keep_bootstrap         run lm-eval's own bootstrap, too, which may take minutes

  install-hook                let the stock command `lm-eval run` take these options in this environment
  remove-hook                 end that

lm-eval's own options: harness-uq lm-eval run --help
"""


def main(argv: Sequence[str]) -> int:
    """Run lm-eval with these arguments.

    Parameters
    ----------
    argv : `run --model … --uq bayes`, or any other of lm-eval's commands; ours are `install-hook`, `remove-hook` and
        `--help`

    Returns
    -------
    exit code, that of lm-eval
    """
    if not argv or list(argv) in (["--help"], ["-h"]):
        sys.stdout.write(_HELP)
        return 0
    if list(argv[:1]) in (["install-hook"], ["remove-hook"]):
        from harness_uq_lm_eval.live import hook

        sys.stdout.write((hook.install() if argv[0] == "install-hook" else hook.remove()) + "\n")
        return 0
    try:
        from lm_eval._cli import HarnessCLI
        from lm_eval.utils import setup_logging
    except ImportError as error:
        raise MissingDependencyError(f"lm-eval 0.4.11 or later is needed to run it ({error})") from None
    setup_logging()
    with mock.patch.object(sys, "argv", ["lm-eval", *argv]):
        command_line: CommandLine = HarnessCLI()
        extend(command_line)
        return _exit_code(lambda: command_line.execute(command_line.parse_args()))


def _exit_code(call: Callable[[], None]) -> int:
    try:
        call()
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        sys.stderr.write(f"{stop.code}\n")
        return 1
    return 0
