"""All kinds of results: how to render them, and the documents that `--format json` prints.

`harness_uq/schemas` holds the JSON Schemas of the documents. `python -m tests.schemas` writes them from the
declarations of the results, with descriptions from docs/reference/json.md. Within a schema version, fields are only
ever added.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from harness_uq.messages.errors import DataError, unknown_name
from harness_uq.output.declared import Declared, MessageDocument, document_type
from harness_uq.output.document import Kind
from harness_uq.output.formats import BUILT_IN, ReadError, RenderOptions, ResultSet, installed_formats
from harness_uq.results.breakdown import Breakdown, DifferenceBreakdown
from harness_uq.results.comparison import Comparison, Disagreements
from harness_uq.results.effects import Effects
from harness_uq.results.estimate import Estimate
from harness_uq.results.gate import Gate, SelfTest
from harness_uq.results.grader import GraderAgreement, GraderDifference, GraderPanel, SelfPreference
from harness_uq.results.history import History, Snapshot
from harness_uq.results.overall import Overall
from harness_uq.results.plan import ActivePlan, BudgetAllocation, GraderPlan, LabelPlan, LabelTotal, Plan
from harness_uq.results.ranking import Ranking
from harness_uq.results.report_page import report_page
from harness_uq.results.resources import ResourceUse
from harness_uq.results.structure import DataSummary, StructureSummary

# lists of results in the document of each command; a command prints at least one of several optional lists ("?"), and
# one result or null instead of a list ("!")
_LISTS: dict[str, dict[str, type[Declared]]] = {
    "estimate": {
        "overall!": Overall,
        "estimates": Estimate,
        "breakdowns?": Breakdown,
        "resource_use?": ResourceUse,
    },
    "structure": {"structures": StructureSummary, "summary!": DataSummary},
    "compare": {
        "overall!": Overall,
        "comparisons": Comparison,
        "difference_breakdowns?": DifferenceBreakdown,
        "disagreements?": Disagreements,
        "resource_use?": ResourceUse,
    },
    "gate": {"gates?": Gate, "self_tests?": SelfTest},
    "rank": {"overall!": Overall, "rankings": Ranking},
    "history": {"histories": History},
    "plan": {
        "plans?": Plan,
        "allocations?": BudgetAllocation,
        "label_plans?": LabelPlan,
        "label_plans_total?!": LabelTotal,
        "grader_plans?": GraderPlan,
        "active_plans?": ActivePlan,
    },
    "effects": {"effects": Effects},
    "grader": {
        "agreements": GraderAgreement,
        "grader_differences": GraderDifference,
        "self_preferences": SelfPreference,
        "panels": GraderPanel,
    },
    "report": {
        "overall!": Overall,
        "estimates": Estimate,
        "comparisons": Comparison,
        "rankings": Ranking,
        "breakdowns?": Breakdown,
        "difference_breakdowns?": DifferenceBreakdown,
        "resource_use?": ResourceUse,
    },
}


KINDS: Mapping[str, Kind] = {
    result_type.KIND.name: result_type.KIND
    for lists in _LISTS.values()
    for result_type in lists.values()
    if hasattr(result_type, "KIND")
}


def list_name(result: object) -> str:
    """The name of the list that holds results of this class. Raises DataError if the object is not a result."""
    kind = getattr(type(result), "KIND", None)
    if isinstance(kind, Kind):
        return kind.name
    known = ", ".join(sorted(kind.result_type.__name__ for kind in KINDS.values()))
    raise DataError(f"{type(result).__name__} is not a result class. Result classes: {known}.")


def lists_of(results: Sequence[object]) -> dict[str, Sequence[object]]:
    """Results of one kind under the name of their list in documents, such as `estimates`."""
    return {list_name(results[0]): results} if results else {}


def result_set(lists: Mapping[str, Sequence[object]], errors: Sequence[ReadError] = ()) -> ResultSet:
    """The results of a command by the names of their lists, with all that formats need to render them."""
    return ResultSet(lists, errors, KINDS, report_page)


def render_results(results: Sequence[object], name: str = "table", options: RenderOptions | None = None) -> str | bytes:
    """Results of one kind in an output format.

    Parameters
    ----------
    results : estimates, comparisons, rankings, plans or other results
    name : a built-in format or one of a plugin
    options : options of rendering

    Raises
    ------
    DataError : if the format does not exist
    """
    return render_lists(lists_of(results), name, options or RenderOptions())


def render_lists(lists: Mapping[str, Sequence[object]], name: str, options: RenderOptions) -> str | bytes:
    """Results of several kinds, by the names of their lists, in an output format. Raises DataError if the format does
    not exist.
    """
    formats = BUILT_IN if name in BUILT_IN else installed_formats()
    if name not in formats:
        raise DataError(unknown_name("format", name, formats))
    return formats[name].render(result_set(lists), options)


def plain_table(lists: Mapping[str, Sequence[object]]) -> str:
    """Results of several kinds as the tables that commands print to a file: without colors."""
    return str(render_lists(lists, "table", RenderOptions(is_terminal=False, in_python=True)))


class ErrorDocument(MessageDocument):
    """Something that could not be read or done."""

    path: str | None


SubsetDocument: TypeAlias = dict[str, list[int | str]]
DrawnDocument: TypeAlias = dict[str, dict[str, float]]


def documents() -> dict[str, object]:
    """The type of every document, by the name of its command."""
    return {
        **{command: _document(command, lists) for command, lists in _LISTS.items()},
        "watch": document_type(Snapshot),
        "subset": SubsetDocument,
        "subset-drawn": DrawnDocument,
    }


def _document(command: str, lists: dict[str, type[Declared]]) -> object:
    fields: dict[str, Any] = {"schema": Literal[1]}
    for name, result_type in lists.items():
        one = document_type(result_type)
        entries: Any = one | None if "!" in name else list.__class_getitem__(one)
        fields[name.rstrip("?!")] = NotRequired[entries] if "?" in name else entries
    return TypedDict(f"{command.capitalize()}Document", {**fields, "errors": list[ErrorDocument]})  # type: ignore[operator]
