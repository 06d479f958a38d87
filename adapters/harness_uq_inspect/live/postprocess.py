"""Process the log of a task that has ended: read it, estimate, annotate it, and prepare the table for the console."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import harness_uq.plugin_api as uq
from harness_uq_inspect.live.inspect_internals import local_path
from harness_uq_inspect.messages import TRIALS_AS_FINISHED
from harness_uq_inspect.read.samples import Log, read_log
from harness_uq_inspect.read.schema import Json
from harness_uq_inspect.read.task_log import printed_positions, task_log_of
from harness_uq_inspect.write.annotate import annotations_of
from harness_uq_inspect.write.annotations import annotate_header
from harness_uq_inspect.write.writeback import read_annotated_header, write_annotations

_COPY_CHUNK: Final = 1 << 20
_STDERR: Final = """

Inspect shows the column SE as its metric stderr. --uq-keep-stderr, or
HARNESS_UQ_KEEP_STDERR=1, keeps the standard error of Inspect."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Result of processing a log.

    `header`: its annotated header, or the changed members of it; None if the log has no results to annotate.
    `is_written`: whether the log itself is annotated; remote logs are written by Inspect. `text`: tables for the
    console.
    """

    estimates: Sequence[uq.Estimate]
    header: Json | None
    is_written: bool
    text: str


def annotate_finished_log(location: str, settings: uq.LiveSettings, collected: Log | None = None) -> Outcome:
    """Estimate from the log at `location` and write the estimates into it.

    `location`: path or URL of a complete log. `collected`: the samples that the hook collected, for a log without
    samples. Raises LogError if the log cannot be read or written; the log is then unchanged.
    """
    if (path := local_path(location)) is not None:
        return _annotate_file(path, settings, collected, is_local=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / location.rpartition("/")[2]
        _download(location, copy)
        return _annotate_file(str(copy), settings, collected, is_local=False, name=location)


def _annotate_file(
    path: str, settings: uq.LiveSettings, collected: Log | None, *, is_local: bool, name: str | None = None
) -> Outcome:
    log = read_log(path)
    source = log
    if collected is not None and not log.cells:
        source = Log(log.header, collected.cells, collected.documents)
    task = task_log_of(source, name or path)
    if source is not log:
        task = replace(task, messages=(*task.messages, TRIALS_AS_FINISHED(n_trials=len(source.cells))))
    reference_runs = list(settings.reference_runs) or None
    options = replace(settings.options(), estimand=settings.estimand)
    estimates = uq.estimate(task, options, reference_runs=reference_runs)
    comparisons, comparison_text = _compare(task, settings, estimates)
    is_kept = settings.keep_stderr or settings.estimand != "mean"  # Inspect's stderr belongs to the mean
    text = _table(estimates) + ("" if is_kept else _STDERR) + comparison_text
    if log.header.results is None:
        return Outcome(estimates, None, is_written=False, text=text)
    positions = printed_positions(source)
    annotations = annotations_of(log, estimates, settings.recorded(), positions, comparisons, not settings.keep_stderr)
    if is_local:
        return Outcome(estimates, write_annotations(path, annotations), is_written=True, text=text)
    header = annotate_header(read_annotated_header(path), annotations)
    return Outcome(estimates, header, is_written=False, text=text)


def _table(rows: "Sequence[uq.Estimate | uq.Comparison]") -> str:
    """The table for the console; if it cannot be rendered, the log is annotated nevertheless."""
    try:
        rows = [replace(row, messages=tuple(map(_with_live_options, row.messages))) for row in rows]
        return str(uq.render_results(rows, options=uq.RenderOptions(detail="notes"))).strip("\n")
    except Exception as error:
        return f"harness_uq: the intervals are in the log and cannot be printed: {type(error).__name__}: {error}"


def _with_live_options(message: uq.Message) -> uq.Message:
    return replace(message, text=uq.LiveSettings.with_live_options(message.text))


def _compare(
    task: uq.TaskLog, settings: uq.LiveSettings, estimates: Sequence[uq.Estimate]
) -> tuple[list[uq.Comparison], str]:
    """The comparison with `settings.compare`, and its table, without messages of the estimates; or the reason why there
    is none.
    """
    if settings.compare is None:
        return [], ""
    title = f"\n\n{task.task} compared with {settings.compare}\n"
    try:
        comparisons = settings.compared([task])
    except uq.HarnessUqError as error:
        return [], f"{title}No comparison: {error}"
    known = {message for row in estimates for message in row.messages}
    named = uq.with_run_names(comparisons, settings.compare)
    rows = [replace(row, messages=tuple(one for one in row.messages if one not in known)) for row in named]
    return comparisons, title + _table(rows)


def _download(location: str, target: Path) -> None:
    import fsspec

    with fsspec.open(location, "rb") as source, target.open("wb") as file:
        while chunk := source.read(_COPY_CHUNK):
            file.write(chunk)
