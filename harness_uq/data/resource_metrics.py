"""Resources of a log as metrics, so that they are estimated, compared and ranked like scores."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.data.arrays import FloatArray
from harness_uq.data.prices import Prices, cost_of
from harness_uq.data.resources import Resources, TokenUsage
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.messages import Message
from harness_uq.messages.catalogue.resources import (
    COST_FROM_PRICES,
    COST_LOGGED,
    GRADER_NOT_SEPARATE,
    PRICE_UNKNOWN,
)

SYSTEM_METRICS = (
    "cost",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "total_time",
    "working_time",
    "messages",
    "turns",
)
GRADER_METRICS = ("grader_cost", "grader_input_tokens", "grader_output_tokens")
_MINOR = ("reasoning_tokens", "cached_tokens", "messages", "turns")  # omitted if all trials have the same number
RESOURCE_METRICS = (*SYSTEM_METRICS, *GRADER_METRICS)


@dataclass(frozen=True, slots=True)
class ResourceOptions:
    """How resources become metrics.

    Attributes
    ----------
    prices : Prices or None
        Prices of tokens whose cost the log does not record; None to use recorded costs only.
    """

    prices: Prices | None = None


def with_resource_metrics(log: TaskLog, options: ResourceOptions) -> TaskLog:
    """The log with the cost, tokens, time, messages and turns of each trial as further metrics, lower is better.

    A metric is omitted if the log does not contain it. Trials whose value is unknown have no score.
    """
    if log.subtasks:
        return log
    if log.resources is None or not (columns := dict(_columns(log.resources, log.source.time, options.prices))):
        return log
    taken = {data.metric for data in log.data}
    names = {name: renamed(name) if name in taken else name for name in columns}
    return replace(
        log,
        data=(*log.data, *(Scores(names[name], "none", values) for name, values in columns.items())),
        higher_is_better={**log.higher_is_better, **dict.fromkeys(names.values(), False)},
        messages=(*log.messages, *_messages(log.resources, log.source.time, options.prices)),
    )


def renamed(metric: str) -> str:
    """The name of a resource if the log has a metric of its name."""
    return f"{metric} (resource)"


def _columns(resources: Resources, time: str | None, prices: Prices | None) -> Iterator[tuple[str, FloatArray]]:
    """The metrics that the log contains, by name."""
    system = [usage for usage in resources.usage if not usage.is_grader]
    graders = [usage for usage in resources.usage if usage.is_grader]
    columns = {
        "cost": _total_cost(system, time, prices) if resources.cost is None else resources.cost,
        "input_tokens": _total(system, lambda usage: usage.input_tokens),
        "output_tokens": _total(system, lambda usage: usage.output_tokens),
        "reasoning_tokens": _total(system, lambda usage: usage.reasoning_tokens),
        "cached_tokens": _total(system, lambda usage: usage.cache_read_tokens),
        "total_time": resources.total_time,
        "working_time": resources.working_time,
        "messages": resources.messages,
        "turns": resources.turns,
        "grader_cost": _total_cost(graders, time, prices),
        "grader_input_tokens": _total(graders, lambda usage: usage.input_tokens),
        "grader_output_tokens": _total(graders, lambda usage: usage.output_tokens),
    }
    for name, values in columns.items():
        if values is None or not np.isfinite(values).any():
            continue
        is_constant = np.nanmin(values) == np.nanmax(values)
        if not (name in _MINOR and is_constant):
            yield name, values


def _total(models: Sequence[TokenUsage], count: Callable[[TokenUsage], FloatArray | None]) -> FloatArray | None:
    """Sum over models; None if the log lacks the count of a model that was used."""
    values = [count(usage) for usage in models]
    known = [value for value in values if value is not None]
    return np.asarray(np.sum(known, axis=0)) if known and len(known) == len(values) else None


def _total_cost(models: Sequence[TokenUsage], time: str | None, prices: Prices | None) -> FloatArray | None:
    """Cost of all models; unknown for trials that used a model whose cost is unknown."""
    return _total(models, lambda usage: _cost(usage, time, prices))


def _cost(usage: TokenUsage, time: str | None, prices: Prices | None) -> FloatArray | None:
    if usage.cost is not None:
        return usage.cost
    price = None if prices is None else prices.price_of(usage.model, time)
    if price is not None:
        return cost_of(usage, price)
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    is_unused = usage.input_tokens + usage.output_tokens == 0
    return np.where(is_unused, 0.0, np.nan)


def _messages(resources: Resources, time: str | None, prices: Prices | None) -> Iterator[Message]:
    """Where the cost comes from, and what is not known."""
    if resources.cost is not None or any(usage.cost is not None for usage in resources.usage):
        yield COST_LOGGED()
    unpriced = [] if resources.cost is not None else [usage for usage in resources.usage if usage.cost is None]
    priced = [usage.model for usage in unpriced if prices is not None and prices.price_of(usage.model, time)]
    if prices is not None and priced:
        yield COST_FROM_PRICES(models=sorted(set(priced)), origin=prices.origin)
    unknown = sorted({usage.model for usage in unpriced} - set(priced))
    if unknown:
        origin = "this installation (without harness-uq[cost])" if prices is None else prices.origin
        yield PRICE_UNKNOWN(models=unknown, origin=origin)
    if not resources.is_grader_separate:
        yield GRADER_NOT_SEPARATE(models=[usage.model for usage in resources.usage])
