"""`harness-uq effects`: measure the variance due to seeds, prompts, graders and other factors."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, logs_argument

if TYPE_CHECKING:
    from harness_uq.results.effects import Effects


USAGE = "LOG [LOG ...] [options]"
EXAMPLES = (
    ("Estimate the variance due to questions, seeds and prompts", "harness-uq effects runs/seed-*"),
    ("Use the logged description as the factor 'prompt'", "harness-uq effects runs/ --factor prompt=description"),
    ("Plot the variance components", "harness-uq effects runs/ --task gsm8k --plot effects.svg"),
)


_ARGUMENTS = (logs_argument(),)


def run(args: argparse.Namespace) -> int:
    """Read, estimate the variance components, print."""
    from harness_uq.analyses.effects import effects

    _emit.try_plot(args)
    with _emit.emitting(args, "effects") as emitter:
        found = _load.load(args, lambda args, plugins: [_load.read(args, args.logs, plugins)])
        if not found.logs:
            return emitter.emit_errors(found.errors)
        rows = effects(found.logs, found.options, plugins=found.plugins)
        emitter.emit({"effects": rows}, found.errors)
    if args.plot:
        _draw(rows, Path(args.plot))
    return found.failed


def _draw(rows: "Sequence[Effects]", path: Path) -> None:
    from harness_uq.messages.errors import DataError
    from harness_uq.plots import effect_sizes

    if len(rows) != 1:
        names = ", ".join(f"{row.model} on {row.task}, {row.metric}" for row in rows)
        raise DataError(
            f"--plot draws one result, but there are {len(rows)}: {names}. Select one, for example with --task."
        )
    _emit.write_figure(path, effect_sizes(rows[0]))


PAGES = {"effects": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS)}
