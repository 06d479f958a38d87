"""A quantity has the same value in all results that contain it: in rows of groups, overall results, ranks and gates."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from harness_uq import Options, compare, estimate, rank
from harness_uq.analyses.gating.gate import gate
from harness_uq.data.missing_scores import MissingPolicies
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import AggregateScore, HarnessResult, TaskLog
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.overall import Overall, OverallDifference
from tests.analyses.comparison.pooled import rows_with_pooled_tasks
from tests.data.toy import task_log

ABILITIES = {"a": 0.75, "b": 0.6, "c": 0.55}
FIELD = "passage"  # questions with the same value form a cluster

CASES: dict[str, dict[str, object]] = {
    "independent questions": {"sizes": (40, 60, 50)},
    "equal weights": {"sizes": (40, 60, 50), "has_equal_weights": True},
    "one tiny task": {"sizes": (120, 10), "has_equal_weights": True},
    "clusters": {"sizes": (60, 40), "cluster_size": 5},
    "trials": {"sizes": (30, 20), "n_trials": 4},
    "graded scores": {"sizes": (30, 40), "is_graded": True},
    "missing scores": {"sizes": (40, 60), "n_missing": 3},
    "tasks without a group": {"sizes": (40, 60, 50), "has_group": False},
}
# with missing scores, comparisons use the questions that all systems answered, and estimates all of a system
COMPLETE = [name for name in CASES if name != "missing scores"]
GROUPS = [name for name, case in CASES.items() if case.get("has_group", True)]


@cache
def logs_of_case(name: str) -> tuple[TaskLog, ...]:
    return tuple(generated(**CASES[name]))


def generated(
    sizes: tuple[int, ...],
    *,
    cluster_size: int = 1,
    n_trials: int = 1,
    is_graded: bool = False,
    n_missing: int = 0,
    has_equal_weights: bool = False,
    has_group: bool = True,
) -> list[TaskLog]:
    """Logs of three systems whose answers are correlated, and of the group that contains all tasks."""
    rng = np.random.default_rng(20261126)
    logs = []
    for k, n in enumerate(sizes):
        hardness = 0.4 * rng.random(n) + 0.4 * np.repeat(rng.random(n // cluster_size), cluster_size) - 0.4
        for system, ability in ABILITIES.items():
            chance = np.clip(ability - hardness, 0.02, 0.98)[:, None]
            noise = rng.random((n, n_trials))
            scores = np.round(np.clip(chance + 0.4 * noise - 0.2, 0, 1), 3) if is_graded else (noise < chance) * 1.0
            if system == "b":
                scores[:n_missing] = np.nan
            fields = {} if cluster_size == 1 else {FIELD: [str(i // cluster_size) for i in range(n)]}
            ids = [f"t{k}-{i}" for i in range(n)]
            logs.append(task_log(scores, task=f"t{k}", system=system, ids=ids, fields=fields))
    groups = [group_of([log for log in logs if log.system == system], has_equal_weights) for system in ABILITIES]
    return [*logs, *groups] if has_group else logs


def group_of(members: list[TaskLog], has_equal_weights: bool) -> TaskLog:
    scored = [log.data[0].values[log.data[0].is_scored] for log in members]
    weights = None if has_equal_weights else [len(values) for values in scored]
    value = float(np.average([np.nanmean(values, axis=1).mean() for values in scored], weights=weights))
    return replace(
        members[0],
        task="suite",
        data=(AggregateScore("acc", "none", value, None, "Groups have no samples"),),
        questions=task_log([]).questions,
        reported={("acc", "none"): HarnessResult(value)},
        subtasks=tuple(log.task for log in members),
    )


def of(name: str, *systems: str) -> list[TaskLog]:
    return [log for log in logs_of_case(name) if log.system in systems]


@cache
def row_of(name: str, task: str) -> Comparison:
    (row,) = (row for row in rows_with_pooled_tasks(of(name, "a"), of(name, "b")) if row.task == task)
    return row


@cache
def difference(name: str, *others: str, weights: str = "equal") -> OverallDifference:
    """Difference of the systems a and b."""
    result = compare(of(name, "a", "b", *others), baseline="b", overall=True, weights=weights).overall
    assert result is not None
    return next(one for one in result.differences if one.system == "a")


def assert_same(row: Comparison, one: OverallDifference) -> None:
    assert row.difference is not None
    assert one.value == pytest.approx(row.difference.value)
    ends = row.difference.interval.low, row.difference.interval.high
    assert (one.single_interval.low, one.single_interval.high) == pytest.approx(ends, abs=1e-9)
    assert one.prob_better == pytest.approx(row.prob_positive, abs=1e-9)


@pytest.mark.parametrize("name", GROUPS)
def test_the_overall_difference_is_that_of_the_row_of_its_group(name: str) -> None:
    assert_same(row_of(name, "suite"), difference(name))
    assert difference(name).interval == difference(name).single_interval


@pytest.mark.parametrize("name", COMPLETE)
def test_a_third_system_widens_the_simultaneous_interval_only(name: str) -> None:
    pair, many = difference(name), difference(name, "c")
    assert many.value == pytest.approx(pair.value)
    assert many.single_interval.low == pytest.approx(pair.single_interval.low, abs=1e-9)
    assert many.single_interval.high == pytest.approx(pair.single_interval.high, abs=1e-9)
    assert many.interval.low < pair.interval.low < pair.interval.high < many.interval.high


@pytest.mark.parametrize("name", COMPLETE)
def test_weights_by_questions_give_the_row_over_all_questions(name: str) -> None:
    assert_same(row_of(name, "overall"), difference(name, weights="questions"))


@pytest.mark.parametrize("name", COMPLETE)
def test_the_gate_decides_by_the_overall_difference(name: str) -> None:
    (row,) = gate(of(name, "a"), of(name, "b"), margin=0.05, overall=True).rows
    assert_same(row.comparison, difference(name))


@cache
def estimates(name: str) -> dict[tuple[str, str], Estimate]:
    """Estimates by system and task."""
    return {(row.system, row.task): row for row in estimate(logs_of_case(name))}


def scores(result: Overall | None) -> dict[str, tuple[float | None, ...]]:
    """Value, limits and standard error of each system."""
    assert result is not None
    return {one.system: (one.value, one.interval.low, one.interval.high, one.std_error) for one in result.systems}


# with missing scores, the overall weights of all systems are the mean of their weights by size
@pytest.mark.parametrize("name", [name for name in GROUPS if name in COMPLETE])
def test_the_overall_score_is_that_of_the_row_of_its_group(name: str) -> None:
    for system, score in scores(estimate(logs_of_case(name), overall=True).overall).items():
        row = estimates(name)[system, "suite"]
        assert row.interval is not None
        assert score == pytest.approx((row.value, row.interval.low, row.interval.high, row.std_error), abs=1e-9)


@pytest.mark.parametrize("name", COMPLETE)
def test_estimates_ranks_and_comparisons_have_the_same_overall_scores(name: str) -> None:
    logs = logs_of_case(name)
    of_rank = scores(rank(logs, overall=True).overall)
    of_compare = scores(compare(logs, baseline="b", overall=True).overall)
    for system, score in scores(estimate(logs, overall=True).overall).items():
        assert of_rank[system] == pytest.approx(score, abs=1e-9)
        assert of_compare[system] == pytest.approx(score, abs=1e-9)
    assert difference(name, "c").value == pytest.approx(of_rank["a"][0] - of_rank["b"][0])


@pytest.mark.parametrize("name", COMPLETE)
def test_estimates_ranks_and_comparisons_have_the_same_scores_of_tasks(name: str) -> None:
    own = estimates(name)
    for ranking in rank(logs_of_case(name)):
        for one in ranking.systems:
            assert (one.value, one.interval) == (
                own[one.system, ranking.task].value,
                own[one.system, ranking.task].interval,
            )
    for row in compare(of(name, "a"), of(name, "b")):
        if row.task != "overall":
            assert row.value_a == pytest.approx(own["a", row.task].value)
            assert row.value_b == pytest.approx(own["b", row.task].value)


def test_missing_scores_that_count_as_wrong_do_not_change_the_weights_of_a_group() -> None:
    """The value that the harness reported leaves missing scores out, so that it has the weights 37/94 and 57/94."""
    structure = StructureOptions(missing=MissingPolicies("zero"))
    logs = of("missing scores", "a", "b")
    overall = compare(logs, None, Options(structure=structure), baseline="b", overall=True).overall
    assert overall is not None
    rows = compare(of("missing scores", "a"), of("missing scores", "b"), Options(structure=structure))
    assert_same(next(row for row in rows if row.task == "suite"), overall.differences[0])
    values = [log.data[0].values for log in logs if log.system == "b" and log.task != "suite"]
    (group,) = (row for row in estimate(logs, Options(structure=structure)) if (row.system, row.task) == ("b", "suite"))
    assert group.value == pytest.approx(sum(np.nansum(table) for table in values) / 100)
    of_estimate = scores(estimate(logs, Options(structure=structure), overall=True).overall)
    assert of_estimate == {system: pytest.approx(score) for system, score in scores(overall).items()}


def test_a_gate_by_the_overall_result_of_a_group_allows_missing_scores() -> None:
    sides = of("missing scores", "a"), of("missing scores", "b")
    (row,) = gate(*sides, margin=0.05, overall=True).rows
    assert_same(row.comparison, difference("missing scores"))
