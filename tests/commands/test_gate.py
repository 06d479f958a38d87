"""`harness-uq gate` on the command line."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import harness_uq
from harness_uq.commands.main import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, n_right in (("old", 300), ("same", 300), ("worse", 200), ("near", 285)):
        rows = "".join(f"q{i},{int(i < n_right)}\n" for i in range(400))
        (tmp_path / f"{name}.csv").write_text("id,correct\n" + rows)
    return tmp_path


def gate(folder: Path, new: str, *more: str) -> int:
    return main(["gate", str(folder / f"{new}.csv"), "--baseline", str(folder / "old.csv"), "--margin", "0.05", *more])


@pytest.mark.parametrize(("new", "code"), [("same", 0), ("worse", 1), ("near", 3)])
def test_exit_codes_are_the_decisions(folder: Path, capsys: pytest.CaptureFixture[str], new: str, code: int) -> None:
    assert gate(folder, new) == code
    assert capsys.readouterr().out.strip().startswith({0: "PASS", 1: "FAIL", 3: "UNDECIDED"}[code])


@pytest.mark.parametrize("name", ["gate.md", "gate.json", "gate.xml"])
def test_the_decision_is_printed_first_if_the_results_go_to_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert gate(folder, "worse", "--output", str(folder / name)) == 1
    out, err = capsys.readouterr()
    assert out.startswith("FAIL: worse is worse than old by more than the margin")
    assert "settings file" not in err
    assert gate(folder, "worse", "--format", "markdown") == 1
    assert capsys.readouterr().out.startswith("**FAIL: ")


def test_a_log_that_cannot_be_read_is_no_decision(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(folder, "none") == 4
    assert "No such file or folder" in capsys.readouterr().err


def test_runs_that_have_nothing_in_common_are_no_decision(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"q{i},m,1\n" for i in range(9))
    (folder / "other.csv").write_text("id,metric,score\n" + rows + rows.replace(",m,", ",n,"))
    assert gate(folder, "other") == 4
    assert "No decision: The systems have no task and metric in common" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "No margin given. Set one, such as --margin 0.01"),
        (
            ("--margin", "0.05", "--margin", "f1=0.1"),
            "Unknown task or metric of --margin: 'f1'. Available names: correct, overall, scores.",
        ),
        (("--margin", "-1"), "Give the smallest difference that matters"),
        (("--margin", "correct=x"), "Give the smallest difference that matters"),
        (("--margin", "5"), "Did you mean 0.05?"),
        (("--margin", "0.05", "--metric", "f1"), "No metric matches 'f1'. Available metrics: correct."),
        (("--margin", "0.05", "--self-test"), "not allowed with argument --baseline"),
    ],
)
def test_wrong_arguments_are_wrong_arguments(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    paths = [str(folder / "same.csv"), "--baseline", str(folder / "old.csv")]
    assert main(["gate", *paths, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_metric_and_a_task_have_their_own_margins_the_task_s_first(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(folder, "worse", "--margin", "correct=0.5") == 0
    assert " 0.5 " in capsys.readouterr().out
    assert gate(folder, "worse", "--margin", "scores=0.5", "--margin", "correct=0.01") == 0


def test_names_are_given_as_in_compare(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [f"candidate={folder / 'same.csv'}", "--baseline", f"main={folder / 'old.csv'}"]
    assert main(["gate", *paths, "--margin", "0.05", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["gates"][0]["rows"]
    assert (row["system_a"], row["system_b"]) == ("candidate", "main")


def test_the_self_test_prints_a_rate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["gate", str(folder / "old.csv"), "--self-test", "--n-simulations", "5", "--margin", "0.05"]
    assert main(arguments) == 0
    assert "old against itself: 5 gates (halves of the questions" in capsys.readouterr().out
    assert main([*arguments[:3], "epochs", *arguments[3:]]) == 4
    assert "tried twice or more" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--at-least", "0.6"), 0),
        (("--at-least", "scores=0.6", "--at-most", "scores:correct=0.9"), 0),
        (("--at-least", "0.9"), 1),
        (("--at-most", "0.6"), 1),
        (("--at-least", "0.74"), 3),
        (("--at-least", "0.74", "--on-undecided", "fail"), 1),
        (("--at-least", "0.74", "--on-undecided", "pass"), 0),
        (("--at-least", "other=0.6"), 4),
        (("--at-least", "0.6", "--at-least", "scores=0.9"), 1),
    ],
)
def test_bounds_need_no_baseline(folder: Path, arguments: tuple[str, ...], code: int) -> None:
    assert main(["gate", str(folder / "same.csv"), *arguments]) == code


def test_an_undecided_score_that_the_gate_does_not_need_is_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its test case has the name "not worse by more than …", which is not shown."""
    logs = harness_uq.demo(tmp_path) / "lm-eval"
    arguments = ["gate", str(logs / "scripted-small"), "--baseline", str(logs / "scripted-large"), "--metric", "acc"]
    assert main([*arguments, "--margin", "0.02", "--format", "junit"]) == 1
    cases = {case.get("classname"): case[0] for case in ET.fromstring(capsys.readouterr().out).iter("testcase")}
    assert cases["demo_passages"].tag == cases["demo_copying"].tag == "skipped"
    assert cases["demo_passages"].get("message").startswith("undecided, and not necessary for a pass: ")
    assert cases["overall"].tag == "failure"
    assert main([*arguments, "--margin", "0.02", "--format", "github"]) == 1
    assert not re.search("title=[^:]*demo_passages", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("option", "code", "start", "tag", "severity"),
    [
        (None, 3, "UNDECIDED: ", "error", "error"),
        ("pass", 0, "UNDECIDED, counts as a pass (--on-undecided pass): ", "skipped", "warning"),
        ("fail", 1, "UNDECIDED, counts as a failure (--on-undecided fail): ", "failure", "error"),
    ],
)
def test_an_undecided_gate_is_the_same_everywhere(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str | None, code: int, start: str, tag: str, severity: str
) -> None:
    arguments = ["gate", str(folder / "same.csv"), "--at-least", "0.74", "--annotations", str(folder / "annotations")]
    arguments += [] if option is None else ["--on-undecided", option]
    printed = {}
    for form in ("table", "markdown", "junit", "json"):
        assert main([*arguments, "--format", form]) == code
        printed[form] = capsys.readouterr().out
    assert printed["table"].replace("\n", " ").startswith(start)
    assert printed["markdown"].startswith(f"**{start}")
    (case,) = ET.fromstring(printed["junit"]).iter("testcase")
    assert (case[0].tag, case[0].get("message").partition(": ")[0]) == (tag, start[:-2].lower())
    lines = (folder / "annotations").read_text().splitlines()
    assert [line.partition(" ")[0] for line in lines] == [f"::{severity}", "::notice"]
    assert f"Evaluation gate::{start}" in lines[1]
    (row,) = json.loads(printed["json"])["gates"]
    assert (row["decision"], row["on_undecided"], row["outcome"]) == ("undecided", option, option or "undecided")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--at-least", "60"), "Did you mean 0.6?"),
        (
            ("--at-least", "other=0.6"),
            "A bound names task 'other', but the selection of tasks (--task) contains only t.",
        ),
        (("--at-least", "nosuch=0.6"), "Unknown task of a requirement: 'nosuch'"),
        (("--baseline", "old.csv", "--margin", "other=0.1"), "--margin names task 'other'"),
        (("--baseline", "old.csv", "--improve-by", "other=0.1"), "A required improvement names task 'other'"),
    ],
)
def test_bounds_out_of_range_and_requirements_of_excluded_tasks_are_explained(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{task},q{i},{i % 2}\n" for task in ("t", "other") for i in range(40))
    for name in ("new", "old"):
        (tmp_path / f"{name}.csv").write_text("task,id,score\n" + rows)
    assert main(["gate", "new.csv", *arguments, "--task", "t"]) in (2, 4)
    assert message in capsys.readouterr().err


def test_without_baseline_and_bound_there_is_nothing_to_decide(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate", str(folder / "same.csv")]) == 2
    assert "Nothing to decide" in capsys.readouterr().err


def test_bounds_of_the_settings_file_apply_and_the_command_line_replaces_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "harness-uq.toml").write_text("[at_least]\nscores = 0.9\n")
    monkeypatch.chdir(folder)
    assert main(["gate", "same.csv"]) == 1
    assert main(["gate", "same.csv", "--at-least", "scores=0.6"]) == 0
    assert main(["gate", "same.csv", "--isolated", "--at-least", "0.6"]) == 0


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two systems, of which the new one solves 30 of 200 further questions."""
    for name, right in (("old", 100), ("new", 130)):
        lines = ["question,language,score", *(f"q{i},{'de' if i % 2 else 'en'},{int(i < right)}" for i in range(200))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


GATE = ("gate", "new.csv", "--baseline", "old.csv", "--format", "json")


@pytest.mark.parametrize(
    ("text", "arguments", "code", "improvement"),
    [
        ("[gate]\nimprove_by = 0.05\n", (), 0, 0.05),
        ("[gate]\nimprove_by = 0.3\n", (), 1, 0.3),
        ("[gate]\nimprove_by = {scores = 0.3}\n", (), 1, 0.3),
        ("[gate]\nimprove_by = {scores = 0.3}\n", ("--improve-by", "0.05"), 0, 0.05),
        ("[gate]\nimprove_by = 0.05\n", ("--improve-by", "scores=0.3"), 1, 0.3),
        ("[gate]\nimprove_by = 0.3\n", ("--isolated", "--margin", "0.02"), 0, None),
    ],
)
def test_improvements_of_the_settings_file_apply_and_the_command_line_replaces_them(
    compared: Path,
    text: str,
    arguments: tuple[str, ...],
    code: int,
    improvement: float | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (compared / "harness-uq.toml").write_text(text)
    assert main([*GATE, *arguments]) == code
    (found,) = json.loads(capsys.readouterr().out)["gates"]
    assert found["rows"][0].get("improve_by") == improvement


def test_groups_of_the_settings_file_are_tested_and_the_command_line_replaces_them(
    compared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (compared / "harness-uq.toml").write_text('margin = 0.02\n[gate]\nby = ["language"]\n')
    main([*GATE])
    (found,) = json.loads(capsys.readouterr().out)["gates"]
    assert [row["task"] for row in found["rows"]] == ["scores", "scores, language: en", "scores, language: de"]
    assert main([*GATE, "--by", "absent"]) == 2
    capsys.readouterr()


def test_a_self_test_ignores_required_improvements_of_the_settings_file(compared: Path) -> None:
    (compared / "harness-uq.toml").write_text("margin = 0.1\n[gate]\nimprove_by = 0.3\n")
    assert main(["gate", "new.csv", "--self-test", "--n-simulations", "20"]) == 0


def test_json_and_csv_contain_the_requirements(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["gate", str(folder / "same.csv"), "--at-least", "0.6", "--format", "json"])
    (found,) = json.loads(capsys.readouterr().out)["gates"]
    (row,) = found["requirements"]
    assert (row["task"], row["requirement"], row["bound"], row["decision"]) == ("scores", "at_least", 0.6, "pass")
    assert row["value"] == 0.75
