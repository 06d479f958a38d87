"""Settings files of a checkout do not decide a gate: `--isolated` ignores them, the action reads those of the base."""

import csv
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from harness_uq.commands.parser import COMMANDS
from harness_uq.messages.catalogue.command_line import SETTINGS_USED
from tests.conftest import ROOT
from tests.test_action import run, runner  # noqa: F401 -- the fixture

_ONE_CLUSTER = 'cluster = "grp"\n'  # which turns a failing gate into an undecided one


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: tables of a good and a bad system whose questions are all of one group."""
    for name, n_right in (("old", 160), ("new", 100)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            rows = [[f"q{i}", int(i < n_right), f"g{i % 2}"] for i in range(200)]
            csv.writer(file).writerows([["id", "correct", "grp"], *rows])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gate(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = main(["gate", "new.csv", "--baseline", "old.csv", "--margin", "0.01", *options])
    return (code, *capsys.readouterr())


@pytest.mark.parametrize(("name", "text"), [("harness-uq.toml", "{}"), ("pyproject.toml", "[tool.harness_uq]\n{}")])
def test_isolated_ignores_the_settings_of_a_checkout(
    name: str, text: str, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / name).write_text(text.format(_ONE_CLUSTER))
    assert gate(capsys)[0] == 3
    assert gate(capsys, "--isolated")[0] == 1
    (checkout / "below").mkdir()
    monkeypatch.chdir(checkout / "below")
    paths = ("gate", "../new.csv", "--baseline", "../old.csv", "--margin", "0.01")
    assert (main([*paths]), main([*paths, "--isolated"])) == (3, 1)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_isolated(command: str, checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "harness-uq.toml").write_text("nonsense = 1\n")
    for arguments, is_read in (["--nosuch"], True), (["--isolated", "--nosuch"], False):
        assert main([command, *arguments]) == 2
        assert ("nonsense" in capsys.readouterr().err) == is_read


def test_the_gate_says_which_settings_apply(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gate(capsys, "--format", "json")
    assert (code, err) == (1, "")
    assert gate(capsys, "--format", "json", "--notes")[2] == "No settings file is used\n"
    assert SETTINGS_USED.code not in [message["code"] for message in json.loads(out)["gates"][0]["messages"]]
    (checkout / "ours.toml").write_text(_ONE_CLUSTER)
    code, out, err = gate(capsys, "--settings", "ours.toml", "--format", "json")
    assert (code, err) == (3, "Using settings from ours.toml\n")
    params = {message["code"]: message["params"] for message in json.loads(out)["gates"][0]["messages"]}
    assert params[SETTINGS_USED.code] == {"path": "ours.toml"}
    assert SETTINGS_USED.code in gate(capsys, "--settings", "ours.toml", "--notes")[1]


def test_a_named_settings_file_replaces_that_of_the_folder(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "harness-uq.toml").write_text(_ONE_CLUSTER)
    (checkout / "ours.toml").write_text("level = 0.9\n")
    code, out, _ = gate(capsys, "--settings", "ours.toml", "--format", "json")
    assert (code, json.loads(out)["gates"][0]["alpha"]) == (1, pytest.approx(0.1))
    (checkout / "pyproject.toml").write_text("[project]\n")
    for options in (["--settings", "absent.toml"], ["--settings", "pyproject.toml"], ["--settings"]):
        assert gate(capsys, *options)[0] == 2
    assert gate(capsys, "--settings", "ours.toml", "--isolated")[0] == 2


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def base(checkout: Path, runner: Path) -> str:  # noqa: F811
    """Revision of a repository that is the working folder; afterwards its settings were changed and committed."""
    assert checkout == runner
    git(checkout, "init", "--quiet")
    (checkout / "harness-uq.toml").write_text("level = 0.9\n")
    git(checkout, "add", "harness-uq.toml")
    git(checkout, "commit", "--quiet", "--message", "base")
    revision = git(checkout, "rev-parse", "HEAD")
    (checkout / "harness-uq.toml").write_text(_ONE_CLUSTER)
    git(checkout, "commit", "--quiet", "--all", "--message", "change under test")
    return revision


INPUTS = {"new": "new.csv", "baseline": "old.csv", "margin": "0.01"}


def test_the_action_ignores_settings_files(base: str, runner: Path) -> None:  # noqa: F811
    assert gate_of_folder() == 3
    code, summary, output = run(runner, **INPUTS)
    assert (code, output) == (1, "decision=fail\n")
    assert "No settings file is used." in summary


def gate_of_folder() -> int:
    return main(["gate", "new.csv", "--baseline", "old.csv", "--margin", "0.01"])


@pytest.mark.parametrize("name", ["harness-uq.toml", "absent.toml"])
def test_the_action_reads_settings_from_the_base(name: str, base: str, runner: Path) -> None:  # noqa: F811
    code, summary, output = run(runner, **INPUTS, settings=name, **{"settings-revision": base})
    if name == "absent.toml":
        assert (code, output) == (4, "decision=none\n")
    else:
        assert (code, output) == (1, "decision=fail\n")
        assert SETTINGS_USED.code in summary
    assert f"Settings: `{name}` of revision `{base}`." in summary


def test_actions_are_pinned_and_inputs_are_no_part_of_scripts() -> None:
    files = [ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]
    used = [line for file in files for line in re.findall(r"uses: *(\S+)", file.read_text())]
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})", name)] == []
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    assert not any("${{" in step["run"] for step in steps)
    (install,) = [step["run"] for step in steps if step["name"] == "install harness-uq"]
    assert '--constraint "$GITHUB_ACTION_PATH/constraints.txt"' in install
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    needed = [*project["dependencies"], *project["optional-dependencies"]["store"]]
    assert {re.match(r"[\w.-]+", requirement)[0] for requirement in needed} <= pinned
    assert "uses" not in {key for step in steps for key in step}
