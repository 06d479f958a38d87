"""Files of scores as one of the harnesses."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness_uq.errors import HarnessUqError
from harness_uq.logs.catalogue import Catalogue
from harness_uq.logs.data import Source, TaskLog
from harness_uq.logs.places import name_of
from harness_uq.plugins.hookspecs import hookimpl
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.protocols import Found, Run
from harness_uq.tables.columns import Columns, check_roles

NAME = "table"

_RANGES = (
    (
        r"acc(uracy)?|acc_norm|em|exact_match|f1|(is_)?(correct|right|resolved|passed|success|solved)|pass@\d+",
        (0.0, 1.0),
    ),
)
_LOWER = r".*(perplexity|bits_per_byte|brier|error_rate|loss).*|ter|wer|cer|ece|mse|mae|rmse"


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reads CSV, TSV, JSON Lines and Parquet files that hold a score a row.

    Attributes
    ----------
    columns : name of the column by role, where it is not found by its name
    """

    columns: Columns = field(default_factory=dict)
    name: str = NAME
    reads_stores: bool = True

    @property
    def version(self) -> str:
        """The columns, so that a store of what was read does not give what other columns hold."""
        return f"{NAME} {sorted((role, str(names)) for role, names in self.columns.items())}"

    def find(self, paths: Sequence[str]) -> Found:
        """A run for each file whose head has columns of questions and scores.

        Others are problems only where columns were named.
        """
        from harness_uq.tables.files import is_table_name

        runs, rest, problems = [], [], []
        for path in paths:
            reason = self.why_not(path) if is_table_name(path) else ""
            if reason is None:
                runs.append(Run(name_of(path), (path,)))
            elif reason and self.columns:
                problems.append((path, reason))
            else:
                rest.append(path)
        return Found(tuple(runs), tuple(rest), tuple(problems))

    def parts(self, paths: Sequence[str]) -> Iterable[Sequence[str]]:
        """Each file by itself."""
        return [[path] for path in paths]

    def why_not(self, path: str) -> str | None:
        """Why a file is no table of scores; empty where it is not called like one, None where it is one."""
        from harness_uq.tables.files import is_table_name, layout_in

        if not is_table_name(path):
            return ""
        try:
            layout_in(path, self.columns)
        except HarnessUqError as error:
            return str(error)
        return None

    def read(self, run: Run) -> Iterator[TaskLog]:
        """One log for each system and task of the file.

        Raises
        ------
        LogError : if the file cannot be read, or a row makes no sense
        """
        from harness_uq.tables.build import Names, task_logs
        from harness_uq.tables.files import read_file, stem_of

        (path,) = run.files
        table, layout = read_file(path, self.columns)
        yield from task_logs(table, layout, Names(stem_of(path)), Source(path, NAME))

    def catalogue(self) -> Catalogue:
        """Ranges and directions of metrics that every harness calls alike."""
        return Catalogue(ranges=_RANGES, lower_is_better=_LOWER)


@hookimpl
def harness_uq_harnesses() -> Iterable[TableReader]:
    """Offer the reader of tables."""
    return [TableReader()]


def with_columns(plugins: Plugins, columns: Columns) -> Plugins:
    """The plugins, with a reader of tables that takes these columns.

    Raises
    ------
    LogError : if a column is named for a role that there is not
    """
    check_roles(columns)
    return replace(plugins, harnesses=plugins.harnesses | {NAME: TableReader(columns)}) if columns else plugins
