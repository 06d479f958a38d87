"""Resources per question and trial: tokens, cost, time, messages and turns, and the metrics that they become.

Readers attach `Resources` to a `TaskLog` only if they are asked to, because logs of agents contain much more usage than
scores. Unknown values are NaN and never 0.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Protocol

import numpy as np

from harness_uq.data.arrays import FloatArray, read_only
from harness_uq.messages import Message
from harness_uq.messages.catalogue.resources import COST_FROM_PRICES, COST_LOGGED, GRADER_NOT_SEPARATE, PRICE_UNKNOWN
from harness_uq.messages.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class TokenUsage:
    """Tokens of one model, and their cost as the harness recorded it.

    All arrays have shape (n_questions, n_trials). They are None if the log does not contain them, and NaN for trials
    whose usage is unknown. If a trial did not call the model, they are 0.

    Attributes
    ----------
    model : name of the model, as in the log
    is_grader : whether the tokens were used to grade answers. The tokens of a model that answers and grades are two
        entries.
    input_tokens : all input tokens, including those that were read from or written to a cache
    output_tokens : all output tokens, including reasoning
    reasoning_tokens : output tokens that were used for reasoning
    cache_read_tokens, cache_write_tokens : input tokens that were read from a cache or written to it
    cost : cost in US dollars that the log records
    """

    model: str
    is_grader: bool = False
    input_tokens: FloatArray | None = None
    output_tokens: FloatArray | None = None
    reasoning_tokens: FloatArray | None = None
    cache_read_tokens: FloatArray | None = None
    cache_write_tokens: FloatArray | None = None
    cost: FloatArray | None = None

    def __post_init__(self) -> None:
        _validate(self, [field.name for field in fields(self) if field.name not in ("model", "is_grader")])


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """What the trials of a task used.

    All arrays have shape (n_questions, n_trials). They are None if the log does not contain them, and NaN for trials
    whose value is unknown.

    Attributes
    ----------
    usage : tokens by model, separately for answering and grading
    cost : cost of answering in US dollars, if the log records it per trial and not per model
    total_time : seconds from start to end of a trial
    working_time : seconds without the time spent waiting, for example for rate limits
    messages, turns : number of messages of the conversation, and number of turns of the model
    is_grader_separate : whether the log tells the usage of graders from that of the system. If not, all usage counts as
        the system's.
    """

    usage: tuple[TokenUsage, ...] = ()
    cost: FloatArray | None = None
    total_time: FloatArray | None = None
    working_time: FloatArray | None = None
    messages: FloatArray | None = None
    turns: FloatArray | None = None
    is_grader_separate: bool = True

    def __post_init__(self) -> None:
        _validate(self, [field.name for field in fields(self) if field.name not in ("usage", "is_grader_separate")])
        if len(shapes := set(map(np.shape, self.arrays()))) > 1:
            raise DataError(f"arrays of resources must have one shape; got {sorted(shapes)}")

    def arrays(self) -> Iterator[FloatArray]:
        """All arrays that the log contains, without their names."""
        owners: tuple[Resources | TokenUsage, ...] = (self, *self.usage)
        values = (getattr(owner, field.name) for owner in owners for field in fields(owner))
        yield from (value for value in values if isinstance(value, np.ndarray))


def _validate(owner: object, names: Iterable[str]) -> None:
    """Store the arrays as read-only float (n_questions, n_trials); values must be NaN, or finite and at least 0."""
    for name in names:
        if (values := getattr(owner, name)) is None:
            continue
        array = read_only(owner, name, values, np.float64, 2)
        if (invalid := array[(array < 0) | np.isinf(array)]).size:
            raise DataError(f"{name} must be at least 0 and finite; got {invalid[0]:g}")


_MILLION = 1e6


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Prices of a model in US dollars per million tokens."""

    input: float
    output: float  # also of reasoning tokens
    cached: float | None = None  # of input tokens that are read from a cache; None for the price of other input tokens
    cache_write: float | None = None  # of input tokens that are written to a cache, likewise


class Prices(Protocol):
    """A source of prices; must support pickling."""

    @property
    def origin(self) -> str:
        """Where the prices come from and their date, for messages."""

    def price_of(self, model: str, time: str | None) -> ModelPrice | None:
        """Prices of a model at the time of a run (ISO 8601); None if they are unknown."""


def cost_of(usage: TokenUsage, price: ModelPrice) -> FloatArray | None:
    """Cost of the tokens of each trial in US dollars; NaN if they are unknown, None if the log does not contain them.

    >>> tokens = TokenUsage("m", input_tokens=[[1_000_000]], output_tokens=[[500_000]], cache_read_tokens=[[400_000]])
    >>> cost_of(tokens, ModelPrice(2.0, 8.0, cached=0.5))
    array([[5.4]])
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    read, written = (
        np.zeros_like(usage.input_tokens) if tokens is None else np.nan_to_num(tokens)
        for tokens in (usage.cache_read_tokens, usage.cache_write_tokens)
    )
    price_read = price.input if price.cached is None else price.cached
    price_written = price.input if price.cache_write is None else price.cache_write
    uncached = np.maximum(usage.input_tokens - read - written, 0.0)
    total = uncached * price.input + read * price_read + written * price_written + usage.output_tokens * price.output
    return np.asarray(total / _MILLION)


TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "cached_tokens": "cache_read_tokens",
}
"""Attribute of `TokenUsage` by the name of the metric."""
OF_TRIALS = ("total_time", "working_time", "messages", "turns")
"""Attributes of `Resources` that are metrics of the same name."""
_GRADER_TOKENS = ("input_tokens", "output_tokens")
RESOURCE_METRICS = ("cost", *TOKENS, *OF_TRIALS, "grader_cost", *(f"grader_{name}" for name in _GRADER_TOKENS))
_MINOR = ("reasoning_tokens", "cached_tokens", "messages", "turns")  # omitted if all trials have the same number


@dataclass(frozen=True, slots=True)
class ResourceOptions:
    """How resources become metrics.

    Attributes
    ----------
    prices : prices of tokens whose cost the log does not record; None to use recorded costs only
    """

    prices: Prices | None = None


def renamed(metric: str) -> str:
    """The name of a resource if the log has a metric of its name."""
    return f"{metric} (resource)"


def metric_columns(resources: Resources, time: str | None, prices: Prices | None) -> Iterator[tuple[str, FloatArray]]:
    """The metrics that the log contains, by name."""
    system = [usage for usage in resources.usage if not usage.is_grader]
    graders = [usage for usage in resources.usage if usage.is_grader]
    columns = {
        "cost": _total_cost(system, time, prices) if resources.cost is None else resources.cost,
        **{name: _total(system, attrgetter(tokens)) for name, tokens in TOKENS.items()},
        **{name: getattr(resources, name) for name in OF_TRIALS},
        "grader_cost": _total_cost(graders, time, prices),
        **{f"grader_{name}": _total(graders, attrgetter(name)) for name in _GRADER_TOKENS},
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


def resource_messages(resources: Resources, time: str | None, prices: Prices | None) -> Iterator[Message]:
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
