"""Serialization of estimates to bytes, for transport between processes and for the result store."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from harness_uq.data.names import bounded_name
from harness_uq.data.structure import Structure
from harness_uq.data.task_log import HarnessResult, Source
from harness_uq.io.plugins.protocols import Estimator
from harness_uq.messages import Message
from harness_uq.results.estimate import Estimate, Interval

T = TypeVar("T")

_NUMBER, _TEXT = int | float | None, str | None
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("system", "task", "metric", "filter", "estimand", "scope", "method"), str),
    **dict.fromkeys(("value", "std_error", "posterior_mean", "icc", "design_effect", "effective_questions"), _NUMBER),
    **dict.fromkeys(("variance_between", "variance_within"), _NUMBER),
    **dict.fromkeys(("n_questions", "n_trials", "n_scores", "n_clusters"), int | None),
    **dict.fromkeys(("cluster_key", "method_reason", "info"), _TEXT),
    "diagnostics": dict[str, int | float] | None,
    "interval": Interval | None,
    "source": Source,
    "harness": HarnessResult | None,
    "structure": msgspec.Raw,
    "messages": msgspec.Raw,
}
_NAMED = ("system", "task", "metric", "filter", "cluster_key")
_SHARED = ("source", *_NAMED, "estimand", "scope", "method", "method_reason")
_LISTS = ("facts", "messages")
_NAMES = tuple(field.name for field in fields(Estimate) if field.name != "posterior")
_Packed = msgspec.defstruct("_Packed", [(name, _TYPES.get(name, Any)) for name in _NAMES])


def pack(row: Estimate, estimators: Mapping[str, Estimator]) -> bytes:
    """Serialize an estimate with msgpack, without its posterior; `info` is replaced by the name of the estimator."""
    content = {name: getattr(row, name) for name in _NAMES}
    content["info"] = next((name for name, method in estimators.items() if method.info == row.info), None)
    return _encoder.encode(content)


def unpack(content: bytes, estimators: Mapping[str, Estimator], shared: dict[object, object] | None = None) -> Estimate:
    """Restore an estimate from bytes; the inverse of `pack`. Raises msgspec.MsgspecError for any other bytes.

    To save memory, parts that equal one of the `shared` objects, each under itself as key, are replaced by it, and new
    parts are added to them.
    """
    known = {} if shared is None else shared
    values: dict[str, Any] = msgspec.structs.asdict(_decoder.decode(content))
    for name in _SHARED:
        if value := values[name]:
            values[name] = known.setdefault(value, bounded_name(value) if name in _NAMED else value)
    for name, decode in _DECODERS.items():
        values[name] = decode(bytes(values[name]), known)
    info = values.pop("info")
    values["diagnostics"] = values["diagnostics"] or _NO_DIAGNOSTICS
    return Estimate(**values, info=estimators[info].info if info in estimators else None)


def _structure(content: bytes, shared: dict[object, object]) -> Structure | None:
    """Decode a structure; equal bytes are decoded once."""
    if content not in shared:
        structure = _structures.decode(content)
        parts = {} if structure is None else {name: _same(getattr(structure, name), shared) for name in _LISTS}
        shared[content] = structure and replace(structure, **parts)
    return cast("Structure | None", shared[content])


def _messages(content: bytes, shared: dict[object, object]) -> tuple[Message, ...]:
    """Decode messages; equal bytes are decoded once. Their bytes never equal those of a structure."""
    if content not in shared:
        shared[content] = _same(_messages_decoder.decode(content), shared)
    return cast("tuple[Message, ...]", shared[content])


def _same(value: T, shared: dict[object, object]) -> T:
    """Return the shared object that equals the value, and whose parts are shared, too."""
    result = tuple(_same(part, shared) for part in value) if isinstance(value, tuple) else value
    return shared.setdefault(result, result)  # type: ignore[return-value]


def messages_to_json(messages: Iterable[Message]) -> list[str]:
    """Encode each message as JSON."""
    return [msgspec.json.encode(message.to_dict()).decode() for message in messages]


def messages_from_json(texts: Iterable[str]) -> tuple[Message, ...]:
    """Decode messages; the inverse of `messages_to_json`."""
    return tuple(Message.from_dict(msgspec.json.decode(text)) for text in texts)


def _to_builtin(value: object) -> object:
    """Convert types that msgspec does not support: NumPy scalars and read-only mappings."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an estimate holds {value!r}, which cannot be sent or kept")


_NO_DIAGNOSTICS: Mapping[str, float] = MappingProxyType({})
_encoder = msgspec.msgpack.Encoder(enc_hook=_to_builtin)
_decoder = msgspec.msgpack.Decoder(_Packed)
_structures = msgspec.msgpack.Decoder(Structure | None)
_messages_decoder = msgspec.msgpack.Decoder(tuple[Message, ...])
_DECODERS: Mapping[str, Callable[[bytes, dict[object, object]], object]] = {
    "structure": _structure,
    "messages": _messages,
}
