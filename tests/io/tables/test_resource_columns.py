"""Columns of tokens, cost and time."""

import numpy as np
import pandas as pd
import pytest

from harness_uq.data.resources import ResourceOptions
from harness_uq.io.tables.reader import TableReader
from harness_uq.messages.errors import LogError
from tests.message_checks import has

NAN = float("nan")
ROWS = {"model": ["a", "a", "b"], "item": [1, 2, 1], "score": [1, 0, 1]}


def resources(table, columns=None):
    reader = TableReader(columns or {}).with_resources(ResourceOptions())
    return [log.resources for log in reader.read_object(pd.DataFrame(table))]


def test_columns_are_recognized_by_their_names():
    first, second = resources(ROWS | {"cost": [0.1, None, 0.3], "prompt_tokens": [10, 20, 30], "duration": [1, 2, 3]})
    np.testing.assert_array_equal(first.cost, [[0.1], [NAN]])
    (usage,) = first.usage
    assert (usage.model, usage.input_tokens.tolist(), usage.output_tokens) == ("a", [[10], [20]], None)
    assert second.total_time.tolist() == [[3]]


def test_a_column_may_be_named():
    first, _ = resources(ROWS | {"paid": [1, 2, 3]}, {"cost": "paid"})
    assert first.cost.tolist() == [[1], [2]]


def test_without_a_request_there_are_none():
    log, _ = TableReader().read_object(pd.DataFrame(ROWS | {"cost": [1, 2, 3]}))
    assert log.resources is None


def test_a_table_without_such_columns_has_none():
    assert resources(ROWS) == [None, None]


def test_trials_have_the_order_of_the_scores():
    table = {"item": [1, 2, 1], "trial": [1, 1, 2], "score": [1, 0, None], "output_tokens": [5, 6, 7]}
    (only,) = resources(table)
    np.testing.assert_array_equal(only.usage[0].output_tokens, [[5, 7], [6, NAN]])


def test_a_row_per_metric_is_counted_once():
    table = {"item": [1, 1], "metric": ["acc", "f1"], "score": [1, 0.5], "cost": [2, 2]}
    assert resources(table)[0].cost.tolist() == [[2]]


def test_a_negative_cost_is_an_error():
    with pytest.raises(LogError, match="cost must be at least 0"):
        resources(ROWS | {"cost": [1, -2, 3]})


def test_a_column_that_does_not_exist_is_an_error():
    with pytest.raises(LogError) as caught:
        resources(ROWS, {"cost": "paid"})
    assert has([caught.value.message], "column-not-found", column="paid", role="cost")
