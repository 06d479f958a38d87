"""Relations of missing scores to groups of questions and to other systems' scores."""

import numpy as np
import pytest
from scipy import stats

from harness_uq.analyses.detect_structure import detect_structure
from harness_uq.data.missingness import permutation_p_value
from harness_uq.data.task_log import MetadataField, Questions, Scores, Source, TaskLog
from harness_uq.messages.catalogue.score_structure import MISSING_BY_GROUP, MISSING_BY_SCORE


def task(values: np.ndarray, system: str, groups: np.ndarray) -> TaskLog:
    ids = tuple(f"q{k}" for k in range(len(values)))
    fields = {"subject": MetadataField(groups.astype(int), values=("easy", "hard"))}
    scores = Scores("acc", "none", values[:, None])
    return TaskLog(
        task="t", system=system, questions=Questions(ids, fields=fields), data=(scores,), source=Source("p", "x")
    )


def found(lost_easy: float, lost_hard: float) -> set[str]:
    rng = np.random.default_rng(0)
    hard = rng.random(400) < 0.5
    answers = [(rng.random(400) < np.where(hard, 0.4, 0.9)).astype(float) for _ in range(2)]
    answers[0][rng.random(400) < np.where(hard, lost_hard, lost_easy)] = np.nan
    rows = detect_structure([task(x, name, hard) for x, name in zip(answers, "ab", strict=True)])
    return {message.code for message in rows[0].clusters.messages}


def test_related_missing_scores_are_noted() -> None:
    assert {MISSING_BY_GROUP.code, MISSING_BY_SCORE.code} <= found(0.05, 0.25)


def test_missing_at_random_is_not_noted() -> None:
    assert not {MISSING_BY_GROUP.code, MISSING_BY_SCORE.code} & found(0.1, 0.1)


def test_few_missing_scores_are_not_tested() -> None:
    assert not found(0.0, 0.01) & {MISSING_BY_GROUP.code}


def test_permutation_test_agrees_with_fishers_exact_test() -> None:
    lost = np.r_[np.ones(12), np.zeros(28), np.ones(3), np.zeros(37)].astype(bool)
    codes = np.repeat([0, 1], 40)
    exact = stats.fisher_exact([[12, 28], [3, 37]]).pvalue
    assert permutation_p_value(lost, codes) == pytest.approx(exact, abs=0.006)
