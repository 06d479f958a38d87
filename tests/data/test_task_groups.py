"""Groups of tasks of which some or all are known by their totals alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from harness_uq import Questions, Scores, Source, TaskLog, estimate
from harness_uq.data.task_groups import joined_labels
from harness_uq.data.task_log import AggregateScore, HarnessResult
from tests.message_checks import has

RUN = {"source": Source("results.json", "lm-eval", time="2026-01-01", run="r")}
COUNTS = ((14, 307), (2, 123), (5, 280), (8, 154))


def log(name, n, data, **questions):
    return TaskLog("m", name, questions=Questions(tuple(map(str, range(n))), **questions), data=(data,), **RUN)


def total(name, right, n, *, is_share=True):
    return log(name, 0, AggregateScore("acc", "none", right / n, n, "no samples", is_share))


def scored(name, right, n, **questions):
    values = (np.arange(n) < right).astype(float)
    return log(name, n, Scores("acc", "none", values[:, None]), **questions)


def group_of(members, value):
    own = AggregateScore("acc", "none", value, None, "a group")
    names = tuple(member.task for member in members)
    row = log("g", 0, own)
    return estimate([*members, replace(row, reported={("acc", "none"): HarnessResult(value, 0.0)}, subtasks=names)])[-1]


def by_size(counts):
    return sum(right for right, _ in counts) / sum(n for _, n in counts)


def by_task(counts):
    return float(np.mean([right / n for right, n in counts]))


@pytest.mark.parametrize("weighted", [by_size, by_task])
def test_totals_give_what_the_same_questions_give_one_by_one(weighted):
    totals, samples = (
        group_of([make(f"t{i}", *count) for i, count in enumerate(COUNTS)], weighted(COUNTS))
        for make in (total, scored)
    )
    assert totals.value == pytest.approx(weighted(COUNTS))
    assert (totals.method, totals.interval, totals.std_error) == ("group", samples.interval, samples.std_error)
    assert has(totals, "task-totals-only", n_totals=4, n_tasks=4)
    assert samples.warnings == ()


def test_tasks_of_a_group_without_a_score_are_named():
    members = [scored("t0", 30, 40), log("t1", 0, AggregateScore("f1", "none", 0.5, 9, "no samples"))]
    empty = replace(total("t2", 0, 1), data=())
    row = group_of([*members, empty], 0.75)
    assert has(row, "group-tasks-left-out", n_left_out=2, n_tasks=3, metric="acc", tasks=("t1", "t2"))
    two = [scored("t0", 30, 40), scored("t1", 30, 40)]
    assert has(group_of([*two, empty], 0.75), "group-tasks-left-out", n_left_out=1, n_tasks=3, tasks=("t2",))
    assert not has(group_of(two, 0.75), "group-tasks-left-out")


@pytest.mark.parametrize("right", [0, 40])
def test_a_group_all_at_the_bound_has_an_interval(right):
    row = group_of([total("t0", right, 40), total("t1", right, 40)], right / 40)
    assert row.interval.width > 0.02
    assert row.std_error > 0


def test_tasks_with_samples_keep_the_items_that_they_share():
    items = tuple(f"i{j}" for j in range(60))
    shared = [scored(name, 30, 60, items=items) for name in ("t0", "t1")]
    apart = [scored(name, 30, 60) for name in ("t0", "t1")]
    joined, independent = (group_of([*members, total("t2", 30, 60)], 0.5) for members in (shared, apart))
    assert joined.n_clusters == 60 + 60
    assert joined.interval.width > 1.1 * independent.interval.width
    assert has(joined, "task-totals-only", n_totals=1, n_tasks=3)


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (total("t1", 30, 60, is_share=False), "group-member-unusable"),
        (
            log("t1", 0, AggregateScore("acc", "none", 0.513, 60, "no samples", True)),
            "group-member-unusable",
        ),
        (
            log("t1", 0, AggregateScore("acc", "none", 0.5, None, "no samples", True)),
            "group-member-unusable",
        ),
        (total("t1", 30_000_000, 60_000_000), "group-total-too-large"),
    ],
)
def test_a_total_that_is_no_count_is_named(member, said):
    row = group_of([scored("t0", 30, 60), member], 0.5)
    assert row.interval is None
    assert has(row, said, task="t1")


def test_no_interval_is_given_where_counts_do_not_make_the_groups_value():
    assert has(group_of([total("t0", 1, 4), total("t1", 30, 40)], 0.9), "group-weights-unknown")


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40))
def test_joined_labels_are_connected_components(rows):
    first, second = np.array(rows).T
    ends = np.concatenate([len(rows) + first, len(rows) + 13 + second])
    links = coo_array((np.ones(2 * len(rows)), (np.tile(np.arange(len(rows)), 2), ends)), shape=(80, 80))
    expected = connected_components(links, directed=False)[1][: len(rows)]
    assert joined_labels(first, second).tolist() == expected.tolist()
