"""Files of a store: what a batch gave as the bytes of a Parquet file, and back."""

import io
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness_uq.logs import places
from harness_uq.plugins.protocols import Estimator
from harness_uq.scaling import estimate_columns, log_columns
from harness_uq.scaling.data_columns import Row
from harness_uq.scaling.keys import key_of, lasting_names, tags_of
from harness_uq.scaling.parts import Key, Part
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


def to_bytes(kind: Kind, rows: Sequence[Row]) -> bytes:
    """A Parquet file of these rows, with a checksum for each page."""
    target = io.BytesIO()
    table = pa.Table.from_pylist(rows, SCHEMAS[kind])
    # estimates are smaller without dictionaries, and read in half the time; the codes of logs are larger
    pq.write_table(table, target, compression="zstd", use_dictionary=kind == "logs", write_page_checksum=True)
    return target.getvalue()


def read_columns(place: str, columns: list[str] | None) -> pa.Table:
    """Columns of a file, all where None, each page held against its checksum.

    Raises
    ------
    OSError, pyarrow.ArrowException : if it cannot be read
    """
    content = pa.BufferReader(places.read_bytes(place))
    return pq.ParquetFile(content, page_checksum_verification=True).read(columns, use_threads=False)


def logs_in(place: str, keys: Set[Key]) -> dict[Key, list[RunDone]]:
    """The runs of some parts, whole, in a file of task logs.

    Raises
    ------
    OSError, pyarrow.ArrowException : if it cannot be read
    """
    table = read_columns(place, None)
    wanted = pc.is_in(table["part"], pa.array([key.part for key in keys]))
    found: dict[Key, dict[str, list[Row]]] = {}
    for row in table.filter(wanted).to_pylist():
        key = Key(row["part"], row["state"])
        if key in keys:
            found.setdefault(key, {}).setdefault(row["run"], []).append(row)
    return {key: [_run(rows) for rows in runs.values()] for key, runs in found.items()}


def _run(rows: Sequence[Row]) -> RunDone:
    first, logs = rows[0], tuple(map(log_columns.log_of, rows))
    return RunDone(first["run"], first["run_time"], tuple(first["run_files"]), logs)
