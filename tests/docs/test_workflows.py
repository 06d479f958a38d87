"""The example workflows: their commands and inputs exist, and the first example of the gate runs as written."""

import re
import shlex
from pathlib import Path

import pytest

from harness_uq import __version__
from harness_uq.commands.main import main
from harness_uq.commands.parser import COMMANDS, build_parser
from tests.conftest import ROOT

yaml = pytest.importorskip("yaml")
FOLDER = ROOT / "examples" / "ci"


def test_the_inputs_of_the_github_workflow_are_those_of_the_action() -> None:
    workflow = yaml.safe_load((FOLDER / "github-actions.yml").read_text())
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (given,) = [step["with"] for step in workflow["jobs"]["gate"]["steps"] if "harness-uq@" in step.get("uses", "")]
    assert set(given) <= set(action["inputs"])
    assert len(given["baseline"].splitlines()) == 3
    assert build_parser(COMMANDS["gate"]).parse_args(["new", *given["arguments"].splitlines()])


def test_the_guide_shows_the_github_workflow_with_this_version_of_the_action() -> None:
    text = (FOLDER / "github-actions.yml").read_text()
    assert f"```yaml\n{text}```" in (ROOT / "docs" / "howto" / "gate.md").read_text()
    assert f"uses: harness-uq/harness-uq@v{__version__}\n" in text


def test_the_gate_reads_the_artifacts_that_the_github_workflow_uploads() -> None:
    jobs = yaml.safe_load((FOLDER / "github-actions.yml").read_text())["jobs"]
    (artifact,) = [step["with"]["name"] for step in jobs["baseline"]["steps"] if "upload" in step.get("uses", "")]
    names = [artifact.replace("${{ matrix.run }}", str(run)) for run in jobs["baseline"]["strategy"]["matrix"]["run"]]
    (given,) = [step["with"] for step in jobs["gate"]["steps"] if "harness-uq@" in step.get("uses", "")]
    assert given["baseline"].split() == [f"main=baseline/{name}" for name in names]


def test_the_commands_of_the_gitlab_pipeline_parse() -> None:
    pipeline = yaml.safe_load((FOLDER / "gitlab-ci.yml").read_text())
    lines = [line for job in ("gate", "history") for line in pipeline[job]["script"] if line.startswith("harness-uq")]
    for line in lines:
        _, command, *arguments = shlex.split(line)
        assert build_parser(COMMANDS[command]).parse_args(arguments)
    assert pipeline["gate"]["artifacts"]["reports"]["junit"] in lines[0]


def test_the_first_example_of_the_gate_runs_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "howto" / "gate.md").read_text()
    commands = re.findall(r"^\$ harness-uq (gate .*)$", page, re.MULTILINE)[:2]
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert ["--baseline" in command for command in commands] == [True, False]
    for command in commands:
        capsys.readouterr()
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out.startswith("PASS: ")
