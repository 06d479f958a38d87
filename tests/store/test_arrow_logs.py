from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from harness_uq import AggregateScore, Scores, read_logs

pa = pytest.importorskip("pyarrow")
from harness_uq.store.arrow_data import DATA, data_from_row, data_to_row  # noqa: E402
from harness_uq.store.arrow_logs import COLUMNS, log_from_row, log_to_row  # noqa: E402


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
