"""`harness-uq subset`: draw questions of a benchmark with known inclusion probabilities."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, logs_argument
from harness_uq.messages.errors import UsageError
from harness_uq.options import COUNT, Option

if TYPE_CHECKING:
    from harness_uq.data.reference_runs import ReferenceRuns
    from harness_uq.data.task_log import Scores, TaskLog
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.stats import Subset


USAGE = "TASK --reference-runs RUN ... --n N --ids FILE"
EXAMPLES = (
    ("Draw 200 questions", "harness-uq subset mmlu --reference-runs ref/* --n 200 --ids ids.json"),
    (
        "Draw 150 more questions, given the scores on the first 50",
        "harness-uq subset mmlu --reference-runs ref/* --n 150 --ids more.json \\\n"
        "--after first.eval --inclusion-probabilities ids.drawn.json",
    ),
    (
        "Estimate the score on the whole benchmark afterwards",
        "harness-uq estimate run.eval --scope full --reference-runs ref/* \\\n--inclusion-probabilities ids.drawn.json",
    ),
)
DETAILS = """\
The command writes the JSON object {TASK: [id, ...]} to FILE, which lm-eval
accepts as --samples. It also prints the ids, separated by commas, which Inspect
accepts as --sample-id. The inclusion probabilities are written to a second
file, whose name is ids.drawn.json if FILE is ids.json.

The estimate is more precise if you draw the questions in two stages. First draw
and run a quarter of the questions. Then draw the other questions with --after,
which prefers questions whose score is uncertain for the new system. Estimate
the score from the logs of both stages, with the inclusion probabilities that
the second draw wrote.
"""


_ARGUMENTS = (
    logs_argument(
        "task",
        "TASK",
        nargs=None,
        help="Select questions of this task; it must have the same name in the reference runs",
    ),
    Option(
        name="metric",
        group="Data",
        help="Measure difficulty by this metric; the default is the first metric of the task",
    ),
    Option(
        name="after",
        group="Data",
        nargs="+",
        metavar="LOG",
        help="Draw more, given these runs on the first questions; runs of the new system",
    ),
    Option(name="n", rule=COUNT, is_required=True, metavar="N", help="Draw N questions (required)"),
    Option(
        name="design",
        choices=("stratified", "uniform", "informative"),
        default="stratified",
        help="Draw stratified, uniform or informative questions; which separate systems (default: {default})",
    ),
    Option(
        name="ids",
        group="Output",
        read=Path,
        is_required=True,
        metavar="FILE",
        help="Write the ids to this JSON file (required)",
    ),
)


def run(args: argparse.Namespace) -> int:
    """Read the reference runs, draw questions, and write their ids and inclusion probabilities."""
    import json

    from harness_uq.data.reference_runs import reference_runs
    from harness_uq.messages.control_characters import escape_control

    beside = args.ids.with_name(f"{args.ids.stem}.drawn.json")
    for path in (args.ids, beside):
        _emit.try_file(path)
    plugins = _console.load_and_report_plugins()
    reading = _load.read(args, args.reference_runs, plugins)
    first = _first_part(args, plugins) if args.after else None
    others = [log for log in reading.logs if first is None or log.system != first.system]
    history = reference_runs(others, args.task, args.metric)
    with _console.checking_arguments():
        drawn = _draw(args, history) if first is None else _draw_further(args, history, first)
    ids = [history.ids[i] for i in drawn.indices]
    ids_as_logged = [int(one) if one.isdecimal() else one for one in ids]
    probabilities = dict(zip(history.ids, drawn.probabilities.tolist(), strict=True))
    _emit.write_file(args.ids, json.dumps({args.task: ids_as_logged}).encode() + b"\n")
    _emit.write_file(beside, json.dumps({args.task: probabilities}).encode() + b"\n")
    print(escape_control(",".join(ids)))
    return _load.report_read_errors(reading)


def _first_part(args: argparse.Namespace, plugins: "Plugins") -> "TaskLog":
    """The runs of `--after`, merged into one. Raises UsageError if they belong to several systems or share
    questions.
    """
    from harness_uq.data.selection import merge_runs

    logs = [log for log in _load.read(args, args.after, plugins).logs if log.task == args.task]
    joined = merge_runs(logs)
    if len(joined) != 1:
        systems = ", ".join(sorted({log.system for log in logs})) or "no system"
        raise UsageError(
            f"--after requires runs of one system on {args.task} that share no question. Found runs of {systems}."
        )
    return joined[0]


def _draw(args: argparse.Namespace, history: "ReferenceRuns") -> "Subset":
    import numpy as np

    from harness_uq.stats import draw_subset

    low, high = _bounds(history)
    return draw_subset(
        len(history.ids),
        args.n,
        history=history.scores,
        design=args.design,
        low=low,
        high=high,
        rng=np.random.default_rng(args.seed or 0),
    )


def _draw_further(args: argparse.Namespace, history: "ReferenceRuns", first: "TaskLog") -> "Subset":
    import numpy as np

    from harness_uq.inference.subset import probabilities_of, read_probabilities
    from harness_uq.stats import draw_additional

    chances = read_probabilities(args.inclusion_probabilities).get(args.task) if args.inclusion_probabilities else None
    tried = history.align(first.questions, _scores(first, history))
    low, high = _bounds(history)
    return draw_additional(
        tried,
        args.n,
        history=history.scores,
        probabilities=probabilities_of(chances, history),
        low=min(low, float(np.nanmin(tried))),
        high=max(high, float(np.nanmax(tried))),
        rng=np.random.default_rng(args.seed or 0),
    )


def _scores(first: "TaskLog", history: "ReferenceRuns") -> "Scores":
    """The scores of the run with the metric and filter of the reference runs. Raises UsageError if the run has no such
    scores.
    """
    from harness_uq.data.task_log import Scores

    _, metric, filter_name = history.key
    for data in first.data:
        if isinstance(data, Scores) and (data.metric, data.filter) == (metric, filter_name):
            return data
    raise UsageError(f"The runs of --after have no scores of {metric} per question, which the reference runs have.")


def _bounds(history: "ReferenceRuns") -> tuple[float, float]:
    """Range of the reference scores: [0, 1], extended if scores are outside."""
    import numpy as np

    return min(0.0, float(np.nanmin(history.scores))), max(1.0, float(np.nanmax(history.scores)))


PAGES = {"subset": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, more=DETAILS)}
