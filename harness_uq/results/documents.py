"""Types of the documents that `--format json` prints; `harness_uq/schemas` holds their JSON Schemas.

`python -m tests.schemas` writes the schemas from the declarations of the results, with descriptions from
docs/reference/json.md. Within a schema version, fields are only ever added.
"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from harness_uq.results.active_plan import ActivePlan
from harness_uq.results.breakdown import Breakdown, DifferenceBreakdown
from harness_uq.results.budget_allocation import BudgetAllocation
from harness_uq.results.comparison import Comparison, Disagreements
from harness_uq.results.data_summary import DataSummary
from harness_uq.results.declaration import Declared, MessageDocument, document_type
from harness_uq.results.effects import Effects
from harness_uq.results.estimate import Estimate
from harness_uq.results.gate import Gate, SelfTest
from harness_uq.results.grader import GraderAgreement, GraderDifference, GraderPanel, SelfPreference
from harness_uq.results.grader_plan import GraderPlan
from harness_uq.results.history import History
from harness_uq.results.label_plan import LabelPlan, LabelTotal
from harness_uq.results.overall import Overall
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import Ranking
from harness_uq.results.resource_use import ResourceUse
from harness_uq.results.snapshot import Snapshot
from harness_uq.results.structure import StructureSummary

VERSION = 1

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
