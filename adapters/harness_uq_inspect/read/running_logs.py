"""Read a run in progress: its log so far, and the samples that Inspect AI buffers until they are written to the log."""

import glob
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import msgspec

from harness_uq.plugin_api import LogError, TaskLog
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect.read.samples import read_log
from harness_uq_inspect.read.schema import Sample, decode
from harness_uq_inspect.read.task_log import task_log_of

_STARTED = "started"


class _Entry(msgspec.Struct):
    summary: Sample


class _Manifest(msgspec.Struct):
    samples: list[_Entry] = []


def read_running(path: str) -> TaskLog | None:
    """The task of a log whose run has not ended, with all questions in scheduled order; None if the run has ended.

    Questions without a score so far are rows of NaN. Questions that ended in an error are omitted and counted in
    `facts.settings["n_failed"]`. Raises LogError if the log cannot be read.
    """
    # read before the log: samples are written to the log before they are removed from the buffer
    buffered = [] if io_paths.is_remote(path) else list(_buffered(io_paths.local_path(path).resolve()))
    log = read_log(path)
    if log.header.status != _STARTED:
        return None
    log.add(sample for sample in buffered if (str(sample.id), sample.epoch) not in log.cells)
    for question in log.header.eval.dataset.sample_ids or ():
        log.cells.setdefault((str(question), 1), Sample(question))
    failed = [key for key, sample in log.cells.items() if sample.error is not None and not sample.scores]
    for key in failed:
        del log.cells[key]
    task = task_log_of(log, path)
    settings = {**task.facts.settings, "n_failed": len(failed)}
    return replace(task, facts=replace(task.facts, settings=settings))


def _buffered(path: Path) -> Iterator[Sample]:
    """Summaries of samples that are not in the log yet, from the local buffer or the shared one in the log's folder."""
    for database in _databases(path):
        yield from _read_database(database)
    shared = path.parent / ".buffer" / path.stem / "manifest.json"
    if shared.is_file():
        yield from (entry.summary for entry in decode(shared.read_bytes(), _Manifest, whose=str(shared)).samples)


def _read_database(path: Path) -> Iterator[Sample]:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            texts = [text for (text,) in database.execute("SELECT data FROM samples")]
    except sqlite3.Error as error:
        raise LogError(f"the buffer {path} cannot be read: {error}") from error
    yield from (decode(text.encode(), Sample, whose=str(path)) for text in texts)


def _databases(path: Path) -> list[Path]:
    """Files `<log file>.<process>.db` in a folder named after the hash of the log's folder, if Inspect AI has run."""
    if find_spec("platformdirs") is None:
        return []
    from platformdirs import user_data_path

    folder = user_data_path("inspect_ai") / "samplebuffer" / hashlib.sha256(path.parent.as_uri().encode()).hexdigest()
    return sorted(folder.glob(f"{glob.escape(path.name)}.*.db"))
