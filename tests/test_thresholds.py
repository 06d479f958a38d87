"""Thresholds that decide which number is printed: what happens on either side of each."""

import numpy as np
import pytest

from harness_uq.analyses.estimate import estimate
from harness_uq.analyses.plan import plan
from harness_uq.data.clusters import find_clusters
from harness_uq.data.match_questions import common_questions
from harness_uq.data.selection import SelectedRun
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import AggregateScore, HarnessResult, Questions, Scores, Source, TaskLog
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from tests.data.toy import task_log
from tests.message_checks import has

# ---------------------------------------------------------------- the score that a beta-binomial interval is about

TWELVE_PAIRS = [2, 1, 0, 2, 1, 2, 0, 1, 2, 1, 1, 1]


def posterior_sds_apart(size: int, successes: int) -> float:
    """How far the clusters' mean with weights N / (1 + (N - 1) icc) lies from the plain score, in posterior sds."""
    right, sizes = np.array([*TWELVE_PAIRS, successes, successes]), np.array([2] * 12 + [size] * 2)
    posterior = clustered_posterior(right, sizes)
    weights = sizes / (1 + (sizes - 1) * posterior.icc_mean)
    centre = weights @ (right / sizes) / weights.sum()
    return float(abs(centre - right.sum() / sizes.sum()) / posterior.sd)


def clustered_estimate(size: int, successes: int) -> Estimate:
    """Of twelve clusters of two questions and two larger ones."""
    right, sizes = [*TWELVE_PAIRS, successes, successes], [2] * 12 + [size] * 2
    values = [int(k < r) for r, n in zip(right, sizes, strict=True) for k in range(n)]
    labels = [cluster for cluster, n in enumerate(sizes) for _ in range(n)]
    log = task_log(values, fields={"passage": labels})
    (row,) = estimate([log], Options(method="clustered-beta", structure=StructureOptions(cluster="passage")))
    return row


def test_a_plain_score_less_than_half_a_posterior_sd_from_the_clusters_mean_is_what_theta_is_about() -> None:
    assert 0.3 < posterior_sds_apart(20, 14) < 0.5
    assert not has(clustered_estimate(20, 14), "interval-of-theta")


def test_a_plain_score_more_than_half_a_posterior_sd_from_the_clusters_mean_is_warned_of() -> None:
    assert 0.5 < posterior_sds_apart(8, 2) < 0.7
    assert has(clustered_estimate(8, 2), "interval-of-theta")


# ---------------------------------------------------------------- items that the tasks of a group share


def group_of_two(**questions: tuple[list[str], list[str]]) -> Estimate:
    """Mean of two tasks of forty questions; `questions` gives their `items` or their `hashes`."""
    run = {"source": Source("results.json", "lm-eval", time="2026-01-01", run="r")}
    values = np.array([1.0, 0.0] * 20)[:, None]
    ids = tuple(map(str, range(40)))
    members = [
        TaskLog(
            "m",
            f"t{k}",
            questions=Questions(ids, **{name: tuple(labels[k]) for name, labels in questions.items()}),
            data=(Scores("acc", "none", values),),
            **run,
        )
        for k in range(2)
    ]
    group = TaskLog(
        "m",
        "g",
        questions=Questions(()),
        data=(AggregateScore("acc", "none", 0.5, None, "a group"),),
        reported={("acc", "none"): HarnessResult(0.5, 0.1)},
        subtasks=("t0", "t1"),
        **run,
    )
    return estimate([*members, group])[-1]


def labels_with(n_shared: int) -> tuple[list[str], list[str]]:
    """Forty labels of each of two tasks, the first of which occur in both."""
    first = [f"i{j}" for j in range(40)]
    return first, [label if j < n_shared else f"other {label}" for j, label in enumerate(first)]


@pytest.mark.parametrize(("kind", "n_shared"), [("items", 20), ("hashes", 8)])
def test_tasks_that_share_half_of_their_items_or_a_fifth_of_their_texts_are_joined_by_them(
    kind: str, n_shared: int
) -> None:
    assert group_of_two(**{kind: labels_with(n_shared)}).n_clusters == 80 - n_shared


@pytest.mark.parametrize(("kind", "n_shared"), [("items", 19), ("hashes", 7)])
def test_tasks_that_share_fewer_are_independent(kind: str, n_shared: int) -> None:
    assert group_of_two(**{kind: labels_with(n_shared)}).n_clusters is None


# ---------------------------------------------------------------- matching questions


@pytest.mark.parametrize(("n_shared", "matched_by", "n_matched"), [(5, "content", 5), (4, "id", 10)])
def test_content_matches_questions_where_it_identifies_half_as_many_as_identifiers_do(
    n_shared: int, matched_by: str, n_matched: int
) -> None:
    contents = [f"c{i}" for i in range(10)]
    others = [content if i < n_shared else f"other {content}" for i, content in enumerate(contents)]
    logs = [task_log([0, 1] * 5, system="a", hashes=contents), task_log([0, 1] * 5, system="b", hashes=others)]
    aligned = common_questions([SelectedRun(log, log.data[0]) for log in logs])
    assert (aligned.matched_by, aligned.n_questions) == (matched_by, n_matched)


# ---------------------------------------------------------------- fields that cluster by themselves


def key_of(n_distinct: int, n: int = 100, **options: object) -> str | None:
    """The cluster key that is found in a field `passage` of so many values."""
    log = task_log([0, 1] * (n // 2), fields={"passage": [min(i, n_distinct - 1) for i in range(n)]}, **options)
    return find_clusters(log, StructureOptions()).key


@pytest.mark.parametrize(("n_distinct", "key"), [(98, "passage"), (99, None), (5, "passage"), (4, None)])
def test_a_field_named_passage_clusters_with_five_values_or_more_and_98_of_100_or_fewer(
    n_distinct: int, key: str | None
) -> None:
    assert key_of(n_distinct) == key


@pytest.mark.parametrize(("n_distinct", "key"), [(95, "passage"), (96, None)])
def test_repeated_text_clusters_where_one_in_twenty_repeats(n_distinct: int, key: str | None) -> None:
    assert key_of(n_distinct, text_fields=["passage"]) == key


# ---------------------------------------------------------------- trial noise in a plan


def test_noise_of_unequal_trials_averages_the_reciprocal_of_their_number() -> None:
    """Every question's trials have variance .02: pairs lie at ±.1 and fours at ±sqrt(.015) around the question's mean.

    The noise of one mean over K trials is .02 / K, and the average of 1 / K over as many twos and fours is 3 / 8, the
    reciprocal of 8/3; that of 3, their arithmetic mean, would be 1 / 3. Observed differences are ±.8 and ±.6.
    """
    nan, far = float("nan"), 0.015**0.5

    def trials(mean: float, count: int) -> list[float]:
        return [mean - 0.1, mean + 0.1, nan, nan] if count == 2 else [mean - far, mean - far, mean + far, mean + far]

    a = [trials(0.9, 2), trials(0.1, 4), trials(0.8, 4), trials(0.2, 2)] * 5
    b = [trials(0.1, 2), trials(0.9, 4), trials(0.2, 4), trials(0.8, 2)] * 5
    pilot = [task_log(a, system="a", metric="score"), task_log(b, system="b", metric="score")]
    (found,) = plan(pilot, Options(difference=0.1))
    assert found.variance_within == pytest.approx(0.02)
    assert found.variance_difference == pytest.approx(20 * 0.5 / 19 - 2 * 0.02 * 3 / 8)
