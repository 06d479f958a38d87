"""Every kind of result renders in every format, from one example each."""

import pytest

from harness_uq import detect_structure
from harness_uq.analyses.summarize_data import summarize_data
from harness_uq.data.task_log import Source
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.output.formats import all_formats
from harness_uq.results import breakdown, comparison, gate, grader, overall, plan, resources
from harness_uq.results.documents import KINDS, list_name, result_set
from tests.data.toy import task_log
from tests.results import factory as make

INTERVAL = make.interval(0.5, 0.75)
NAMES = {"task": "t", "metric": "acc", "filter": "none"}
SCORE = {"value": 0.6, "interval": INTERVAL}
EXAMPLES = [
    make.estimate(),
    make.comparison(),
    make.ranking(4),
    make.plan(),
    make.effects(),
    make.history(),
    *detect_structure([task_log([1, 0, 1, 1])]),
    summarize_data(detect_structure([task_log([1, 0, 1, 1])])),
    breakdown.Breakdown(
        "s", **NAMES, field="f", groups=(breakdown.GroupScore("g", 9, **SCORE),), source=Source("p", "h")
    ),
    breakdown.DifferenceBreakdown("a", "b", **NAMES, field="f", groups=(breakdown.GroupDifference("g", 9, **SCORE),)),
    comparison.Disagreements(
        **NAMES, n_questions=9, n_a_better=1, n_b_better=0, questions=(comparison.Disagreement("q", 1, 0),)
    ),
    gate.Gate("pass", 0.05, (gate.GateRow(make.comparison(), "pass", "pass", True),)),
    gate.SelfTest("halves", 20, 1, 15, INTERVAL, 0.05, ("s",)),
    overall.Overall(
        *("equal", "none", False, True, (overall.OverallTask("t", "acc", "none", 1.0),)),
        (overall.OverallSystem("s", **SCORE),),
    ),
    resources.ResourceUse("s", None, **NAMES, quantity="total_cost", value=1.0, low=0.5, high=2.0, level=0.95),
    plan.BudgetAllocation(
        "m",
        **NAMES,
        level=0.95,
        rows=(plan.AllocationRow("best", 9, 2, {}, 1.0, 0.1),),
        new=("f",),
        answer="A.",
        is_share=True,
    ),
    plan.LabelPlan(
        **NAMES, systems=("s",), level=0.95, target_width=0.1, strata=(plan.LabelStratum((1.0,), 9, 2, 5, 0.5),)
    ),
    plan.GraderPlan("t", "none", "s", ("a", "b"), 9, designs=(plan.GraderDesign("rotation", 9, 1, 0.1),)),
    plan.ActivePlan(**NAMES, level=0.95, rows=(plan.ActivePlanRow(9, 0.2, 0.01, 0.3),), recommended=9),
    grader.GraderAgreement(
        "g", "t", "none", "s", None, None, 9, 9, None, (grader.MeasuredAgreement("kappa", 0.6, INTERVAL),)
    ),
    grader.GraderDifference("a", "b", "t", "none", "s", 9, **SCORE),
    grader.SelfPreference("g", "t", "none", ("s",), ("r",), **SCORE),
    grader.GraderPanel(("a", "b"), "t", "none", "s", 9, **SCORE),
]


def test_there_is_an_example_of_every_kind() -> None:
    assert {list_name(example) for example in EXAMPLES} == KINDS.keys()


@pytest.mark.parametrize("name", all_formats(load_plugins()))
@pytest.mark.parametrize("example", EXAMPLES, ids=list_name)
def test_every_kind_renders_in_every_format(example: object, name: str) -> None:
    chosen = all_formats(load_plugins())[name]
    if chosen.accepts is None or list_name(example) in chosen.accepts:
        rendered = chosen.render(result_set({list_name(example): [example]}), RenderOptions(width=80))
        has_table = list_name(example) != "summary"
        assert rendered if has_table or name != "latex" else not rendered
