"""Every block of the README that shows no output is true too; those that do are compared in test_printed.py."""

import re
import shlex
from pathlib import Path

import pytest

from harness_uq.cli import main
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
# what the harnesses run is shown elsewhere with its output, and a calibration takes minutes
LONG = ("harness-uq lm-eval", "harness-uq inspect", "harness-uq calibrate")
COMMANDS = [
    re.split(r"  +", line)[0]
    for _, block in BLOCKS
    for line in block.splitlines()
    if line.startswith("harness-uq ") and not line.startswith(LONG) and not block.startswith("$")
]


def test_every_block_is_checked_by_a_test() -> None:
    kinds = [kind or block.split()[0] for kind, block in BLOCKS]
    assert set(kinds) <= {"$", "git", "harness-uq", "python"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_arguments_that_there_are(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # no log is there, which is code 1, for a gate 4; wrong arguments are code 2
    assert main(shlex.split(command)[1:]) == (4 if " gate " in command else 1)


def test_what_make_is_asked_for_is_there() -> None:
    asked = set(re.findall(r"^make (\w+)", README, re.MULTILINE))
    assert asked
    assert asked <= set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.harness
def test_the_python_runs(lm_eval_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").symlink_to(lm_eval_runs)
    monkeypatch.chdir(tmp_path)
    (program,) = (block for kind, block in BLOCKS if kind == "python")
    exec(program, {})


def test_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert len(pictures) >= 3
    assert all((ROOT / picture).stat().st_size < 200_000 for picture in pictures)
