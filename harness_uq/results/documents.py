"""Types of the documents that `--format json` prints: `harness_uq/schemas` holds their JSON Schemas.

`python -m tests.schemas` writes those from these types, with the words of docs/json.md. Fields are only ever added
within a schema number. What a field may be without is `None`; NaN and infinity never occur.
"""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from harness_uq.estimands import Scope
from harness_uq.results.comparison import Disagreements, Verdict
from harness_uq.results.estimate import IntervalKind
from harness_uq.results.gate import Decision
from harness_uq.results.look import Look

Missing: TypeAlias = float | None


class IntervalDocument(TypedDict):
    """An interval with its coverage and kind."""

    low: Missing
    high: Missing
    level: float
    kind: IntervalKind


class ReportedDocument(TypedDict):
    """What the harness itself printed."""

    value: Missing
    std_error: Missing
    n: int | None


class SourceDocument(TypedDict):
    """Where a log came from."""

    path: str
    harness: str
    version: str | None
    time: str | None


class ErrorDocument(TypedDict):
    """What could not be read or done."""

    path: str | None
    message: str


class ScoreDocument(TypedDict):
    """Which score: its task, metric and filter."""

    task: str
    metric: str
    filter: str


class EstimateEntry(ScoreDocument):
    """One score with its uncertainty."""

    system: str
    estimand: str
    scope: Scope
    method: str
    method_reason: str | None
    value: Missing
    posterior_mean: Missing
    std_error: Missing
    interval: IntervalDocument | None
    n_questions: int | None
    n_trials: int | None
    n_cells: int | None
    n_clusters: int | None
    cluster_key: str | None
    icc: Missing
    design_effect: Missing
    effective_questions: Missing
    variance_between: Missing
    variance_within: Missing
    harness: ReportedDocument
    diagnostics: dict[str, Missing]
    source: SourceDocument
    notes: list[str]
    warnings: list[str]
    failure: str | None


class DifferenceDocument(TypedDict):
    """A - B."""

    value: Missing
    std_error: Missing
    interval: IntervalDocument


class TableDocument(TypedDict):
    """Questions that both, one or none of two systems got right."""

    both_right: int
    only_a: int
    only_b: int
    both_wrong: int


class ComparisonEntry(ScoreDocument):
    """System A against system B."""

    system_a: str
    system_b: str
    scope: Scope
    method: str
    verdict: Verdict
    verdict_text: str
    next_step: str
    same: str | None
    value_a: Missing
    value_b: Missing
    difference: DifferenceDocument | None
    prob_positive: Missing
    odds_ratio: Missing
    correlation: Missing
    variance_saved: Missing
    smallest_detectable: Missing
    prob_not_worse: Missing
    p_value: Missing
    table: TableDocument | None
    n_matched: int | None
    n_unmatched_a: int | None
    n_unmatched_b: int | None
    n_trials: int | None
    n_clusters: int | None
    cluster_key: str | None
    n_more_questions: int | None
    margin: float
    higher_is_better: bool
    failure: str | None
    notes: list[str]
    warnings: list[str]


class GateRowEntry(ComparisonEntry):
    """One score of a gate: the comparison of the new system with the baseline, and what the gate makes of it."""

    decision: Decision
    is_needed: bool
    adjusted_p: Missing
    pass_power: Missing
    failing_drop: Missing
    can_fail: bool | None


class GateEntry(TypedDict):
    """What a gate comes to."""

    decision: Decision
    alpha: float
    can_fail: bool | None
    missing: list[ScoreDocument]
    rows: list[GateRowEntry]
    notes: list[str]


class SelfTestEntry(TypedDict):
    """How often a gate fails systems that are equal."""

    kind: str
    n: int
    n_failed: int
    n_passed: int
    rate: float
    interval: IntervalDocument
    alpha: float
    systems: list[str]


class RankedDocument(TypedDict):
    """One system's place among several."""

    system: str
    value: Missing
    interval: IntervalDocument
    prob_best: Missing
    expected_rank: Missing
    rank_interval: list[int]
    rank_set: list[int] | None
    group: str
    group_adjusted: str
    tied_rank: int | None


class NeighboursDocument(TypedDict):
    """How many systems next to each other cannot be told apart."""

    n_pairs: int
    undecided: int
    undecided_share: Missing
    undecided_at_once: int
    undecided_at_once_share: Missing


class RankingEntry(ScoreDocument):
    """Several systems on one task."""

    systems: list[RankedDocument]
    prob_better: list[list[float]]
    adjusted_p: list[list[Missing]] | None
    correction: str | None
    prob_rank: list[list[float]] | None
    neighbours: NeighboursDocument | None
    n_questions: int
    n_comparisons: int
    diagnostics: dict[str, Missing]
    notes: list[str]
    warnings: list[str]


class DesignDocument(TypedDict):
    """One design of a run to come."""

    n_questions: int
    n_trials: int
    expected_width: Missing
    detectable: Missing
    cost: Missing


class PlanEntry(ScoreDocument):
    """What a run to come would tell."""

    systems: list[str]
    answer: str
    recommended: DesignDocument | None
    rows: list[DesignDocument]
    level: float
    power: float
    variance_between: Missing
    variance_within: Missing
    variance_difference: Missing
    design_effect: Missing
    design_effect_difference: Missing
    notes: list[str]
    warnings: list[str]


class StructureEntry(ScoreDocument):
    """What was found in a task's log, and how it is known."""

    system: str
    n_questions: int
    n_trials: int
    n_cells: int
    n_clusters: int | None
    cluster_key: str | None
    cluster_evidence: str
    score_type: Literal["binary", "graded", "bounded", "real", "record"]
    score_evidence: str
    path: str


class ComponentDocument(TypedDict):
    """What one source of variation contributes to a single score."""

    name: str
    n_levels: int
    sd: float
    sd_low: float
    sd_high: float
    share: float
    share_low: float
    share_high: float


class EffectsEntry(ScoreDocument):
    """Crossed effects on the scores of one model."""

    model: str
    value: float
    interval: IntervalDocument
    interval_alone: IntervalDocument
    new: list[str]
    n_questions: int
    n_scores: int
    factors: dict[str, str]
    components: list[ComponentDocument]
    uncertainty: dict[str, float]
    untold: list[str]
    sentence: str
    notes: list[str]
    warnings: list[str]


class EstimateDocument(TypedDict):
    """What `harness-uq estimate --format json` prints."""

    schema: Literal[1]
    estimates: list[EstimateEntry]
    errors: list[ErrorDocument]


class StructureDocument(TypedDict):
    """What `harness-uq structure --format json` prints."""

    schema: Literal[1]
    structures: list[StructureEntry]
    errors: list[ErrorDocument]


class CompareDocument(TypedDict):
    """What `harness-uq compare --format json` prints."""

    schema: Literal[1]
    comparisons: list[ComparisonEntry]
    disagreements: NotRequired[list[Disagreements]]
    errors: list[ErrorDocument]


class GateDocument(TypedDict):
    """What `harness-uq gate --format json` prints; with `--self-test` the other list."""

    schema: Literal[1]
    gates: NotRequired[list[GateEntry]]
    self_tests: NotRequired[list[SelfTestEntry]]
    errors: list[ErrorDocument]


class RankDocument(TypedDict):
    """What `harness-uq rank --format json` prints."""

    schema: Literal[1]
    rankings: list[RankingEntry]
    errors: list[ErrorDocument]


class PlanDocument(TypedDict):
    """What `harness-uq plan --format json` prints."""

    schema: Literal[1]
    plans: list[PlanEntry]
    errors: list[ErrorDocument]


class EffectsDocument(TypedDict):
    """What `harness-uq effects --format json` prints."""

    schema: Literal[1]
    effects: list[EffectsEntry]
    errors: list[ErrorDocument]


class ReportDocument(TypedDict):
    """What `harness-uq report --format json` prints."""

    schema: Literal[1]
    estimates: list[EstimateEntry]
    comparisons: list[ComparisonEntry]
    rankings: list[RankingEntry]
    errors: list[ErrorDocument]


SubsetDocument: TypeAlias = dict[str, list[int | str]]
DrawnDocument: TypeAlias = dict[str, dict[str, float]]

VERSION = 1
DOCUMENTS: dict[str, object] = {
    "estimate": EstimateDocument,
    "structure": StructureDocument,
    "compare": CompareDocument,
    "gate": GateDocument,
    "rank": RankDocument,
    "plan": PlanDocument,
    "effects": EffectsDocument,
    "report": ReportDocument,
    "watch": Look,
    "subset": SubsetDocument,
    "subset-drawn": DrawnDocument,
}
