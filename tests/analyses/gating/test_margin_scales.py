"""Warnings that one margin applies to metrics of different scales."""

from dataclasses import replace

import numpy as np
import pytest

from harness_uq import TaskLog, gate
from harness_uq.data.task_log import Scores
from harness_uq.results.gate import Gate
from tests.data.toy import task_log
from tests.message_checks import params_of

RNG = np.random.default_rng(20261201)


def log(system: str, **scores: tuple[np.ndarray, tuple[float, float] | None]) -> TaskLog:
    plain = task_log(RNG.integers(0, 2, 60), system=system)
    more = tuple(Scores(metric, "none", values[:, None], bounds=ends) for metric, (values, ends) in scores.items())
    return replace(plain, data=(*plain.data, *more))


def warning(found: Gate) -> dict[str, object] | None:
    return params_of(found, "UQ261") if any(message.code == "UQ261" for message in found.messages) else None


RATING = {"rating": (RNG.uniform(0, 100, 60), (0.0, 100.0))}
SHARE = {"share": (RNG.uniform(0, 1, 60), (-1.0, 1.0))}
LENGTH = {"length": (RNG.uniform(20, 90, 60), None)}


@pytest.mark.parametrize(("scores", "other"), [(RATING, "rating (0 to 100)"), (LENGTH, "length (score")])
def test_one_margin_for_different_scales_is_warned_of(scores: dict, other: str) -> None:
    found = warning(gate(log("new", **scores), log("old", **scores), margin=0.02))
    assert found["scales"][0] == "acc (0 to 1)"
    assert found["scales"][1].startswith(other)
    assert (found["kind"], found["option"], found["metric"]) == ("margin", "--margin", next(iter(scores)))


def test_one_improvement_for_different_scales_is_warned_of() -> None:
    found = warning(gate(log("new", **RATING), log("old", **RATING), improve_by=0.02))
    assert (found["kind"], found["option"], found["size"]) == ("required improvement", "--improve-by", 0.02)


@pytest.mark.parametrize(
    ("scores", "options"),
    [
        (SHARE, {"margin": 0.02}),
        (RATING, {"margin": 0.02, "margins": {"rating": 2.0}}),
        (RATING, {"margin": 0.02, "metric": "acc"}),
        (RATING, {"margin": 0.0}),
        (RATING, {"improve_by": 0.0}),
        ({**RATING, **LENGTH}, {"margin": 0.02, "margins": {"acc": 0.01}}),
    ],
    ids=["similar", "own margin", "one metric", "no margin", "any improvement", "ranges that may be equal"],
)
def test_similar_scales_and_margins_for_each_metric_give_no_warning(scores: dict, options: dict) -> None:
    assert warning(gate(log("new", **scores), log("old", **scores), **options)) is None
