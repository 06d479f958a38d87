"""Test whether trials without a score are related to the groups of the questions or to other systems' scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness_uq.data.question_groups import question_groups, usable_fields
from harness_uq.data.resources import RESOURCE_METRICS
from harness_uq.data.structure import Clusters
from harness_uq.data.task_log import IntArray, Scores, TaskLog
from harness_uq.messages import Message
from harness_uq.messages.catalogue.score_structure import MISSING_BY_GROUP, MISSING_BY_SCORE
from harness_uq.messages.errors import StructureError
from harness_uq.stats.pairs.multiple_testing import adjust_p_values

_FEWEST = 5  # questions with and without a score below which nothing is tested
_N_PERMUTATIONS = 4999
_ALPHA = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class _Finding:
    p_value: float
    message: Message


def missingness_notes(log: TaskLog, clusters: Clusters, others: Sequence[TaskLog]) -> tuple[Message, ...]:
    """Notes on relations of a log's missing scores to groups of questions and to the scores of other systems. They are
    corrected for the number of tests (Holm 1979).
    """
    lost = _lost_questions(log)
    if lost is None or min(lost.sum(), (~lost).sum()) < _FEWEST:
        return ()
    findings = [*_by_groups(log, clusters, lost), *_by_scores(log, others, lost)]
    if not findings:
        return ()
    adjusted = adjust_p_values([finding.p_value for finding in findings])
    return tuple(finding.message for finding, p in zip(findings, adjusted, strict=True) if p <= _ALPHA)


def _lost_questions(log: TaskLog) -> NDArray[np.bool_] | None:
    """Which questions have a trial without a score in the first metric that is a mean; None if there is no such metric.

    Questions with the fewest missing trials count, because some metrics apply to a part of the questions only.
    """
    lost: list[NDArray[np.bool_]] = [
        np.asarray(np.isnan(data.values).any(axis=1))
        for data in log.data
        if isinstance(data, Scores) and not data.is_complete and data.metric not in RESOURCE_METRICS
    ]
    return min(lost, key=lambda rows: int(rows.sum()), default=None)


def _by_groups(log: TaskLog, clusters: Clusters, lost: NDArray[np.bool_]) -> Iterator[_Finding]:
    """Test each field that divides the questions into groups, and the clusters."""
    candidates: dict[str, tuple[IntArray, tuple[str, ...]]] = {}
    for name in usable_fields(log):
        try:
            groups = question_groups(log, name)
        except StructureError:
            continue
        candidates[name] = groups.codes, groups.labels
    if clusters.key is not None and clusters.codes is not None and clusters.key not in candidates:
        codes = np.unique(clusters.codes, return_inverse=True)[1].astype(np.int64)
        candidates[clusters.key] = codes, ()
    for name, (codes, labels) in candidates.items():
        shares = np.bincount(codes, lost) / np.bincount(codes)
        low, high = int(shares.argmin()), int(shares.argmax())
        p_value = permutation_p_value(lost, codes)
        message = MISSING_BY_GROUP(
            field=name,
            n_groups=len(shares),
            p_value=p_value,
            low=float(shares[low]),
            high=float(shares[high]),
            lowest=f" ({labels[low]})" if labels else "",
            highest=f" ({labels[high]})" if labels else "",
        )
        yield _Finding(p_value, message)


def permutation_p_value(lost: NDArray[np.bool_], codes: IntArray) -> float:
    """p-value of the hypothesis that the shares of lost questions are equal in all groups.

    The statistic is the sum of squared numbers of lost questions over group sizes, which orders permutations like
    Pearson's chi-squared statistic. The Monte Carlo standard error is at most 0.007. Phipson and Smyth (2010), Stat.
    Appl. Genet. Mol. Biol. 9, article 39, equation 2.
    """
    rng, sizes, n_lost = np.random.default_rng(0), np.bincount(codes), int(lost.sum())
    counts = rng.multivariate_hypergeometric(sizes, n_lost, size=_N_PERMUTATIONS)
    statistics = (counts**2 / sizes).sum(axis=1)
    observed = float((np.bincount(codes, lost) ** 2 / sizes).sum())
    return float((1 + np.sum(statistics >= observed * (1 - 1e-12))) / (1 + _N_PERMUTATIONS))


def _by_scores(log: TaskLog, others: Sequence[TaskLog], lost: NDArray[np.bool_]) -> Iterator[_Finding]:
    """Test whether other systems have different scores on the lost questions (Mann and Whitney 1947)."""
    scores = _scores_by_id(log, others)
    known = np.array([name in scores for name in log.questions.ids], bool)
    means = np.array([scores.get(name, np.nan) for name in log.questions.ids])
    on_lost, on_others = means[lost & known], means[~lost & known]
    if min(len(on_lost), len(on_others)) < _FEWEST or np.ptp(means[known]) == 0:
        return
    from scipy.stats import mannwhitneyu  # importing scipy.stats takes longer than most estimates

    p_value = float(mannwhitneyu(on_lost, on_others).pvalue)
    message = MISSING_BY_SCORE(
        n_questions=len(on_lost), p_value=p_value, lost=float(on_lost.mean()), others=float(on_others.mean())
    )
    yield _Finding(p_value, message)


def _scores_by_id(log: TaskLog, others: Sequence[TaskLog]) -> dict[str, float]:
    """Mean score of other systems by question, in the first metric of this task."""
    metric = next((data.metric for data in log.data if isinstance(data, Scores)), None)
    scores: dict[str, list[float]] = {}
    for other in others:
        data = next((item for item in other.data if isinstance(item, Scores) and item.metric == metric), None)
        if other.task != log.task or other.system == log.system or data is None:
            continue
        rows = np.flatnonzero(data.is_scored)
        for row, mean in zip(rows, data.means[rows].tolist(), strict=True):
            scores.setdefault(other.questions.ids[row], []).append(mean)
    return {name: float(np.mean(values)) for name, values in scores.items()}
