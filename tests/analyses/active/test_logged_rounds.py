"""Estimates from logs whose questions state how they were chosen."""

import numpy as np
import pytest

from harness_uq import ActiveHistory, ActiveSampler, Estimate, Questions, Scores, Source, TaskLog, estimate
from harness_uq.data.clusters import candidate_fields
from harness_uq.data.task_log import MetadataField
from harness_uq.messages.catalogue.planning import TOO_FEW_ACTIVE_SCORES
from tests.analyses.active.test_sampler import HISTORY, NEW
from tests.message_checks import has

FIELDS = ("round", "round_size", "probability")


def log_of(system: str, ids: list[str], scores: np.ndarray, chosen: list[dict[str, float]] | None = None) -> TaskLog:
    fields = {}
    for name in FIELDS if chosen else ():
        values, codes = np.unique([draw[name] for draw in chosen or []], return_inverse=True)
        fields[f"harness_uq.{name}"] = MetadataField(codes, values=tuple(map(repr, values.tolist())))
    data = Scores("acc", "none", scores[:, None], levels=(0.0, 1.0))
    return TaskLog(system, "sums", Source(system, "test"), Questions(tuple(ids), fields=fields), (data,))


IDS = [f"q{i:03d}" for i in range(200)]
RUNS = [log_of(f"earlier-{s}", IDS, row) for s, row in enumerate(HISTORY)]


def evaluation(n: int = 40) -> tuple[ActiveSampler, list[str], np.ndarray]:
    """A sampler after n of 50 questions, with these in the order of the log and their scores."""
    sampler = ActiveSampler(ActiveHistory(RUNS), n_questions=50)
    asked_so_far: list[str] = []
    while sampler.n_told < n:
        asked = [str(one) for one in sampler.ask(n - sampler.n_told)]
        asked_so_far += asked
        sampler.tell(asked, [NEW[IDS.index(one)] for one in asked])
    ids = sorted(asked_so_far)
    return sampler, ids, np.array([NEW[IDS.index(one)] for one in ids])


def estimated(ids: list[str], scores: np.ndarray, sampler: ActiveSampler) -> Estimate:
    log = log_of("new", ids, scores, [sampler.draw_of(one) for one in ids])
    (row,) = estimate(log, scope="full", reference_runs=RUNS)
    return row


@pytest.mark.parametrize("n", [50, 37])
def test_the_estimate_from_a_log_is_that_of_the_sampler(n: int) -> None:
    sampler, ids, scores = evaluation(n)
    row, expected = estimated(ids, scores, sampler), sampler.estimate()
    assert (row.method, row.n_questions) == ("active", n)
    assert row.value == pytest.approx(expected.value, abs=1e-12)
    assert row.interval is not None
    assert expected.interval is not None
    assert (row.interval.low, row.interval.high) == pytest.approx((expected.interval.low, expected.interval.high))


def test_a_missing_score_counts_as_the_lowest() -> None:
    sampler, ids, scores = evaluation(50)
    wrong, missing = scores.copy(), scores.copy()
    wrong[3], missing[3] = 0.0, np.nan
    assert estimated(ids, missing, sampler).value == pytest.approx(estimated(ids, wrong, sampler).value, abs=1e-12)


def test_a_single_answer_is_not_enough() -> None:
    sampler, ids, scores = evaluation(1)
    assert has(estimated(ids, scores, sampler), TOO_FEW_ACTIVE_SCORES.code)


def test_how_a_question_was_chosen_is_no_cluster() -> None:
    sampler, ids, scores = evaluation(50)
    log = log_of("new", ids, scores, [sampler.draw_of(one) for one in ids])
    assert candidate_fields(log) == {}
    (row,) = estimate(log)
    assert row.cluster_key is None
