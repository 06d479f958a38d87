"""Options that are passed to functions as keywords, with the names of the command line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypedDict, TypeVar

from harness_uq.data.missing_scores import MissingPolicies, MissingPolicy
from harness_uq.data.selection import LogFilter
from harness_uq.data.task_log import TaskLog
from harness_uq.errors import StructureError
from harness_uq.messages.catalogue.structure import UNKNOWN_NAME
from harness_uq.messages.similar_names import did_you_mean
from harness_uq.structure.clusters import missing_field
from harness_uq.structure.structure import StructureOptions

_Options = TypeVar("_Options")
_SELECTION = {"task": "tasks", "metric": "metrics", "filter": "filters", "model": "models"}
_STRUCTURE = ("cluster", "range", "use_samples", "missing", "treat")
_RESOURCES = ("resources", "prices")


class SelectionKeywords(TypedDict, total=False):
    """Parts of the logs to use: names or glob patterns.

    Attributes
    ----------
    task, metric, filter, model : tasks, metrics, filters and systems; selecting a group selects all of its tasks
    """

    task: str | Sequence[str]
    metric: str | Sequence[str]
    filter: str | Sequence[str]
    model: str | Sequence[str]


class StructureKeywords(SelectionKeywords, total=False):
    """Parts of the logs to use, and the structure that the user declares.

    Attributes
    ----------
    cluster : cluster field of all tasks, `none` or `auto`; a list of these and of texts `TASK=FIELD`; or a mapping from
        tasks to fields
    range : smallest and largest possible score by metric or by `TASK:METRIC`
    use_samples : whether to use the logged samples even if they cover only a part of what the harness reports
    column : names of the columns of tables by role, such as `{"score": "right"}`, as for `read_table`
    """

    cluster: str | Sequence[str] | Mapping[str, str]
    range: Mapping[str, tuple[float, float]]
    use_samples: bool
    column: Mapping[str, str | Sequence[str]]


class ScoreKeywords(StructureKeywords, total=False):
    """The keywords of `StructureKeywords`, and what trials without a score count as.

    Attributes
    ----------
    missing : `drop`, `zero`, `bounds` or `error`, or a mapping from causes such as `error`, `limit` or `token-limit` to
        these
    treat : policy by cause for trials whose scores are to be ignored, such as `{"limit": "zero"}`
    """

    missing: MissingPolicy | Mapping[str, MissingPolicy]
    treat: Mapping[str, MissingPolicy]


class ResourceKeywords(TypedDict, total=False):
    """Whether and how resources become metrics.

    Attributes
    ----------
    resources : whether to read tokens, cost and time of the trials
    prices : TOML file of prices of tokens; it implies `resources`
    """

    resources: bool
    prices: str | None


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts of the logs to use, and the names in keywords that must exist in the logs.

    Attributes
    ----------
    filter : tasks, metrics, filters and systems to use
    structure : clusters and ranges that were given as keywords
    tasks : tasks for which a margin was given
    resources : whether to read tokens, cost and time, too
    prices : file of prices of tokens; None for public prices
    columns : names of the columns of tables by role
    """

    filter: LogFilter
    structure: StructureOptions | None = None
    tasks: tuple[str, ...] = ()
    resources: bool = False
    prices: str | None = None
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)

    def of(self, logs: Sequence[TaskLog]) -> Sequence[TaskLog]:
        """The selected logs.

        Raises
        ------
        DataError : if a pattern matches nothing
        StructureError : if the logs lack a task, metric or cluster field that a keyword names
        """
        if not logs:
            return logs
        self.filter.check(logs)
        selected = self.filter.of(logs)
        if self.structure is not None:
            metrics = (data.metric for log in selected for data in log.data)
            self.structure.check_names((log.task for log in selected if not log.subtasks), metrics)
            if wrong := missing_field(self.structure, selected):
                raise StructureError(wrong)
        known = {"overall", *(log.task for log in selected)}
        if unknown := sorted(set(self.tasks) - known):
            raise StructureError(UNKNOWN_NAME(kind="task", name=unknown[0], known=sorted(known)))
        return selected


def options_with(
    options: _Options, keywords: Mapping[str, Any], function: str, names: Mapping[str, str] | None = None
) -> _Options:
    """The options, with those that are given as keywords replaced.

    Parameters
    ----------
    options : a frozen dataclass; its attribute `structure`, if any, is set by `cluster`, `range`,
        `use_samples`, `missing` and `treat`
    keywords : options by the names of the command line; those of `SelectionKeywords` are ignored
    function : name of the function that received the keywords
    names : names of attributes on the command line that differ from the attribute

    Raises
    ------
    TypeError : if an option does not exist; the message suggests the most similar name
    """
    own = {field.name for field in fields(options)}  # type: ignore[arg-type]
    attribute_of = {name: name for name in own - {"structure", *(names or {}).values()}} | {**(names or {})}
    has_structure = "structure" in own
    valid = [*attribute_of, *((*_STRUCTURE, "column", *_SELECTION, *_RESOURCES) if has_structure else ())]
    check_keywords(keywords, valid, function)
    changes = {attribute_of[name]: value for name, value in keywords.items() if name in attribute_of}
    if has_structure and any(name in keywords for name in _STRUCTURE):
        changes["structure"] = _structure_with(options.structure, keywords)  # type: ignore[attr-defined]
    return replace(options, **changes) if changes else options  # type: ignore[type-var]


def options_of_arrays(options: _Options, keywords: Mapping[str, Any], function: str, metric: str) -> _Options:
    """The options of a function of arrays, whose keyword `range` is the range of its only metric.

    Raises
    ------
    TypeError : if an option does not exist; the message suggests the most similar name
    """
    own = [field.name for field in fields(options) if field.name != "structure"]  # type: ignore[arg-type]
    check_keywords(keywords, [*own, "range"], function)
    if "range" in keywords:
        keywords = {**keywords, "range": {metric: keywords["range"]}}
    return options_with(options, keywords, function)


def check_keywords(keywords: Iterable[str], valid: Iterable[str], function: str) -> None:
    """Check that keywords exist.

    Raises
    ------
    TypeError : if one does not; the message suggests the most similar name

    >>> check_keywords(["levl"], ["level", "method"], "estimate")
    Traceback (most recent call last):
    TypeError: estimate() got an unexpected keyword argument 'levl'. Did you mean 'level'? Valid options: level, method.
    """
    names = sorted(valid)
    if unknown := [name for name in keywords if name not in names]:
        raise TypeError(
            f"{function}() got an unexpected keyword argument {unknown[0]!r}.{did_you_mean(unknown[0], names)} "
            f"Valid options: {', '.join(names)}."
        )


def selection_of(keywords: Mapping[str, Any], *, tasks: Iterable[str] = ()) -> Selection:
    """The selection that keywords describe; `tasks` are further names of tasks that must exist."""
    chosen = {attribute: _listed(keywords.get(name, ())) for name, attribute in _SELECTION.items()}
    is_declared = "cluster" in keywords or "range" in keywords
    structure = _structure_with(StructureOptions(), keywords) if is_declared else None
    has_resources, prices = bool(keywords.get("resources", False)), keywords.get("prices")
    return Selection(LogFilter(**chosen), structure, tuple(tasks), has_resources, prices, keywords.get("column", {}))


def _structure_with(structure: StructureOptions, keywords: Mapping[str, Any]) -> StructureOptions:
    changes = {name: keywords[name] for name in ("use_samples",) if name in keywords}
    if "range" in keywords:
        changes["ranges"] = keywords["range"]
    if "missing" in keywords or "treat" in keywords:
        missing = keywords.get("missing")
        general, by_cause = (None, missing) if isinstance(missing, Mapping) else (missing, {})
        changes["missing"] = MissingPolicies(general, by_cause, keywords.get("treat", {}))
    if isinstance(cluster := keywords.get("cluster"), Mapping):
        changes |= {"cluster": None, "cluster_by_task": cluster}
    elif cluster is not None:
        parsed = StructureOptions.parse(_listed(cluster))
        changes |= {"cluster": parsed.cluster, "cluster_by_task": parsed.cluster_by_task}
    return replace(structure, **changes)


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
