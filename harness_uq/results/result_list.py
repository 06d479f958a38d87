"""The list of results that analyses return, with a notebook display and conversions to data frames and formats."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from harness_uq.output.data import result_document
from harness_uq.output.declared import Record, figure_of, frame_of
from harness_uq.output.formats import Layout, RenderOptions, installed_formats
from harness_uq.output.notebook import Displayed, html_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness_uq.messages import Message
    from harness_uq.results.overall import Overall


class HasRecords(Protocol):
    """A result with flat records."""

    def to_records(self) -> list[Record]:
        """Flat records with the same columns for all results of a type."""


_Row = TypeVar("_Row", bound=HasRecords)


class ResultList(list[_Row]):
    """A list of results of one type, with a notebook display and conversions to data frames and output formats.

    `print(rows)` shows the table that the command prints.

    The attribute `overall` is the overall result of several tasks, if it was requested. Documents and formats contain
    it, data frames and figures do not.

    >>> from harness_uq import estimate_scores
    >>> rows = ResultList([estimate_scores([1, 0, 1, 1])])
    >>> rows.to_dicts()[0]["value"]
    0.75
    """

    overall: "Overall | None" = None

    @property
    def messages(self) -> tuple["Message", ...]:
        """The notes and warnings of all results, each once."""
        results = self if self.overall is None else [self.overall, *self]
        return tuple(dict.fromkeys(one for result in results for one in getattr(result, "messages", ())))

    def to_dicts(self) -> list[Record]:
        """Flat records: one per estimate, comparison, ranked system of a ranking, or design of a plan.

        The columns depend on the type of the results only, and missing values are None, never NaN. Names of nested
        fields are joined by `_`. Next to the limits of an interval, `interval_low_delta` and `interval_high_delta` are
        their distances from the value, as `inspect_viz.transform.ci_bounds("value", lower="interval_low_delta",
        upper="interval_high_delta")` takes them. Messages are joined as `CODE name: text; …`. Matrices of a ranking are
        in the JSON form only.
        """
        return [record for result in self for record in result.to_records()]

    def to_frame(self, backend: str | None = None) -> Any:
        """Data frame of the flat records.

        Parameters
        ----------
        backend : `pandas`, `polars`, `pyarrow` or `modin`; by default the first of pandas, polars and pyarrow that is
            installed

        Raises
        ------
        DataError : if there is no such library
        MissingDependencyError : if the library is not installed
        """
        return frame_of(self.to_dicts(), backend)

    def to_dict(self) -> dict[str, object]:
        """The document that `--format json` prints, as plain values; missing values are None."""
        from harness_uq.results.documents import result_set

        return result_document(result_set(self._lists()))

    def _lists(self) -> dict[str, Sequence[object]]:
        from harness_uq.results.documents import lists_of  # imports the results of all kinds

        return {**({} if self.overall is None else lists_of([self.overall])), **lists_of(self)}

    def plot(self, **options: Any) -> "Figure":
        """Figure of the results: scores, differences, ranks, variance components or the precision of a plan.

        Parameters
        ----------
        **options : arguments of the function of `harness_uq.plots` that draws the figure, such as `title`

        Raises
        ------
        DataError : if there is no figure of these results, or it shows a single one of them
        MissingDependencyError : if matplotlib is not installed
        """
        return figure_of(self, **options)

    def render(
        self,
        output_format: str = "table",
        *,
        columns: str | Sequence[str] | None = None,
        digits: int | None = None,
        percent: bool = False,
        layout: Layout = "rows",
        caption: str | None = None,
        label: str | None = None,
        title: str | None = None,
    ) -> str | bytes:
        """The results in an output format, as `--format` prints them.

        `rows.to_NAME(...)` is the same for the format NAME, such as `to_json()` or `to_markdown()`.

        Parameters
        ----------
        output_format : a built-in format or one of a plugin
        columns : names of the columns of a table, in order; `all` for every column, None for a default selection
        digits : number of decimals; None for the default of the format
        percent : whether tables show scores from 0 to 1 in per cent
        layout : `rows` for one row per result, `grid` for systems by tasks in LaTeX (estimates and rankings)
        caption, label : of a LaTeX table, plain text; None for a default caption and no label.
        title : of an HTML page

        Raises
        ------
        DataError : if the format or a column does not exist, or this type of result does not have the layout
        """
        options = RenderOptions(
            columns=(columns,) if isinstance(columns, str) else None if columns is None else tuple(columns),
            digits=digits,
            percent=percent,
            layout=layout,
            caption=caption,
            label=label,
            title=title,
        )
        from harness_uq.results.documents import render_lists

        return render_lists(self._lists(), output_format, options)

    def __getattr__(self, name: str) -> Callable[..., str | bytes]:
        """`to_NAME` renders the results in the output format NAME."""
        output_format = name.removeprefix("to_")
        if output_format == name or output_format not in installed_formats():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return partial(self.render, output_format)

    def __str__(self) -> str:
        has_table = len(set(map(type, self))) == 1 and hasattr(type(self[0]), "KIND")
        from harness_uq.results.documents import plain_table

        return plain_table(self._lists()) if has_table else list.__repr__(self)

    def __repr__(self) -> str:
        what = f"{len(self)} {type(self[0]).__name__} results; print() shows the table" if self else "no results"
        return f"<ResultList of {what}>"

    def _repr_html_(self) -> str:
        records = self.to_dicts()
        names = (type(self[0]).KIND.displayed or tuple(records[0])) if records else ()  # type: ignore[attr-defined]
        return html_of([{name: record.get(name) for name in names} for record in records])


class ResultLists(Displayed):
    """Base of results that consist of several lists, each of which is displayed as a table."""

    __slots__ = ()

    @property
    def lists(self) -> dict[str, Sequence[Any]]:
        """The results by the names of their lists in documents."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, object]:
        """The document that `--format json` prints, as plain values."""
        from harness_uq.results.documents import result_set

        return result_document(result_set(self.lists))

    def __str__(self) -> str:
        from harness_uq.results.documents import plain_table

        return plain_table(self.lists)

    def _repr_html_(self) -> str:
        return "".join(ResultList(rows)._repr_html_() for rows in self.lists.values() if rows)
