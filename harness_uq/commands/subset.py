"""`harness-uq subset`: questions of a benchmark to run, drawn with known probabilities."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.logs.data import Scores, TaskLog
    from harness_uq.logs.history import History
    from harness_uq.plugins.manager import Plugins
    from harness_uq.stats import Subset

_EPILOG = """\
The file is the JSON object {TASK: [id, ...]} that lm-eval takes as --samples; the ids that are printed, with commas
between, are what Inspect takes as --sample-id. The probabilities stand beside the file, in FILE.drawn.json. After the
run, harness-uq estimate LOG --scope full --history RUN ... --drawn FILE.drawn.json gives the score on all questions.

In two parts the same number of questions tells more: draw and run a quarter of them, then draw the others with --after
LOG --drawn FILE.drawn.json, more often where that LOG leaves the system's score open. The estimate takes the logs of
both parts and the probabilities that the second draw wrote.
"""


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(commands, "subset", "questions of a benchmark to run instead of all", epilog=_EPILOG)
    parser.add_argument("task", metavar="TASK", help="the task, as the runs of the history name it")
    parser.add_argument(
        "--history", nargs="+", required=True, metavar="RUN", help="runs of other systems on the whole task"
    )
    parser.add_argument("--n", type=_arguments.count, required=True, help="how many questions to draw")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="where to write the ids, as JSON")
    parser.add_argument(
        "--after", nargs="+", metavar="LOG", help="the new system's runs of a first part: draw further questions"
    )
    parser.add_argument(
        "--drawn", metavar="FILE", help="with --after: the probabilities with which that part was drawn"
    )
    parser.add_argument("--metric", help="whose scores say how hard a question is (default: the task's first)")
    parser.add_argument(
        "--design",
        choices=["stratified", "uniform", "informative"],
        default="stratified",
        help="equally often along the order of difficulty, equally often at random, or more often where a system as "
        "good as those of the history or better would tell more (default: %(default)s)",
    )
    _options.add_seed(parser)
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read the history, draw, write."""
    import json

    from harness_uq.logs.history import history_of
    from harness_uq.plugins.manager import load_plugins

    if args.drawn and not args.after:
        raise _asked.UsageError("--drawn goes with --after")
    beside = args.output.with_name(f"{args.output.stem}.drawn.json")
    for path in (args.output, beside):
        _output.try_file(path)
    plugins = load_plugins()
    reading = _scale.read(args, args.history, plugins)
    first = _first_part(args, plugins) if args.after else None
    others = [log for log in reading.logs if first is None or log.system != first.system]
    history = history_of(others, args.task, args.metric)
    with _asked.checking_arguments():
        drawn = _draw(args, history) if first is None else _draw_further(args, history, first)
    ids = [history.ids[i] for i in drawn.indices]
    _output.write_file(args.output, json.dumps({args.task: [_as_logged(one) for one in ids]}).encode() + b"\n")
    _output.write_file(beside, json.dumps({args.task: _probabilities(history, drawn)}).encode() + b"\n")
    print(",".join(ids))
    return _reading.say_reading(reading, plugins)


def _first_part(args: argparse.Namespace, plugins: "Plugins") -> "TaskLog":
    """The runs of the questions tried before, as one.

    Raises
    ------
    UsageError : if they are of several systems, or share questions
    """
    from harness_uq.logs.joining import joined_parts

    logs = [log for log in _scale.read(args, args.after, plugins).logs if log.task == args.task]
    joined = joined_parts(logs)
    if len(joined) != 1:
        found = ", ".join(sorted({log.system for log in logs})) or "none"
        raise _asked.UsageError(
            f"--after needs one system's runs of {args.task}, with no question in two of them; "
            f"they are {len(joined)}, of {found}"
        )
    return joined[0]


def _draw(args: argparse.Namespace, history: "History") -> "Subset":
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
        rng=np.random.default_rng(args.seed),
    )


def _draw_further(args: argparse.Namespace, history: "History", first: "TaskLog") -> "Subset":
    import numpy as np

    from harness_uq.estimating.parts import probabilities_of, read_probabilities
    from harness_uq.stats import draw_further

    chances = read_probabilities(args.drawn).get(args.task) if args.drawn else None
    tried = history.placed(first.questions, _scores(first, history))
    low, high = _bounds(history)
    return draw_further(
        tried,
        args.n,
        history=history.scores,
        probabilities=probabilities_of(chances, history),
        low=min(low, float(np.nanmin(tried))),
        high=max(high, float(np.nanmax(tried))),
        rng=np.random.default_rng(args.seed),
    )


def _scores(first: "TaskLog", history: "History") -> "Scores":
    """The data of the metric and filter that the history is of.

    Raises
    ------
    UsageError : if the runs have none
    """
    from harness_uq.logs.data import Scores

    _, metric, filter_name = history.key
    for data in first.data:
        if isinstance(data, Scores) and (data.metric, data.filter) == (metric, filter_name):
            return data
    raise _asked.UsageError(f"the runs of --after have no question scores of {metric}, which the history is of")


def _bounds(history: "History") -> tuple[float, float]:
    """Range of the history's scores: [0, 1] where it holds them all, else the smallest that does."""
    import numpy as np

    return min(0.0, float(np.nanmin(history.scores))), max(1.0, float(np.nanmax(history.scores)))


def _as_logged(question: str) -> int | str:
    return int(question) if question.isdecimal() else question


def _probabilities(history: "History", drawn: "Subset") -> dict[str, float]:
    return dict(zip(history.ids, drawn.probabilities.tolist(), strict=True))
