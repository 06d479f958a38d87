"""Types of the keywords of each function; written by `tools/write_options_typed.py` from `options.py`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from harness_uq.data.estimands import Scope
    from harness_uq.data.missing_scores import MissingPolicy
    from harness_uq.options import CompareMethod, Correction, CredibleKind, MissingTasks, Normalization


class RankScoresKeywords(TypedDict, total=False):
    """Keywords of `rank_scores`."""

    range: "tuple[float, float] | None"
    scope: "Scope"
    level: "float"
    correction: "Correction"
    n_draws: "int"
    seed: "int"


class EstimateScoresKeywords(TypedDict, total=False):
    """Keywords of `estimate_scores`."""

    range: "tuple[float, float] | None"
    method: "str"
    scope: "Scope"
    level: "float"
    estimand: "str"
    interval: "CredibleKind | None"
    seed: "int"


class CompareScoresKeywords(TypedDict, total=False):
    """Keywords of `compare_scores`."""

    range: "tuple[float, float] | None"
    method: "CompareMethod"
    margin: "float"
    scope: "Scope"
    level: "float"
    power: "float"
    seed: "int"


class DetectStructureKeywords(TypedDict, total=False):
    """Keywords of `detect_structure`."""

    task: "str | Sequence[str]"
    metric: "str | Sequence[str]"
    filter: "str | Sequence[str]"
    model: "str | Sequence[str]"
    range: "Mapping[str, tuple[float, float]] | None"
    column: "Mapping[str, str | Sequence[str]]"
    cluster: "str | Sequence[str] | Mapping[str, str] | None"
    use_samples: "bool | None"


class HistoryKeywords(DetectStructureKeywords, total=False):
    """Keywords of `history`."""

    level: "float"


class PlanGradersKeywords(DetectStructureKeywords, total=False):
    """Keywords of `plan_graders`."""

    seed: "int"
    budget: "float | None"


class AssessGradersKeywords(HistoryKeywords, total=False):
    """Keywords of `assess_graders`."""

    by: "str | Sequence[str]"
    same_family: "str | Sequence[str]"


class PlanActiveKeywords(HistoryKeywords, total=False):
    """Keywords of `plan_active`."""

    seed: "int"
    width: "float | None"
    questions: "int | None"


class EffectsKeywords(HistoryKeywords, total=False):
    """Keywords of `effects`."""

    missing: "MissingPolicy | Mapping[str, MissingPolicy] | None"
    treat: "Mapping[str, MissingPolicy] | None"
    factor: "Mapping[str, str]"
    generalize_over: "str | Sequence[str] | None"


class PlanLabelsKeywords(HistoryKeywords, total=False):
    """Keywords of `plan_labels`."""

    power: "float"
    seed: "int"
    difference: "float | None"
    width: "float | None"


class SelfTestKeywords(HistoryKeywords, total=False):
    """Keywords of `self_test`."""

    missing: "MissingPolicy | Mapping[str, MissingPolicy] | None"
    treat: "Mapping[str, MissingPolicy] | None"
    method: "CompareMethod"
    margin: "float"
    margins: "Mapping[str, float]"
    scope: "Scope"
    power: "float"
    seed: "int"


class ResourceUseKeywords(HistoryKeywords, total=False):
    """Keywords of `resource_use`."""

    missing: "MissingPolicy | Mapping[str, MissingPolicy] | None"
    treat: "Mapping[str, MissingPolicy] | None"
    resources: "bool"
    token_prices: "str | None"
    method: "str"
    scope: "Scope"
    estimand: "str"
    interval: "CredibleKind | None"
    seed: "int"


class PlanKeywords(HistoryKeywords, total=False):
    """Keywords of `plan`."""

    missing: "MissingPolicy | Mapping[str, MissingPolicy] | None"
    treat: "Mapping[str, MissingPolicy] | None"
    power: "float"
    difference: "float | None"
    width: "float | None"
    questions: "int | None"
    trials: "int | None"
    budget: "float | None"
    cost_per_question: "float | None"
    cost_per_trial: "float | None"


class EstimateKeywords(ResourceUseKeywords, total=False):
    """Keywords of `estimate`."""

    generalize_over: "str | Sequence[str] | None"
    overall: "bool"
    weights: "str | Mapping[str, float]"
    normalize: "Normalization"
    chance: "Mapping[str, float]"
    missing_tasks: "MissingTasks"


class CompareKeywords(SelfTestKeywords, total=False):
    """Keywords of `compare`."""

    resources: "bool"
    token_prices: "str | None"
    overall: "bool"
    weights: "str | Mapping[str, float]"
    normalize: "Normalization"
    chance: "Mapping[str, float]"
    missing_tasks: "MissingTasks"


class RankKeywords(HistoryKeywords, total=False):
    """Keywords of `rank`."""

    missing: "MissingPolicy | Mapping[str, MissingPolicy] | None"
    treat: "Mapping[str, MissingPolicy] | None"
    resources: "bool"
    token_prices: "str | None"
    by: "str | Sequence[str]"
    scope: "Scope"
    correction: "Correction"
    n_draws: "int"
    seed: "int"
    generalize_over: "str | Sequence[str] | None"
    overall: "bool"
    weights: "str | Mapping[str, float]"
    normalize: "Normalization"
    chance: "Mapping[str, float]"
    missing_tasks: "MissingTasks"


class ReportKeywords(ResourceUseKeywords, total=False):
    """Keywords of `report`."""

    by: "str | Sequence[str]"
    margin: "float"
    margins: "Mapping[str, float]"
    weights: "str | Mapping[str, float]"
    normalize: "Normalization"
    chance: "Mapping[str, float]"
    missing_tasks: "MissingTasks"


class GateKeywords(SelfTestKeywords, total=False):
    """Keywords of `gate`."""

    token_prices: "str | None"
    by: "str | Sequence[str]"
    improve_by: "float | Mapping[str | None, float] | Mapping[str, float] | None"
    at_least: "float | Mapping[str | None, float] | Mapping[str, float] | None"
    at_most: "float | Mapping[str | None, float] | Mapping[str, float] | None"
    overall: "bool"
    weights: "str | Mapping[str, float]"
    normalize: "Normalization"
    chance: "Mapping[str, float]"
    missing_tasks: "MissingTasks"
