"""Recognise logs of Inspect AI by their content."""

from mmap import mmap

import msgspec

from harness_uq.plugin_api import LogError, Run
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.file_bytes import content_of
from harness_uq_inspect.read.samples import read_header
from harness_uq_inspect.read.schema import decode


class _Created(msgspec.Struct):
    created: str | None = None


class _Outline(msgspec.Struct):
    """Top-level members of every JSON log, which other files such as `logs.json` lack."""

    version: int
    status: str
    eval: _Created


def run_in_archive(path: str) -> Run:
    """The run of an `.eval` file.

    Raises
    ------
    LogError : if the file is not a log
    """
    with Archive(path) as archive:
        return Run(path, (path,), read_header(archive).eval.created)


def is_finished(path: str) -> bool:
    """Whether the run of an `.eval` file ended without an error.

    Raises
    ------
    LogError : if the file is not a log
    """
    with Archive(path) as archive:
        return read_header(archive).status == "success"


def run_in_json(path: str) -> Run | None:
    """The run of a JSON file; None if the file is not a log.

    Raises
    ------
    LogError : if the file is a damaged log
    """
    with content_of(path) as content:
        try:
            outline = decode(content, _Outline, whose="the file")
        except LogError:
            if _is_other_json(content):
                return None
            raise
        return Run(path, (path,), outline.eval.created)


def _is_other_json(content: mmap | bytes) -> bool:
    """Whether the content is JSON of another type, and not a damaged log."""
    try:
        return not {"version", "status", "eval"} <= msgspec.json.decode(content, type=dict[str, msgspec.Raw]).keys()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
