"""Recognise logs of Inspect AI by their content."""

import re
from collections.abc import Sequence
from mmap import mmap
from typing import Final

import msgspec

from harness_uq.plugin_api import FILE_EMPTY, Discovery, LogError, Run
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.file_bytes import content_of, reading
from harness_uq_inspect.read.samples import read_header
from harness_uq_inspect.read.schema import decode
from harness_uq_inspect.read.shards import join_shards

FRAME_SUFFIXES: Final = (".csv", ".parquet")
_HEAD: Final = 65536
_LOG_NAME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*_.+_.+\.json")


_EVAL_NAME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d(?:[+-]\d\d)?)(?:-(\d\d))?_.+\.eval")


class _Created(msgspec.Struct):
    created: str | None = None


class _Outline(msgspec.Struct):
    """Top-level members of every JSON log, which other files such as `logs.json` lack."""

    version: int
    status: str
    eval: _Created


def find_logs(paths: Sequence[str], *, reads_tables: bool = False) -> Discovery:
    """Runs among these files, one for each log; shards that a merged log covers are ignored.

    Parameters
    ----------
    reads_tables : whether data frames that were saved as CSV or Parquet are runs, too
    """
    runs, unrecognised, problems = [], [], []
    for path in paths:
        try:
            run = _recognise(path)
            if run is None and reads_tables and path.endswith(FRAME_SUFFIXES):
                run = _recognise_frame(path)
        except LogError as error:
            problems.append((path, error.message))
            continue
        if run is None:
            unrecognised.append(path)
        else:
            runs.append(run)
    joined, covered = join_shards(runs)
    return Discovery(tuple(joined), (*unrecognised, *covered), tuple(problems))


def _recognise_frame(path: str) -> Run | None:
    from harness_uq_inspect.read.saved_frames import is_saved_frame

    return Run(path, (path,)) if is_saved_frame(path) else None


@reading()
def _recognise(path: str) -> Run | None:
    name = io_paths.name_of(path)
    if name.endswith(".eval"):
        if io_paths.is_remote(path) and (match := _EVAL_NAME.fullmatch(name)):
            # recognised by its name, without a request to the store; defects of the file are reported when it is read
            return Run(path, (path,), ":".join(filter(None, match.groups())))
        with Archive(path) as archive:
            return Run(path, (path,), read_header(archive).eval.created)
    return _recognise_json(path, name) if name.endswith(".json") else None


def _recognise_json(path: str, name: str) -> Run | None:
    with io_paths.open_binary(path) as file:
        head = file.read(_HEAD)
    if not head and _LOG_NAME.fullmatch(name):
        raise LogError(FILE_EMPTY())
    if b'"eval"' not in head or head.lstrip()[:1] != b"{":
        return None
    with content_of(path) as content:
        return _from_outline(path, content)


def _from_outline(path: str, content: mmap | bytes) -> Run | None:
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
