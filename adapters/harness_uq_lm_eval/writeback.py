"""Estimates written into the results file of a logged run: whole or not at all, and reversibly.

What is written in place carries the SHA-256 of the original, which is kept beside it, and its own, so that a file that
others wrote to since is told from ours.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from harness_uq import Estimate, LogError
from harness_uq_lm_eval.block import Entry, Results, add_block, recorded_trials
from harness_uq_lm_eval.discover import LmEvalRun
from harness_uq_lm_eval.results import load

ORIGINAL = ".before-harness-uq"
_UNFINISHED = ".harness-uq-unfinished"
_BLANK = "0" * 64  # stands for a file's own SHA-256 while that is computed
_SEAL = re.compile(rb'"original": \{\s*"sha256": "([0-9a-f]{64})",\s*"written_sha256": "([0-9a-f]{64})"')


def write(
    run: LmEvalRun, estimates: Sequence[Estimate], destination: str | None, settings: Mapping[str, str | float]
) -> list[str]:
    """Write the block into the run's results file, or into copies of the run's files; the paths written.

    Parameters
    ----------
    destination : folder for the copies; None writes in place and keeps the original beside the file, under a name
        that ends in `.before-harness-uq`

    Raises
    ------
    LogError : if there is no results file, a copy exists already, or the disk refuses
    """
    if run.results is None:
        raise LogError(f"nothing can be written to: {run.why_no_results}")
    source = Path(run.results)
    content = partial(_content, dict(load(run.results)), [row.to_dict() for row in estimates], settings)
    try:
        if destination is None:
            _in_place(source.resolve(), content)
            return [str(source)]
        return _copies(run, Path(destination), content())
    except OSError as error:
        raise LogError(f"cannot be written: {error.strerror or error}") from None


def _content(results: Results, entries: Sequence[Entry], settings: Mapping[str, object], **more: object) -> bytes:
    add_block(results, entries, settings, **recorded_trials(results), **more)
    return json.dumps(results, indent=2, ensure_ascii=False).encode()


def restore(path: str) -> list[str]:
    """Put the original of a results file back; the path, or none where no original is kept.

    Raises
    ------
    LogError : if the file was changed since it was written, or the disk refuses
    """
    named = Path(path.removesuffix(ORIGINAL))
    target = named.resolve()
    original = _original(target)
    try:
        if not original.exists():
            return []
        if target.exists() and not _is_ours(target) and target.read_bytes() != original.read_bytes():
            raise LogError(f"{named} was changed since harness-uq wrote it; what it was before is in {original}")
        original.replace(target)
    except OSError as error:
        raise LogError(f"{named} cannot be restored: {error.strerror or error}") from None
    return [str(named)]


def _original(path: Path) -> Path:
    return path.with_name(path.name + ORIGINAL)


def _in_place(path: Path, content: Callable[..., bytes]) -> None:
    original, is_ours = _original(path), _is_ours(path)
    before = _sha256((original if is_ours else path).read_bytes())
    written = _sealed(content(original={"sha256": before, "written_sha256": _BLANK}))

    def keep_original() -> None:
        if not is_ours:
            _whole(original, _copier(path))

    _whole(path, _writer(written, like=path), before_renaming=keep_original)


def _is_ours(path: Path) -> bool:
    """Whether the file is, byte for byte, what we wrote over the original that is kept beside it."""
    content, original = path.read_bytes(), _original(path)
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


def _copies(run: LmEvalRun, folder: Path, content: bytes) -> list[str]:
    targets = {Path(file): folder / Path(file).name for file in run.files}
    existing = sorted(str(target) for target in targets.values() if target.exists())
    if existing:
        raise LogError(f"{existing[0]} exists already; choose another folder, or write in place")
    folder.mkdir(parents=True, exist_ok=True)
    done: list[Path] = []
    try:
        for source, target in targets.items():
            _whole(target, _writer(content, like=source) if str(source) == run.results else _copier(source))
            done.append(target)
    except OSError:
        for target in done:
            target.unlink()
        raise
    return [str(target) for target in done]


def _copier(source: Path) -> Callable[[Path], object]:
    return lambda target: shutil.copy2(source, target)


def _writer(content: bytes, *, like: Path) -> Callable[[Path], object]:
    """The content with the permissions of another file."""

    def write_to(target: Path) -> None:
        target.touch(mode=0o600)
        target.write_bytes(content)
        shutil.copymode(like, target)

    return write_to


def _whole(target: Path, make: Callable[[Path], object], before_renaming: Callable[[], None] = lambda: None) -> None:
    """Make the file under another name, wait until it is on the disk, then rename it."""
    unfinished = target.with_name(target.name + _UNFINISHED)
    try:
        make(unfinished)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        before_renaming()
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
