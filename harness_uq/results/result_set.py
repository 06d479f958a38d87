"""The results of a command, and how to render them: the arguments of an output format."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness_uq.errors import DataError

if TYPE_CHECKING:
    from harness_uq.data.task_log import TaskLog

ReadError: TypeAlias = Mapping[str, object]
Layout: TypeAlias = Literal["rows", "grid"]
OVERALL = "overall"
_WITHOUT_TABLE = (OVERALL, "summary")


@dataclass(frozen=True, slots=True)
class ResultSet:
    """The results of one command.

    Attributes
    ----------
    lists : results by the name of their list in documents, such as `estimates` or `comparisons`
    errors : `path` and `message` of everything that could not be read; `path` is None for errors in the options
    """

    lists: Mapping[str, Sequence[object]]
    errors: Sequence[ReadError] = ()

    @property
    def tables(self) -> Mapping[str, Sequence[object]]:
        """The lists without the overall result and the summary of data, unless there is nothing else."""
        rest = {name: rows for name, rows in self.lists.items() if name not in _WITHOUT_TABLE}
        return rest or self.lists


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """Options of rendering; each format uses those that apply to it.

    Attributes
    ----------
    width : characters per line of text; None takes the width of the terminal, or as many as needed without one
    is_terminal : whether text may be folded and styled; None asks standard output
    columns : names of the columns of a table for a paper, in order; `("all",)` for every column, None for those that
        fit the width of a page
    digits : number of decimals, 0 to 12; None for the format's own
    percent : whether tables show scores from 0 to 1 in per cent
    layout : `rows` for one row per result, `grid` for systems by tasks
    caption, label : of a table for a paper; None for a default caption and no label
    title, command, date : of a page: its title, the command that made it, and when
    logs : the logs of the results, for formats with `needs_logs`
    """

    width: int | None = None
    is_terminal: bool | None = None
    columns: tuple[str, ...] | None = None
    digits: int | None = None
    percent: bool = False
    layout: Layout = "rows"
    caption: str | None = None
    label: str | None = None
    title: str | None = None
    command: str = ""
    date: str = ""
    logs: "Iterable[TaskLog]" = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.digits is not None and not 0 <= self.digits <= 12:
            raise DataError(f"digits must lie between 0 and 12; got {self.digits}")

    def digits_or(self, default: int) -> int:
        """The number of decimals, or `default` if it is None."""
        return default if self.digits is None else self.digits
