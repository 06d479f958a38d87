"""Check before a long run that the tasks and cluster fields named in the settings and the tasks' metadata exist."""

import itertools
import logging
from collections.abc import Iterator, Mapping

from harness_uq.plugin_api import HarnessUqError
from harness_uq_lm_eval.json_access import items, table, text
from harness_uq_lm_eval.live.settings import LmEvalSettings

_METADATA_KEYS = frozenset({"cluster"})
_NOT_IN_DOCUMENTS = frozenset({"prompt_prefix", "doc_id"})
_N_DOCUMENTS_CHECKED = 100

_logger = logging.getLogger("harness_uq")


def check_tasks(tasks: Mapping[str, object], settings: LmEvalSettings) -> None:
    """Check that the named tasks and fields exist. Raises HarnessUqError if `--uq-cluster` names a task that is not
    part of the run or a field that its documents lack, or if the `metadata.uq` of a task has another key than `cluster`
    or names a field that its documents lack.
    """
    if tasks:
        settings.options().structure.check_names(tasks, ())
    if settings.cluster:
        settings.check_cluster_fields(dict(_fields_of_documents(tasks)))
    for name, task in tasks.items():
        try:
            problem = _metadata_problem(task)
        except Exception as error:  # an error of harness_uq, not of the user: the run continues
            _logger.debug("metadata.uq of %s is not checked: %s", name, error)
            continue
        if problem:
            raise HarnessUqError(f"task {name}: {problem}")


def _fields_of_documents(tasks: Mapping[str, object]) -> Iterator[tuple[str, list[str]]]:
    """Names of the fields of each task's documents; tasks whose documents are not known are left out."""
    for name, task in tasks.items():
        try:
            fields = {str(field) for document in _documents(task) for field in table(document)}
        except Exception as error:  # an error of harness_uq, not of the user: the run continues
            _logger.debug("the documents of %s are not known: %s", name, error)
            continue
        yield name, sorted(fields | _NOT_IN_DOCUMENTS)


def _documents(task: object) -> list[object]:
    """The first documents of a task."""
    return list(itertools.islice(iter(task.eval_docs), _N_DOCUMENTS_CHECKED))  # type: ignore[attr-defined]


def _metadata_problem(task: object) -> str | None:
    declared = table(getattr(getattr(task, "config", None), "metadata", None)).get("uq")
    if declared is None:
        return None
    if not isinstance(declared, Mapping):
        return f"metadata.uq must be an object such as {{cluster: passage_id}}; got {declared!r}"
    if unknown := sorted(declared.keys() - _METADATA_KEYS):
        return f"metadata.uq knows only 'cluster'; got {', '.join(unknown)} (how to estimate is said by --uq)"
    cluster = declared.get("cluster")
    fields = {part for item in (items(cluster) or [text(cluster) or ""]) for part in str(item).split("+")}
    documents = _documents(task)
    for field in sorted(fields - _NOT_IN_DOCUMENTS - {""}):
        if not any(_has_field(document, field) for document in documents):
            known = sorted({str(key) for document in documents for key in table(document)})
            return f"metadata.uq.cluster: no document has the field {field!r}; there are {', '.join(known)}"
    return None


def _has_field(document: object, field: str) -> bool:
    for part in field.split("."):
        if not isinstance(document, Mapping) or part not in document:
            return False
        document = document[part]
    return True
