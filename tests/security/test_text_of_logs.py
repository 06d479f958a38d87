"""Text of logs cannot act on a terminal or on GitHub Actions, nor forge lines of an output."""

import logging
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness_uq import estimate
from harness_uq.commands.main import SafeFormatter, main
from harness_uq.messages.control_characters import escape_control
from tests.conftest import ROOT
from tests.security.hostile_names import ACTING, problems_in, write_table

ALL = "".join(ACTING)


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    """Three tables, the last one of the same system as the first, whose names contain everything that acts."""
    return [
        write_table(tmp_path / name, task=f"t{ALL}", model=f"{name[0]}{ALL}", metric=f"s{ALL}", field=f"f{ALL}")
        for name in ("a.jsonl", "bb.jsonl", "aaa.jsonl")
    ]


@pytest.mark.parametrize("name", ACTING)
def test_each_name_becomes_one_harmless_line(name: str) -> None:
    escaped = escape_control(name)
    assert problems_in(name)
    assert not problems_in(escaped)
    assert "\n" not in escaped
    assert escape_control(escaped) == escaped


@pytest.mark.parametrize("output_format", ["table", "markdown", "csv", "json", "latex"])
@pytest.mark.parametrize("command", ["estimate", "rank", "compare", "structure", "plan", "gate", "effects"])
def test_outputs_contain_nothing_that_acts(
    command: str, output_format: str, logs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, same = logs
    given = {"gate": [first, "--baseline", second, "--margin", "0.1"], "effects": [first, same]}
    main([command, *given.get(command, [first, second]), "--format", output_format])
    out, err = capsys.readouterr()
    assert "0." in out, err
    assert not problems_in(out)
    assert not problems_in(err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", "LOGS", "--task", "nosuch"],
        ["estimate", "LOGS", "--model", "nosuch"],
        ["estimate", "LOGS", "--metric", "nosuch"],
        ["estimate", "LOGS", "--method", "clustered", "--cluster", "nosuch"],
        ["estimate", "LOGS", "--range", "nosuch=0,1"],
        ["compare", "LOGS", "--task", "nosuch"],
        ["report", "LOGS", "--task", "nosuch"],
        ["gate", "LOG", "--baseline", "FOLDER", "--margin", "0.1"],
        ["estimate", "FOLDER/\x1b]52;c;aGk=\x07\n::error::x.jsonl"],
    ],
)
def test_errors_contain_nothing_that_acts(
    arguments: list[str], logs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"LOGS": logs, "LOG": logs[:1], "FOLDER": [str(tmp_path)]}
    code = main([part.replace("FOLDER", str(tmp_path)) for word in arguments for part in given.get(word, [word])])
    out, err = capsys.readouterr()
    assert code != 0 or "--cluster" in arguments
    assert err.removesuffix("\n").count("\n") <= 1
    assert not problems_in(out + err)


def test_names_of_files_contain_nothing_that_acts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tmp_path / "good.jsonl")
    (tmp_path / f"x{ACTING[1]}\n::error::x.eval").write_bytes(b"PK\x03\x04 damaged")
    assert main(["estimate", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "0." in out
    assert not problems_in(out + err)


def test_debug_output_contains_nothing_that_acts() -> None:
    try:
        raise ValueError(ALL)
    except ValueError:
        record = logging.LogRecord("harness_uq", logging.DEBUG, "", 1, "%s", (ALL,), sys.exc_info())
    text = SafeFormatter(logging.BASIC_FORMAT).format(record)
    assert "Traceback" in text
    assert not [problem for problem in problems_in(text) if not problem.startswith("FORGED")]


def test_notebooks_show_nothing_that_acts(logs: list[str]) -> None:
    (row,) = estimate(logs[0])
    assert not problems_in(replace(row, system=ALL)._repr_html_())


def test_the_action_stops_commands_while_it_prints_text_of_logs(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    (script,) = [step["run"] for step in steps if step["name"] == "gate"]
    program = tmp_path / "harness-uq"
    program.write_text("#!/bin/sh\necho '::error::out'; echo '##[error]err' >&2; exit 1\n")
    program.chmod(0o755)
    environment = {
        **os.environ,
        **dict.fromkeys(("NEW", "BASELINE", "MARGIN", "LEVEL", "ARGUMENTS", "UNDECIDED"), "1"),
        "SELF_TEST": "true",
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    tokens = set()
    for _ in range(2):
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        first, *printed, last = done.stdout.splitlines()
        token = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", first)
        assert token is not None
        assert last == f"::{token[1]}::"
        assert printed.count("::error::out") == 2
        assert printed.count("##[error]err") == 2
        assert not done.stderr
        tokens.add(token[1])
    assert len(tokens) == 2
