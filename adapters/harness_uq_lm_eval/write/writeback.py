"""Estimates written into the results file of a logged run: whole or not at all, and reversibly.

What is written in place carries the SHA-256 of the original, which is kept beside it, and its own, so that a file that
others wrote to since is told from ours. Nothing of lm-eval takes a kept original for a results file.
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

from harness_uq import Estimate, LogError
from harness_uq.logs import places
from harness_uq.logs.leftovers import alone, unfinished
from harness_uq_lm_eval.block import Entry, Results, add_block, recorded_trials
from harness_uq_lm_eval.read.discover import LmEvalRun
from harness_uq_lm_eval.read.results import parsed

_BEFORE, _AFTER = "original_of_", ".before-harness-uq"
_CHUNK = 1 << 20
_BLANK = "0" * 64  # stands for a file's own SHA-256 while that is computed
_SEAL = re.compile(rb'"original": \{\s*"sha256": "([0-9a-f]{64})",\s*"written_sha256": "([0-9a-f]{64})"')


def write(
    run: LmEvalRun, estimates: Sequence[Estimate], destination: str | None, settings: Mapping[str, str | float]
) -> list[str]:
    """Write the block into the run's results file, or into copies of the run's files; the paths written.

    Parameters
    ----------
    destination : folder for the copies; None writes in place and keeps the original beside the file, under a name
        that begins with `original_of_` and ends in `.before-harness-uq`

    Raises
    ------
    LogError : if there is no results file, it changes meanwhile, a copy exists already, others wrote to a file whose
        original is kept, or the disk refuses
    """
    if run.results is None:
        raise LogError(f"nothing can be written to: {run.why_no_results}")
    try:
        before = places.read_bytes(run.results)
        content = partial(_content, dict(parsed(before)), [row.to_dict() for row in estimates], settings)
        if destination is None:
            _in_place(Path(run.results).resolve(), before, content)
            return [run.results]
        return _copies(run.results, run.files, destination, content())
    except OSError as error:
        raise LogError(f"cannot be written: {error.strerror or error}") from None


def _content(results: Results, entries: Sequence[Entry], settings: Mapping[str, object], **more: object) -> bytes:
    add_block(results, entries, settings, **recorded_trials(results), **more)
    try:
        return json.dumps(results, indent=2, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a character, which JSON holds only as an escape
        return json.dumps(results, indent=2).encode()


def restore(path: str) -> list[str]:
    """Put the original of a results file back; the path, or none where no original is kept.

    Raises
    ------
    LogError : if the file was changed since it was written, or the disk refuses
    """
    named = Path(path)
    named = named.with_name(named.name.removesuffix(_AFTER).removeprefix(_BEFORE)) if path.endswith(_AFTER) else named
    target = named.resolve()
    original = original_of(target)
    try:
        if not original.exists():
            return []
        with alone(target.parent):
            if target.exists() and not _is_ours(target) and target.read_bytes() != original.read_bytes():
                raise LogError(f"{named} was changed since harness-uq wrote it; what it was before is in {original}")
            original.replace(target)
    except OSError as error:
        raise LogError(f"{named} cannot be restored: {error.strerror or error}") from None
    return [str(named)]


def original_of(path: Path) -> Path:
    """Where the original of a results file is kept."""
    return path.with_name(f"{_BEFORE}{path.name}{_AFTER}")


def _in_place(path: Path, before: bytes, content: Callable[..., bytes]) -> None:
    original = original_of(path)
    with alone(path.parent):
        now, is_ours = path.read_bytes(), _is_ours(path)
        if now != before and not is_ours:
            raise LogError("the results file changed while it was read")
        if original.exists() and not is_ours and now != original.read_bytes():
            raise LogError(
                f"others wrote to it since harness-uq did; {original.name} is what it was before: "
                "rename or delete that to write here again"
            )
        kept = _sha256(original.read_bytes() if is_ours else now)
        with _whole(path, like=path) as file:
            file.write(_sealed(content(original={"sha256": kept, "written_sha256": _BLANK})))
            if not original.exists():
                with _whole(original, like=path, dress=shutil.copystat) as copy:
                    copy.write(now)


def _is_ours(path: Path) -> bool:
    """Whether the file is, byte for byte, what we wrote over the original that is kept beside it."""
    content, original = path.read_bytes(), original_of(path)
    seal = _SEAL.search(content)
    if seal is None or not original.exists():
        return False
    blank = content[: seal.start(2)] + _BLANK.encode() + content[seal.end(2) :]
    return [part.decode() for part in seal.groups()] == [_sha256(original.read_bytes()), _sha256(blank)]


def _sealed(content: bytes) -> bytes:
    seal = _SEAL.search(content)
    return content if seal is None else content[: seal.start(2)] + _sha256(content).encode() + content[seal.end(2) :]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _copies(results: str, files: Sequence[str], folder: str, content: bytes) -> list[str]:
    """The results file comes last: a folder without it is what a killed process left, and is completed."""
    written = places.join(folder, places.name_of(results))
    copied = {places.join(folder, places.name_of(file)): file for file in files if file != results}
    for target in (written, *copied):
        if places.exists(target) and not (target in copied and _is_same(copied[target], target)):
            raise LogError(f"{target} exists already; choose another folder, or write in place")
    places.make_folder(folder)
    done: list[str] = []
    try:
        for target, source in copied.items():
            if not places.exists(target):
                _copy(source, target)
                done.append(target)
        with places.writing(written, like=results) as file:
            file.write(content)
    except BaseException:
        for target in done:
            places.remove(target)
        raise
    return [written, *copied]


def _copy(source: str, target: str) -> None:
    with places.open_binary(source) as content, places.writing(target, like=source, keeps_time=True) as file:
        shutil.copyfileobj(content, file)


def _is_same(one: str, other: str) -> bool:
    with places.open_binary(one) as first, places.open_binary(other) as second:
        while (chunk := first.read(_CHUNK)) == second.read(_CHUNK):
            if not chunk:
                return True
    return False


@contextmanager
def _whole(target: Path, *, like: Path, dress: Callable[[Path, str], None] = shutil.copymode) -> Iterator[IO[bytes]]:
    """A file that takes its name when it is written and on the disk, with the permissions, or all, of another."""
    with unfinished(target.parent) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        dress(like, file.name)
        Path(file.name).replace(target)
