"""What is said of a release in several places is said alike."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import harness_uq
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = [path.read_text() for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))]


def test_the_citation_names_this_version_licence_and_authors() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    wanted = (
        f"version: {harness_uq.__version__}",
        f"license: {PROJECT['license']}",
        f"name: {PROJECT['authors'][0]['name']}",
    )
    assert [line for line in wanted if line not in citation] == []


def test_the_changelog_begins_with_this_version_and_ends_its_sections() -> None:
    sections = re.findall(
        r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert sections[0][0] == harness_uq.__version__
    assert PROJECT["license"] == "Apache-2.0"
    assert not [line for line in PROJECT["classifiers"] if line.startswith("License")]


def test_the_drafts_for_other_projects_name_what_the_package_registers() -> None:
    draft = (ROOT / "docs" / "upstream" / "lm-eval-plugin.md").read_text()
    assert [name for name in PROJECT["entry-points"]["lm_eval.aggregations"] if f"`{name}`" not in draft] == []


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(("target", "extras"), [("demo", "lm-eval,inspect"), ("install", "dev")])
def test_a_target_of_make_installs_what_it_needs(target: str, extras: str, tmp_path: Path) -> None:
    command = ["make", "--dry-run", f"VENV={tmp_path}", target]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r'--editable "\.\[(.*)\]"', printed) == [extras]


def test_workflows_run_sessions_that_there_are() -> None:
    sessions = set(re.findall(r"^def ([a-z]\w+)\(session", (ROOT / "noxfile.py").read_text(), re.MULTILINE))
    run = re.findall(r"nox --sessions ([a-z][\w ]*)", "\n".join(WORKFLOWS))
    matrix = re.findall(r"session: \[([\w, ]+)\]", "\n".join(WORKFLOWS))
    named = {name for names in run + matrix for name in re.split(r"[ ,]+", names) if name}
    assert len(named) > 8
    assert named <= sessions


def test_workflows_try_every_python_that_the_classifiers_promise() -> None:
    promised = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    (matrix,) = re.findall(r"python: \[(.*)\]", "\n".join(WORKFLOWS))
    assert re.findall(r"3\.\d+", matrix) == promised


def test_every_tool_of_the_checks_has_its_tested_version() -> None:
    tools = {re.split(r"[>=\[]", name)[0] for name in PROJECT["optional-dependencies"]["dev"]} - {"harness-uq"}
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    assert tools <= pinned
