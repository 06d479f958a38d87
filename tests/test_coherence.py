"""Commands agree on the same data: rules that hold for random panels of scores.

There are 320 panels of right-or-wrong and graded scores, with clusters, trials, and missing questions and trials. Each
rule takes some of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from harness_uq import (
    Options,
    compare,
    compare_scores,
    estimate,
    estimate_scores,
    gate,
    rank,
    rank_scores,
)
from harness_uq.data.selection import select_questions
from harness_uq.data.task_log import (
    AggregateScore,
    Classifications,
    MetadataField,
    Questions,
    Scores,
    SufficientStatistics,
    TaskLog,
)
from harness_uq.options import resolve
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Interval
from harness_uq.results.overall import Overall, OverallDifference
from harness_uq.results.ranking import Ranking
from tests.data.toy import task_log

KINDS = ("binary", "graded", "unbounded")
STRUCTURES = ("plain", "clusters", "trials", "both")
EXACT = 1e-9
BLOCK = 10  # panels in one test


@dataclass(frozen=True)
class RandomPanel:
    """Logs of several systems on the same task, and options with the clusters and the range of the scores."""

    logs: tuple[TaskLog, ...]
    options: Mapping[str, object]


@cache
def panel(number: int) -> RandomPanel:
    """The panel of this number; neighbors differ in every property."""
    rng = np.random.default_rng([20261128, number])
    kind, structure = KINDS[number % 3], STRUCTURES[number // 3 % 4]
    n_systems = 2 if number % 2 == 0 else 3 + int(rng.integers(0, 4)) * (number % 4 == 1)
    n = int(rng.integers(12, 31))
    n_trials = int(rng.integers(2, 5)) if structure in ("trials", "both") else 1
    size = int(rng.integers(2, 5)) if structure in ("clusters", "both") else 1
    of_question = np.arange(n) // size
    difficulty = rng.normal(size=n) + 1.5 * rng.normal(size=n)[of_question]
    share = rng.choice([0.0, 0.05, 0.1])
    logs = []
    for s in range(n_systems):
        ability = rng.normal(0.4, 0.5)
        chance = 1 / (1 + np.exp(difficulty - ability))[:, None]
        if kind == "binary":
            values = (rng.random((n, n_trials)) < chance) * 1.0
        elif kind == "graded":
            values = np.clip(chance + rng.normal(0, 0.15, (n, n_trials)), 0, 1).round(3)
        else:
            values = (10 * chance + rng.normal(size=(n, n_trials))).round(3)
        values[rng.random(n) < share] = np.nan
        if n_trials > 1:
            values[rng.random((n, n_trials)) < share] = np.nan
        fields = {} if size == 1 else {"passage": [f"p{c}" for c in of_question]}
        metric = "points" if kind == "unbounded" else "acc"
        logs.append(task_log(values, system=f"s{s}", metric=metric, fields=fields, ids=[f"q{k}" for k in range(n)]))
    options: dict[str, object] = {"cluster": "passage"} if size > 1 else {}
    if kind == "graded":
        options["range"] = {"acc": (0.0, 1.0)}
    return RandomPanel(tuple(logs), options)


def numbers(of: range) -> object:
    """Parametrize a test by blocks of panels, so that a failure names a few panels."""
    blocks = [of[k : k + BLOCK] for k in range(0, len(of), BLOCK)]
    return pytest.mark.parametrize("block", blocks, ids=str)


def ranked(logs: Sequence[TaskLog], options: Mapping[str, object]) -> Ranking:
    (row,) = rank(list(logs), Options(n_draws=1000), **options)
    return row


def compared(a: TaskLog, b: TaskLog, options: Mapping[str, object]) -> Comparison:
    (row,) = compare(a, b, **options)
    return row


def close(one: object, other: object) -> bool:
    """Whether numbers, or all numbers in sequences, agree; None agrees with None only."""
    if one is None or other is None:
        return one is other
    return bool(np.allclose(np.asarray(one, float), np.asarray(other, float), rtol=EXACT, atol=EXACT))


def ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def common_rows(logs: Sequence[TaskLog]) -> np.ndarray:
    """The questions that all systems answered."""
    return np.flatnonzero(np.all([log.data[0].is_scored for log in logs], axis=0))


# ---------------------------------------------------------------- rank, estimate, compare and gate


@numbers(range(1, 120, 2))
def test_a_row_of_rank_is_the_estimate_of_the_same_questions(block: range) -> None:
    for number in block:
        one = panel(number)
        row = ranked(one.logs, one.options)
        rows = common_rows(one.logs)
        assert row.n_questions == len(rows)
        for system in row.systems:
            log = next(log for log in one.logs if log.system == system.system)
            (alone,) = estimate(select_questions(log, rows), **one.options)
            assert alone.interval is not None
            assert close((system.value, *ends(system.interval)), (alone.value, *ends(alone.interval))), number


@numbers(range(1, 120, 8))
def test_the_posterior_interval_of_gate_is_that_of_compare(block: range) -> None:
    for number in block:
        one = panel(number)
        a, b = one.logs[:2]
        row = compared(a, b, one.options)
        (gated,) = gate(a, b, margin=0.05, **one.options).rows
        assert row.difference is not None
        assert gated.comparison.difference is not None
        interval = gated.comparison.posterior_interval or gated.comparison.difference.interval
        assert close(ends(interval), ends(row.difference.interval)), number


@numbers(range(0, 160, 2))
def test_two_systems_are_ranked_as_they_are_compared(block: range) -> None:
    for number in block:
        one = panel(number)
        a, b = one.logs
        row, ranking = compared(a, b, one.options), ranked(one.logs, one.options)
        best, other = sorted(ranking.systems, key=lambda system: system.system)
        if row.prob_positive is not None:
            assert close(best.prob_best, row.prob_positive), number
            assert close(other.prob_best, 1 - row.prob_positive), number
        is_decided = row.verdict in ("better", "worse")
        assert (not set(best.letters) & set(other.letters)) == is_decided, number
        (low, high), (other_low, other_high) = best.rank_set, other.rank_set
        assert is_decided or max(low, other_low) <= min(high, other_high), number


@numbers(range(160, 320))
def test_exchanging_the_systems_changes_signs_only(block: range) -> None:
    for number in block:
        one = panel(number)
        a, b = one.logs[:2]
        assert_mirrored(compared(a, b, one.options), compared(b, a, one.options), number)


def assert_mirrored(row: Comparison, mirrored: Comparison, number: object) -> None:
    """Check that B - A is A - B with other signs."""
    assert row.difference is not None
    assert mirrored.difference is not None
    low, high = ends(row.difference.interval)
    assert close((-high, -low), ends(mirrored.difference.interval)), number
    assert close(row.difference.value, -mirrored.difference.value)
    assert close(row.difference.std_error, mirrored.difference.std_error), number
    assert (row.prob_positive is None) == (mirrored.prob_positive is None)
    if row.prob_positive is not None:
        assert close(row.prob_positive, 1 - mirrored.prob_positive), number
    assert close(row.p_value, mirrored.p_value), number
    assert (row.n_matched, row.n_clusters) == (mirrored.n_matched, mirrored.n_clusters), number
    assert mirrored.verdict == {"better": "worse", "worse": "better"}.get(row.verdict, row.verdict), number


# ---------------------------------------------------------------- metrics that are not means

FUNCTIONS = ("f1", "matthews_corrcoef", "informedness", "perplexity", "bits_per_byte", "bleu")


@cache
def pair_of_records(number: int) -> tuple[TaskLog, TaskLog]:
    """Two logs with classes or sums of records of the same questions; every fourth pair has clusters."""
    rng = np.random.default_rng([20261129, number])
    n, name = int(rng.integers(20, 60)), FUNCTIONS[number % len(FUNCTIONS)]
    fields = {"passage": [f"p{k // 4}" for k in range(n)]} if number % 4 == 0 else {}
    shared, targets, logs = rng.normal(size=n), rng.integers(0, 2, n), []
    for system in ("s0", "s1"):
        log = task_log(np.zeros(n), system=system, fields=fields, ids=[f"q{k}" for k in range(n)])
        if name in FUNCTIONS[:3]:
            answers = (targets ^ (shared + rng.normal(size=n) > 1))[:, None]
            data = Classifications(name, "none", targets, answers, ("no", "yes"))
        else:
            data = SufficientStatistics(name, "none", records(rng, name, shared), name)
        logs.append(replace(log, data=(data,)))
    return logs[0], logs[1]


def records(rng: np.random.Generator, name: str, shared: np.ndarray) -> np.ndarray:
    """Sufficient statistics of a corpus metric: log-likelihood and size, or lengths and n-grams."""
    size = rng.integers(8, 20, len(shared)).astype(float)
    if name != "bleu":
        return np.column_stack([-np.exp(1 + 0.3 * shared + 0.1 * rng.normal(size=len(shared))) * size, size])
    grams = [size - k for k in range(4)]
    matched = [np.floor(rng.uniform(0.2, 0.9, len(shared)) * gram) for gram in grams]
    return np.column_stack([size, size + 1, *matched, *grams])


@numbers(range(60))
def test_metrics_that_are_not_means_do_not_depend_on_any_order(block: range) -> None:
    for number in block:
        a, b = pair_of_records(number)
        options = {"cluster": "passage"} if a.questions.fields else {}
        row = compared(a, b, options)
        assert row.method in ("confusion", "bayesian-bootstrap")
        assert_mirrored(row, compared(b, a, options), number)
        for logs in ((a, b), (b, a)):
            first, second = sorted(ranked(logs, options).systems, key=lambda system: system.system)
            best = (row.prob_positive, 1 - row.prob_positive)
            assert close((first.prob_best, second.prob_best), best if row.higher_is_better else best[::-1]), number
            is_apart = row.verdict in ("better", "worse")
            assert (set(first.letters).isdisjoint(second.letters)) == is_apart, number
        rng = np.random.default_rng(number)
        again = compared(reordered(a, rng), reordered(b, rng), options)
        assert close(ends(row.difference.interval), ends(again.difference.interval)), number
        assert close(row.prob_positive, again.prob_positive), number
        if isinstance(a.data[0], Classifications):
            same = compared(a, replace(a, system="s1"), options)
            assert_mirrored(same, same, number)


# ---------------------------------------------------------------- arrays


def as_array(log: TaskLog) -> np.ndarray:
    (data,) = log.data
    assert isinstance(data, Scores)
    return data.values


@numbers(range(0, 120, 5))
def test_functions_of_arrays_agree_with_those_of_logs(block: range) -> None:
    for number in block:
        one = panel(number)
        logs = [replace(log, task="array", source=replace(log.source, harness="array")) for log in one.logs]
        arrays = {log.system: as_array(log) for log in logs}
        field = logs[0].questions.fields.get("passage")
        keywords = {} if field is None else {"clusters": field.codes}
        if ranges := one.options.get("range"):
            keywords["range"] = ranges["acc"]
        for log in logs:
            (row,), alone = estimate(log, **one.options), estimate_scores(arrays[log.system], **keywords)
            assert (row.method, row.n_questions, row.n_clusters) == (alone.method, alone.n_questions, alone.n_clusters)
            assert close((row.value, *ends(row.interval)), (alone.value, *ends(alone.interval))), number
        row, alone = compared(*logs[:2], one.options), compare_scores(*list(arrays.values())[:2], **keywords)
        assert close(ends(row.difference.interval), ends(alone.difference.interval)), number
        assert close(row.prob_positive, alone.prob_positive), number
        assert (row.verdict, row.n_matched) == (alone.verdict, alone.n_matched)
        metric = logs[0].data[0].metric
        first, second = ranked(logs, one.options), rank_scores(arrays, metric=metric, n_draws=1000, **keywords)
        assert facts_of_ranking(first).keys() == facts_of_ranking(second).keys()
        for system, facts in facts_of_ranking(first).items():
            assert close(facts, facts_of_ranking(second)[system]), number


# ---------------------------------------------------------------- order


def reordered(log: TaskLog, rng: np.random.Generator) -> TaskLog:
    """The log with its questions in another order."""
    return select_questions(log, rng.permutation(len(log.questions)))


def facts_of_ranking(row: Ranking) -> dict[str, tuple[object, ...]]:
    return {
        one.system: (
            *(one.value, *ends(one.interval), one.prob_best, one.expected_rank),
            *(one.rank_low, one.rank_high, *one.rank_set),
        )
        for one in row.systems
    }


@numbers(range(200, 320, 7))
def test_no_result_depends_on_the_order_of_questions_and_systems(block: range) -> None:
    for number in block:
        one = panel(number)
        rng = np.random.default_rng(number)
        logs = [reordered(log, rng) for log in one.logs]
        for log, other in zip(one.logs, logs, strict=True):
            (row,), (again,) = estimate(log, **one.options), estimate(other, **one.options)
            assert close((row.value, *ends(row.interval)), (again.value, *ends(again.interval))), number
        row, again = (compared(*pair[:2], one.options) for pair in (one.logs, logs))
        assert close(ends(row.difference.interval), ends(again.difference.interval)), number
        assert close(row.prob_positive, again.prob_positive), number
        first = ranked(one.logs, one.options)
        second = ranked([logs[k] for k in rng.permutation(len(logs))], one.options)
        assert close(
            [fact for _, fact in sorted(facts_of_ranking(first).items())],
            [fact for _, fact in sorted(facts_of_ranking(second).items())],
        ), number


@numbers(range(200, 320, 25))
def test_no_gate_depends_on_the_order_of_questions_and_tasks(block: range) -> None:
    for number in block:
        logs, options = two_tasks(number)
        rng = np.random.default_rng(number)
        again = [reordered(log, rng) for log in logs[::-1]]
        first, second = (
            gate(*([log for log in given if log.system == name] for name in ("s0", "s1")), margin=0.05, **options)
            for given in (logs, again)
        )
        assert first.decision == second.decision
        of_task = {row.comparison.task: row for row in second.rows}
        for row in first.rows:
            other = of_task[row.comparison.task]
            assert row.decision == other.decision
            assert close(row.adjusted_p, other.adjusted_p), number
            assert close(ends(row.comparison.difference.interval), ends(other.comparison.difference.interval)), number


# ---------------------------------------------------------------- groups of questions


@numbers(range(2, 320, 20))
def test_groups_with_one_value_are_the_whole(block: range) -> None:
    for number in block:
        one = panel(number)
        logs = [with_field(log) for log in one.logs[:2]]
        (row,) = estimate(logs[0], **one.options)
        (parts,) = estimate(logs[0], by="split", **one.options)
        (part,) = parts.groups
        assert close((row.value, *ends(row.interval)), (part.value, *ends(part.interval))), number
        whole = compared(*logs, one.options)
        (breakdown,) = compare(*logs, by="split", **one.options)
        (group,) = breakdown.groups
        assert close(ends(whole.difference.interval), ends(group.interval)), number


def with_field(log: TaskLog) -> TaskLog:
    """The log whose questions all have the same value of the field `split`."""
    field = MetadataField([0] * len(log.questions), False, ("all",))
    return replace(log, questions=replace(log.questions, fields={**log.questions.fields, "split": field}))


# ---------------------------------------------------------------- overall results


def two_tasks(number: int) -> tuple[list[TaskLog], dict[str, object]]:
    """The panels `number` and `number + 12` of the same kind and structure as two tasks."""
    first, second = panel(number), panel(number + 12)
    n = min(len(first.logs), len(second.logs))
    logs = [*first.logs[:n], *(replace(log, task="other") for log in second.logs[:n])]
    return logs, dict(first.options)


def weighted(options: Mapping[str, object], weights: Mapping[str, float]) -> Options:
    resolved, _ = resolve("compare", None, options)
    return replace(resolved, weights=weights, n_draws=1000)


@numbers(range(0, 60, 5))
def test_the_overall_result_of_one_task_is_that_task(block: range) -> None:
    for number in block:
        logs, options = two_tasks(number)
        chosen = weighted(options, {"toy": 1.0, "other": 0.0})
        result = estimate(logs, chosen, overall=True, **options).overall
        rows = {row.system: row for row in estimate(logs, **options) if row.task == "toy"}
        for system in result.systems:
            row = rows[system.system]
            assert close((system.value, *ends(system.interval)), (row.value, *ends(row.interval))), number
        result = compare(logs, None, chosen, baseline="s0", overall=True).overall
        (row,) = rank([log for log in logs if log.task == "toy"], **options)
        assert {one.system: one.value for one in row.systems} == pytest.approx(
            {one.system: one.value for one in result.systems}
        )
        if len(result.systems) == 2:
            (difference,) = result.differences
            toy = {log.system: log for log in logs if log.task == "toy"}
            alone = compared(toy["s1"], toy["s0"], options)
            assert close(difference.value, alone.difference.value), number
            assert close(ends(difference.interval), ends(alone.difference.interval)), number
            if alone.prob_positive is not None:
                assert close(difference.prob_better, alone.prob_positive), number
            assert_ranked_as_compared(rank(logs, chosen, overall=True).overall, difference, number)


@numbers(range(0, 72, 6))
def test_a_group_of_one_task_is_that_task(block: range) -> None:
    for number in block:
        one = panel(number)
        logs = list(one.logs)
        for log in one.logs:
            row = AggregateScore(log.data[0].metric, "none", None, None, "a group")
            logs.append(replace(log, task="suite", data=(row,), questions=Questions(()), subtasks=(log.task,)))
        rows = [row for row in estimate(logs, **one.options) if row.system == one.logs[0].system]
        of_task, of_group = sorted(rows, key=lambda row: row.task == "suite")
        assert (of_group.task, of_group.interval, of_group.std_error) == (
            "suite",
            of_task.interval,
            of_task.std_error,
        )
        if len(one.logs) == 2:
            a, b = ([log for log in logs if log.system == system.system] for system in one.logs)
            of_task, of_group = (row for row in compare(a, b, **one.options))
            assert (of_group.task, of_group.difference) == ("suite", of_task.difference)


@numbers(range(2, 120, 10))
def test_the_overall_rank_of_two_systems_is_their_overall_difference(block: range) -> None:
    for number in block:
        logs, options = two_tasks(number)
        result = compare(logs, None, baseline="s0", overall=True, **options).overall
        if len(result.systems) == 2:
            assert_ranked_as_compared(rank(logs, overall=True, **options).overall, *result.differences, number)


def assert_ranked_as_compared(ranked: Overall, difference: OverallDifference, number: object) -> None:
    """Check the ranks of two systems, `s1` and the baseline."""
    of = {system.system: system for system in ranked.systems}
    assert close(of["s1"].prob_best, difference.prob_better), number
    assert close(of["s0"].prob_best, 1 - difference.prob_better), number
    is_decided = difference.single_verdict in ("better", "worse")
    assert (of["s0"].letters != of["s1"].letters) == is_decided, number
    assert (of["s0"].rank_set != of["s1"].rank_set) <= is_decided, number


@numbers(range(100, 160, 7))
def test_no_overall_result_depends_on_the_order_of_tasks_systems_and_metrics(block: range) -> None:
    for number in block:
        logs, options = two_tasks(number)
        logs = [with_second_metric(log) for log in logs]
        again = [replace(log, data=log.data[::-1]) for log in logs[::-1]]
        of_results = []
        for given in (logs, again):
            result = rank(given, n_draws=1000, overall=True, **options).overall
            of_results.append(
                {
                    one.system: (one.value, *ends(one.interval), one.prob_best, one.expected_rank, *one.rank_set)
                    for one in result.systems
                }
            )
            assert {task.metric for task in result.tasks} == {logs[0].data[0].metric}
        for system, facts in of_results[0].items():
            assert close(facts, of_results[1][system]), number


def with_second_metric(log: TaskLog) -> TaskLog:
    (scores,) = log.data
    return replace(log, data=(scores, replace(scores, metric="zeta", values=1 - scores.values)))
