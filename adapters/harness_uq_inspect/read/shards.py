"""Shards of a log: Inspect writes `NAME.shards/<k>/….eval` and merges them into `NAME.eval`; together they are one run.

As in Inspect's own listings, shards are ignored if a merged log covers them: one that finished, and is newer.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from harness_uq.plugin_api import Run
from harness_uq.plugin_api import paths as io_paths

_SUFFIX: Final = ".shards"
_MERGED: Final = (".eval", "-recovered.eval")


def join_shards(runs: Iterable[Run]) -> tuple[list[Run], list[str]]:
    """The runs, with the shards of a log combined to one run, and the paths of shards that a merged log covers."""
    plain = {run.name: run for run in runs}
    shards: dict[str, list[Run]] = {}
    for run in list(plain.values()):
        if (log := _log_of_shard(run.name)) is not None:
            shards.setdefault(log, []).append(plain.pop(run.name))
    covered: list[str] = []
    for log, parts in shards.items():
        merged = [plain[name] for suffix in _MERGED if (name := f"{log}{suffix}") in plain]
        current = [part for part in parts if not _is_covered(part.name, [run.name for run in merged])]
        covered += [part.name for part in parts if part not in current]
        if current:
            current.sort(key=lambda run: (run.time or "", run.name))
            first, *others = [*(plain.pop(run.name) for run in merged), *current]
            files = (first.name, *(run.name for run in others))
            plain[first.name] = Run(first.name, files, first.time) if others else first
    return list(plain.values()), covered


def with_shards(paths: Sequence[str]) -> list[list[str]]:
    """Groups of paths: shards with the log that they are merged into, every other path by itself."""
    logs = {path: _log_of_shard(path) for path in paths}
    merged = {f"{log}{suffix}": log for log in logs.values() if log is not None for suffix in _MERGED}
    groups: dict[str, list[str]] = {}
    for path, log in logs.items():
        groups.setdefault(merged.get(path, path) if log is None else log, []).append(path)
    return list(groups.values())


def _log_of_shard(path: str) -> str | None:
    """Path, without suffix, of the log that a shard is merged into; None if the file is not a shard."""
    if _SUFFIX not in path:
        return None
    folder = io_paths.folder_of(io_paths.folder_of(path))
    return folder.removesuffix(_SUFFIX) if folder.endswith(_SUFFIX) else None


@io_paths.reading()
def _is_covered(shard: str, merged: Sequence[str]) -> bool:
    from harness_uq_inspect.read.samples import is_finished

    return bool(merged) and all(
        is_finished(name) and io_paths.modified_time(shard) < io_paths.modified_time(name) for name in merged
    )
