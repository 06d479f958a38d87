"""`harness-uq subset`: questions of a benchmark to run, drawn with known probabilities."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import output as _output
from harness_uq.commands import scale as _scale
from harness_uq.commands import shared as _shared

if TYPE_CHECKING:
    from harness_uq.logs.history import History
    from harness_uq.stats import Subset

_EPILOG = """\
The file is the JSON object {TASK: [id, ...]} that lm-eval takes as --samples; the ids that are printed, with commas
between, are what Inspect takes as --sample-id. The probabilities stand beside the file, in FILE.drawn.json. After the
run, harness-uq estimate LOG --scope full --history RUN ... --drawn FILE.drawn.json gives the score on all questions.
"""


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    parser = _shared.add_command(commands, "subset", "questions of a benchmark to run instead of all", epilog=_EPILOG)
    parser.add_argument("task", metavar="TASK", help="the task, as the runs of the history name it")
    parser.add_argument(
        "--history", nargs="+", required=True, metavar="RUN", help="runs of other systems on the whole task"
    )
    parser.add_argument("--n", type=_arguments.count, required=True, help="how many questions to draw")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="where to write the ids, as JSON")
    parser.add_argument("--metric", help="whose scores say how hard a question is (default: the task's first)")
    parser.add_argument(
        "--design",
        choices=["stratified", "uniform", "informative"],
        default="stratified",
        help="equally often along the order of difficulty, equally often at random, or more often where a system as "
        "good as those of the history or better would tell more (default: %(default)s)",
    )
    _shared.add_seed(parser)
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read the history, draw, write."""
    import json

    import numpy as np

    from harness_uq.logs.history import history_of
    from harness_uq.plugins.manager import load_plugins
    from harness_uq.stats import draw_subset

    beside = args.output.with_name(f"{args.output.stem}.drawn.json")
    for path in (args.output, beside):
        _output.try_file(path)
    plugins = load_plugins()
    reading = _scale.read(args, args.history, plugins)
    history = history_of(reading.logs, args.task, args.metric)
    low, high = _bounds(history)
    with _shared.checking_arguments():
        drawn = draw_subset(
            len(history.ids),
            args.n,
            history=history.scores,
            design=args.design,
            low=low,
            high=high,
            rng=np.random.default_rng(args.seed),
        )
    ids = [history.ids[i] for i in drawn.indices]
    _output.write_file(args.output, json.dumps({args.task: [_as_logged(one) for one in ids]}).encode() + b"\n")
    _output.write_file(beside, json.dumps({args.task: _probabilities(history, drawn)}).encode() + b"\n")
    print(",".join(ids))
    return _shared.say_reading(reading, plugins)


def _bounds(history: "History") -> tuple[float, float]:
    """Range of the history's scores: [0, 1] where it holds them all, else the smallest that does."""
    import numpy as np

    return min(0.0, float(np.nanmin(history.scores))), max(1.0, float(np.nanmax(history.scores)))


def _as_logged(question: str) -> int | str:
    return int(question) if question.isdecimal() else question


def _probabilities(history: "History", drawn: "Subset") -> dict[str, float]:
    return dict(zip(history.ids, drawn.probabilities.tolist(), strict=True))
