"""Mappings in the settings file: scores in JSON and JSON Lines files of any structure."""

import json
import pickle
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from harness_uq import LogError, TaskLog, read_logs
from harness_uq.commands.main import main
from harness_uq.data.resources import ResourceOptions
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.protocols import Discovery, Run
from harness_uq.io.tables.mapping import mapping_of
from harness_uq.io.tables.read_table import with_columns
from harness_uq.io.tables.suggest_mapping import suggest_mapping
from tests.data.toy import task_log
from tests.message_checks import find, params_of, raises_message

pytest.importorskip("jmespath")

MAPPING = {
    "files": "*.jsonl",
    "question": "task.id",
    "trial": "attempt",
    "score": "result.scores.*",
    "system": "agent.name",
    "task": "'suite'",
    "cluster": "task.repository",
    "cost": "usage.dollars",
}


def record(system: str, question: int, trial: int) -> dict[str, object]:
    """A nested record whose score acc is 1 if the sum of question and trial is even."""
    return {
        "task": {"id": f"q{question}", "repository": f"r{question // 2}"},
        "agent": {"name": system},
        "attempt": trial,
        "result": {"scores": {"acc": (question + trial) % 2 == 0, "points": question, "comment": "text"}},
        "usage": {"dollars": 0.5 * (trial + 1)},
    }


RECORDS = [record(system, question, trial) for system in "ab" for question in range(4) for trial in range(3)]


def write_lines(folder: Path, records: object = RECORDS, name: str = "runs.jsonl") -> Path:
    """The records as JSON Lines."""
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def read(path: Path, mapping: dict[str, object]) -> list[TaskLog]:
    """The logs that are read by a mapping."""
    plugins = with_columns(load_plugins(), {}, {"runs": mapping})
    return list(read_logs(path, harnesses=plugins.harnesses, strict=True).logs)


def test_nested_lines_are_read_with_all_roles(tmp_path: Path) -> None:
    logs = read(write_lines(tmp_path), MAPPING)
    assert [(log.system, log.task) for log in logs] == [("a", "suite"), ("b", "suite")]
    log = logs[0]
    assert log.questions.ids == ("q0", "q1", "q2", "q3")
    scores = {data.metric: data.values.tolist() for data in log.data}
    assert scores == {
        "acc": [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]] * 2,
        "points": [[float(question)] * 3 for question in range(4)],
    }
    assert log.declared is not None
    assert log.questions.fields[log.declared.cluster].codes.tolist() == [0, 0, 1, 1]


def test_cost_is_read_on_request(tmp_path: Path) -> None:
    plugins = with_columns(load_plugins(), {}, {"runs": MAPPING})
    reader = plugins.harnesses["table"].with_resources(ResourceOptions())
    path = str(write_lines(tmp_path))
    (log, _) = reader.read(Run(path, (path,)))
    assert log.resources.cost.tolist() == [[0.5, 1.0, 1.5]] * 4


@pytest.mark.parametrize(
    ("document", "rows", "question"),
    [
        ({"model": "m", "out": {"items": [{"id": 1, "ok": True}, {"id": 2, "ok": False}]}}, "out.items", "id"),
        ({"model": "m", "items": [{"x": {"id": 1, "ok": True}}, {"x": {"id": 2, "ok": False}}]}, "items[].x", "id"),
        ({"model": "m", "items": [{"v": {"a": 1}, "ok": True}, {"v": {"a": 2}, "ok": False}]}, "items", "v"),
    ],
)
def test_records_of_a_document(document: object, rows: str, question: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(document))
    mapping = {"files": "*.json", "rows": rows, "question": question, "score": {"right": "ok"}, "system": "$.model"}
    (log,) = read(path, mapping)
    assert (log.system, log.data[0].metric, log.data[0].values.tolist()) == ("m", "right", [[1.0], [0.0]])


def test_lines_with_several_records_each(tmp_path: Path) -> None:
    lines = [{"id": f"q{n}", "attempts": [{"id": f"q{n}", "ok": n > k} for k in range(2)]} for n in range(3)]
    mapping = {"files": "*.jsonl", "rows": "attempts", "question": "id", "score": "ok"}
    (log,) = read(write_lines(tmp_path, lines), mapping)
    assert log.data[0].values.tolist() == [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]


def test_a_score_that_a_record_lacks_is_missing(tmp_path: Path) -> None:
    lines = [{"id": 1, "s": {"a": 1}}, {"id": 2, "s": {"b": 1}}, {"id": 3, "s": {"a": None, "b": 0}}]
    (log,) = read(write_lines(tmp_path, lines), {"files": "*", "question": "id", "score": "s.*"})
    np.testing.assert_equal(
        {data.metric: data.values.ravel().tolist() for data in log.data},
        {"a": [1, np.nan, np.nan], "b": [np.nan, 1, 0]},
    )


def test_in_a_csv_file_expressions_are_columns(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("nr,right,points\n1,1,5\n2,0,6\n")
    (log,) = read(tmp_path, {"files": "s.csv", "question": "nr", "score": ["right", "points"]})
    assert {data.metric: data.values.ravel().tolist() for data in log.data} == {"right": [1, 0], "points": [5, 6]}


class _Harness:
    """A reader that recognizes all files."""

    name = "harness"

    def find(self, paths: Sequence[str]) -> Discovery:
        return Discovery(tuple(Run(path, (path,)) for path in paths))

    def read(self, run: Run) -> list[TaskLog]:
        return [task_log([1, 0], task="log of the harness")]


def test_a_mapping_does_not_change_how_logs_of_harnesses_are_read(tmp_path: Path) -> None:
    plugins = with_columns(load_plugins(), {}, {"runs": MAPPING | {"files": "*"}})
    readers = {"harness": _Harness(), "table": plugins.harnesses["table"]}
    (log,) = read_logs(write_lines(tmp_path), harnesses=readers, strict=True).logs
    assert log.task == "log of the harness"


def test_files_that_do_not_match_are_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("id,correct\n1,1\n")
    write_lines(tmp_path)
    logs = read(tmp_path, MAPPING)
    assert sorted({log.task for log in logs}) == ["scores", "suite"]


@pytest.mark.parametrize("role", ["question", "score", "system", "rows"])
def test_an_expression_that_matches_nothing_is_named(role: str, tmp_path: Path) -> None:
    mapping = MAPPING | {role: "absent"}
    with pytest.raises(LogError) as raised:
        read(write_lines(tmp_path), mapping)
    params = params_of(raised.value, "mapping-matches-nothing")
    assert (params["role"], params["expression"], params["table"]) == (role, "absent", "runs")


@pytest.mark.parametrize(
    ("content", "label"),
    [("", "file-empty"), ('{"a": [1', "invalid-json"), ("[" * 100_000, "invalid-json"), ("{}", "mapping-needs-rows")],
)
def test_a_damaged_document_is_a_named_error_and_other_files_are_read(content: str, label: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(content)
    write_lines(tmp_path)
    plugins = with_columns(load_plugins(), {}, {"a": MAPPING, "b": MAPPING | {"files": "bad.json"}})
    reading = read_logs(tmp_path, harnesses=plugins.harnesses)
    assert len(reading.logs) == 2
    assert find([message for _, message in reading.warnings], label)
    with raises_message(LogError, label):
        read_logs(tmp_path / "bad.json", harnesses=plugins.harnesses, strict=True)


def test_a_line_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path)
    path.write_text(path.read_text()[:-30])
    with pytest.raises(LogError, match="line 24"):
        read(path, MAPPING)


@pytest.mark.parametrize(
    "change",
    [{"points": "x"}, {"score": ""}, {"question": 3}, {"files": [3]}, {"trial": "a["}, {"score": "[a, b]"}],
)
def test_invalid_mappings_are_refused_before_a_file_is_read(change: dict[str, object]) -> None:
    with pytest.raises(LogError, match=r"\[tables\.runs\]"):
        mapping_of("runs", MAPPING | change)


def settings(folder: Path) -> Path:
    """A settings file with the mapping."""
    path = folder / "harness-uq.toml"
    path.write_text("[tables.runs]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in MAPPING.items()))
    return path


def test_commands_use_the_settings_file_unless_isolated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(tmp_path)
    path = settings(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "runs.jsonl", "--metric", "acc", "--range", "acc=0,1"]) == 0
    assert main(["estimate", "runs.jsonl", "--isolated"]) == 1
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    path.rename(tmp_path / "other.toml")
    assert main(["estimate", "../runs.jsonl"]) == 1
    assert main(["estimate", "../runs.jsonl", "--settings", "../other.toml"]) == 0
    (tmp_path / "other.toml").write_text('[tables.runs]\nfiles = "*"\nquestion = "id"\nscore = "a["\n')
    assert main(["estimate", "../runs.jsonl", "--settings", "../other.toml"]) == 2


def test_columns_on_the_command_line_replace_mappings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lines(tmp_path, [{"id": 1, "ok": True, "x": {}}], "runs.jsonl")
    settings(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["estimate", "runs.jsonl"]) == 1
    assert main(["estimate", "runs.jsonl", "--column", "score=ok"]) == 0


def test_readers_with_mappings_can_be_pickled_and_have_versions_of_their_own() -> None:
    readers = [
        with_columns(load_plugins(), {}, {"runs": MAPPING | {"score": score}}).harnesses["table"]
        for score in ("a", "b")
    ]
    assert pickle.loads(pickle.dumps(readers[0])) == readers[0]
    assert readers[0].version != readers[1].version


@pytest.mark.parametrize("kind", ["lines", "document"])
def test_a_suggested_mapping_reads_the_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "runs [1].json"
    if kind == "lines":
        path = write_lines(tmp_path, RECORDS, "runs [1].jsonl")
    else:
        path.write_text(json.dumps({"about": {"x": 1}, "out": {"records": RECORDS}}))
    ((_, suggested),) = tomllib.loads(suggest_mapping(str(path)))["tables"].items()
    assert suggested["score"] == "result.scores.*"
    assert (suggested["question"], suggested["trial"], suggested["system"]) == ("task.id", "attempt", "agent.name")
    mapped = read(path, suggested)
    assert [log.system for log in mapped] == ["a", "b"]
    expected = read(write_lines(tmp_path), MAPPING)
    for log, other in zip(mapped, expected, strict=True):
        for data, wanted in zip(log.data, other.data, strict=True):
            assert data.values.tolist() == wanted.values.tolist()


def test_a_suggestion_is_valid_toml_and_prints_no_values(tmp_path: Path) -> None:
    lines = [{'a "b"\x1b\u202e': n, "ok": n > 0, "answer": "secret content"} for n in range(3)]
    text = suggest_mapping(str(write_lines(tmp_path, lines)))
    assert "secret content" not in text
    assert text.replace("\n", "").isprintable()
    assert tomllib.loads(text)["tables"]["runs"]["score"] == "ok"


@pytest.mark.parametrize(
    ("name", "content", "label"),
    [
        ("a.jsonl", "", "file-empty"),
        ("a.json", "", "file-empty"),
        ("a.json", "[1, 2]", "mapping-not-suggested"),
        ("a.json", '{"a": ', "invalid-json"),
        ("a.parquet", "PAR1", "mapping-not-suggested"),
    ],
)
def test_a_file_without_records_has_no_suggestion(name: str, content: str, label: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with raises_message(LogError, label):
        suggest_mapping(str(path))


def test_the_command_prints_the_suggestion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path)
    assert main(["structure", str(path), "--suggest-mapping", "--isolated"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["tables"]["runs"]["trial"] == "attempt"
