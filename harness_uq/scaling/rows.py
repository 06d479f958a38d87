"""Estimates as bytes: what a worker sends, what a store keeps, and what holds a hundred thousand of them in memory."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from harness_uq.logs.data import Reported, Source
from harness_uq.plugins.protocols import Estimator
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.structure.facts import Structure

T = TypeVar("T")

_TYPES: Mapping[str, Any] = {
    "interval": Interval | None,
    "source": Source,
    "harness": Reported | None,
    "structure": msgspec.Raw,
    "notes": msgspec.Raw,
    "warnings": msgspec.Raw,
}
_SHARED = (
    "source",
    "system",
    "task",
    "metric",
    "filter",
    "estimand",
    "scope",
    "method",
    "method_reason",
    "cluster_key",
)
_LISTS = ("facts", "hints", "warnings")
_NAMES = tuple(field.name for field in fields(Estimate) if field.name != "posterior")
_Packed = msgspec.defstruct("_Packed", [(name, _TYPES.get(name, Any)) for name in _NAMES])


def pack(row: Estimate, estimators: Mapping[str, Estimator]) -> bytes:
    """An estimate as msgpack, without its posterior; of what its method says of itself, the estimator's name.

    Parameters
    ----------
    estimators : by name
    """
    content = {name: getattr(row, name) for name in _NAMES}
    content["about"] = next((name for name, each in estimators.items() if each.about == row.about), None)
    return _encoder.encode(content)


def unpack(content: bytes, estimators: Mapping[str, Estimator], shared: dict[object, object] | None = None) -> Estimate:
    """The estimate that was packed.

    Parameters
    ----------
    estimators : by name
    shared : texts and facts of other estimates, held once however many have them; takes in those of this one

    Raises
    ------
    msgspec.MsgspecError : if the bytes are none
    """
    held = {} if shared is None else shared
    found: dict[str, Any] = msgspec.structs.asdict(_decoder.decode(content))
    for name in _SHARED:
        if value := found[name]:
            found[name] = held.setdefault(value, value)
    for name, decode in _DECODED.items():
        found[name] = decode(bytes(found[name]), held)
    about = found.pop("about")
    found["diagnostics"] = found["diagnostics"] or _NONE
    return Estimate(**found, about=estimators[about].about if about in estimators else None)


def _structure(content: bytes, shared: dict[object, object]) -> Structure | None:
    """The structure, decoded once of equal ones."""
    if content not in shared:
        found = _structures.decode(content)
        parts = {} if found is None else {name: _same(getattr(found, name), shared) for name in _LISTS}
        shared[content] = found and replace(found, **parts)
    return cast("Structure | None", shared[content])


def _sentences(content: bytes, shared: dict[object, object]) -> tuple[str, ...]:
    """Sentences, decoded once of equal ones; as bytes they are none that a structure has."""
    if content not in shared:
        shared[content] = _same(_texts.decode(content), shared)
    return cast("tuple[str, ...]", shared[content])


def _same(value: T, shared: dict[object, object]) -> T:
    """The value, of equal parts one and the same."""
    found = tuple(_same(part, shared) for part in value) if isinstance(value, tuple) else value
    return shared.setdefault(found, found)  # type: ignore[return-value]


def _plain(value: object) -> object:
    """What msgspec does not know: numbers of numpy, and mappings that cannot be written to."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an estimate holds {value!r}, which cannot be sent or kept")


_NONE: Mapping[str, float] = MappingProxyType({})
_encoder = msgspec.msgpack.Encoder(enc_hook=_plain)
_decoder = msgspec.msgpack.Decoder(_Packed)
_structures = msgspec.msgpack.Decoder(Structure | None)
_texts = msgspec.msgpack.Decoder(tuple[str, ...])
_DECODED: Mapping[str, Callable[[bytes, dict[object, object]], object]] = {
    "structure": _structure,
    "notes": _sentences,
    "warnings": _sentences,
}
