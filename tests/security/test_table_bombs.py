"""Small tables with very many rows, columns or tasks are refused, or take linear time and memory."""

import json
import sys
from pathlib import Path

import pytest

from harness_uq import LogError, read_table
from harness_uq.analyses.overall.select_tasks import select_tasks
from harness_uq.options import Options
from tests.security.limited import peak_memory, run_command

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="memory of a process as Linux reports it")


def write_parquet(path: Path, n_rows: int, text: str) -> Path:
    """Rows that one dictionary entry encodes in a few bytes per thousand."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    n_groups = 20
    column = pa.DictionaryArray.from_arrays(pa.array([0] * (n_rows // n_groups), pa.int32()), pa.array([text]))
    table = pa.table({"question": column, "score": column})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(n_groups):
            writer.write_table(table)
    return path


def too_many_cells(path: Path) -> dict[str, int]:
    """Read a table that is too large; parameters of the error."""
    with pytest.raises(LogError) as raised:
        read_table(path)
    assert raised.value.message.code == "UQ336"
    assert raised.value.message.params["variable"] == "HARNESS_UQ_MAX_CELLS"
    return {name: value for name, value in raised.value.message.params.items() if isinstance(value, int)}


def test_rows_and_columns_of_parquet_are_checked_in_the_footer(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "bomb.parquet", 20_000_000, "a")
    assert path.stat().st_size < 500_000
    assert too_many_cells(path)["n_rows"] == 20_000_000


@on_linux
def test_long_texts_in_a_dictionary_of_parquet_are_not_copied(tmp_path: Path) -> None:
    """20 GB, if each row had a copy of the text."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 2000, pa.int32()), pa.array(["a" * 10_000_000]))
    table = pa.table({"question": [*map(str, range(2000))], "score": [1, 0] * 1000, "passage": texts})
    pq.write_table(table, tmp_path / "long.parquet")
    done = run_command("estimate", tmp_path / "long.parquet")
    assert done.returncode == 0, done.stderr
    assert peak_memory(done) < 1_000_000_000


def test_json_lines_with_a_new_key_on_each_line(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl"
    path.write_text("".join(f'{{"id": {i}, "score": 1, "k{i}": 1}}\n' for i in range(6000)))
    params = too_many_cells(path)
    assert params["n_rows"] * params["n_columns"] < 21_000_000  # it is noticed at once, not at the end of the file


def test_json_lines_with_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.jsonl"
    path.write_text(json.dumps({"id": 1, "score": 1} | {f"k{i}": 1 for i in range(10_000)}))
    assert too_many_cells(path)["most_columns"] == 10_000


def test_csv_with_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,score," + ",".join(f"column {i}" for i in range(10_000)) + "\n")
    assert too_many_cells(path)["n_columns"] == 10_002


def test_csv_with_many_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.csv"
    path.write_text("id,score\n" + "".join(f"{i},1\n" for i in range(2000)))
    monkeypatch.setenv("HARNESS_UQ_MAX_CELLS", "1000")
    too_many_cells(path)
    monkeypatch.setenv("HARNESS_UQ_MAX_CELLS", "4000")
    assert len(read_table(path)[0].questions) == 2000


def test_the_variable_raises_the_number_of_columns_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,score," + ",".join(f"c{i}" for i in range(10_000)) + "\n1,1," + ",".join(["1"] * 10_000))
    monkeypatch.setenv("HARNESS_UQ_MAX_CELLS", "4e7")
    assert len(read_table(path)[0].questions) == 1


def test_tasks_are_selected_in_linear_time() -> None:
    """Counts the comparisons of names, of which there were tasks times metrics."""
    n_comparisons = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal n_comparisons
            n_comparisons += 1
            return str.__eq__(self, other)

    names = [Name(f"task {i}") for i in range(500)]
    keys = {system: [(str(name) if system else name, "acc", "none") for name in names] for system in ("", "b")}
    assert len(select_tasks(keys, {}, Options()).tasks) == 500
    assert n_comparisons < 20 * len(names)
