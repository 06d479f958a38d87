"""Lists of results that show themselves as a table in a notebook and turn into data frames and LaTeX."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, TypeVar

from harness_uq.errors import MissingDependencyError
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.flat import Record, to_dicts
from harness_uq.results.notebook import html_of
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import Ranking

_Row = TypeVar("_Row", Estimate, Comparison, Ranking, Plan)

_SHOWN: Mapping[type, tuple[str, ...]] = {
    Estimate: (
        *("system", "task", "metric", "filter", "value", "interval_low", "interval_high", "n_questions"),
        *("n_clusters", "design_effect", "scope", "method"),
    ),
    Comparison: (
        *("system_a", "system_b", "task", "metric", "value_a", "value_b", "difference_value"),
        *("difference_interval_low", "difference_interval_high", "prob_positive", "verdict"),
    ),
    Ranking: (
        *("task", "metric", "system", "value", "interval_low", "interval_high", "prob_best", "expected_rank"),
        *("rank_low", "rank_high", "group"),
    ),
    Plan: ("task", "metric", "n_questions", "n_trials", "expected_width", "detectable", "cost", "is_recommended"),
}


class Rows(list[_Row]):
    """Results of one kind, in order: a list, with forms for notebooks and papers.

    >>> from harness_uq import estimate_scores
    >>> rows = Rows([estimate_scores([1, 0, 1, 1])])
    >>> rows.to_dicts()[0]["value"]
    0.75
    """

    def to_dicts(self) -> list[Record]:
        """Flat records: one an estimate or comparison, one a ranked system, one a design of a plan."""
        return to_dicts(self)

    def to_pandas(self) -> Any:
        """`pandas.DataFrame` of `to_dicts`.

        Raises
        ------
        MissingDependencyError : if pandas is not installed
        """
        return _library("pandas").DataFrame(self.to_dicts())

    def to_polars(self) -> Any:
        """`polars.DataFrame` of `to_dicts`; columns are typed by all rows.

        Raises
        ------
        MissingDependencyError : if polars is not installed
        """
        return _library("polars").DataFrame(self.to_dicts(), infer_schema_length=None)

    def to_latex(
        self,
        *,
        layout: Literal["rows", "grid"] = "rows",
        columns: tuple[str, ...] | None = None,
        digits: int = 3,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""A table for a paper, as wide as its text; it needs `\usepackage{booktabs,tabularx}`.

        Parameters
        ----------
        layout : `grid` sets systems by tasks, for estimates and rankings
        columns : names, in order; a wrong one is an error that lists them
        digits : decimals of scores
        caption, label : plain text

        Raises
        ------
        DataError : a column that there is not, or a layout that this kind of result does not have
        """
        from harness_uq.report.latex import results_latex
        from harness_uq.report.latex_table import Paper

        return results_latex(self, Paper(columns, digits, caption, label), layout)

    def _repr_html_(self) -> str:
        records = self.to_dicts()
        names = _SHOWN[type(self[0])] if self else ()
        return html_of([{name: record.get(name) for name in names} for record in records])


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(f"{name} is not installed: pip install {name}") from error
