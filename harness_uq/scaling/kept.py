"""Files of a store: what a batch gave as the bytes of a Parquet file, and back."""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Final, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from harness_uq.logs import places
from harness_uq.plugins.protocols import Estimator
from harness_uq.scaling import estimate_columns, log_columns
from harness_uq.scaling.keys import key_of, lasting_names, tags_of
from harness_uq.scaling.log_columns import Row
from harness_uq.scaling.parts import Part
from harness_uq.scaling.runs import RunDone

Kind = Literal["logs", "estimates"]

KEYS: Final[Mapping[str, pa.DataType]] = {
    "part": pa.string(),
    "state": pa.string(),
    "options": pa.string(),
    "written": pa.timestamp("us", "UTC"),
    "software": pa.string(),
    "files": pa.list_(pa.string()),
    "tags": pa.list_(pa.string()),
    "run": pa.string(),
    "run_files": pa.list_(pa.string()),
    "run_time": pa.string(),
    "position": pa.int64(),
}
SCHEMAS: Final[Mapping[Kind, pa.Schema]] = {
    "logs": pa.schema({**KEYS, **log_columns.COLUMNS}.items()),
    "estimates": pa.schema({**KEYS, **estimate_columns.COLUMNS}.items()),
}


@dataclass(frozen=True, slots=True)
class Keeping:
    """What a worker writes down.

    Attributes
    ----------
    software : that reads and estimates
    options : of the estimates, as text; None where there are none
    """

    software: str
    options: str | None

    def logs(self, part: Part, runs: Sequence[RunDone]) -> list[Row]:
        """Rows of the task logs of a part."""
        return [self._key(part, run, at) | log_columns.row_of(log) for run in runs for at, log in enumerate(run.logs)]

    def estimates(self, part: Part, runs: Sequence[RunDone], estimators: Mapping[str, Estimator]) -> list[Row]:
        """Rows of the estimates of a part."""
        return [
            self._key(part, run, at) | {"options": self.options} | row
            for run in runs
            for at, row in estimate_columns.rows_of(run.logs, run.rows, estimators)
        ]

    def _key(self, part: Part, run: RunDone, position: int) -> Row:
        key = key_of(part, self.software)
        return {
            "part": key.part,
            "state": key.state,
            "written": datetime.now(UTC),
            "software": self.software,
            "files": lasting_names(part),
            "tags": list(tags_of(part) or ()),
            "run": run.path,
            "run_files": list(run.files),
            "run_time": run.time,
            "position": position,
        }


def to_bytes(kind: Kind, rows: Iterable[Row]) -> bytes:
    """A Parquet file of these rows; of logs, a row group for each run."""
    target = io.BytesIO()
    schema = SCHEMAS[kind]
    with pq.ParquetWriter(target, schema, compression="zstd", write_page_checksum=True) as writer:
        for _, together in groupby(rows, key=lambda row: row["run"] if kind == "logs" else None):
            writer.write_table(pa.Table.from_pylist(list(together), schema))
    return target.getvalue()


def logs_in(place: str, part: str, state: str) -> list[RunDone]:
    """The runs of a part, whole, in a file of task logs.

    Raises
    ------
    OSError, pyarrow.ArrowException : if it cannot be read
    """
    with places.open_binary(place) as file:
        table = pq.read_table(file, filters=[("part", "=", part), ("state", "=", state)])
    rows = table.to_pylist()
    runs = {row["run"]: row for row in rows}
    return [
        RunDone(
            run,
            first["run_time"],
            tuple(first["run_files"]),
            tuple(log_columns.log_of(row) for row in rows if row["run"] == run),
        )
        for run, first in runs.items()
    ]
