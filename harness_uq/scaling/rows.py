"""Estimates as bytes: what a worker sends, what a store keeps, and what holds a hundred thousand of them in memory."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TypeVar, cast

import msgspec
import numpy as np

from harness_uq.logs.data import Reported, Source
from harness_uq.plugins.protocols import Estimator
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.structure.facts import Fact, Structure

T = TypeVar("T")

_PARTS: Mapping[str, type] = {"interval": Interval, "source": Source, "harness": Reported, "structure": Structure}
_SHARED = (str, tuple, Source, Reported, Fact)
_TUPLES = ("notes", "warnings")
_NAMES = tuple(field.name for field in fields(Estimate) if field.name != "posterior")


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
    found = msgspec.msgpack.decode(content)
    for name, kind in _PARTS.items():
        found[name] = None if found[name] is None else msgspec.convert(found[name], kind)
    for name in _TUPLES:
        found[name] = tuple(found[name])
    if shared is not None:
        found = {name: _same(value, shared) for name, value in found.items()}
    about = found.pop("about")
    return Estimate(**found, about=estimators[about].about if about in estimators else None)


def _same(value: T, shared: dict[object, object]) -> T:
    """The value, of equal parts one and the same."""
    if isinstance(value, Structure):
        parts = {name: _same(getattr(value, name), shared) for name in ("facts", "hints", "warnings")}
        return cast("T", replace(value, **parts))
    found = tuple(_same(part, shared) for part in value) if isinstance(value, tuple) else value
    return cast("T", shared.setdefault(found, found)) if isinstance(found, _SHARED) else value


def _plain(value: object) -> object:
    """What msgspec does not know: numbers of numpy, and mappings that cannot be written to."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an estimate holds {value!r}, which cannot be sent or kept")


_encoder = msgspec.msgpack.Encoder(enc_hook=_plain)
