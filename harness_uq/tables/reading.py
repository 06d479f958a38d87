"""A table as logs, for `estimate`, `compare` and `rank`."""

from pathlib import Path

from harness_uq.errors import LogError
from harness_uq.logs.catalogue import with_catalogue
from harness_uq.logs.data import Source, TaskLog
from harness_uq.tables.build import Names, task_logs
from harness_uq.tables.columns import Columns, layout_of
from harness_uq.tables.files import SUFFIXES, is_table_name, read_file, stem_of
from harness_uq.tables.frames import Frames, table_of
from harness_uq.tables.reader import NAME, TableReader

_FRAME = "table"


def read_table(
    table: "str | Path | Frames",
    *,
    columns: Columns | None = None,
    system: str | None = None,
    task: str | None = None,
) -> list[TaskLog]:
    """Scores of a table, a score a row, as logs that `estimate`, `compare` and `rank` take.

    Parameters
    ----------
    table : path of a CSV, TSV, JSON Lines or Parquet file; a data frame of pandas, polars or pyarrow, whose index says
        nothing; or a mapping of columns
    columns : name of the column by role, where it is not found by its name: `question` and `score`, which every table
        has, `system`, `task`, `metric`, `filter`, `trial`, `cluster` and `higher_is_better`. Several names, or a
        pattern such as `gpt-*`, for `system` or `metric`: each of these columns holds the scores of that system, or
        metric
    system, task : names where no column says them; the file's name (`table` for a frame) by default

    Returns
    -------
    One log for each system and task, in the order of the rows. Rows of one question are its trials.

    Raises
    ------
    LogError : if the file cannot be read, there is no such column, or a row makes no sense; the message names the row
    DataError : if it is neither a path nor a frame
    MissingDependencyError : for Parquet without pyarrow

    >>> from harness_uq import read_table
    >>> (log,) = read_table({"item": ["a", "b", "b"], "right": [1, 0, 1]}, system="large")
    >>> log.system, log.questions.ids, log.data[0].values.tolist()
    ('large', ('a', 'b'), [[1.0, nan], [0.0, 1.0]])
    """
    asked = columns or {}
    if isinstance(table, str | Path):
        logs = _from_file(str(table), asked, system, task)
    else:
        found = table_of(table)
        names = Names(_FRAME, system, task)
        logs = task_logs(found, layout_of(list(found.columns), asked), names, Source(_FRAME, NAME))
    catalogue = TableReader().catalogue()
    return [with_catalogue(log, catalogue) for log in logs]


def _from_file(path: str, asked: Columns, system: str | None, task: str | None) -> list[TaskLog]:
    if not is_table_name(path):
        raise LogError(f"{path} must end in {', '.join(SUFFIXES)}")
    try:
        found, layout = read_file(path, asked)
        return task_logs(found, layout, Names(stem_of(path), system, task), Source(path, NAME))
    except LogError as error:
        raise LogError(f"{path}: {error}") from None
