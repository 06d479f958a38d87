"""From estimates to the marks of one log: which estimate belongs to which of Inspect's scores."""

from collections.abc import Mapping, Sequence

from harness_uq import Comparison, Estimate, LogError, Settings, __version__
from harness_uq_inspect.block import SCHEMA, SCORES_HASH
from harness_uq_inspect.read.ours import scores_hash
from harness_uq_inspect.read.samples import Log, read_log
from harness_uq_inspect.read.schema import Json
from harness_uq_inspect.read.task_log import printed_positions
from harness_uq_inspect.write.marks import Marks
from harness_uq_inspect.write.writeback import write_marks


def stamp(
    path: str,
    estimates: Sequence[Estimate],
    settings: Settings,
    *,
    target: str | None = None,
    keeps_original: bool = False,
    log: Log | None = None,
    positions: Mapping[tuple[str, str], int] | None = None,
    comparisons: Sequence[Comparison] = (),
    swaps_stderr: bool = True,
) -> Json:
    """Write estimates into a log, or into a copy of it, and return the new header.

    Parameters
    ----------
    path : the log
    estimates : of this log
    settings : what was asked for, recorded beside them
    target : file to write; the log itself where None
    keeps_original : whether `restore` is to undo it
    log : what was read of `path`, if it was; not changed
    positions : place of each (metric, filter) among `results.scores`, if known
    comparisons : with another run
    swaps_stderr : whether Inspect's `stderr` becomes ours, with its own kept beside it

    Raises
    ------
    LogError : if the log holds no results or cannot be written; it is as it was
    """
    content = log or read_log(path)
    if content.header.results is None:
        raise LogError(f"the run has no results to write to (status {content.header.status})")
    marks = marks_of(content, estimates, settings, positions or printed_positions(content), comparisons, swaps_stderr)
    return write_marks(path, marks, target=target, keeps_original=keeps_original)


def marks_of(
    log: Log,
    estimates: Sequence[Estimate],
    settings: Settings,
    positions: Mapping[tuple[str, str], int],
    comparisons: Sequence[Comparison] = (),
    swaps_stderr: bool = True,
) -> Marks:
    """Marks of a log as it stands."""
    placed = {positions[e.metric, e.filter]: e for e in estimates if (e.metric, e.filter) in positions}
    return Marks(placed, _block(log, estimates, settings, comparisons), swaps_stderr)


def _block(log: Log, estimates: Sequence[Estimate], settings: Settings, comparisons: Sequence[Comparison]) -> Json:
    block: Json = {
        "schema": SCHEMA,
        "version": __version__,
        "settings": dict(settings),
        SCORES_HASH: scores_hash(log),
        "estimates": [estimate.to_dict() for estimate in estimates],
    }
    return block | ({"comparisons": [row.to_dict() for row in comparisons]} if comparisons else {})
