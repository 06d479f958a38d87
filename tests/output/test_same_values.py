"""The Python API, JSON, CSV, the terminal and the HTML report contain the same values of the example logs."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

import harness_uq
from harness_uq.commands.main import main
from harness_uq.output.words import interval as format_interval
from harness_uq.results.estimate import Interval

GROUP = "demo_exam"


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    return harness_uq.demo(tmp_path_factory.mktemp("demo")) / "lm-eval"


def printed(capsys, *command: str) -> str:
    capsys.readouterr()
    assert main([*command, "--task", f"{GROUP}*"]) == 0
    return capsys.readouterr().out


def ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def test_a_comparison_has_the_same_values_in_all_formats(logs: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    large, small = (
        [log for log in harness_uq.read_logs(logs / f"scripted-{size}", need_scores=True).logs if GROUP in log.task]
        for size in ("large", "small")
    )
    rows = harness_uq.compare(large, small)
    overall = harness_uq.compare(large, small, overall=True).overall
    assert overall is not None
    (one,) = overall.differences
    (row,) = (row for row in rows if row.task == GROUP)
    assert row.difference is not None
    assert ends(one.interval) == pytest.approx(ends(row.difference.interval), abs=1e-9)

    document = json.loads(printed(capsys, "compare", str(logs), "--format", "json"))
    (in_json,) = document["overall"]["differences"]
    assert (in_json["interval"]["low"], in_json["interval"]["high"]) == pytest.approx(ends(one.interval))
    assert [found["difference"]["interval"]["low"] for found in document["comparisons"]] == pytest.approx(
        [found.difference.interval.low for found in rows if found.difference]
    )
    table = list(csv.DictReader(StringIO(printed(capsys, "compare", str(logs), "--format", "csv"))))
    assert [float(line["difference_interval_high"]) for line in table] == pytest.approx(
        [found.difference.interval.high for found in rows if found.difference]
    )

    shown = format_interval(one.interval)
    text = printed(capsys, "compare", str(logs), "--format", "markdown")
    assert text.count(shown) == 2  # the overall difference and the row of the group
    page = tmp_path / "report.html"
    printed(capsys, "report", str(logs), "--output", str(page))
    assert shown in page.read_text(encoding="utf-8")


def test_an_overall_score_has_the_same_values_in_all_commands(logs: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = harness_uq.estimate(logs, overall=True, task=[f"{GROUP}*"]).overall
    assert result is not None
    page = tmp_path / "report.html"
    printed(capsys, "report", str(logs), "--output", str(page))
    html = page.read_text(encoding="utf-8")
    commands = ("estimate", "rank", "compare")
    texts = [printed(capsys, command, str(logs), "--format", "markdown") for command in commands]
    for system in result.systems:
        assert all(format_interval(system.interval) in text for text in (*texts, html))
    for command in commands:
        document = json.loads(printed(capsys, command, str(logs), "--format", "json"))
        found = [(one["interval"]["low"], one["interval"]["high"]) for one in document["overall"]["systems"]]
        assert found == [pytest.approx(ends(system.interval)) for system in result.systems]
