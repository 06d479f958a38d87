from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from harness_uq import DataError, Scores, estimate, read_logs
from harness_uq.data.task_log import AggregateScore, StoredInterval
from tests.data.toy import task_log
from tests.message_checks import made

pa = pytest.importorskip("pyarrow")
from harness_uq.analyses.store.file_batches import CacheKey  # noqa: E402
from harness_uq.analyses.store.log_rows import COLUMNS, DATA, data_from_row, data_to_row, log_from_row, log_to_row  # noqa: E402  # noqa: E402
from harness_uq.analyses.store.parquet import SCHEMAS, read_columns, read_runs  # noqa: E402


def plain(value):
    """Nested dataclasses, mappings and arrays as what `==` compares."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if hasattr(value, "items"):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def test_every_log_comes_back_from_parquet_as_it_was(shared, tmp_path):
    import pyarrow.parquet as pq

    logs = read_logs(shared / "data").logs
    kinds = {type(data).__name__ for log in logs for data in log.data}
    assert {"Scores", "AggregateScore"} <= kinds
    table = pa.Table.from_pylist([log_to_row(log) for log in logs], pa.schema(COLUMNS.items()))
    pq.write_table(table, tmp_path / "logs.parquet")
    back = [log_from_row(row) for row in pq.read_table(tmp_path / "logs.parquet").to_pylist()]
    for before, after in zip(logs, back, strict=True):
        assert plain(after) == plain(before)


def test_a_total_that_the_samples_contradict_stays_one():
    data = AggregateScore("f1", "none", 0.5, 20, "f1 of the samples is 0.6", is_share=False, is_contradicted=True)
    assert data_from_row(pa.array([data_to_row(data)], DATA).to_pylist()[0]) == data


@pytest.mark.parametrize("source", [None, "", "its name"])
def test_the_source_of_a_range_stays(source):
    data = Scores("points", "none", np.zeros((3, 1)), bounds=(0.0, 100.0), bounds_source=source)
    back = data_from_row(pa.array([data_to_row(data)], DATA).to_pylist()[0])
    assert (back.bounds, back.bounds_source) == ((0.0, 100.0), source)


@pytest.fixture
def live_log():
    """A log with two aggregate scores, of which one has the interval of the live run."""
    messages = (made("The interval of the live run.", "note"),)
    stored = StoredInterval("resampled", "population", 0.4, 0.6, 0.95, "confidence", 0.05, None, messages)
    own, other = (AggregateScore(name, "none", 0.5, 40, "Own aggregation") for name in ("trimmed", "plain"))
    return replace(task_log([]), data=(replace(own, stored=stored), other))


def test_the_interval_of_a_live_run_comes_back(live_log):
    table = pa.Table.from_pylist([log_to_row(live_log)], pa.schema(COLUMNS.items()))
    back = log_from_row(table.to_pylist()[0])
    assert plain(back) == plain(live_log)
    trimmed, _ = estimate([back])
    assert (trimmed.interval.low, trimmed.interval.high, trimmed.method) == (0.4, 0.6, "resampled")


def test_an_unknown_kind_of_interval_is_refused(live_log):
    row = log_to_row(live_log)
    row["stored_intervals"][0]["kind"] = "other"
    with pytest.raises(DataError, match="unknown kind of interval: 'other'"):
        log_from_row(row)


def test_a_file_keeps_stored_intervals(live_log, tmp_path):
    import pyarrow.parquet as pq

    keys = {"part": "p", "state": "s", "options": None, "written": 0, "software": "", "files": [], "tags": []}
    run = {"run": "run.json", "run_files": ["run.json"], "run_time": None, "position": 0}
    table = pa.Table.from_pylist([keys | run | log_to_row(live_log)], SCHEMAS["logs"])
    pq.write_table(table, tmp_path / "logs.parquet", write_page_checksum=True)
    ((found,),) = read_runs(str(tmp_path / "logs.parquet"), {CacheKey("p", "s")}).values()
    assert [data.stored for data in found.logs[0].data] == [live_log.data[0].stored, None]


def test_a_damaged_name_of_a_column_is_reported_as_a_damaged_file(live_log, tmp_path):
    import pyarrow.parquet as pq

    path = tmp_path / "logs.parquet"
    pq.write_table(pa.Table.from_pylist([log_to_row(live_log)], pa.schema(COLUMNS.items())), path)
    path.write_bytes(path.read_bytes().replace(b"chance", b"cha\x90ce"))
    with pytest.raises(pa.ArrowInvalid, match="not UTF-8"):
        read_columns(str(path), "logs")
