"""What a harness's catalogue knows of metrics, put into task logs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness_uq.logs.data import Scores, TaskData, TaskLog, Totals


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What is known of the tasks whose names match `pattern` (a regular expression, full match).

    Attributes
    ----------
    cluster_fields : alternatives in order of preference; `a+b` is a composite key, `prompt_prefix` the text that
        opens the prompt; empty where questions are known to be independent
    strata : fields that are categories of interest, never clusters
    item_fields : fields that identify an item across the tasks of a group, best first
    note : evidence, one line
    verified : the field was seen in the task's own definition, not only in the data set's public schema
    """

    pattern: str
    cluster_fields: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    note: str = ""
    verified: bool = False
    item_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    r"""What a harness's plugin knows of its tasks and metrics; patterns are regular expressions, full match.

    Attributes
    ----------
    tasks : known tasks; the first match counts
    ranges : (pattern of a metric's or a reduction's name, (low, high)) of scores a question; the first match counts,
        and a value outside the range voids it
    shares : pattern of the metrics that are shares of right answers
    lower_is_better : pattern of the metrics, in any case, of which smaller values are better
    events : pattern of a reduction of trials to an event, and the estimand it is of, such as `pass@\1`
    judged : pattern of the metrics that a model grades, in whatever task
    judged_tasks : pattern of the tasks of which a model grades every metric
    """

    tasks: Sequence[CatalogueEntry] = ()
    ranges: Sequence[tuple[str, tuple[float, float]]] = ()
    shares: str = ""
    lower_is_better: str = ""
    events: Mapping[str, str] = field(default_factory=dict)
    judged: str = ""
    judged_tasks: str = ""

    def is_judged(self, task: str, metric: str) -> bool:
        """Whether a model grades the metric, which may be one of several that a scorer gives (`scorer/value`)."""
        known = ((self.judged, metric), (self.judged_tasks, task))
        return any(pattern and re.fullmatch(pattern, name) for pattern, name in known)


def with_catalogue(log: TaskLog, catalogue: Catalogue) -> TaskLog:
    """The log with what the catalogue knows of its metrics, where the log itself does not say."""
    worse = {
        data.metric: False for data in log.data if re.fullmatch(catalogue.lower_is_better, data.metric, re.IGNORECASE)
    }
    return replace(
        log,
        data=tuple(_known(data, catalogue) for data in log.data),
        higher_is_better={**worse, **log.higher_is_better},
    )


def is_share(metric: str, catalogue: Catalogue) -> bool:
    """Whether the catalogue knows a metric as a share of right answers."""
    return re.fullmatch(catalogue.shares, metric) is not None


def _known(data: TaskData, catalogue: Catalogue) -> TaskData:
    if isinstance(data, Totals):
        return replace(data, is_share=True) if data.is_share is None and is_share(data.metric, catalogue) else data
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
