"""What a careful reader asks, in the estimates themselves: gaps, batches, copies, weights, the other prior."""

import numpy as np
import pytest

from harness_uq.estimating.analysis import Options, estimate, estimate_scores
from harness_uq.logs.data import Reported, Scores, Source, TaskLog
from harness_uq.structure.facts import StructureOptions
from tests.logs.toy import task_log

NAN = float("nan")


def notes_about(word: str, row) -> list[str]:
    return [text for text in (*row.notes, *row.warnings) if word in text]


def test_questions_without_a_score_are_counted_with_the_scores_they_allow() -> None:
    # 6 of 8 scored, 5 right: 5/8 were the others wrong, 7/8 were they right
    row = estimate_scores([1, 1, 0, NAN, NAN, 1, 1, 1])
    assert row.n_questions == 6
    (note,) = notes_about("no score", row)
    assert note == "2 of 8 trials have no score; were they all wrong the score would be 0.6250, all right 0.8750"


def test_gaps_are_counted_where_identical_trials_leave_only_one_column() -> None:
    row = estimate_scores([[1, 1], [NAN, NAN], [0, NAN], [1, 1]])
    assert notes_about("3 of 8 trials have no score", row)
    assert notes_about("scored alike", row)


def test_gaps_in_scores_of_another_range_speak_of_the_range() -> None:
    options = Options(structure=StructureOptions(ranges={"score": (0.0, 10.0)}))
    (note,) = notes_about("no score", estimate_scores([4, 6, NAN, 5.5], options=options))
    assert "the lowest possible the score would be 3.8750, all the highest possible 6.3750" in note
    (note,) = notes_about("no score", estimate_scores([4, 6, NAN, 5.5]))
    assert note.startswith("1 of 4 trials have no score; ")


def test_complete_scores_say_nothing_of_gaps() -> None:
    assert not notes_about("no score", estimate_scores([1, 0, 1, 1]))


def test_a_bad_batch_is_reported() -> None:
    rng = np.random.default_rng(0)
    values = (rng.random((200, 3)) < [0.8, 0.8, 0.5]).astype(float)
    assert notes_about("Cochran's Q", estimate_scores(values))
    values = (rng.random((200, 3)) < 0.8).astype(float)
    assert not notes_about("Cochran's Q", estimate_scores(values))


def test_under_ten_clusters_the_other_prior_stands_beside() -> None:
    right = np.array([9, 5, 10, 3, 8])
    values = np.concatenate([np.r_[np.ones(s), np.zeros(10 - s)] for s in right])
    row = estimate_scores(values, clusters=np.repeat(range(5), 10))
    (note,) = notes_about("gamma prior", row)
    assert "[0.385, 0.863]" in note  # reference posteriors.json, first case, 2.5 and 97.5 %
    assert not notes_about("gamma prior", estimate_scores(np.tile(values, 2), clusters=np.repeat(range(10), 10)))


def group_logs(*sizes: int, weights: str) -> list[TaskLog]:
    rng = np.random.default_rng(5)
    logs = [task_log((rng.random(n) < 0.8).astype(float), task=f"t{i}") for i, n in enumerate(sizes)]
    means = [float(log.data[0].values.mean()) for log in logs]
    value = np.average(means, weights=sizes if weights == "size" else None)
    group = TaskLog(
        system="model",
        task="all",
        source=Source("toy.json", "lm-eval"),
        questions=logs[0].questions.__class__(()),
        data=(Scores("acc", "none", np.empty((0, 1))),),
        reported={("acc", "none"): Reported(float(value))},
        subtasks=tuple(log.task for log in logs),
    )
    return [*logs, group]


def group_row(method: str, *sizes: int, weights: str = "size"):
    rows = estimate(group_logs(*sizes, weights=weights), Options(method=method))
    return next(row for row in rows if row.task == "all")


def test_the_weights_of_a_groups_tasks_are_printed_with_their_worth() -> None:
    # (10 + 20 + 70)^2 / (10^2 + 20^2 + 70^2) = 1.85
    row = group_row("bayes", 10, 20, 70)
    assert "3 tasks weighted by their number of questions, worth 1.9 of equal weight" in row.notes
    assert "3 tasks of equal weight" in group_row("bayes", 10, 20, 70, weights="equal").notes


def test_tasks_as_a_sample_of_tasks_are_wider_than_exactly_these() -> None:
    sizes = (40,) * 6
    new, fixed = group_row("new-tasks", *sizes), group_row("group", *sizes)
    assert new.method == "new-tasks"
    assert new.value == pytest.approx(fixed.value)
    assert new.interval.width > fixed.interval.width
    assert notes_about("sample of tasks", new)
    assert notes_about("with 6 tasks little is known", new)


def test_new_tasks_is_the_clustered_ratio_with_tasks_as_clusters() -> None:
    from harness_uq.stats import clustered_bounded_posterior

    logs = group_logs(10, 20, 70, weights="size")
    totals = [log.data[0].values.sum() for log in logs[:-1]]
    expected = clustered_bounded_posterior(totals, [10, 20, 70], 0, 1).interval(0.95, "hdi")
    row = group_row("new-tasks", 10, 20, 70)
    assert (row.interval.low, row.interval.high) == pytest.approx(expected, abs=1e-8)


def test_new_tasks_refuses_single_tasks() -> None:
    row = estimate_scores([1, 0, 1], options=Options(method="new-tasks"))
    assert "is made for groups of tasks" in row.warnings[0]


def test_the_warning_on_unknown_ranges_says_whether_a_tail_is_seen() -> None:
    """Calm scores are warned of too: a sample without the rare ones looks like them."""
    calm = estimate_scores([0.1, 1.9, 3.2, 1.1, 2.4, -0.7, 2.8, 0.5, 1.6, 2.1]).warnings
    tailed = estimate_scores([0.1, 0.2, 0.1, 0.4, 0.2, 0.1, 0.3, 0.2, 0.1, 9.0]).warnings
    assert any("show no long tail" in text for text in calm)
    assert any("have a long tail" in text for text in tailed)
