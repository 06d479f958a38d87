"""Text from logs cannot move a cursor, break a table or run as a formula."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from harness_uq import compare, detect_structure, estimate, rank
from harness_uq.output.sanitize import markdown_paragraph
from harness_uq.output.words import commands_as
from tests.data.toy import task_log
from tests.message_checks import made
from tests.output.rendering import render

HOSTILE = "\x1b[2J\rgo\x00ne\u202e|x\n|y\u2066\ud800"
HIDDEN = set("\x1b\r\x00\u202e\u2066\ud800")


def hostile_logs() -> list:
    return [
        replace(task_log([1, 0, 1, 1], system=f"{HOSTILE}{i}", metric=HOSTILE, task=HOSTILE), messages=(made(HOSTILE),))
        for i in range(2)
    ]


def everything() -> dict[str, str]:
    logs = hostile_logs()
    rows = estimate(logs)
    found = {
        "table": render(rows, width=100),
        "markdown": render(rows, "markdown"),
        "csv": render(rows, "csv"),
        "json": render(rows, "json"),
        "latex": render(rows, "latex"),
    }
    for form in ("table", "markdown", "csv", "json", "latex"):
        found[f"compare {form}"] = render(compare(logs[0], logs[1]), form)
        found[f"rank {form}"] = render(rank(logs), form)
        found[f"structure {form}"] = render(detect_structure(logs), form)
    return found


OUTPUTS = everything()


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_output_holds_a_control_character_or_an_override(name: str) -> None:
    assert HIDDEN & set(OUTPUTS[name]) == set()


def test_commands_and_options_in_messages_are_code_in_markdown_and_html() -> None:
    text = "Use `harness-uq plan a_b` or `--chance TASK=P`, not `x`."
    assert markdown_paragraph(text) == text.replace("`x`", r"\`x\`")
    assert commands_as(text, "<code>", "</code>") == (
        "Use <code>harness-uq plan a_b</code> or <code>--chance TASK=P</code>, not `x`."
    )


@pytest.mark.parametrize("name", [name for name in OUTPUTS if "markdown" in name])
def test_every_row_of_a_markdown_table_has_as_many_cells(name: str) -> None:
    tables = re.findall(r"(?m)(?:^\|.*\n?)+", OUTPUTS[name].replace("\\|", ""))
    assert tables
    for table in tables:
        assert len({row.count("|") for row in table.splitlines()}) == 1


@pytest.mark.parametrize("name", [name for name in OUTPUTS if "json" in name])
def test_json_keeps_the_names_as_they_are(name: str) -> None:
    document = json.loads(OUTPUTS[name])
    first = next(iter(record for key, records in document.items() if isinstance(records, list) for record in records))
    assert first["metric"] == HOSTILE


@pytest.mark.parametrize("start", "=+-@")
def test_a_text_field_of_csv_is_no_formula(start: str) -> None:
    (row,) = csv.DictReader(io.StringIO(render(estimate(task_log([1, 0, 1], task=f"{start}1+1")), "csv")))
    assert row["task"] == f"'{start}1+1"


def test_numbers_of_csv_stay_numbers() -> None:
    (row,) = csv.DictReader(io.StringIO(render(estimate(task_log([-1.5, -2.5, -0.5, -3], metric="other")), "csv")))
    assert float(row["value"]) == -1.875
