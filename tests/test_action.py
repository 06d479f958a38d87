"""The composite action: its own shell steps, run as a runner runs them."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.forked_runs import forked_program

yaml = pytest.importorskip("yaml")
PYTHON_PATH = os.pathsep.join(map(str, (ROOT, ROOT / "adapters")))
MODULES = (
    "harness_uq.commands.main",
    "harness_uq.analyses.gating.gate",
    "harness_uq.analyses.gating.self_test",
    "harness_uq.results.gate",
)
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """Folder of a runner, with the command `harness-uq` in `bin` and tables of runs."""
    program = tmp_path / "bin" / "harness-uq"
    program.parent.mkdir()
    code = "from harness_uq.commands.main import main; raise SystemExit(main())"
    forked_program(program, code, modules=MODULES, python_path=PYTHON_PATH)
    for name, n_right in (("old", 300), ("same", 300), ("worse", 200), ("near", 285)):
        rows = "".join(f"q{i},{int(i < n_right)}\n" for i in range(400))
        (tmp_path / f"{name}.csv").write_text("id,correct\n" + rows)
    return tmp_path


def run(runner: Path, **given: str) -> tuple[int, str, str]:
    """Exit code of the steps, the summary, and the outputs."""
    inputs = {name: str(info.get("default", "")) for name, info in ACTION["inputs"].items()} | given
    environment = {
        **os.environ,
        "PATH": f"{runner / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": PYTHON_PATH,
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
        "GITHUB_OUTPUT": str(runner / "output"),
        "GITHUB_ACTION_PATH": str(ROOT),
        "RUNNER_TEMP": str(runner),
    }
    for step in ACTION["runs"]["steps"]:
        own = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], text)
            for name, text in step.get("env", {}).items()
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=runner, env=environment | own, capture_output=True, text=True)
        if done.returncode:
            break
    texts = [path.read_text() if path.exists() else "" for path in (runner / "summary.md", runner / "output")]
    return done.returncode, texts[0], texts[1]


@pytest.mark.parametrize(
    ("new", "undecided", "code", "decision"),
    [
        ("same", "pass", 0, "pass"),
        ("worse", "pass", 1, "fail"),
        pytest.param("near", "pass", 0, "undecided", marks=pytest.mark.slow),
        pytest.param("near", "fail", 1, "undecided", marks=pytest.mark.slow),
        pytest.param("none", "pass", 4, "none", marks=pytest.mark.slow),
    ],
)
def test_the_steps_end_as_the_gate_decides(runner: Path, new: str, undecided: str, code: int, decision: str) -> None:
    inputs = {"new": f"candidate={new}.csv", "baseline": "main=old.csv", "margin": "0.05", "undecided": undecided}
    found, summary, output = run(runner, **inputs)
    assert (found, output) == (code, f"decision={decision}\n")
    assert summary.startswith(f"## Evaluation gate: {decision}\n")
    assert ("| Task | Metric |" in summary) == (decision != "none")
    assert ("No such file" in summary) == (decision == "none")


@pytest.mark.slow
def test_further_arguments_several_margins_and_the_self_test(runner: Path) -> None:
    more = {"arguments": "--seed=3\n--n-simulations=5\n", "self-test": "true", "level": "0.9"}
    code, summary, _ = run(runner, new="same.csv", baseline="old.csv", margin="0.05 correct=0.1", **more)
    assert code == 0
    assert "90% interval" in summary
    assert "5 gates (halves of the questions" in summary
    assert "0.1 |" in summary


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "code", "decision"), [("0.6", 0, "pass"), ("0.6 scores=0.9", 1, "fail")])
def test_required_scores_need_no_baseline(runner: Path, bound: str, code: int, decision: str) -> None:
    found, summary, _ = run(runner, new="same.csv", **{"at-least": bound})
    assert (found, summary.splitlines()[0]) == (code, f"## Evaluation gate: {decision}")


@pytest.mark.slow
def test_several_baseline_runs_and_the_annotations(runner: Path) -> None:
    baseline = "main=old.csv\nmain=near.csv\n"
    code, summary, _ = run(runner, new="candidate=worse.csv", baseline=baseline, **{"improve-by": "0.01"})
    assert code == 1
    assert "candidate is not better than main" in summary
    assert "one-baseline-run" not in summary
    lines = (runner / "gate.annotations").read_text().splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::notice"]
    assert lines[0].startswith("::error title=scores%3A correct better by more than 0.01::candidate: 0.5000, main: 0.7")


@pytest.mark.slow
def test_several_new_runs_are_runs_of_one_system(runner: Path) -> None:
    runs = {"new": "candidate=same.csv\n\ncandidate=near.csv\n", "baseline": "main=old.csv\nmain=near.csv\n"}
    code, summary, _ = run(runner, margin="0.2", **runs)
    assert code == 0
    assert "| 2, 2 |" in summary


def test_each_line_is_one_argument_and_new_runs_are_no_options(runner: Path) -> None:
    """A program that prints its arguments replaces harness-uq."""
    (runner / "bin" / "harness-uq").write_text('#!/bin/bash\nprintf "<%s>" "$@" > "$RUNNER_TEMP/given"\n')
    spell = "$(touch spoiled) `touch spoiled`; touch *"
    code, *_ = run(runner, new=f"a b.csv\n--output=x\n{spell}\n", baseline=f"c d\n{spell}")
    assert code == 0
    given = (runner / "given").read_text()
    assert given.endswith(f"<--><a b.csv><--output=x><{spell}>")
    assert f"<--baseline><c d><{spell}>" in given
    assert not (runner / "spoiled").exists()


def test_what_is_given_is_never_run(runner: Path) -> None:
    spell = "$(touch spoiled) `touch spoiled`; touch spoiled"
    code, _, output = run(
        runner, new=spell, baseline=spell, margin="0.05", arguments=spell, undecided=spell, level=spell
    )
    assert (code, output) == (2, "decision=none\n")
    assert not (runner / "spoiled").exists()
    assert not any("${{" in step["run"] for step in ACTION["runs"]["steps"])
