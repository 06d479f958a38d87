"""Read the shards of a log that are not merged yet."""

from collections.abc import Sequence

import msgspec

from harness_uq.plugin_api import LogError
from harness_uq_inspect.messages import SHARD_UNREADABLE, SHARDS_UNMERGED
from harness_uq_inspect.read.samples import Log, read_log
from harness_uq_inspect.read.schema import Header


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
