"""JSON objects and flat records follow from the declaration of a result, whatever its values are."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import msgspec
import pytest

from harness_uq import Options, gate
from harness_uq.output.declared import INLINE, INTERNAL, Declared, document_type
from harness_uq.results.estimate import Interval
from tests.data.toy import task_log
from tests.results import factory as make

RESULTS = {
    "estimate": make.clustered(),
    "estimate without interval": make.unknown(),
    "comparison": make.comparison(),
    "comparison without difference": replace(make.comparison(), difference=None, table=None),
    "ranking": make.ranking(4),
    "ranking without rank sets": replace(make.ranking(2), neighbours=None, prob_rank=None, adjusted_p=None),
    "plan": make.plan(),
    "plan without recommendation": replace(make.plan(), recommended=None),
    "effects": make.effects(),
    "gate": gate(
        task_log([1, 0, 1, 1] * 9, system="new"),
        task_log([1, 1, 1, 1] * 9, system="old"),
        Options(margin=0.1),
    ),
}


@dataclass(frozen=True, slots=True)
class Part:
    low: float
    name: str = "part"


@dataclass(frozen=True, slots=True)
class Whole(Declared):
    json_properties: ClassVar = ("double",)

    value: float
    part: Part = field(metadata=INLINE)
    interval: Interval | None = None
    ends: tuple[float, float] | None = None
    names: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    secret: object = field(default=None, metadata=INTERNAL)

    @property
    def double(self) -> float:
        return 2 * self.value


@pytest.mark.parametrize("name", RESULTS)
def test_the_columns_of_records_do_not_depend_on_the_data(name: str) -> None:
    result = RESULTS[name]
    records = result.to_records()
    assert records
    assert {tuple(record) for record in records} == {type(result).record_columns()}


@pytest.mark.parametrize("name", RESULTS)
def test_json_objects_have_the_declared_types(name: str) -> None:
    result = RESULTS[name]
    text = json.dumps(result.to_dict(), allow_nan=False)
    struct = document_type(type(result))
    assert msgspec.json.decode(text, type=struct)
    assert list(result.to_dict()) == list(struct.__struct_fields__)


def test_each_kind_of_field_has_its_json_form() -> None:
    whole = Whole(math.nan, Part(0.25), None, (0.0, math.inf), ("a", "b"), {"x": 1.5}, secret=object())
    assert whole.to_dict() == {
        "value": None,
        "low": 0.25,
        "name": "part",
        "interval": None,
        "ends": [0.0, None],
        "names": ["a", "b"],
        "numbers": {"x": 1.5},
        "double": None,
    }


def test_each_kind_of_field_has_its_cells() -> None:
    whole = Whole(0.5, Part(0.25), Interval(0.25, 1.0, 0.95, "hdi"), (0.0, 1.0), ("a", "b"), {"x": 1.5, "y": 2.0})
    (record,) = whole.to_records()
    assert record == {
        "value": 0.5,
        "low": 0.25,
        "name": "part",
        "interval_low": 0.25,
        "interval_high": 1.0,
        "interval_level": 0.95,
        "interval_kind": "hdi",
        "interval_low_delta": 0.25,
        "interval_high_delta": 0.5,
        "ends_low": 0.0,
        "ends_high": 1.0,
        "names": "a; b",
        "numbers": "x=1.5; y=2.0",
        "double": 1.0,
    }
