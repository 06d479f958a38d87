"""Conversion of a table to task logs, for `estimate`, `compare` and `rank`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness_uq.data.catalogue import with_catalogue
from harness_uq.data.names import with_bounded_names
from harness_uq.data.task_log import TaskLog
from harness_uq.io.plugins.manager import Plugins, installed_readers
from harness_uq.io.plugins.protocols import Reader
from harness_uq.io.readers import read_logs, reader_of, reading_columns
from harness_uq.io.tables.column_roles import Columns
from harness_uq.io.tables.dataframe_input import Frames, is_frame
from harness_uq.io.tables.mapping import mapping_of
from harness_uq.io.tables.reader import NAME, SUFFIXES, TableReader, is_table_name
from harness_uq.messages.errors import LogError


def read_table(
    table: "str | Path | Frames",
    *,
    columns: Columns | None = None,
    system: str | None = None,
    task: str | None = None,
) -> list[TaskLog]:
    """Read scores from a table as task logs, which `estimate`, `compare` and `rank` accept.

    Parameters
    ----------
    table : path of a CSV, TSV, JSON Lines or Parquet file; a data frame of pandas, polars or pyarrow, whose index is
        ignored; or a mapping from column names to columns. Each row contains one score, unless `columns` selects
        several score columns. Data frames of `inspect_ai.analysis.samples_df`, alone or joined with `evals_df` on
        `eval_id`, are recognized if `columns` is not given
    columns : name of the column by role, for columns that are not recognized by their names. The roles are `question`
        and `score`, which are required, and `system`, `task`, `metric`, `filter`, `trial`, `cluster` and
        `higher_is_better`. For `system` or `metric`, several names or a pattern such as `gpt-*` select columns that
        each contain the scores of one system or metric
    system, task : names of the system and the task if there is no column for them. By default the name of the file, or
        ``table`` for a data frame

    Returns
    -------
    list of TaskLog
        One log per system and task, in the order of the rows. Rows with the same question are its trials.

    Raises
    ------
    LogError : if the file cannot be read, a column does not exist or a row is invalid. The message names the row
    DataError : if `table` is neither a path nor a data frame
    MissingDependencyError : if the file is Parquet and pyarrow is not installed

    Examples
    --------
    >>> from harness_uq import read_table
    >>> (log,) = read_table({"item": ["a", "b", "b"], "right": [1, 0, 1]}, system="large")
    >>> log.system, log.questions.ids, log.data[0].values.tolist()
    ('large', ('a', 'b'), [[1.0, nan], [0.0, 1.0]])
    """
    tables = TableReader(columns or {})
    if isinstance(table, str | Path):
        logs = _from_file(str(table), tables, system, task)
    elif not columns and is_frame(table) and (reader := _harness_of(table)) is not None:
        read = read_logs([table], harnesses={reader.name: reader}, strict=True)
        return [replace(log, system=system or log.system, task=task or log.task) for log in read.logs]
    else:
        logs = tables.read_frame(table, system, task)
    catalogue = tables.catalogue()
    return [with_catalogue(with_bounded_names(log), catalogue) for log in logs]


def _harness_of(frame: object) -> Reader | None:
    """The reader of the harness that writes such data frames."""
    readers = {name: one for name, one in installed_readers().items() if not isinstance(one, TableReader)}
    reader = reader_of(frame, readers)
    return None if reader is None else readers[reader.name]


def with_columns(
    plugins: Plugins, columns: Columns, mappings: Mapping[str, Mapping[str, object]] | None = None
) -> Plugins:
    """The plugins with a reader of tables that uses these columns or, if there are none, these mappings."""
    if columns:
        return reading_columns(plugins, columns)
    parsed = tuple(mapping_of(name, definition) for name, definition in (mappings or {}).items())
    return replace(plugins, harnesses=plugins.harnesses | {NAME: TableReader(mappings=parsed)}) if parsed else plugins


def _from_file(path: str, reader: TableReader, system: str | None, task: str | None) -> list[TaskLog]:
    if not is_table_name(path):
        raise LogError(f"{path} must end in {', '.join(SUFFIXES)}")
    try:
        return reader.read_file(path, system, task)
    except LogError as error:
        raise LogError(error.message.at(path)) from None
