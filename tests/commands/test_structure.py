"""`harness-uq structure` as a summary of data: commands, what is missing, and files that were not recognized."""

import json
import shlex
from pathlib import Path

import pytest

from harness_uq import detect_structure
from harness_uq.analyses.summarize_data import summarize_data
from harness_uq.commands.main import main
from harness_uq.io.nearest_format import SIGNATURES, nearest_format
from harness_uq.results.documents import render_results
from tests.data.toy import task_log
from tests.message_checks import has, params_of

TASKS = {"t": ("kind", "level"), "u": ("kind", "level"), "v": ("topic",)}
HEADER = "id,model,epoch,correct"


def table(systems: str, n_trials: int = 1, n_questions: int = 6) -> str:
    """Rows of each system, question and trial."""
    rows = [
        f"q{question},{system},{trial},{(question + trial + ord(system)) % 2}"
        for system in systems
        for question in range(n_questions)
        for trial in range(n_trials)
    ]
    return "\n".join([HEADER, *rows]) + "\n"


def summary_of(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, object]:
    """The summary that the command prints as JSON."""
    assert main(["structure", *arguments, "--format", "json", "--isolated"]) == code
    return json.loads(capsys.readouterr().out)["summary"]


@pytest.mark.parametrize(
    ("systems", "n_trials", "expected"),
    [("a", 1, ["estimate"]), ("ab", 5, ["compare", "estimate", "estimate"]), ("abc", 1, ["rank", "estimate"])],
)
def test_each_command_that_is_suggested_runs(
    systems: str, n_trials: int, expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my scores.csv"
    path.write_text(table(systems, n_trials))
    summary = summary_of(capsys, str(path), "--range", "correct=0,1")
    assert summary["n_scores"] == len(systems) * 6 * n_trials
    assert (summary["n_systems"], summary["n_tasks"], summary["n_questions"]) == (len(systems), 1, 6)
    lines = [shlex.split(one["command"]) for one in summary["commands"]]
    assert [line[1] for line in lines] == expected
    for program, *arguments in lines:
        assert program == "harness-uq"
        assert "--range" in arguments
        assert main(arguments) == 0


def test_the_text_ends_with_the_commands_and_with_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scores.csv").write_text(table("ab", 5))
    (tmp_path / "other.json").write_text('{"a": 1}')
    assert main(["structure", str(tmp_path), "--isolated"]) == 0
    out = capsys.readouterr().out
    places = [out.index(text) for text in ("60 scored trials of 6 questions", "harness-uq compare", "UQ418", "UQ311")]
    assert places == sorted(places)


def test_check_fails_if_trials_are_not_numbered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,correct\na,1\na,0\nb,1\n")
    assert main(["structure", str(path)]) == 0
    assert main(["structure", str(path), "--check"]) == 1
    capsys.readouterr()
    summary = summary_of(capsys, str(path))
    assert summary["is_identified"] is False
    assert "UQ416" in [message["code"] for message in summary["missing"]]
    path.write_text("id,trial,correct\na,1,1\na,2,0\nb,1,1\n")
    assert main(["structure", str(path), "--check"]) == 0


def test_check_fails_if_the_question_column_identifies_rows(tmp_path: Path) -> None:
    ids = [f"{n:032x}" for n in range(3)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["sample_id,epoch,score", *(f"{one},{n},1" for n, one in enumerate(ids))]))
    assert main(["structure", str(path), "--check"]) == 1


def test_check_fails_if_nothing_is_read(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    assert main(["structure", str(tmp_path), "--check"]) == 1


def test_a_mixed_folder_is_read_and_each_other_file_has_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scores.csv").write_text(table("ab"))
    (tmp_path / "prices.csv").write_text("model,dollars\nm,3\n")
    (tmp_path / "copy.json").write_text('{"n_total_trials": 3, "stats": {}}')
    (tmp_path / "cut.json").write_text('{"evalId": "e", "results": {"ver')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "readme.md").write_text("text")
    summary = summary_of(capsys, str(tmp_path), code=1)  # a damaged log
    assert summary["n_scores"] == 12
    assert {Path(one["path"]).name: one["message"]["code"] for one in summary["unrecognized"]} == {
        "prices.csv": "UQ312",
        "copy.json": "UQ339",
        "cut.json": "UQ304",
        "deep.json": "UQ304",
        "empty.jsonl": "UQ303",
    }
    assert summary["n_unrecognized"] == 6


def test_at_most_twenty_files_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scores.csv").write_text(table("a"))
    for n in range(30):
        (tmp_path / f"{n}.json").write_text("{}")
    summary = summary_of(capsys, str(tmp_path))
    assert (len(summary["unrecognized"]), summary["n_unrecognized"]) == (20, 30)


def test_the_nearest_format_is_named_with_what_the_file_lacks(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps([{"instance_id": "id0", "stats": []}]))
    message = nearest_format(str(path))
    assert message is not None
    assert params_of(message, "resembles-format") == {
        "format": "statistics of HELM",
        "reason": "has no `train_trial_index`",
    }
    path.write_text(json.dumps({"evalId": 1, "results": {"version": 4, "results": []}, "config": {}}))
    message = nearest_format(str(path))
    assert message is not None
    assert "`results.version` is 4" in params_of(message, "resembles-format")["reason"]
    path.write_text(json.dumps({"results": {}, "name": "x"}))
    assert nearest_format(str(path)) is None


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.name)
def test_a_file_with_all_members_of_a_format_resembles_it(signature: object, tmp_path: Path) -> None:
    document: dict[str, object] = {}
    for member in signature.members:
        *parents, last = member.split(".")
        parent = document
        for name in parents:
            parent = parent.setdefault(name, {})
        parent.setdefault(last, {})
    path = tmp_path / "file.jsonl"
    path.write_text(json.dumps(document) + "\n")
    assert params_of(nearest_format(str(path)), "resembles-format")["format"] == signature.name


def test_what_further_analyses_require_is_reported() -> None:
    fields = {"kind": [f"k{n % 2}" for n in range(40)], "passage": [f"p{n // 2}" for n in range(40)]}
    a = task_log([n % 3 for n in range(40)], system="a", metric="points", fields=fields)
    b = task_log([n % 3 for n in range(40)], system="b", metric="points", ids=[f"other{n}" for n in range(40)])
    summary = summarize_data(detect_structure([a, b]), ["logs"])
    for name in ("single-trials", "questions-not-shared", "range-unknown", "no-cluster-field"):
        assert has(summary.missing, name)
    assert summary.breakdown_fields == {"toy": ("kind", "passage")}
    assert summary.n_questions == 80


def test_the_fields_of_each_task_are_listed_if_they_differ() -> None:
    fields = {name: ["x", "y"] * 20 for name in ("kind", "level", "topic")}
    logs = [
        task_log([1] * 40, task=task, fields={name: fields[name] for name in names}) for task, names in TASKS.items()
    ]
    summary = summarize_data(detect_structure(logs))
    assert "\n  t, u: kind, level\n  v: topic" in render_results([summary], "table")
    assert "\n  kind, level" in render_results([summarize_data(detect_structure(logs[:2]))], "table")
