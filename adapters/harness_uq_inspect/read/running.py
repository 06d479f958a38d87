"""A run in the making: its log so far, and what Inspect AI keeps beside it until it is written there."""

import glob
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import msgspec

from harness_uq import LogError, TaskLog
from harness_uq.logs.places import is_remote, local_path
from harness_uq_inspect.read.samples import read_log
from harness_uq_inspect.read.schema import Sample, decode
from harness_uq_inspect.read.task_log import task_log_of

_STARTED = "started"


class _Entry(msgspec.Struct):
    summary: Sample


class _Manifest(msgspec.Struct):
    samples: list[_Entry] = []


def read_running(path: str) -> TaskLog | None:
    """The task of a log whose run has not ended, all its questions in the order of the line; None where it has ended.

    Questions without a score yet are rows of NaN; those that ended in an error are left out and counted in
    `facts.settings["n_failed"]`.

    Raises
    ------
    LogError : if the log cannot be read
    """
    # before the log: what leaves the one has been written to the other
    buffered = [] if is_remote(path) else list(_buffered(local_path(path).resolve()))
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
    """Summaries of samples that are not in the log yet, from this machine's buffer or the one shared in the folder."""
    for database in _databases(path):
        yield from _of_database(database)
    shared = path.parent / ".buffer" / path.stem / "manifest.json"
    if shared.is_file():
        yield from (entry.summary for entry in decode(shared.read_bytes(), _Manifest, whose=str(shared)).samples)


def _of_database(path: Path) -> Iterator[Sample]:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            texts = [text for (text,) in database.execute("SELECT data FROM samples")]
    except sqlite3.Error as error:
        raise LogError(f"the buffer {path} cannot be read: {error}") from error
    yield from (decode(text.encode(), Sample, whose=str(path)) for text in texts)


def _databases(path: Path) -> list[Path]:
    """`<log file>.<process>.db` in a folder named by the hash of the log's folder; none where Inspect AI never ran."""
    if find_spec("platformdirs") is None:
        return []
    from platformdirs import user_data_path

    folder = user_data_path("inspect_ai") / "samplebuffer" / hashlib.sha256(path.parent.as_uri().encode()).hexdigest()
    return sorted(folder.glob(f"{glob.escape(path.name)}.*.db"))
