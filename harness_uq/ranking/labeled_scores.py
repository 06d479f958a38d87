"""Joint posterior of the human scores of several systems, from a grader's scores and human labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from harness_uq.alignment.aligned_scores import match_scores
from harness_uq.data.arrays import FloatArray
from harness_uq.data.selection import SelectedRun, name_systems
from harness_uq.data.task_log import Scores
from harness_uq.errors import NotEstimableError, StructureError, refusal_of
from harness_uq.estimation.judge_correction import METHOD, Human, corrected_estimate, grades_of
from harness_uq.estimation.single_system import posterior_of
from harness_uq.messages.catalogue.comparison import (
    INDEPENDENT_COMPARISON,
    RANKED_WITH_LABELS,
    SYSTEM_NOT_ESTIMABLE,
    TOO_FEW_SYSTEMS,
)
from harness_uq.messages.catalogue.estimation import RANGE_REQUIRED
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.plugins.manager import Plugins
from harness_uq.ranking.joint_scores import JointScores
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.labels.effective_labels import corrected_correlation
from harness_uq.stats.labels.validate_labels import mean_of_trials
from harness_uq.stats.pairs.rank_sets import rank_sets_of_normal
from harness_uq.structure.clusters import clusters_of


@dataclass(frozen=True, slots=True, eq=False)
class _Corrected:
    """The corrected score of one system."""

    entry: SelectedRun
    row: Estimate
    interval: Interval
    value: float


def labeled_scores(
    chosen: Sequence[SelectedRun], labels: Human, options: Options, plugins: Plugins, *, n_draws: int
) -> JointScores:
    """Compute the joint posterior of the scores that people would give to the answers of several systems.

    The posterior of each system is that of `estimate` with the same labels. The correlations are those of the systems'
    corrected means over the same questions or clusters. Systems without sufficient labels are left out.

    Raises
    ------
    NotEstimableError : if fewer than two systems have sufficient labels
    """
    rows = [_estimate(entry, labels, options, plugins) for entry in chosen]
    known = [
        _Corrected(entry, row, row.interval, row.value)
        for entry, row in zip(chosen, rows, strict=True)
        if isinstance(row, Estimate) and row.interval is not None and row.value is not None
    ]
    left_out = [
        SYSTEM_NOT_ESTIMABLE(system=entry.log.system, reason_code=row.code)
        for entry, row in zip(chosen, rows, strict=True)
        if isinstance(row, Message)
    ]
    if len(known) < 2:
        raise NotEstimableError(TOO_FEW_SYSTEMS(what="human labels of their answers"))
    rng = np.random.default_rng(options.seed)
    correlation, n_questions, notes = _correlation(known, labels, options, plugins)
    posteriors = [posterior_of(one.row) for one in known]
    normal = rng.multivariate_normal(np.zeros(len(known)), correlation, n_draws, method="eigh").T
    sd = np.array([posterior.sd for posterior in posteriors])
    sets = rank_sets_of_normal(
        [posterior.mean for posterior in posteriors], correlation * np.outer(sd, sd), level=options.level, rng=rng
    )
    note, names = labels_note([one.row for one in known]), tuple(one.row.system for one in known)
    return JointScores(
        systems=names,
        values=np.array([one.value for one in known]),
        intervals=tuple(one.interval for one in known),
        draws=np.stack([one.quantile(p) for one, p in zip(posteriors, special.ndtr(normal), strict=True)]),
        sets=sets,
        p_values=None,
        bayes_at_n=None,
        n_questions=n_questions,
        messages=(note, *left_out, *notes, *name_systems([one.row.warnings for one in known], names)),
        estimates=tuple(one.row for one in known),
    )


def labels_note(rows: Sequence[Estimate]) -> Message:
    """A note that scores were corrected with human labels."""
    n_labels = min(int(row.diagnostics["n_labels"]) for row in rows)
    return RANKED_WITH_LABELS(n_systems=len({row.system for row in rows}), n_labels=n_labels)


def _estimate(entry: SelectedRun, labels: Human, options: Options, plugins: Plugins) -> Estimate | Message:
    """The corrected score; if the labels are insufficient, the reason."""
    if not isinstance(entry.data, Scores):
        return RANGE_REQUIRED(method=METHOD)
    clusters = clusters_of(entry.log, options.structure, plugins)
    try:
        return corrected_estimate(entry.log, entry.data, labels, clusters, options)
    except (NotEstimableError, StructureError) as error:
        return refusal_of(error)


def _correlation(
    known: Sequence[_Corrected], labels: Human, options: Options, plugins: Plugins
) -> tuple[FloatArray, int, tuple[Message, ...]]:
    """The correlation matrix of the corrected scores, the number of questions, and messages.

    Systems whose questions do not match are independent.
    """
    correlation = np.eye(len(known))
    try:
        matched = match_scores([one.entry for one in known], options.structure, plugins)
    except NotEstimableError as error:
        fewest = min(one.row.n_questions or 0 for one in known)
        return correlation, fewest, (INDEPENDENT_COMPARISON(reason=str(error)),)
    humans, chances, notes = [], [], list(matched.messages)
    for entry, rows in zip(matched.common.entries, matched.common.rows, strict=True):
        if not isinstance(entry.data, Scores):  # such runs have no corrected score
            continue
        given = grades_of(entry.log, entry.data, labels)
        humans.append(mean_of_trials(given.scores.values[rows]))
        notes += given.messages
        chances.append(None if given.probabilities is None else given.probabilities[rows])
    found = corrected_correlation(matched.means, humans, clusters=matched.clusters.labels, probabilities=chances)
    # a system with few questions in common is not among the matched ones
    names = [one.row.system for one in known]
    at = [names.index(system) for system in matched.common.systems]
    correlation[np.ix_(at, at)] = found
    return correlation, matched.means.shape[1], tuple(notes)
