"""Read data frames of `inspect_ai.analysis.samples_df` that were saved as CSV or Parquet."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import harness_uq.plugin_api as uq

_SCORE: Final = "score_"
_COLUMNS: Final = ("eval_id", "epoch")  # with a score, they identify the columns that samples_df writes
_TEXTS: Final = frozenset(
    {"id", "eval_id", "sample_id", "log", "model", "task_name", "error", "limit", "input", "target"}
)


def is_saved_frame(path: str) -> bool:
    """Whether a file has the columns that `samples_df` writes; a file that cannot be read has not."""
    try:
        names = uq.column_names(path)
    except (uq.LogError, uq.MissingDependencyError, OSError):
        return False
    return set(_COLUMNS) <= set(names) and any(name.startswith(_SCORE) for name in names)


def read_saved_frame(path: str) -> list[uq.TaskLog]:
    """One log for each run of a task. Raises LogError if the file cannot be read, or a column that identifies the
    questions is missing.
    """
    from harness_uq_inspect.read.data_frames import read_columns

    if path.endswith(".parquet"):
        with uq.open_parquet(path) as file:
            uq.check_cells(file.metadata.num_rows, len(file.schema_arrow.names))
            return read_columns(uq.frame_columns(file.read()))
    columns = uq.csv_table(path).columns
    # a data frame whose index was saved has a first column without a name
    return read_columns({name: _typed(name, list(map(str, cells))) for name, cells in columns.items() if name})


def _typed(name: str, cells: Sequence[str]) -> list[object]:
    """Cells with the types that they had in the data frame: numbers, truth values, times or texts; None if empty."""
    values: list[object] = [cell or None for cell in cells]
    if name in _TEXTS:
        return values
    if {cell for cell in cells if cell} <= {"True", "False"}:
        return [None if cell == "" else cell == "True" for cell in cells]
    convert: Callable[[str], object] = datetime.fromisoformat if name == "created" else float
    try:
        return [None if cell == "" else convert(cell) for cell in cells]
    except ValueError:
        return values
