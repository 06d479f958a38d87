"""Prices of models from a file of the user, or from the data of genai-prices."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from functools import cache, lru_cache
from importlib.metadata import version

from harness_uq.data.resources import ModelPrice
from harness_uq.io import paths as io_paths
from harness_uq.messages.catalogue.resources import PRICES_INVALID
from harness_uq.messages.errors import LogError

_NAMES = tuple(field.name for field in fields(ModelPrice))
_TOKENS = 1000  # for list prices that depend on the length of a request, that of short requests
_PER_MILLION = 1e6 / _TOKENS


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices that the user gives."""

    by_model: dict[str, ModelPrice]  # by name of the model, as in the log or without its provider
    origin: str  # where they come from, for messages

    def price_of(self, model: str, time: str | None) -> ModelPrice | None:  # noqa: ARG002 -- one date for all runs
        """Prices of a model; None if the file does not contain it."""
        return self.by_model.get(model) or self.by_model.get(model.rpartition("/")[2])


@dataclass(frozen=True, slots=True)
class PublicPrices:
    """List prices of the installed version of genai-prices, without access to the network."""

    @property
    def origin(self) -> str:
        """The version of the package, and the date of the latest change of a price that it contains."""
        return f"genai-prices {version('genai-prices')} (latest change of a price: {_latest_change():%Y-%m-%d})"

    def price_of(self, model: str, time: str | None) -> ModelPrice | None:
        """List prices of a model at the time of a run; None if the package does not contain the model."""
        input_price = _list_price(model, time, input_tokens=_TOKENS)
        output_price = _list_price(model, time, output_tokens=_TOKENS)
        if input_price is None or output_price is None:
            return None
        return ModelPrice(
            input_price,
            output_price,
            _list_price(model, time, input_tokens=_TOKENS, cache_read_tokens=_TOKENS),
            _list_price(model, time, input_tokens=_TOKENS, cache_write_tokens=_TOKENS),
        )


@cache
def _latest_change() -> date:
    from genai_prices.data import providers

    lists = (model.prices for provider in providers for model in provider.models if isinstance(model.prices, list))
    prices = (price for one in lists for price in one)  # a model without a list has the same price at all times
    dates = (getattr(price.constraint, "start_date", None) for price in prices)
    return max(day for day in dates if isinstance(day, date) and day <= date.today())


@lru_cache(maxsize=1024)
def _list_price(model: str, time: str | None, **tokens: int) -> float | None:
    """Price per million of these tokens; None if it is unknown."""
    from genai_prices import Usage, calc_price

    provider, _, name = model.rpartition("/")
    moment = None if time is None else datetime.fromisoformat(time)
    for provider_id in dict.fromkeys((provider.rpartition("/")[2] or None, None)):
        try:
            price = calc_price(Usage(**tokens), name, provider_id=provider_id, genai_request_timestamp=moment)
        except (LookupError, ValueError):
            continue
        return float(price.total_price) * _PER_MILLION
    return None


def read_prices(path: str) -> PriceTable:
    """Prices of a TOML file with one table per model, in US dollars per million tokens.

    The keys are `input`, `output`, and optionally `cached` and `cache_write`. Raises LogError if the file cannot be
    read, a key is missing or unknown, or a price is negative or not a number.
    """
    try:
        document = tomllib.loads(io_paths.read_bytes(path).decode())
    except OSError as error:
        raise _invalid(path, str(error.strerror or error)) from None
    except (ValueError, RecursionError) as error:
        raise _invalid(path, f"it is not valid TOML ({error})") from None
    return price_table(path, document)


def price_table(origin: str, tables: Mapping[str, object]) -> PriceTable:
    """Prices from one table per model, with the keys and errors of `read_prices`. `origin`: where they come from."""
    if not tables:
        raise _invalid(origin, "it contains no model")
    return PriceTable({name: _price(origin, name, table) for name, table in tables.items()}, origin)


def _price(path: str, model: str, table: object) -> ModelPrice:
    if not isinstance(table, dict):
        raise _invalid(path, f'{model!r} is not a table. Write ["{model}"] above its prices')
    if unknown := sorted(table.keys() - set(_NAMES)):
        raise _invalid(path, f"{model!r} has the unknown key {unknown[0]!r}. Valid keys: {', '.join(_NAMES)}")
    if missing := [name for name in ("input", "output") if name not in table]:
        raise _invalid(path, f"{model!r} has no {missing[0]!r} price")
    for name, price in table.items():
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < math.inf:
            raise _invalid(path, f"{name} of {model!r} is {price!r}. Give a price of at least 0")
    return ModelPrice(**{name: float(price) for name, price in table.items()})


def _invalid(path: str, reason: str) -> LogError:
    return LogError(PRICES_INVALID(path=path, reason=reason))
