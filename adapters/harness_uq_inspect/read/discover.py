"""Which files are Inspect AI logs, by their content."""

import re
from collections.abc import Sequence
from mmap import mmap
from typing import Final

import msgspec

from harness_uq import Found, LogError, Run
from harness_uq.logs import places
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.content import content_of, reading
from harness_uq_inspect.read.samples import read_header
from harness_uq_inspect.read.schema import decode
from harness_uq_inspect.read.shards import join_shards

_HEAD: Final = 65536
_LOG_NAME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*_.+_.+\.json")


_EVAL_NAME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d(?:[+-]\d\d)?)(?:-(\d\d))?_.+\.eval")


class _Created(msgspec.Struct):
    created: str | None = None


class _Outline(msgspec.Struct):
    """What every JSON log has at its top; side files such as `logs.json` have it deeper, or not at all."""

    version: int
    status: str
    eval: _Created


def find_logs(paths: Sequence[str]) -> Found:
    """Runs among these files, one for each log; shards that a merged log covers are left out."""
    runs, unrecognised, problems = [], [], []
    for path in paths:
        try:
            run = _recognise(path)
        except LogError as error:
            problems.append((path, str(error)))
            continue
        if run is None:
            unrecognised.append(path)
        else:
            runs.append(run)
    joined, covered = join_shards(runs)
    return Found(tuple(joined), (*unrecognised, *covered), tuple(problems))


@reading()
def _recognise(path: str) -> Run | None:
    name = places.name_of(path)
    if name.endswith(".eval"):
        if places.is_remote(path) and (named := _EVAL_NAME.fullmatch(name)):
            # told without asking the store: what is wrong with the file shows when it is read
            return Run(path, (path,), _time_in(named))
        with Archive(path) as archive:
            return Run(path, (path,), read_header(archive).eval.created)
    return _recognise_json(path, name) if name.endswith(".json") else None


def _time_in(named: re.Match[str]) -> str:
    """ISO time of a name that Inspect AI gave, which has hyphens for its colons."""
    return ":".join(filter(None, named.groups()))


def _recognise_json(path: str, name: str) -> Run | None:
    with places.open_binary(path) as file:
        head = file.read(_HEAD)
    if not head and _LOG_NAME.fullmatch(name):
        raise LogError("the file is empty")
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
    """Whether the content is JSON of another kind, rather than a log that cannot be read."""
    try:
        return not {"version", "status", "eval"} <= msgspec.json.decode(content, type=dict[str, msgspec.Raw]).keys()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
