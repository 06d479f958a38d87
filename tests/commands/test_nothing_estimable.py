"""If options request a quantity that no score has, the exit code is 1 and the error states the reason."""

import json
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from harness_uq.messages import Message
from tests.message_checks import has


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table of two systems with one trial per question, and a task with four trials per question."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{s},once,{q},0,{(q + k) % 2}" for k, s in enumerate("ab") for q in range(12)]
    rows += [f"{s},often,{q},{t},{(q * t + k) % 2}" for k, s in enumerate("ab") for q in range(12) for t in range(4)]
    Path("scores.csv").write_text("\n".join(["model,task,question,trial,score", *rows]), encoding="utf-8")
    return "scores.csv"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[Message]]:
    """Exit code of a command, and the errors in its JSON document."""
    code = main([*arguments, "--format", "json"])
    captured = capsys.readouterr()
    errors = json.loads(captured.out)["errors"]
    assert all(error["text"] in captured.err for error in errors)
    return code, [Message.from_dict(error) for error in errors]


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--estimand", "pass@9"), "--estimand pass@9"),
        (("--scope", "full"), "--scope full"),
        (("--method", "pass-k-unbiased"), "--method pass-k-unbiased"),
        (("--generalize-over", "task", "--task", "once"), "--generalize-over task"),
    ],
)
def test_a_request_that_no_score_supports_is_an_error(
    scores: str, arguments: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, errors = run(capsys, "estimate", scores, *arguments)
    assert code == 1
    assert has(errors, "nothing-estimable", options=(option,))


def test_a_request_that_some_scores_support_is_a_success(scores: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "estimate", scores, "--estimand", "pass@2") == (0, [])
    assert run(capsys, "estimate", scores, "--generalize-over", "task") == (0, [])


def test_without_a_request_a_score_needs_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "one.csv"
    table.write_text("model,task,question,score\na,t,1,0.7\n", encoding="utf-8")
    assert run(capsys, "estimate", str(table)) == (0, [])


def test_reports_and_comparisons_have_the_same_exit_code(scores: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert has(run(capsys, "report", scores, "--scope", "full")[1], "nothing-estimable")
    table = Path("one.csv")
    table.write_text("model,task,question,score\na,t,1,0.7\nb,t,1,0.9\n", encoding="utf-8")
    code, errors = run(capsys, "compare", str(table), "--method", "t")
    assert code == 1
    assert has(errors, "nothing-estimable", options=("--method t",))
    assert run(capsys, "compare", str(table)) == (0, [])


def test_rescore_ends_with_the_same_exit_code(scores: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rescore", scores, "--scope", "full", "--output-dir", "out", "--format", "eee"]) == 1
    assert "UQ911" in capsys.readouterr().err
