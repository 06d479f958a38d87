"""Commands and code of the README work. Blocks with output are compared in test_printed.py."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from harness_uq.cli import main
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
# live runs are shown with their output; a calibration takes minutes
LONG = ("harness-uq lm-eval", "harness-uq inspect", "harness-uq calibrate")
COMMANDS = [
    re.split(r"  +", line)[0]
    for _, block in BLOCKS
    for line in block.splitlines()
    if line.startswith("harness-uq ") and not line.startswith(LONG) and not block.startswith("$")
]


def test_every_block_is_checked_by_a_test() -> None:
    kinds = [kind or block.split()[0] for kind, block in BLOCKS]
    assert set(kinds) <= {"$", "harness-uq", "pip", "python"}


def test_the_package_to_install_and_its_extras_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = re.findall(r'pip install "?([\w-]+)(?:\[([\w-]+)\])?', README)
    assert len(packages) == 3
    assert {name for name, _ in packages} == {project["name"]}
    assert {extra for _, extra in packages if extra} <= set(project["optional-dependencies"])


def test_the_comparison_with_the_harness_has_the_numbers_of_the_printed_output() -> None:
    (table,) = re.findall(r"^\| Task \| lm-eval prints.*?\n\n", README, re.MULTILINE | re.DOTALL)
    printed = "".join(block for _, block in BLOCKS if block.startswith("$"))
    numbers = set(re.findall(r"\d\.\d+|\[[^\]]+\]", table))
    assert len(numbers) > 10
    assert {number for number in numbers if number not in printed} == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_arguments_of_a_command_are_valid(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # there are no logs, which gives exit code 1 or, for a gate, 4; wrong arguments would give 2
    assert main(shlex.split(command)[1:]) == (4 if " gate " in command else 1)


def test_the_targets_of_make_exist() -> None:
    targets = set(re.findall(r"`make (\w+)`", README))
    assert targets
    assert targets <= set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.harness
def test_the_python_runs_with_results_of_the_harnesses(
    lm_eval_runs: Path, inspect_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import inspect_ai
    import lm_eval
    from inspect_ai.log import list_eval_logs, read_eval_log

    (tmp_path / "results").mkdir()
    (tmp_path / "results/small").symlink_to(lm_eval_runs / "lm-eval/scripted-small")
    monkeypatch.chdir(tmp_path)
    logs = [read_eval_log(info) for info in list_eval_logs(str(inspect_runs))]
    monkeypatch.setattr(lm_eval, "simple_evaluate", lambda **_: _returned(lm_eval_runs / "lm-eval/scripted-large"))
    monkeypatch.setattr(inspect_ai, "eval", lambda *_, **__: logs)
    (program,) = (block for kind, block in BLOCKS if kind == "python")
    names: dict[str, object] = {}
    exec(program, names)
    assert names["comparison"].system_a == "new"
    assert (tmp_path / "ranking.svg").stat().st_size > 1000


def _returned(folder: Path) -> dict[str, object]:
    """What `simple_evaluate` returned to the run that wrote these files."""
    (path,) = folder.rglob("results_*.json")
    samples = {
        match[1]: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in sorted(folder.rglob("samples_*.jsonl"))
        if (match := re.match(r"samples_(.+)_\d{4}-", file.name))
    }
    return json.loads(path.read_text(encoding="utf-8")) | {"samples": samples}


def test_pictures_exist_and_are_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert len(pictures) >= 2
    assert all((ROOT / picture).stat().st_size < 200_000 for picture in pictures)
