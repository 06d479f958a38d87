"""From estimates to the marks of one log: which estimate belongs to which of Inspect's scores."""

from collections.abc import Mapping, Sequence

from harness_uq import Comparison, Estimate, LogError
from harness_uq_inspect.block import Settings, make_block
from harness_uq_inspect.marks import Marks
from harness_uq_inspect.read import printed_positions
from harness_uq_inspect.samples import Log, read_log
from harness_uq_inspect.schema import Json
from harness_uq_inspect.wanted import keeps_stderr
from harness_uq_inspect.writeback import write_marks


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

    Raises
    ------
    LogError : if the log holds no results or cannot be written; it is as it was
    """
    content = log or read_log(path)
    if content.header.results is None:
        raise LogError(f"the run has no results to write to (status {content.header.status})")
    marks = marks_of(content, estimates, settings, positions or printed_positions(content), comparisons)
    return write_marks(path, marks, target=target, keeps_original=keeps_original)


def marks_of(
    log: Log,
    estimates: Sequence[Estimate],
    settings: Settings,
    positions: Mapping[tuple[str, str], int],
    comparisons: Sequence[Comparison] = (),
) -> Marks:
    """Marks of a log as it stands."""
    placed = {positions[e.metric, e.filter]: e for e in estimates if (e.metric, e.filter) in positions}
    return Marks(placed, make_block(log, estimates, settings, comparisons), swaps_stderr=not keeps_stderr())
