"""Write annotations into the header of a log; the bytes of the samples are copied unchanged.

An `.eval` file gets a new header and a new zip directory after its last byte. In a `.json` file the values of three
members are replaced. The new content is written to a temporary file in the same folder, which then replaces the log.
A reversible write records in the block what `restore` needs: the size of the original `.eval` file, or the original
text of the three members. The next reversible write starts from that original, so that `restore` undoes all writes.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Final
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from harness_uq.plugin_api import LogError
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect.annotated_names import NAME
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.samples import HEADER
from harness_uq_inspect.read.schema import Json, decode
from harness_uq_inspect.write.annotations import (
    ANNOTATED_MEMBERS,
    Annotations,
    Header,
    annotate_header,
    remove_annotations,
)
from harness_uq_inspect.write.json_spans import insert_at_end, members, replace_parts

_CHUNK: Final = 1 << 20


def write_annotations(
    path: str, annotations: Annotations, *, target: str | None = None, keeps_original: bool = False
) -> Json:
    """Write annotations into a log and return its new header.

    `path`: path of the log, `.eval` or `.json`. `target`: file to write in an existing folder; None overwrites the log.
    `keeps_original`: whether the block records the original for `restore`. Raises LogError if the log cannot be
    written, or another program changed it; the log is then unchanged.
    """
    write = _write_eval if io_paths.name_of(path).endswith(".eval") else _write_json
    try:
        return write(path, target or path, annotations, keeps_original=keeps_original)
    except OSError as error:
        raise LogError(f"{target or path} cannot be written: {error.strerror or error}") from error


def restore(path: str) -> bool:
    """Restore a log, byte for byte, to its state before the first reversible write; False if there was none. Raises
    LogError if another program changed the log since, so that the original can no longer be recovered.
    """
    restore_log = _restore_eval if io_paths.name_of(path).endswith(".eval") else _restore_json
    try:
        return restore_log(path)
    except OSError as error:
        raise LogError(f"{path} cannot be written: {error.strerror or error}") from error


# ---------------------------------------------------------------- .eval


def _write_eval(path: str, target: str, annotations: Annotations, *, keeps_original: bool) -> Json:
    header = read_annotated_header(path)
    end = _end_of_original(path, header)
    with _replace_unchanged(path, target) as file:
        digest = _copy(path, file, end)
        original = {"size": end, "sha256": digest} if keeps_original else None
        annotated = annotate_header(header, _with_original(annotations, original))
        _append_header(path, file, annotated)
    return annotated


def read_annotated_header(path: str) -> Json:
    """The header of an `.eval` log, or the members of a `.json` log that annotations change. Raises LogError if the log
    has no header.
    """
    if not io_paths.name_of(path).endswith(".eval"):
        content = io_paths.read_bytes(path)
        return _decode_annotated(content, members(content))
    with Archive(path) as archive:
        if HEADER not in archive:
            raise LogError("the run did not finish, so its log has no header for the intervals")
        return decode(archive.read(HEADER), Json, whose=HEADER)


def _append_header(path: str, file: IO[bytes], header: Json) -> None:
    """Append a header and a new zip directory to `file`, a copy of `path` or of its beginning.

    The old directory is not overwritten: it is part of the original that `restore` recovers.
    """
    end = file.tell()
    with io_paths.open_binary(path) as log, ZipFile(log) as source:
        entries = [info for info in source.infolist() if info.filename != HEADER]
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:  # appends at the current position of the file
        archive.filelist[:] = entries
        archive.writestr(HEADER, json.dumps(header))
    with ZipFile(file) as written:
        if len(written.infolist()) != len(entries) + 1 or written.getinfo(HEADER).header_offset != end:
            raise LogError(f"{path} could not be extended by a header")


def _end_of_original(path: str, header: Json) -> int:
    """Size of the original: the whole file if no original is recorded or another program wrote to the file since."""
    size = _recorded_original(header).get("size")
    if not isinstance(size, int):
        return io_paths.size(path)
    with io_paths.open_binary(path) as log, ZipFile(log) as archive:
        return size if archive.getinfo(HEADER).header_offset == size else io_paths.size(path)


def _restore_eval(path: str) -> bool:
    try:
        header = read_annotated_header(path)
    except (BadZipFile, LogError):
        return False
    original = _recorded_original(header)
    if not original:
        return False
    with _replace_unchanged(path, path) as file:
        if _copy(path, file, _end_of_original(path, header)) != original.get("sha256"):
            raise LogError(_CHANGED.format(path))
    return True


# ---------------------------------------------------------------- .json


def _write_json(path: str, target: str, annotations: Annotations, *, keeps_original: bool) -> Json:
    content, _ = _original_json(io_paths.read_bytes(path))
    spans = members(content)
    original: Json | None = None
    if keeps_original:
        texts = {name: content[spans[name]].decode() if name in spans else None for name in ANNOTATED_MEMBERS}
        original = {"parts": texts, "sha256": hashlib.sha256(content).hexdigest()}
    annotated = annotate_header(_decode_annotated(content, spans), _with_original(annotations, original))
    new_values = {name: json.dumps(annotated[name]).encode() for name in ANNOTATED_MEMBERS}
    written = replace_parts(content, spans, {name: new_values[name] for name in ANNOTATED_MEMBERS if name in spans})
    for name in ANNOTATED_MEMBERS:
        if name not in spans:
            written = insert_at_end(written, name, new_values[name])
    with _replace_unchanged(path, target) as file:
        file.write(written)
    return annotated


def _decode_annotated(content: bytes, spans: Mapping[str, slice]) -> Json:
    """The members that annotations change."""
    return {name: decode(content[spans[name]], object, whose=name) for name in ANNOTATED_MEMBERS if name in spans}


def _restore_json(path: str) -> bool:
    content = io_paths.read_bytes(path)
    if f'"{NAME}"'.encode() not in content:
        return False
    plain, original = _original_json(content)
    if not original:
        return False
    if hashlib.sha256(plain).hexdigest() != original.get("sha256"):
        raise LogError(_CHANGED.format(path))
    with _replace_unchanged(path, path) as file:
        file.write(plain)
    return True


def _original_json(content: bytes) -> tuple[bytes, Json]:
    """The original content and its record in the block.

    The current content, if no original is recorded or another program wrote to the log since.
    """
    spans = members(content)
    if "results" not in spans:
        raise LogError("the log has no results to which intervals can be added")
    original = _recorded_original({"results": decode(content[spans["results"]], object, whose="results")})
    texts = original.get("parts")
    if not isinstance(texts, dict):
        return content, original
    plain = replace_parts(content, spans, {name: text and str(text).encode() for name, text in texts.items()})
    # another program may have changed the same members, and the recorded text would undo that
    now, before = (
        {name: value for name, value in remove_annotations(header).items() if value}
        for header in (_decode_annotated(content, spans), _decode_annotated(plain, members(plain)))
    )
    is_current = now == before and hashlib.sha256(plain).hexdigest() == original.get("sha256")
    return (plain if is_current else content), original


# ---------------------------------------------------------------- both

_CHANGED: Final = "{} was written to by others since harness_uq did, so it cannot be brought back byte for byte"


def _with_original(annotations: Annotations, original: Json | None) -> Annotations:
    if original is None:
        return annotations
    return replace(annotations, block=annotations.block | {"original": original})


def _recorded_original(header: Header) -> Json:
    """What an earlier write recorded of the original; empty if nothing."""
    value: object = header
    for name in ("results", "metadata", NAME, "original"):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _copy(path: str, file: IO[bytes], size: int) -> str:
    """Copy the first `size` bytes and return their SHA-256."""
    digest = hashlib.sha256()
    with io_paths.open_binary(path) as source:
        while chunk := source.read(min(_CHUNK, size - source.tell())):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


@contextmanager
def _replace_unchanged(source: str, target: str) -> Iterator[IO[bytes]]:
    """A file that replaces `target` at the end, if `source` has not changed in the meantime."""
    before = io_paths.fingerprint(source)
    is_in_place = target == source and not io_paths.is_remote(target)
    # in place, the log that a link points to is written
    place = str(io_paths.local_path(target).resolve()) if is_in_place else target
    with io_paths.atomic_writer(place, like=source) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())  # slow, and therefore before the check: little time is left for a change after it
        if io_paths.fingerprint(source) != before:
            raise LogError(f"{source} changed while it was being written")
