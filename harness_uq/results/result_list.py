"""The list of results that analyses return, with a notebook display and conversions to data frames and formats."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from harness_uq.results._render import document, has_format, lists_of, plot, render
from harness_uq.results.data_frame import frame_of
from harness_uq.results.html_repr import html_of
from harness_uq.results.records import HasRecords, Record, to_dicts
from harness_uq.results.result_set import Layout, RenderOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_Row = TypeVar("_Row", bound=HasRecords)

_DISPLAYED: Mapping[str, tuple[str, ...]] = {
    "Estimate": (
        *("system", "task", "metric", "filter", "value", "interval_low", "interval_high", "n_questions"),
        *("n_clusters", "design_effect", "scope", "method"),
    ),
    "Comparison": (
        *("system_a", "system_b", "task", "metric", "value_a", "value_b", "difference_value"),
        *("difference_interval_low", "difference_interval_high", "prob_positive", "verdict"),
    ),
    "Ranking": (
        *("task", "metric", "system", "value", "interval_low", "interval_high", "prob_best", "expected_rank"),
        *("rank_low", "rank_high", "letters"),
    ),
    "Effects": ("model", "task", "metric", "filter", "value", "interval_low", "interval_high", "name", "sd", "share"),
    "Plan": ("task", "metric", "n_questions", "n_trials", "expected_width", "detectable", "cost", "is_recommended"),
}


class ResultList(list[_Row]):
    """A list of results of one type, with a notebook display and conversions to data frames and output formats.

    >>> from harness_uq import estimate_scores
    >>> rows = ResultList([estimate_scores([1, 0, 1, 1])])
    >>> rows.to_dicts()[0]["value"]
    0.75
    """

    def to_dicts(self) -> list[Record]:
        """Flat records: one per estimate, comparison, ranked system of a ranking, or design of a plan."""
        return to_dicts(self)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Data frame of the flat records.

        Parameters
        ----------
        backend : `pandas`, `polars`, `pyarrow` or another library that narwhals supports

        Raises
        ------
        DataError : if there is no such library
        MissingDependencyError : if the library is not installed
        """
        return frame_of(self.to_dicts(), backend)

    def to_dict(self) -> dict[str, object]:
        """The document that `--format json` prints, as plain values; missing values are None."""
        return document(lists_of(self))

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
        return plot(self, **options)

    def render(
        self,
        output_format: str = "table",
        *,
        columns: tuple[str, ...] | None = None,
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
        columns : names of the columns of a table, in order; `("all",)` for every column, None for a default selection
        digits : number of decimals; None for the default of the format
        percent : whether tables show scores from 0 to 1 in per cent
        layout : `rows` for one row per result, `grid` for systems by tasks in LaTeX (estimates and rankings)
        caption, label : of a LaTeX table, plain text; None for a default caption and no label
        title : of an HTML page

        Raises
        ------
        DataError : if the format or a column does not exist, or this type of result does not have the layout
        """
        options = RenderOptions(
            columns=columns,
            digits=digits,
            percent=percent,
            layout=layout,
            caption=caption,
            label=label,
            title=title,
        )
        return render(lists_of(self), output_format, options)

    def to_latex(
        self,
        *,
        layout: Layout = "rows",
        columns: tuple[str, ...] | None = None,
        digits: int = 3,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""LaTeX table of the width of the text; it requires `\usepackage{booktabs,tabularx}`.

        Parameters and errors are those of `render`.
        """
        return str(self.render("latex", columns=columns, digits=digits, layout=layout, caption=caption, label=label))

    def __getattr__(self, name: str) -> Callable[..., str | bytes]:
        """`to_NAME` renders the results in the output format NAME."""
        output_format = name.removeprefix("to_")
        if output_format == name or not has_format(output_format):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return partial(self.render, output_format)

    def _repr_html_(self) -> str:
        records = self.to_dicts()
        names = _DISPLAYED.get(type(self[0]).__name__, tuple(records[0])) if records else ()
        return html_of([{name: record.get(name) for name in names} for record in records])
