"""Write estimates into the results file of a logged run, atomically and reversibly.

A file that is written in place records the SHA-256 of its original, which is saved in the same folder, and its own.
A change by another program is detected by these. lm-eval does not mistake a saved original for a results file.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from harness_uq.plugin_api import STORED_INTERVAL_DIFFERS, Estimate, LogError, exclusive, temporary_file
from harness_uq.plugin_api import paths as io_paths
from harness_uq_lm_eval.read.discover import LmEvalRun
from harness_uq_lm_eval.read.results import parsed
from harness_uq_lm_eval.results_block import Entry, Results, add_block, entries_of, recorded_trials

_ORIGINAL_PREFIX, _ORIGINAL_SUFFIX = "original_of_", ".before-harness-uq"
_CHUNK = 1 << 20
_BLANK = "0" * 64  # in place of a file's own SHA-256 while that is computed
_HASHES = re.compile(rb'"original": \{\s*"sha256": "([0-9a-f]{64})",\s*"written_sha256": "([0-9a-f]{64})"')


def write(
    run: LmEvalRun, estimates: Sequence[Estimate], destination: str | None, settings: Mapping[str, str | float]
) -> list[str]:
    """Write the block into the run's results file, or into copies of the run's files; return the paths written.

    `destination`: folder for the copies; None writes in place and saves the original in the same folder, under a name
    that begins with `original_of_` and ends in `.before-harness-uq`. `settings`: settings of the estimation, recorded
    in the block. Raises LogError if there is no results file, another program changes it, a copy exists already, or
    writing fails.
    """
    if run.results is None:
        raise LogError(f"intervals cannot be written: {run.why_no_results}")
    try:
        content_read = io_paths.read_bytes(run.results)
        results = dict(parsed(content_read))
        render = partial(_render, results, _with_stored(estimates, results), settings)
        if destination is None:
            _write_in_place(Path(run.results).resolve(), content_read, render)
            return [run.results]
        return _write_copies(run.results, run.files, destination, render())
    except OSError as error:
        raise LogError(f"cannot be written: {error.strerror or error}") from None


def _with_stored(estimates: Sequence[Estimate], results: Results) -> list[Entry]:
    """The entries of the estimates; an interval that cannot be computed again keeps its entry."""
    stored = entries_of(results)
    is_kept = [any(message.code == STORED_INTERVAL_DIFFERS.code for message in row.messages) for row in estimates]
    return [stored[row.key] if kept else row.to_dict() for row, kept in zip(estimates, is_kept, strict=True)]


def _render(results: Results, entries: Sequence[Entry], settings: Mapping[str, object], **more: object) -> bytes:
    """The JSON text of the results with the block."""
    add_block(results, entries, settings, **recorded_trials(results), **more)
    try:
        return json.dumps(results, indent=2, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can only hold as an escape
        return json.dumps(results, indent=2).encode()


def restore(path: str) -> list[str]:
    """Restore the original of a results file; return its path, or nothing if there is no original. Raises LogError if
    the file was changed since harness_uq wrote it, or writing fails.
    """
    results_path = Path(path)
    if path.endswith(_ORIGINAL_SUFFIX):
        name = results_path.name.removesuffix(_ORIGINAL_SUFFIX).removeprefix(_ORIGINAL_PREFIX)
        results_path = results_path.with_name(name)
    target = results_path.resolve()
    original = original_path(target)
    try:
        if not original.exists():
            return []
        with exclusive(target.parent):
            if target.exists() and not _is_annotated(target) and target.read_bytes() != original.read_bytes():
                raise LogError(
                    f"{results_path} was changed after harness-uq wrote it; the original content is in {original}"
                )
            original.replace(target)
    except OSError as error:
        raise LogError(f"{results_path} cannot be restored: {error.strerror or error}") from None
    return [str(results_path)]


def original_path(path: Path) -> Path:
    """Path of the saved original of a results file."""
    return path.with_name(f"{_ORIGINAL_PREFIX}{path.name}{_ORIGINAL_SUFFIX}")


def _write_in_place(path: Path, content_read: bytes, render: Callable[..., bytes]) -> None:
    original = original_path(path)
    with exclusive(path.parent):
        content, is_annotated = path.read_bytes(), _is_annotated(path)
        if content != content_read and not is_annotated:
            raise LogError("the results file changed while it was read")
        if original.exists() and not is_annotated and content != original.read_bytes():
            raise LogError(
                f"the file was changed after harness-uq wrote it, and {original.name} contains the original: "
                "rename or delete the original to write here again"
            )
        sha256 = hashlib.sha256(original.read_bytes() if is_annotated else content).hexdigest()
        with _write_atomically(path, like=path) as file:
            file.write(_insert_own_hash(render(original={"sha256": sha256, "written_sha256": _BLANK})))
            if not original.exists():
                with _write_atomically(original, like=path, copy_attributes=shutil.copystat) as copy:
                    copy.write(content)


def _is_annotated(path: Path) -> bool:
    """Whether the file is, byte for byte, what harness_uq wrote over the saved original."""
    content, original = path.read_bytes(), original_path(path)
    hashes = _HASHES.search(content)
    if hashes is None or not original.exists():
        return False
    blanked = content[: hashes.start(2)] + _BLANK.encode() + content[hashes.end(2) :]
    expected = [hashlib.sha256(data).hexdigest() for data in (original.read_bytes(), blanked)]
    return [digits.decode() for digits in hashes.groups()] == expected


def _insert_own_hash(content: bytes) -> bytes:
    hashes = _HASHES.search(content)
    if hashes is None:
        return content
    return content[: hashes.start(2)] + hashlib.sha256(content).hexdigest().encode() + content[hashes.end(2) :]


def _write_copies(results: str, files: Sequence[str], folder: str, content: bytes) -> list[str]:
    """Copy the run's files; the results file is last, so that an interrupted copy is recognised and completed."""
    results_target = io_paths.join(folder, io_paths.name_of(results))
    source_of = {io_paths.join(folder, io_paths.name_of(file)): file for file in files if file != results}
    for target in (results_target, *source_of):
        if io_paths.exists(target) and not (target in source_of and _have_same_content(source_of[target], target)):
            raise LogError(f"{target} exists already; choose another folder, or write in place")
    io_paths.make_folder(folder)
    copied: list[str] = []
    try:
        for target, source in source_of.items():
            if not io_paths.exists(target):
                with (
                    io_paths.open_binary(source) as original,
                    io_paths.atomic_writer(target, like=source, keeps_time=True) as copy,
                ):
                    shutil.copyfileobj(original, copy)
                copied.append(target)
        with io_paths.atomic_writer(results_target, like=results) as file:
            file.write(content)
    except BaseException:
        for target in copied:
            io_paths.remove(target)
        raise
    return [results_target, *source_of]


def _have_same_content(one: str, other: str) -> bool:
    with io_paths.open_binary(one) as first, io_paths.open_binary(other) as second:
        while (chunk := first.read(_CHUNK)) == second.read(_CHUNK):
            if not chunk:
                return True
    return False


@contextmanager
def _write_atomically(
    target: Path, *, like: Path, copy_attributes: Callable[[Path, str], None] = shutil.copymode
) -> Iterator[IO[bytes]]:
    """A temporary file that replaces `target` once it is on disk, with the permissions or all attributes of `like`."""
    with temporary_file(target.parent) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        copy_attributes(like, file.name)
        Path(file.name).replace(target)
