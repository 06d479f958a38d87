"""Joint posterior of the human scores of several systems, from a grader's scores and human labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from harness_uq.data.arrays import FloatArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.panel import build_panel
from harness_uq.data.selection import ScoreKey, SelectedRun, name_systems
from harness_uq.data.task_log import IntArray, Scores
from harness_uq.inference.contrasts import Contrast
from harness_uq.inference.judge_correction import METHOD, Human, corrected_estimate, grades_of
from harness_uq.inference.marginals import posterior_of
from harness_uq.inference.posterior import SeparatePosterior
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import (
    INDEPENDENT_COMPARISON,
    RANKED_WITH_LABELS,
    SYSTEM_NOT_ESTIMABLE,
    TOO_FEW_SYSTEMS,
)
from harness_uq.messages.catalogue.estimation import RANGE_REQUIRED
from harness_uq.messages.errors import NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.stats.labels.effective_labels import corrected_correlation
from harness_uq.stats.labels.judge import correlated_difference
from harness_uq.stats.labels.label_arrays import mean_of_trials
from harness_uq.stats.pairs.rank_sets import RankSets, rank_sets_of_normal


@dataclass(frozen=True, slots=True, eq=False)
class _Corrected:
    """The corrected score of one system."""

    entry: SelectedRun
    row: Estimate


class LabeledPosterior(SeparatePosterior):
    """The human scores of systems; the differences of their corrected scores are correlated.

    Parameters
    ----------
    rows : the corrected estimates
    correlation : float (S, S)
    """

    def __init__(
        self,
        key: ScoreKey,
        rows: Sequence[Estimate],
        correlation: FloatArray,
        options: Options,
        *,
        n_questions: int,
        messages: tuple[Message, ...],
        n_draws: int,
    ) -> None:
        super().__init__(key, rows, options, messages=messages, n_draws=n_draws)
        self.n_questions, self._correlation = n_questions, correlation

    def contrast(self, i: int, j: int) -> Contrast:
        a, b = self.estimates[i], self.estimates[j]
        low, high = (a.structure and a.structure.bounds) or (0.0, 1.0)
        difference = correlated_difference(posterior_of(a), posterior_of(b), self._correlation[i, j], high - low)
        return Contrast(difference, METHOD)

    def _all_pairs(self) -> FloatArray | None:
        return None

    def _draw(self, order: IntArray) -> FloatArray:
        rng, posteriors = self.rng("draws"), [posterior_of(self.estimates[k]) for k in order]
        correlation = self._correlation[np.ix_(order, order)]
        normal = rng.multivariate_normal(np.zeros(len(order)), correlation, self.n_draws, method="eigh").T
        return np.stack([one.quantile(p) for one, p in zip(posteriors, special.ndtr(normal), strict=True)])

    def _sets(self, order: IntArray) -> RankSets:
        posteriors = [posterior_of(self.estimates[k]) for k in order]
        means, sd = (np.array([getattr(one, name) for one in posteriors]) for name in ("mean", "sd"))
        covariance = self._correlation[np.ix_(order, order)] * np.outer(sd, sd)
        return rank_sets_of_normal(means, covariance, level=self.level, rng=self.rng("sets"))


def labeled_posterior(
    chosen: Sequence[SelectedRun], labels: Human, options: Options, plugins: Plugins, *, n_draws: int
) -> LabeledPosterior:
    """Compute the joint posterior of the scores that people would give to the answers of several systems.

    The posterior of each system is that of `estimate` with the same labels. The correlations are those of the systems'
    corrected means over the same questions or clusters. Systems without sufficient labels are left out.

    Raises
    ------
    NotEstimableError : if fewer than two systems have sufficient labels
    """
    rows = [_estimate(entry, labels, options, plugins) for entry in chosen]
    known = [
        _Corrected(entry, row)
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
    correlation, n_questions, notes = _correlation(known, labels, options, plugins)
    note, names = labels_note([one.row for one in known]), [one.row.system for one in known]
    return LabeledPosterior(
        (chosen[0].log.task, chosen[0].data.metric, chosen[0].data.filter),
        [one.row for one in known],
        correlation,
        options,
        n_questions=n_questions,
        messages=(note, *left_out, *notes, *name_systems([one.row.warnings for one in known], names)),
        n_draws=n_draws,
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
        panel = build_panel([one.entry for one in known], options.structure, plugins)
    except NotEstimableError as error:
        fewest = min(one.row.n_questions or 0 for one in known)
        return correlation, fewest, (INDEPENDENT_COMPARISON(reason=str(error)),)
    humans, chances, notes = [], [], list(panel.messages)
    for entry, rows in zip(panel.runs, panel.rows, strict=True):
        if not isinstance(entry.data, Scores):  # such runs have no corrected score
            continue
        given = grades_of(entry.log, entry.data, labels)
        humans.append(mean_of_trials(given.scores.values[rows]))
        notes += given.messages
        chances.append(None if given.probabilities is None else given.probabilities[rows])
    found = corrected_correlation(panel.means, humans, clusters=panel.units, probabilities=chances)
    # a system with few questions in common is not among those on the panel
    names = [one.row.system for one in known]
    at = [names.index(system) for system in panel.systems]
    correlation[np.ix_(at, at)] = found
    return correlation, panel.n_questions, tuple(notes)
