"""The reader of tables, offered to the commands like the reader of a harness."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from harness_uq.data.catalogue import Catalogue
from harness_uq.data.resources import ResourceOptions
from harness_uq.data.task_log import Source, TaskLog
from harness_uq.io.paths import name_of
from harness_uq.io.plugins.hookspecs import hookimpl
from harness_uq.io.plugins.protocols import Discovery, Run
from harness_uq.messages import Message
from harness_uq.messages.errors import HarnessUqError

if TYPE_CHECKING:
    from harness_uq.io.tables.column_roles import Columns, Layout
    from harness_uq.io.tables.dataframe_input import Frames
    from harness_uq.io.tables.mapping import TableMapping
    from harness_uq.io.tables.table import Table

NAME = "table"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")

_RANGES = (
    (
        r"acc(uracy)?|acc_norm|em|exact_match|f1|(is_)?(correct|right|resolved|passed|success|solved)|pass@\d+",
        (0.0, 1.0),
    ),
)
_LOWER = r".*(perplexity|bits_per_byte|brier|error_rate|loss).*|ter|wer|cer|ece|mse|mae|rmse"


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reads CSV, TSV, JSON Lines and Parquet files with one score per row."""

    columns: "Columns" = field(default_factory=dict)  # name of the column by role, if its name does not tell
    name: str = NAME
    reads_stores: bool = True
    objects: tuple[str, ...] = ("pandas.DataFrame", "polars.DataFrame", "pyarrow.Table")
    resources: ResourceOptions | None = None  # how tokens, cost and time become metrics; None if they are not read
    mappings: "tuple[TableMapping, ...]" = ()  # of files that no other reader recognizes; the first match applies

    def with_resources(self, options: ResourceOptions) -> "TableReader":
        """A copy that also reads columns such as `cost` and `output_tokens`."""
        return replace(self, resources=options)

    def with_columns(self, columns: "Columns") -> "TableReader":
        """A copy that uses these columns, by role, instead of mappings; raises LogError if a role does not exist."""
        from harness_uq.io.tables.column_roles import check_roles

        check_roles(columns)
        return replace(self, columns=columns, mappings=())

    @property
    def version(self) -> str:
        """The chosen columns and mappings, so that a result store distinguishes results of different columns."""
        columns = f"{NAME} {sorted((role, str(names)) for role, names in self.columns.items())}"
        return f"{columns} {self.mappings}" if self.mappings else columns

    def find(self, paths: Sequence[str]) -> Discovery:
        """Find files with columns of questions and scores.

        Other table files are problems only if columns were named.
        """
        runs, rest, problems = [], [], []
        for path in paths:
            if self._mapping(path) is not None:
                runs.append(Run(name_of(path), (path,)))
                continue
            problem = self._problem(path) if is_table_name(path) else None
            if problem is not None and self.columns:
                problems.append((path, problem))
            elif problem is not None or not is_table_name(path):
                rest.append(path)
            else:
                runs.append(Run(name_of(path), (path,)))
        return Discovery(tuple(runs), tuple(rest), tuple(problems))

    def parts(self, paths: Sequence[str]) -> Iterable[Sequence[str]]:
        """Return one group per file."""
        return [[path] for path in paths]

    def _mapping(self, path: str) -> "TableMapping | None":
        return next((mapping for mapping in self.mappings if mapping.matches(path)), None)

    def why_not(self, path: str) -> str | None:
        """Say why a file is not a table of scores; None if it is one, empty if its name is not that of a table."""
        if not is_table_name(path):
            return ""
        problem = self._problem(path)
        return None if problem is None else problem.text

    def _problem(self, path: str) -> Message | None:
        from harness_uq.io.tables.files import layout_in

        try:
            layout_in(path, self.columns)
        except HarnessUqError as error:
            return error.message
        return None

    def read(self, run: Run) -> list[TaskLog]:
        """One log per system and task; raises LogError if the file cannot be read, or a row is invalid."""
        (path,) = run.files
        return self.read_file(path)

    def read_file(self, path: str, system: str | None = None, task: str | None = None) -> list[TaskLog]:
        """The logs of a file, as `read`; system and task are names for a table without such a column."""
        from harness_uq.io.tables.files import read_file

        mapping = self._mapping(path)
        if mapping is None:
            table, layout = read_file(path, self.columns)
        else:
            from harness_uq.io.tables.mapping import read_mapped

            table, layout = read_mapped(path, mapping)
        return self._logs(table, layout, PurePath(name_of(path)).stem, path, system, task)

    def read_frame(self, frame: "Frames", system: str | None = None, task: str | None = None) -> list[TaskLog]:
        """The logs of a data frame or a mapping of columns, as `read_file`. Raises DataError if the argument is no
        table, and LogError for missing columns and invalid rows.
        """
        from harness_uq.io.tables.build_task_logs import TASK
        from harness_uq.io.tables.column_roles import layout_of
        from harness_uq.io.tables.dataframe_input import table_from_frame

        table = table_from_frame(frame)
        return self._logs(table, layout_of(list(table.columns), self.columns), NAME, NAME, system, task or TASK)

    def _logs(
        self, table: "Table", layout: "Layout", name: str, path: str, system: str | None, task: str | None
    ) -> list[TaskLog]:
        from harness_uq.io.tables.build_task_logs import Names, build_task_logs

        names, source = Names(name, system, task), Source(path, NAME)
        return build_task_logs(table, layout, names, source, with_resources=self.resources is not None)

    def accepts_object(self, result: object) -> bool:
        """Whether an object is a data frame."""
        from harness_uq.io.tables.dataframe_input import is_frame

        return is_frame(result)

    def read_object(self, result: object) -> list[TaskLog]:
        """One log per system and task of a data frame, with the errors of `read_frame`."""
        return self.read_frame(cast("Frames", result))

    def catalogue(self) -> Catalogue:
        """Return ranges and directions of metrics with common names."""
        return Catalogue(ranges=_RANGES, lower_is_better=_LOWER)


@hookimpl
def harness_uq_harnesses() -> Iterable[TableReader]:
    """Register the reader of tables."""
    return [TableReader()]


def is_table_name(path: str) -> bool:
    """Whether the name of a file ends like that of a table."""
    return PurePath(name_of(path)).suffix.lower() in SUFFIXES
