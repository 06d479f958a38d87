"""lm-eval's table with a column of intervals."""

import pytest

from harness_uq.plugin_api import Interval
from harness_uq_lm_eval.aggregations import ScoreWithInterval
from harness_uq_lm_eval.live.results_table import with_intervals

RULE = "|------|------:|------|-----:|------|---|----:|---|-----:|"


def make_table(results, column="results"):
    """A table with one row per metric, as lm-eval prints it."""
    lines = ["|Tasks |Version|Filter|n-shot|Metric|   |Value|   |Stderr|", RULE]
    for row in results[column].values():
        metric = next(key.partition(",")[0] for key in row if key.endswith(",none"))
        lines.append(f"|{row['alias']}|      1|none  |     0|{metric}|↑  |{row[f'{metric},none']:.1f}|±  |   0.1|")
    return "\n".join(lines)


def results_of(task, metric, value=0.5):
    interval = {"low": 0.25, "high": 0.75, "level": 0.95}
    entry = {"task": task, "metric": metric, "filter": "none", "value": value, "interval": interval}
    entry["harness"] = {"value": 0.5}
    return {"results": {task: {"alias": task, f"{metric},none": 0.5}}, "uq": {"level": 0.95, "estimates": [entry]}}


def test_a_row_gets_its_interval():
    header, _, line = with_intervals(make_table)(results_of("drop", "acc")).splitlines()
    assert header.split("|")[-2].strip() == "95% interval"
    assert line.split("|")[-2].strip() == "[0.2500, 0.7500]"
    assert line.startswith("|drop")


def test_an_interval_of_another_value_than_the_printed_one_is_withheld():
    results = results_of("drop", "acc", value=0.6)
    assert with_intervals(make_table)(results) == make_table(results)


@pytest.mark.parametrize(("task", "metric"), [("drop|easy", "acc"), ("drop", "acc|norm")])
def test_a_bar_in_a_name_leaves_lm_evals_table_with_a_warning(task, metric, caplog):
    results = results_of(task, metric)
    assert with_intervals(make_table)(results) == make_table(results)
    assert "not in the table: a name in the table holds the sign |" in caplog.text


def test_results_without_our_block_are_printed_as_they_are():
    results = {key: part for key, part in results_of("drop", "acc").items() if key != "uq"}
    assert with_intervals(make_table)(results) == make_table(results)


@pytest.mark.parametrize(("value", "intervals"), [(0.5, ["[0.2500, 0.7500]"]), (0.6, ["[0.1, 0.9]"])])
def test_a_score_has_one_interval_if_its_aggregation_has_one(value, intervals):
    results = results_of("drop", "acc", value)
    results["results"]["drop"]["acc,none"] = ScoreWithInterval(0.5, Interval(0.1, 0.9, 0.95, "hdi"))
    line = with_intervals(make_table)(results).splitlines()[-1]
    assert [f"[{part.partition(']')[0]}]" for part in line.split("[")[1:]] == intervals
