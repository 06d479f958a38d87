"""Shards of a log: Inspect writes `NAME.shards/<k>/….eval` and merges them into `NAME.eval`; together they are one run.

As in Inspect's own listings, shards are ignored if a merged log covers them: one that finished, and is newer.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from harness_uq.plugin_api import LogError, Run
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect.messages import SHARD_UNREADABLE, SHARDS_UNMERGED
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.file_bytes import reading
from harness_uq_inspect.read.samples import Log, read_header, read_log
from harness_uq_inspect.read.schema import Header

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


def read_shards(paths: Sequence[str]) -> Log:
    """The shards as one log; for a trial that is in several shards, the last one counts.

    Raises
    ------
    LogError : if none of the shards can be read
    """
    logs, oddities = [], []
    for path in paths:
        try:
            logs.append(read_log(path))
        except LogError as error:
            oddities.append(SHARD_UNREADABLE(path=path, reason=str(error)))
    if not logs:
        raise LogError(" ".join(warning.text for warning in oddities))
    joined = Log(_header(logs), oddities=[SHARDS_UNMERGED(n_shards=len(paths)), *oddities])
    for log in logs:
        joined.documents = log.documents | joined.documents
        joined.add(log.cells.values())
        joined.damaged += log.damaged
        joined.oddities += log.oddities
    joined.n_repeated = sum(log.n_repeated for log in logs)
    return joined


def _header(logs: Sequence[Log]) -> Header:
    """The first header with the questions of all shards, and without results, which cover only one shard."""
    first = logs[0].header
    ids = dict.fromkeys(one for log in logs for one in log.header.eval.dataset.sample_ids or ())
    dataset = msgspec.structs.replace(first.eval.dataset, sample_ids=list(ids) or None)
    statuses = {log.header.status for log in logs}
    return msgspec.structs.replace(
        first,
        eval=msgspec.structs.replace(first.eval, dataset=dataset),
        status="success" if statuses == {"success"} else min(statuses - {"success"}),
        results=None,
        invalidated=any(log.header.invalidated for log in logs),
    )


@reading()
def _is_covered(shard: str, merged: Sequence[str]) -> bool:
    return bool(merged) and all(
        _is_finished(name) and io_paths.modified_time(shard) < io_paths.modified_time(name) for name in merged
    )


def _is_finished(path: str) -> bool:
    with Archive(path) as archive:
        return read_header(archive).status == "success"
