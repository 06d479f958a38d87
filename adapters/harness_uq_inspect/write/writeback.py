"""Writing marks into a log, header only: every byte of a sample stays as it is.

An `.eval` file gets a new header and a new directory appended behind its last byte; in a `.json` file the values of
three members are replaced. Either is written under another name in the same folder and then renamed.
A write that is to be undone keeps in the block what `restore` needs: where to cut the `.eval` file, or the old text of
the three members. The next such write begins at that original again, so that `restore` undoes all of them.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Final
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from harness_uq import LogError
from harness_uq.logs import places
from harness_uq_inspect.block import NAME
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.samples import HEADER
from harness_uq_inspect.read.schema import Json, decode
from harness_uq_inspect.write.jsonparts import insert_at_end, members, replace_parts
from harness_uq_inspect.write.marks import TOUCHED, Header, Marks, mark, unmark

_CHUNK: Final = 1 << 20


def write_marks(path: str, marks: Marks, *, target: str | None = None, keeps_original: bool = False) -> Json:
    """Put marks into a log and return its new header.

    Parameters
    ----------
    path : the log, `.eval` or `.json`
    target : another file to write instead of the log itself; its folder exists
    keeps_original : whether `restore` is to undo the write

    Raises
    ------
    LogError : if the log cannot be written, or changed meanwhile; it is as it was
    """
    write = _write_eval if places.name_of(path).endswith(".eval") else _write_json
    try:
        return write(path, target or path, marks, keeps_original=keeps_original)
    except OSError as error:
        raise LogError(f"{target or path} cannot be written: {error.strerror or error}") from error


def restore(path: str) -> bool:
    """Bring back a log byte for byte as it was before the first write that kept it; False where none did.

    Raises
    ------
    LogError : if it was changed since by others, so that its old content is no longer in it
    """
    bring_back = _restore_eval if places.name_of(path).endswith(".eval") else _restore_json
    try:
        return bring_back(path)
    except OSError as error:
        raise LogError(f"{path} cannot be written: {error.strerror or error}") from error


# ---------------------------------------------------------------- .eval


def _write_eval(path: str, target: str, marks: Marks, *, keeps_original: bool) -> Json:
    header = read_header(path)
    end = _end_of_original(path, header)
    with _replacing(path, target) as file:
        digest = _copy(path, file, end)
        kept = {"size": end, "sha256": digest} if keeps_original else None
        marked = mark(header, _with_original(marks, kept))
        _append_header(path, file, marked)
    return marked


def read_header(path: str) -> Json:
    """The header of an `.eval` log, or the members of a `.json` log that marks change.

    Raises
    ------
    LogError : if there is none
    """
    if not places.name_of(path).endswith(".eval"):
        content = places.read_bytes(path)
        return _touched(content, members(content))
    with Archive(path) as archive:
        if HEADER not in archive:
            raise LogError("the run was never finished: its log has no header to write to")
        return decode(archive.read(HEADER), Json, whose=HEADER)


def _append_header(path: str, file: IO[bytes], header: Json) -> None:
    """A header behind the last byte of `file`, a copy of `path` or of its beginning, and a directory with it.

    The old directory stays where it is, so that it can be had back.
    """
    end = file.tell()
    with places.open_binary(path) as log, ZipFile(log) as source:
        entries = [info for info in source.infolist() if info.filename != HEADER]
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:  # writes from where the file stands
        archive.filelist[:] = entries
        archive.writestr(HEADER, json.dumps(header))
    with ZipFile(file) as written:
        if len(written.infolist()) != len(entries) + 1 or written.getinfo(HEADER).header_offset != end:
            raise LogError(f"{path} could not be extended by a header")


def _end_of_original(path: str, header: Json) -> int:
    """Size of the original; the whole file where none was kept, or where others wrote to it since."""
    size = _original(header).get("size")
    if not isinstance(size, int):
        return places.size(path)
    with places.open_binary(path) as log, ZipFile(log) as archive:
        return size if archive.getinfo(HEADER).header_offset == size else places.size(path)


def _restore_eval(path: str) -> bool:
    try:
        header = read_header(path)
    except (BadZipFile, LogError):
        return False
    original = _original(header)
    if not original:
        return False
    with _replacing(path, path) as file:
        if _copy(path, file, _end_of_original(path, header)) != original.get("sha256"):
            raise LogError(_CHANGED.format(path))
    return True


# ---------------------------------------------------------------- .json


def _write_json(path: str, target: str, marks: Marks, *, keeps_original: bool) -> Json:
    content, _ = _original_json(places.read_bytes(path))
    parts = members(content)
    header = _touched(content, parts)
    kept = _kept_parts(content, parts) if keeps_original else None
    marked = mark(header, _with_original(marks, kept))
    new = {name: json.dumps(marked[name]).encode() for name in TOUCHED}
    written = replace_parts(content, parts, {name: new[name] for name in TOUCHED if name in parts})
    for name in TOUCHED:
        if name not in parts:
            written = insert_at_end(written, name, new[name])
    with _replacing(path, target) as file:
        file.write(written)
    return marked


def _kept_parts(content: bytes, parts: Mapping[str, slice]) -> Json:
    texts = {name: content[parts[name]].decode() if name in parts else None for name in TOUCHED}
    return {"parts": texts, "sha256": hashlib.sha256(content).hexdigest()}


def _touched(content: bytes, parts: Mapping[str, slice]) -> Json:
    return {name: decode(content[parts[name]], object, whose=name) for name in TOUCHED if name in parts}


def _restore_json(path: str) -> bool:
    content = places.read_bytes(path)
    if f'"{NAME}"'.encode() not in content:
        return False
    plain, original = _original_json(content)
    if not original:
        return False
    if hashlib.sha256(plain).hexdigest() != original.get("sha256"):
        raise LogError(_CHANGED.format(path))
    with _replacing(path, path) as file:
        file.write(plain)
    return True


def _original_json(content: bytes) -> tuple[bytes, Json]:
    """The original and what was kept of it; the log as it is where none was, or where others wrote to it since."""
    parts = members(content)
    if "results" not in parts:
        raise LogError("the log has no results to write to")
    original = _original({"results": decode(content[parts["results"]], object, whose="results")})
    kept = original.get("parts")
    if not isinstance(kept, dict):
        return content, original
    plain = replace_parts(content, parts, {name: text and str(text).encode() for name, text in kept.items()})
    # others may have changed what we had changed, too, which the old text would undo
    now, then = unmark(_touched(content, parts)), unmark(_touched(plain, members(plain)))
    is_ours = _filled(now) == _filled(then) and hashlib.sha256(plain).hexdigest() == original.get("sha256")
    return (plain if is_ours else content), original


def _filled(header: Header) -> Json:
    return {name: value for name, value in header.items() if value}


# ---------------------------------------------------------------- both

_CHANGED: Final = "{} was written to by others since harness_uq did, so it cannot be brought back byte for byte"


def _with_original(marks: Marks, original: Json | None) -> Marks:
    if original is None:
        return marks
    return Marks(marks.estimates, marks.block | {"original": original}, marks.swaps_stderr)


def _original(header: Header) -> Json:
    """What an earlier write kept of the original; empty where none did."""
    found: object = header
    for name in ("results", "metadata", NAME, "original"):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _copy(path: str, file: IO[bytes], size: int) -> str:
    """Copy the first `size` bytes and return their SHA-256."""
    digest = hashlib.sha256()
    with places.open_binary(path) as source:
        while chunk := source.read(min(_CHUNK, size - source.tell())):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


@contextmanager
def _replacing(source: str, target: str) -> Iterator[IO[bytes]]:
    """A file that takes its place at the end, if `source` is then what it was at the beginning."""
    before = places.fingerprint(source)
    with places.writing(target, like=source) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())  # what follows it is quick, so that little can happen after the check
        if places.fingerprint(source) != before:
            raise LogError(f"{source} changed while it was being written")
