from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from harness_uq import read_logs

pa = pytest.importorskip("pyarrow")
from harness_uq.scaling.log_columns import COLUMNS, log_of, row_of  # noqa: E402


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
    assert {"Scores", "Totals"} <= kinds
    table = pa.Table.from_pylist([row_of(log) for log in logs], pa.schema(COLUMNS.items()))
    pq.write_table(table, tmp_path / "logs.parquet")
    back = [log_of(row) for row in pq.read_table(tmp_path / "logs.parquet").to_pylist()]
    for before, after in zip(logs, back, strict=True):
        assert plain(after) == plain(before)
