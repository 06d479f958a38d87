"""Results as a document for readers: tables with a headline above and a legend below, then footnotes.

Each module of this package named after a result builds its `Document`; the formats for readers render it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

from harness_uq.errors import DataError
from harness_uq.messages import HasMessages
from harness_uq.messages.similar_names import did_you_mean
from harness_uq.output.footnotes import message_lists
from harness_uq.output.terminal import Cells
from harness_uq.results.declaration import Declared

GUIDE = "How to read the columns"
_ALL = "all"

# name of each result list in documents: the class of its results, and the module whose KIND presents them
_KINDS = {
    "overall": ("Overall", "overall"),
    "estimates": ("Estimate", "estimate"),
    "breakdowns": ("Breakdown", "breakdown"),
    "difference_breakdowns": ("DifferenceBreakdown", "difference_breakdown"),
    "structures": ("TaskStructure", "structure"),
    "summary": ("DataSummary", "data_summary"),
    "comparisons": ("Comparison", "comparison"),
    "disagreements": ("Disagreements", "disagreements"),
    "gates": ("Gate", "gate"),
    "self_tests": ("SelfTest", "self_test"),
    "rankings": ("Ranking", "ranking"),
    "plans": ("Plan", "plan"),
    "allocations": ("BudgetAllocation", "budget_allocation"),
    "effects": ("Effects", "effects"),
    "resource_use": ("ResourceUse", "resource_use"),
    "label_plans": ("LabelPlan", "label_plan"),
    "grader_plans": ("GraderPlan", "grader_plan"),
    "active_plans": ("ActivePlan", "active_plan"),
    "histories": ("History", "history"),
    "agreements": ("GraderAgreement", "grader_agreement"),
    "grader_differences": ("GraderDifference", "grader_differences"),
    "self_preferences": ("SelfPreference", "self_preference"),
    "panels": ("GraderPanel", "grader_panel"),
}


@dataclass(frozen=True, slots=True)
class Section:
    """A table with the text around it.

    Attributes
    ----------
    title : above the table
    columns : of equal length; columns without content are not rendered
    lines : below the table
    answer : the headline, above everything else
    legend : the meaning of each column by its header; the text under an empty header is always printed
    group : header of a column for the title, in formats that join sections with the same columns in one table
    is_optional : whether the table adds detail that does not belong in a paper
    if_hidden : sentences by header, each printed if its column does not fit into the terminal
    """

    title: str
    columns: Sequence[Cells]
    lines: Sequence[str] = ()
    answer: str = ""
    legend: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    is_optional: bool = False
    if_hidden: Mapping[str, str] = field(default_factory=dict)

    def visible_columns(self, names: Sequence[str] | None = None) -> list[Cells]:
        """The columns with these names, in this order; without names, those to show by default that have content.

        If other tables have some of these columns, the rows of this one are named by its first column. Without a column
        besides that one, the table is empty.
        """
        if names is None:
            return [column for column in self.columns if column.is_shown and set(column.texts) - {"-", ""}]
        if list(names) == [_ALL]:
            return list(self.columns)
        by_name = {column.name: column for column in self.columns}
        chosen = [by_name[name] for name in names if name in by_name]
        if len(chosen) == len(names):
            return chosen
        first = next(column for column in self.columns if column.is_shown)
        rest = [column for column in chosen if column is not first]
        return (chosen if first in chosen else [first, *rest]) if rest else []


@dataclass(frozen=True, slots=True)
class Document:
    """Results for readers.

    Attributes
    ----------
    sections : in the order to print
    footnotes : sentences by heading
    guide : the meaning of columns that need a sentence each, by header
    caption : of a table for a paper
    notes : sentences below a table for a paper, in addition to its legend and warnings
    """

    sections: Sequence[Section]
    footnotes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    guide: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""
    notes: Sequence[str] = ()


def require_columns(sections: Sequence[Section], names: Sequence[str]) -> None:
    """Require that a table of these sections has a column of each name.

    Raises
    ------
    DataError : if no table has a column of one of these names
    """
    known = dict.fromkeys(column.name for section in sections for column in section.columns)
    unknown = [name for name in names if name not in known and list(names) != [_ALL]]
    if known and unknown:
        nearest = did_you_mean(unknown[0], known)
        raise DataError(f"Unknown column: {unknown[0]!r}.{nearest} Available columns: {', '.join(known)}, or {_ALL}.")


@dataclass(frozen=True, slots=True)
class GridCell:
    """One score of a grid of systems by tasks; `letters` mark systems that the data do not separate."""

    value: str
    interval: str
    letters: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Systems by tasks: cells by (system, task), a caption, and notes."""

    cells: Mapping[tuple[str, str], GridCell]
    caption: str
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class ResultKind:
    """How the results of one list are presented.

    Attributes
    ----------
    result_type : class whose declaration defines JSON objects and flat records
    document : results and the number of decimals, as a document for readers
    declared : instances of `result_type` for one result; by default the result itself
    grid : results and the number of decimals, as systems by tasks; None if the results have no such layout
    text : results as a document for the terminal, if that differs from `document`
    is_single : whether a command has one such result or none, which JSON documents contain without a list
    total : the total of all results of a list, which JSON documents contain as NAME_total; None if there is no total
    """

    result_type: type[Declared]
    document: Callable[[Sequence[Any], int], Document]
    declared: Callable[[Any], Sequence[Declared]] = lambda result: (result,)
    grid: Callable[[Sequence[Any], int], Grid] | None = None
    text: Callable[[Sequence[Any]], Document] | None = None
    is_single: bool = False
    total: Callable[[Sequence[Any]], Declared | None] | None = None


def one_section_each(section: Callable[[Any, int], Section], caption: str) -> Callable[[Sequence[Any], int], Document]:
    """A function that makes a document with one section for each result, and the messages of the results below."""

    def document(results: Sequence[Any], digits: int) -> Document:
        footnotes = message_lists(result for result in results if isinstance(result, HasMessages))
        return Document([section(result, digits) for result in results], footnotes, caption=caption)

    return document


def result_kind(name: str) -> ResultKind:
    """How the results of the list with this name are presented."""
    _, module = _KINDS[name]
    return cast("ResultKind", import_module(f"harness_uq.output.{module}").KIND)


def list_name(result: object) -> str:
    """The name of the list that holds results of this class.

    Raises
    ------
    DataError : if the object is not a result
    """
    for name, (class_name, _) in _KINDS.items():
        if type(result).__name__ == class_name:
            return name
    known = ", ".join(sorted(class_name for class_name, _ in _KINDS.values()))
    raise DataError(f"{type(result).__name__} is not a result class. Result classes: {known}.")


def count_cells(
    questions: Sequence[str], n_clusters: Sequence[int | None], keys: Sequence[str | None], *, spare: int = 0
) -> tuple[Cells, Cells]:
    """The columns of questions and of their clusters; on short lines they share one column."""
    clusters = [f"{n} {key}" if n else "-" for n, key in zip(n_clusters, keys, strict=True)]
    both = [f"{count}/{n}" if n else count for count, n in zip(questions, n_clusters, strict=True)]
    header = "N/clusters" if any(n_clusters) else "N"
    return (
        Cells("Questions", questions, short=[Cells(header, both, spare=spare)], in_paper=False),
        Cells("Clusters", clusters, short=[], in_paper=False),
    )
