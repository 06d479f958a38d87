"""CSV, TSV, JSON Lines and Parquet."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_uq import DataError, LogError, TaskLog, read_table
from harness_uq.io.tables import files
from harness_uq.io.tables.reader import SUFFIXES
from harness_uq.messages.errors import MissingDependencyError

ROWS = [{"question": f"q{i}", "model": "m", "score": i % 3 / 2, "text": 'a "b",\nc;'} for i in range(6)]


def write(path: Path) -> Path:
    kind = path.suffix
    if kind == ".parquet":
        _parquet(path, ROWS)
    elif kind in (".csv", ".tsv"):
        with path.open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(ROWS[0]), delimiter="," if kind == ".csv" else "\t")
            table.writeheader()
            table.writerows(ROWS)
    else:
        path.write_text("".join(json.dumps(row) + "\n\n" for row in ROWS))
    return path


def _parquet(path: Path, rows: object) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars").DataFrame(rows).write_parquet(path)


def content(log: TaskLog) -> tuple[object, ...]:
    fields = {name: field.codes.tolist() for name, field in log.questions.fields.items()}
    return log.system, log.task, log.questions.ids, log.data[0].values.tolist(), fields


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.ndjson", "t.parquet"])
def test_every_kind_of_file_gives_the_same_log(tmp_path: Path, name: str) -> None:
    (log,) = read_table(write(tmp_path / name))
    ids = tuple(f"q{i}" for i in range(6))
    assert content(log) == ("m", "t", ids, [[0.0], [0.5], [1.0]] * 2, {"text": [0] * 6})


@pytest.mark.parametrize("text", ["﻿id;score\n1;1\n", "id,score\r\n1,1\r\n", "id\tscore\n1\t1", "Id ,Score\n1,1\n\n"])
def test_delimiters_marks_and_ends_of_lines_of_other_programs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, newline="")
    (log,) = read_table(path)
    assert log.data[0].values.tolist() == [[1.0]]


def test_cells_may_be_longer_than_the_csv_module_takes_by_itself(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    path = tmp_path / "t.csv"
    path.write_text(f"id,transcript,score\n1,{'x' * 200_000},1\n")
    assert read_table(path)[0].data[0].values.tolist() == [[1.0]]
    assert csv.field_size_limit() == before


def test_lines_of_json_need_not_all_have_the_same_keys(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": 1, "score": 1}\n{"id": 2, "cluster": "a"}\n')
    (log,) = read_table(path)
    np.testing.assert_array_equal(log.data[0].values, [[1.0], [np.nan]])
    assert log.questions.fields["cluster"].codes.tolist() == [-1, 0]


HOSTILE = {
    "empty.csv": (b"", "recognized as the question.*Available columns: none"),
    "header.csv": (b"id,score\n", "the table holds no row"),
    "ragged.csv": (b"id,score\n1,1\n2,0,9\n", "line 3 has 3 cells, and the header 2"),
    "cut.csv": (b"id,cluster,score\n1,a,1\n2,a", "line 3 has 2 cells, and the header 3"),
    "comma.csv": (b"id;score\n1;0,5\n", "line 2, column 'score': '0,5' is not a number"),
    "utf16.csv": ("id,score\n1,1\n".encode("utf-16"), "is not UTF-8: byte 0xff.*save it as UTF-8"),
    "latin.csv": (b"id,score\n\xe9,1\n", "is not UTF-8: byte 0xe9"),
    "nul.csv": (b"id,score\n1,\x00\n", r"line 2, column 'score': '\\x00' is not a number"),
    "quote.csv": (b'id,score\n1,"1\n2,0\n', r"line 3, column 'score'"),
    "infinite.csv": (b"id,score\n1,1e999\n", "'1e999' is not a finite number"),
    "twice.csv": (b"id,score,score\n1,1,0\n", "several columns are called 'score'"),
    "empty.jsonl": (b"\n\n", "holds no line"),
    "cut.jsonl": (
        b'{"id": 1, "score": 1}\n{"id": 2, "sc',
        "line 2 is not valid JSON, perhaps because it is incomplete",
    ),
    "list.jsonl": (b"[1, 2]\n", "line 1 is no JSON object"),
    "deep.jsonl": (b"[" * 200_000, "line 1 is not valid JSON, perhaps because it is incomplete"),
    "digits.jsonl": (
        b'{"id": 1, "score": ' + b"9" * 5000 + b"}\n",
        "line 1 is not valid JSON, perhaps because it is incomplete",
    ),
    "nan.jsonl": (b'{"id": 1, "score": Infinity}\n', "line 1, column 'score': inf is not a finite number"),
    "nested.jsonl": (b'{"id": 1, "score": {"value": 1}}\n', "its lines hold lists or objects .score., as other tools'"),
    "text.parquet": (b"id,score\n1,1\n", "is not a Parquet file that pyarrow can read"),
    "empty.parquet": (b"", "is not a Parquet file that pyarrow can read"),
    "cut.parquet": (b"PAR1" + bytes(100), "is not a Parquet file that pyarrow can read"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_its_name_and_a_reason(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path.write_bytes(HOSTILE[name][0])
    with pytest.raises(LogError, match=HOSTILE[name][1]) as refused:
        read_table(path)
    assert str(refused.value).startswith(f"{path}: ")


def test_a_parquet_file_with_a_damaged_name_of_a_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    _parquet(path, {"id": [1, 2], "correct": [0, 1]})
    path.write_bytes(path.read_bytes().replace(b"correct", b"corr\x90ct"))
    with pytest.raises(LogError, match="not a Parquet file that pyarrow can read"):
        read_table(path)


def test_a_score_column_of_lists_is_refused_in_parquet_too(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    _parquet(path, {"id": [1], "score": [[1, 2]]})
    with pytest.raises(LogError, match="row 1, column 'score'"):
        read_table(path)


def test_what_is_not_there_or_called_otherwise_is_said(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"t\.csv: cannot be read: No such file"):
        read_table(tmp_path / "t.csv")
    with pytest.raises(LogError, match=r"t\.xlsx must end in \.csv, \.tsv, \.jsonl, \.ndjson, \.parquet"):
        read_table(tmp_path / "t.xlsx")


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'harness-uq\[tables\]'"):
        read_table(path)


def test_a_table_may_lie_in_a_store() -> None:
    fsspec = pytest.importorskip("fsspec")
    for name in ("t.csv", "t.jsonl"):
        with fsspec.open(f"memory://bucket/{name}", "w") as stream:
            stream.write("id,score\n1,1\n" if name == "t.csv" else '{"id": 1, "score": 1}\n')
        (log,) = read_table(f"memory://bucket/{name}")
        assert (log.system, log.data[0].values.tolist()) == ("t", [[1.0]])
    with pytest.raises(LogError, match=r"memory://bucket/none\.csv: cannot be read"):
        read_table("memory://bucket/none.csv")


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data())
def test_a_spoiled_file_is_read_or_refused_with_a_reason(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(["t.csv", "t.tsv", "t.jsonl", "t.parquet"]))
    path = write(tmp_path_factory.mktemp("spoiled") / name)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=4) | st.just(b"1e999"))
    path.write_bytes(content)
    logs, reason = [], ""
    try:
        logs = read_table(path)
    except (LogError, DataError) as error:
        reason = str(error).partition(f"{path}: ")[2]
    assert all(len(log.questions) for log in logs)
    assert logs or reason


def test_every_suffix_of_a_table_has_a_reader():
    assert set(files._KINDS) == set(SUFFIXES)


def test_of_unused_columns_of_parquet_with_one_name_the_last_one_counts(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"id": ["a", "b"], "score": [1, 0], "section": [1, 1]}
    table = pa.table(columns).append_column("section", pa.array([1, 2]))
    pq.write_table(table, tmp_path / "t.parquet")
    (log,) = read_table(tmp_path / "t.parquet")
    assert log.questions.fields["section"].codes.tolist() == [0, 1]


def test_damaged_texts_of_parquet_are_named(tmp_path: Path) -> None:
    """Flips of the highest bit, some of which leave the file readable, but with texts that are not UTF-8."""
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "t.parquet")
    content = path.read_bytes()
    n_named = 0
    for at in range(len(content) // 4):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x80]) + content[at + 1 :])
        try:
            read_table(path)
        except LogError:
            n_named += 1
    assert n_named > 10
