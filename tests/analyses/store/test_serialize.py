from dataclasses import replace

import pytest

from harness_uq import Options, estimate, read_logs
from harness_uq.analyses.store.serialize import pack, unpack
from harness_uq.inference.load_plugins import load_plugins
from tests.data.toy import task_log
from tests.output.rendering import render

PLUGINS = load_plugins()


def there_and_back(row):
    return unpack(pack(row, PLUGINS.estimators), PLUGINS.estimators)


@pytest.mark.parametrize("method", ["bayes", "wilson", "t"])
def test_nothing_but_the_posterior_is_lost_on_the_way(method, shared):
    rows = estimate(read_logs(shared / "data" / "inspect").logs, Options(method=method))
    back = [there_and_back(row) for row in rows]
    assert render(back, "json") == render(rows, "json")
    assert [row.info for row in back] == [row.info for row in rows]
    assert [row.structure.facts for row in back if row.structure] == [r.structure.facts for r in rows if r.structure]
    assert all(row.posterior is None for row in back)


def test_numbers_that_json_has_not_come_through():
    row = replace(estimate([task_log([1, 0, 1])])[0], diagnostics={"r": float("inf")}, value=0.1 + 0.2)
    back = there_and_back(row)
    assert (back.diagnostics["r"], back.value) == (float("inf"), 0.1 + 0.2)


def test_equal_parts_of_several_rows_are_held_once():
    packed = [pack(estimate([task_log(scores)])[0], PLUGINS.estimators) for scores in ([1, 0, 1], [0, 0, 1])]
    shared = {}
    first, second = (unpack(content, PLUGINS.estimators, shared) for content in packed)
    assert first.value != second.value
    assert first.structure is second.structure
    assert first.source is second.source
    assert first.method_reason is second.method_reason
