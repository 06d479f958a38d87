"""Estimates written into the results file of a logged run: whole or not at all, and reversibly."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness_uq import Estimate, LogError
from harness_uq_lm_eval.block import add_block, recorded_trials
from harness_uq_lm_eval.discover import LmEvalRun
from harness_uq_lm_eval.results import load

ORIGINAL = ".before-harness-uq"
_UNFINISHED = ".harness-uq-unfinished"


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
        raise LogError("the run has no results file to write to")
    source = Path(run.results)
    results = dict(load(run.results))
    add_block(results, [row.to_dict() for row in estimates], settings, **recorded_trials(results))
    content = json.dumps(results, indent=2, ensure_ascii=False).encode()
    try:
        if destination is None:
            return _in_place(source, content)
        return _copies(run, Path(destination), content)
    except OSError as error:
        raise LogError(f"cannot be written: {error.strerror or error}") from None


def restore(path: str) -> list[str]:
    """Put the original of a results file back.

    Raises
    ------
    LogError : if the disk refuses
    """
    target = Path(path.removesuffix(ORIGINAL))
    original = target.with_name(target.name + ORIGINAL)
    try:
        original.replace(target)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LogError(f"{target} cannot be restored: {error.strerror or error}") from None
    return [str(target)]


def _in_place(path: Path, content: bytes) -> list[str]:
    original = path.with_name(path.name + ORIGINAL)

    def keep_original() -> None:
        if not original.exists():
            _whole(original, _copier(path))

    _whole(path, _writer(content), before_renaming=keep_original)
    return [str(path)]


def _copies(run: LmEvalRun, folder: Path, content: bytes) -> list[str]:
    targets = {Path(file): folder / Path(file).name for file in run.files}
    existing = sorted(str(target) for target in targets.values() if target.exists())
    if existing:
        raise LogError(f"{existing[0]} exists already; choose another folder, or write in place")
    folder.mkdir(parents=True, exist_ok=True)
    done: list[Path] = []
    try:
        for source, target in targets.items():
            own = content if str(source) == run.results else None
            _whole(target, _copier(source) if own is None else _writer(own))
            done.append(target)
    except OSError:
        for target in done:
            target.unlink()
        raise
    return [str(target) for target in done]


def _copier(source: Path) -> Callable[[Path], object]:
    return lambda target: shutil.copy2(source, target)


def _writer(content: bytes) -> Callable[[Path], object]:
    return lambda target: target.write_bytes(content)


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
