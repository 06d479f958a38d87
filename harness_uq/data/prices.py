"""Cost of tokens: prices of models, and how they apply to the tokens of a trial."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness_uq.data.arrays import FloatArray
from harness_uq.data.resources import TokenUsage

_MILLION = 1e6


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Prices of a model in US dollars per million tokens.

    Attributes
    ----------
    input, output : float
        Price of input and output tokens. Reasoning tokens are output tokens.
    cached, cache_write : float or None
        Price of input tokens that are read from a cache or written to it; None for the price of other input tokens.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None


class Prices(Protocol):
    """A source of prices; must support pickling."""

    @property
    def origin(self) -> str:
        """Where the prices come from and their date, for messages."""

    def price_of(self, model: str, time: str | None) -> ModelPrice | None:
        """Prices of a model at the time of a run (ISO 8601); None if they are unknown."""


def cost_of(usage: TokenUsage, price: ModelPrice) -> FloatArray | None:
    """Cost of the tokens of each trial in US dollars; NaN if they are unknown, None if the log does not contain them.

    Examples
    --------
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
