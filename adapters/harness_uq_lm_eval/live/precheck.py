"""What the tasks and the settings say of clusters, checked before a long run: a name that means nothing is an error."""

import itertools
import logging
from collections.abc import Mapping

from harness_uq import HarnessUqError
from harness_uq_lm_eval.jsontree import items, table, text
from harness_uq_lm_eval.live.settings import Settings

_KNOWN = frozenset({"cluster"})
_NOT_IN_DOCUMENTS = frozenset({"prompt_prefix", "doc_id"})
_LOOKED_AT = 100

_logger = logging.getLogger("harness_uq")


def check_tasks(tasks: Mapping[str, object], settings: Settings) -> None:
    """Make sure that the tasks and fields that are named exist.

    Raises
    ------
    HarnessUqError : if `--uq_cluster` names a task that is not run, or a task's `metadata.uq` holds another key than
        `cluster` or names a field that its documents lack
    """
    if tasks:
        settings.options().structure.check_names(tasks, ())
    for name, task in tasks.items():
        try:
            wrong = _wrong(task)
        except Exception as error:  # ours, not the user's: the run goes on
            _logger.debug("metadata.uq of %s is not checked: %s", name, error)
            continue
        if wrong:
            raise HarnessUqError(f"task {name}: {wrong}")


def _wrong(task: object) -> str | None:
    declared = table(getattr(getattr(task, "config", None), "metadata", None)).get("uq")
    if declared is None:
        return None
    if not isinstance(declared, Mapping):
        return f"metadata.uq must be an object such as {{cluster: passage_id}}; got {declared!r}"
    if unknown := sorted(declared.keys() - _KNOWN):
        return f"metadata.uq knows only 'cluster'; got {', '.join(unknown)} (how to estimate is said by --uq)"
    named = text(declared.get("cluster"))
    fields = {part for item in (items(declared.get("cluster")) or [named or ""]) for part in str(item).split("+")}
    documents = list(itertools.islice(iter(task.eval_docs), _LOOKED_AT))  # type: ignore[attr-defined]
    for field in sorted(fields - _NOT_IN_DOCUMENTS - {""}):
        if not any(_has(document, field) for document in documents):
            offered = sorted({str(key) for document in documents for key in table(document)})
            return f"metadata.uq.cluster: no document has the field {field!r}; there are {', '.join(offered)}"
    return None


def _has(document: object, field: str) -> bool:
    for part in field.split("."):
        if not isinstance(document, Mapping) or part not in document:
            return False
        document = document[part]
    return True
