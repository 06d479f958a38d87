"""Removal of fitted models from a store whose history the store no longer contains."""

from collections.abc import Sequence

from harness_uq.active.history import ActiveHistory
from harness_uq.active.stored_model import HistoryKey, is_model_of, stored_models
from harness_uq.data.task_log import TaskLog
from harness_uq.errors import HarnessUqError, error_summary
from harness_uq.io import paths as io_paths
from harness_uq.messages.catalogue.store import STORE_UNUSABLE
from harness_uq.store.read import is_store, stored_logs


def remove_outdated_models(store: str) -> int:
    """Delete models that do not belong to the scores in the store, or cannot be read; return their number.

    Such models result from systems that were added, changed or removed, and from other versions of this package.

    Raises
    ------
    HarnessUqError
        If the store can be neither read nor written.
    """
    try:
        models = list(stored_models(store))
        logs = stored_logs(store) if models and is_store(store) else ()
        outdated = [path for path, key in models if not _is_current(path, key, logs)]
        for path in outdated:
            io_paths.remove(path)
    except OSError as error:
        raise HarnessUqError(STORE_UNUSABLE(store=store, action="cleared", reason=error_summary(error))) from error
    return len(outdated)


def _is_current(path: str, key: HistoryKey | None, logs: Sequence[TaskLog]) -> bool:
    """Whether the model was fitted to the scores in these logs."""
    if key is None or not logs:
        return False
    try:
        history = ActiveHistory(logs, task=key.task, metric=key.metric, filter=key.filter, range=key.range)
    except HarnessUqError:  # no such scores
        return False
    return is_model_of(path, history.fingerprint)
