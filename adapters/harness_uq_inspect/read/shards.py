"""Logs in the making: Inspect writes `NAME.shards/<k>/….eval` and merges them into `NAME.eval`; they are one run.

Inspect's own listings hide a shard that a merged log covers: one that finished, and was written after the shard.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from harness_uq import LogError, Run
from harness_uq.logs.places import changed, folder_of
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.content import reading
from harness_uq_inspect.read.samples import Log, read_header, read_log
from harness_uq_inspect.read.schema import Header

_SUFFIX: Final = ".shards"
_MERGED: Final = (".eval", "-recovered.eval")


def join_shards(runs: Iterable[Run]) -> tuple[list[Run], list[str]]:
    """The runs, with those that are shards of one log as one, and the shards that a merged log covers."""
    plain = {run.name: run for run in runs}
    shards: dict[str, list[Run]] = {}
    for run in list(plain.values()):
        if (log := _log_of_shard(run.name)) is not None:
            shards.setdefault(log, []).append(plain.pop(run.name))
    covered: list[str] = []
    for log, parts in shards.items():
        merged = [plain[name] for suffix in _MERGED if (name := f"{log}{suffix}") in plain]
        left = [part for part in parts if not _is_covered(part.name, [run.name for run in merged])]
        covered += [part.name for part in parts if part not in left]
        if left:
            joined = [plain.pop(run.name) for run in merged] + sorted(left, key=lambda run: (run.time or "", run.name))
            plain[joined[0].name] = _one_run(joined)
    return list(plain.values()), covered


def with_shards(paths: Sequence[str]) -> list[list[str]]:
    """Each path by itself, but shards together with what they are merged into."""
    logs = {path: _log_of_shard(path) for path in paths}
    merged = {f"{log}{suffix}": log for log in logs.values() if log is not None for suffix in _MERGED}
    found: dict[str, list[str]] = {}
    for path, log in logs.items():
        found.setdefault(merged.get(path, path) if log is None else log, []).append(path)
    return list(found.values())


def _log_of_shard(path: str) -> str | None:
    """The place of the log, without its ending, that a shard is merged into; None for what is no shard."""
    if _SUFFIX not in path:
        return None
    folder = folder_of(folder_of(path))
    return folder.removesuffix(_SUFFIX) if folder.endswith(_SUFFIX) else None


def read_shards(paths: Sequence[str]) -> Log:
    """One log of all; a trial that stands in several counts as the last has it.

    Raises
    ------
    LogError : if none of them can be read
    """
    logs, oddities = [], []
    for path in paths:
        try:
            logs.append(read_log(path))
        except LogError as error:
            oddities.append(f"a shard could not be read: {path}: {error}")
    if not logs:
        raise LogError("; ".join(oddities))
    joined = Log(_header(logs), oddities=[f"a log in the making: {len(paths)} shards that are not merged", *oddities])
    for log in logs:
        joined.documents = log.documents | joined.documents
        joined.add(log.cells.values())
        joined.damaged += log.damaged
        joined.oddities += log.oddities
    joined.n_repeated = sum(log.n_repeated for log in logs)
    return joined


def _header(logs: Sequence[Log]) -> Header:
    """The first header with the questions of all, and without results, which are of a part."""
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
    return bool(merged) and all(_is_finished(name) and changed(shard) < changed(name) for name in merged)


def _is_finished(path: str) -> bool:
    with Archive(path) as archive:
        return read_header(archive).status == "success"


def _one_run(parts: Sequence[Run]) -> Run:
    return parts[0] if len(parts) == 1 else Run(parts[0].name, tuple(part.name for part in parts), parts[0].time)
