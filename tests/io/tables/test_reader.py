"""Tables among the logs of harnesses."""

import json
from pathlib import Path

import pytest

from harness_uq import LogError, read_logs
from harness_uq.analyses.scan.scan_logs import scan
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.tables.read_table import with_columns
from harness_uq.io.tables.reader import TableReader
from tests.message_checks import has, params_of

TABLE = "id,model,correct\n1,m,1\n2,m,0\n"


def test_tables_are_found_in_folders_and_other_files_of_the_kind_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(TABLE)
    (tmp_path / "prices.csv").write_text("model,dollars\nm,3\n")
    (tmp_path / "events.jsonl").write_text('{"type": "start"}\n')
    reading = read_logs(tmp_path)
    assert [(log.system, log.task) for log in reading.logs] == [("m", "scores")]
    assert (reading.n_skipped, reading.failures, reading.warnings) == (2, (), ())


def test_a_file_that_was_named_says_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("model,dollars\nm,3\n")
    ((_, message),) = read_logs(path).failures
    assert "model, dollars" in params_of(message, "not-a-table")["reason"]


def test_where_columns_are_named_a_file_without_them_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("model,dollars\nm,3\n")
    (tmp_path / "other.csv").write_text("model,euros\nm,3\n")
    plugins = with_columns(load_plugins(), {"question": "model", "score": "dollars"})
    reading = read_logs(tmp_path, harnesses=plugins.harnesses)
    assert len(reading.logs) == 1
    assert has(dict(reading.warnings)[str(tmp_path / "other.csv")], "column-not-found", column="dollars")


def test_a_part_that_there_is_not_is_refused_before_any_file_is_read() -> None:
    with pytest.raises(LogError, match=r"Unknown role of --column: .points"):
        with_columns(load_plugins(), {"points": "x"})


SAMPLE = {"doc_id": 0, "doc": {"q": "?"}, "target": "a", "resps": [["a"]], "acc": 1.0, "filter": "none"}
OTHERS = {
    "samples of lm-eval in another order": dict(reversed(SAMPLE.items())),
    "samples of lm-eval with an id": {"id": 1, **SAMPLE},
    "events of another tool": {"sample_id": "a.1", "type": "match", "data": {"correct": True}, "score": 1},
    "predictions": {"instance_id": "x", "model_name_or_path": "m", "model_patch": "diff"},
}


@pytest.mark.parametrize("name", OTHERS)
def test_records_of_other_tools_are_no_tables(tmp_path: Path, name: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(OTHERS[name]) + "\n")
    found = TableReader().find([str(path)])
    assert (found.runs, found.problems, found.unrecognised) == ((), (), (str(path),))


def test_what_another_harness_takes_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "samples_toy_2026-01-01T00-00-00.000000.jsonl").write_text(json.dumps(SAMPLE) + "\n")
    (tmp_path / "flat.jsonl").write_text('{"doc_id": 0, "id": 0, "acc": 1, "filter": "none"}\n')
    harnesses = {log.source.harness for log in read_logs(tmp_path).logs}
    assert harnesses == {"lm-eval"}


def test_no_log_of_the_harnesses_is_taken_for_a_table(shared: Path) -> None:
    files = [str(path) for folder in ("lm_eval", "inspect") for path in (shared / "data" / folder).rglob("*.*")]
    assert len(files) > 30
    assert TableReader().find(files).runs == ()


def test_a_store_does_not_give_the_scores_of_other_columns(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "t.csv").write_text("id,right,first\n1,1,0\n2,1,1\n")
    values = []
    for score in ("right", "first", "right"):
        plugins = with_columns(load_plugins(), {"score": score})
        found = scan(tmp_path / "t.csv", store=str(tmp_path / "store"), full_logs=True, plugins=plugins)
        values.append(found.reading.logs[0].data[0].values[:, 0].tolist())
    assert values == [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
