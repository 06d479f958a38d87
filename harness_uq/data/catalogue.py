"""Catalogues: knowledge about the tasks and metrics of a harness that its logs do not contain."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness_uq.data.task_log import AggregateScore, Scores, TaskData, TaskLog


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """Knowledge about the tasks whose names match a pattern.

    Attributes
    ----------
    pattern : regular expression that must match the whole name
    cluster_fields : alternative fields that define clusters, in order of preference. `a+b` is a composite key,
        `prompt_prefix` the beginning of the prompt. Empty if the questions are known to be independent.
    strata : fields that are categories of interest and never define clusters
    note : evidence, in one line
    verified : whether the field was verified in the definition of the task, not only in the public schema of its data
        set
    item_fields : fields that identify an item across the tasks of a group, in order of preference
    """

    pattern: str
    cluster_fields: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    note: str = ""
    verified: bool = False
    item_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    r"""Knowledge of a plugin about the tasks and metrics of its harness.

    All patterns are regular expressions that must match the whole name.

    Attributes
    ----------
    tasks : known tasks; the first match counts
    ranges : pattern of the name of a metric or reduction, and lowest and highest score of a question. The first match
        counts. A range is ignored if a score is outside it.
    shares : pattern of metrics that are shares of correct answers
    lower_is_better : pattern, ignoring case, of metrics whose lower values are better
    events : pattern of a reduction of trials to an event, and its estimand, such as `pass@\1`
    judged : pattern of metrics that a model grades, in any task
    judged_tasks : pattern of tasks whose metrics are all graded by a model
    """

    tasks: Sequence[CatalogueEntry] = ()
    ranges: Sequence[tuple[str, tuple[float, float]]] = ()
    shares: str = ""
    lower_is_better: str = ""
    events: Mapping[str, str] = field(default_factory=dict)
    judged: str = ""
    judged_tasks: str = ""

    def is_judged(self, task: str, metric: str) -> bool:
        """Whether a model grades the metric. A scorer with several values has metrics `scorer/value`."""
        patterns = ((self.judged, metric), (self.judged_tasks, task))
        return any(pattern and re.fullmatch(pattern, name) for pattern, name in patterns)


def with_catalogue(log: TaskLog, catalogue: Catalogue) -> TaskLog:
    """Complete a log with ranges, directions and events of the catalogue. The log's own information has priority."""
    lower = {
        data.metric: False for data in log.data if re.fullmatch(catalogue.lower_is_better, data.metric, re.IGNORECASE)
    }
    return replace(
        log,
        data=tuple(_complete(data, catalogue) for data in log.data),
        higher_is_better={**lower, **log.higher_is_better},
    )


def _complete(data: TaskData, catalogue: Catalogue) -> TaskData:
    if isinstance(data, AggregateScore):
        is_share = data.is_share is None and re.fullmatch(catalogue.shares, data.metric)
        return replace(data, is_share=True) if is_share else data
    if not isinstance(data, Scores):
        return data
    bounds, event = data.bounds or _range(data, catalogue), data.event or _event(data, catalogue)
    return data if (bounds, event) == (data.bounds, data.event) else replace(data, bounds=bounds, event=event)


def _range(data: Scores, catalogue: Catalogue) -> tuple[float, float] | None:
    names = (data.metric, data.reduction or "")
    return next((r for pattern, r in catalogue.ranges if any(re.fullmatch(pattern, name) for name in names)), None)


def _event(data: Scores, catalogue: Catalogue) -> str | None:
    for pattern, estimand in catalogue.events.items():
        if match := re.fullmatch(pattern, data.reduction or ""):
            return match.expand(estimand)
    return None
