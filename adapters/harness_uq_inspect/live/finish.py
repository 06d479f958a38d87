"""What happens to the log of a task that just ended: read, estimate, write back, and say it on the console."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness_uq import (
    CompareOptions,
    Comparison,
    Estimate,
    HarnessUqError,
    TaskLog,
    compare,
    comparisons_as,
    estimate,
    estimates_table,
)
from harness_uq_inspect.live.location import local_path
from harness_uq_inspect.live.wanted import Scope, Wanted
from harness_uq_inspect.read.samples import Log, read_log
from harness_uq_inspect.read.schema import Json
from harness_uq_inspect.read.task_log import printed_positions, task_log_of
from harness_uq_inspect.write.marks import mark
from harness_uq_inspect.write.stamp import marks_of, stamp
from harness_uq_inspect.write.writeback import read_header

_COPY_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a log got.

    Attributes
    ----------
    estimates : of its scores
    header : its new header, or the parts of it that changed; None where the log had no results to write to
    is_written : whether the header stands in the log, too; remote logs are left to Inspect's own writer
    text : tables for the console
    """

    estimates: Sequence[Estimate]
    header: Json | None
    is_written: bool
    text: str


def finish(location: str, wanted: Wanted, collected: Log | None = None) -> Outcome:
    """Estimate from the log at `location` and write the estimates into it.

    Parameters
    ----------
    location : path or URL of a log that was written to its end
    wanted : how to estimate
    collected : the samples as they ended, for a log that holds none

    Raises
    ------
    LogError : if the log cannot be read or written; it is as it was
    """
    if (path := local_path(location)) is not None:
        return _finish_file(path, wanted, collected, is_local=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / location.rpartition("/")[2]
        _download(location, copy)
        return _finish_file(str(copy), wanted, collected, is_local=False, name=location)


def _finish_file(
    path: str, wanted: Wanted, collected: Log | None, *, is_local: bool, name: str | None = None
) -> Outcome:
    log = read_log(path)
    source = log
    if collected is not None and not log.cells:
        source = Log(log.header, collected.cells, collected.documents)
    task = task_log_of(source, name or path)
    if source is not log:
        task = replace(task, notes=(*task.notes, _of_trials(source)))
    estimates = estimate(task, wanted.options)
    compared, said = _compared(task, wanted)
    text = _table(estimates) + said
    if log.header.results is None:
        return Outcome(estimates, None, is_written=False, text=text)
    positions = printed_positions(source)
    if is_local:
        settings = wanted.settings
        header = stamp(
            path,
            estimates,
            settings,
            log=log,
            positions=positions,
            comparisons=compared,
            swaps_stderr=wanted.swaps_stderr,
        )
        return Outcome(estimates, header, is_written=True, text=text)
    marks = marks_of(log, estimates, wanted.settings, positions, compared, wanted.swaps_stderr)
    return Outcome(estimates, mark(read_header(path), marks), is_written=False, text=text)


def _table(estimates: Sequence[Estimate]) -> str:
    """The table for the console; where it cannot be made the log gets its intervals all the same."""
    try:
        return estimates_table(estimates).strip("\n")
    except Exception as error:
        return f"harness_uq: the intervals are in the log and cannot be printed: {type(error).__name__}: {error}"


def _of_trials(collected: Log) -> str:
    return (
        f"of {len(collected.cells)} trials as they ended; the log keeps only what Inspect reduced them to, so that an "
        "estimate from it counts each question once, however many of its trials were scored"
    )


def _compared(task: TaskLog, wanted: Wanted) -> tuple[list[Comparison], str]:
    """The comparison that was asked for, and a table of it or the reason why there is none."""
    if wanted.compare is None:
        return [], ""
    scope: Scope = "benchmark" if wanted.scope == "benchmark" else "population"
    options = CompareOptions(level=wanted.level, scope=scope, structure=wanted.options.structure)
    title = f"\n\n{task.task} compared with {wanted.compare}\n"
    try:
        rows = compare(task, wanted.compare, options)
    except HarnessUqError as error:
        return [], f"{title}no comparison: {str(error).removeprefix(f'{wanted.compare}: ')}"
    return rows, title + comparisons_as(rows, "table").strip("\n")


def _download(location: str, target: Path) -> None:
    import fsspec

    with fsspec.open(location, "rb") as source, target.open("wb") as file:
        while chunk := source.read(_COPY_CHUNK):
            file.write(chunk)
