"""Decide when to stop asking questions, with a confidence sequence over the questions in their scheduled order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq
from harness_uq_inspect.live.stopping_rules import Decision, Monitor, Rule, watched_scores
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Json, Sample
from harness_uq_inspect.read.task_log import task_log_of

_LOOKS: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class _ScheduledScores:
    """Scores of the planned questions, in the order in which they are scheduled.

    `scores`: (n,); NaN for questions that have no score yet. `keys`: content hash or identifier of each question, to
    find it in a logged run. `clusters`: (n,) cluster codes, or None. `bounds`: smallest and largest possible score.
    """

    metric: str
    scores: NDArray[np.float64]
    keys: tuple[str, ...]
    clusters: NDArray[np.int64] | None
    bounds: tuple[float, float]

    @property
    def n_ready(self) -> int:
        """Number of questions before the first unscored one; later scores are ignored, as easy questions end first."""
        unscored = np.flatnonzero(np.isnan(self.scores))
        return int(unscored[0]) if len(unscored) else len(self.scores)

    def shared_with(self, baseline_means: Mapping[str, float]) -> "_ScheduledScores":
        """The questions that the baseline scored, too."""
        rows = np.flatnonzero([key in baseline_means for key in self.keys])
        clusters = None if self.clusters is None else self.clusters[rows]
        keys = tuple(self.keys[row] for row in rows)
        return replace(self, scores=self.scores[rows], keys=keys, clusters=clusters)


@dataclass(frozen=True, slots=True)
class _LoggedClusters:
    """Metadata field and codes of the clusters of the planned questions."""

    key: str | None
    codes: list[int]


class AnytimeMonitor(Monitor):
    """A monitor of one trial per question, with anytime-valid intervals."""

    def __init__(self, log: Log, documents: Mapping[str, Sample], rule: Rule) -> None:
        super().__init__(log, documents, rule)
        self._step = max(1, len(documents) // _LOOKS)
        self._clusters: _LoggedClusters | None = None
        self.undecided_reason = "no question was scored"

    @property
    def is_due(self) -> bool:
        """Whether the rule is to be evaluated now."""
        return self.n_trials % self._step == 0 or self.n_trials == len(self._log.documents)

    @property
    def clusters(self) -> Json:
        """Metadata field and codes of the planned questions' clusters, in scheduled order, for the log."""
        clusters = self._clusters
        return {} if clusters is None else {"cluster": clusters.key, "clusters": clusters.codes}

    def add(self, trial: Sample) -> None:
        """Record a scored trial; only the first trial of each question counts."""
        if trial.epoch == 1:
            self._log.cells[str(trial.id), 1] = trial

    def look(self) -> Decision | None:
        """Evaluate the rule on the scores so far; None if it is not met yet."""
        self.n_looks += 1
        scheduled = self._scheduled_scores()
        if scheduled.n_ready == 0:
            self.undecided_reason = "the first question has no score yet"
            return None
        return self._decide_by_width(scheduled) or self._decide_by_comparison(scheduled)

    def _scheduled_scores(self) -> _ScheduledScores:
        """Scores of all planned questions. Raises DataError if the range of the scores is unknown."""
        documents = self._log.documents
        cells = {(question, 1): sample for question, sample in documents.items()} | dict(self._log.cells)
        task = task_log_of(Log(self._log.header, cells, documents), "live")
        data = watched_scores(task, self._rule.metric)
        structure = uq.detect_structure(task, self._rule.options, plugins=self._plugins)[0]
        bounds = structure.metrics[data.metric, data.filter].bounds
        if bounds is None:
            raise uq.DataError(
                f"the range of {data.metric} is unknown, but an anytime-valid interval requires a known range"
            )
        row_of = {question: row for row, question in enumerate(task.questions.ids)}
        rows = np.array([row_of[question] for question in documents])
        keys = task.questions.hashes or task.questions.ids
        codes = None if structure.clusters.codes is None else structure.clusters.codes[rows]
        if codes is not None:
            self._clusters = _LoggedClusters(structure.clusters.key, np.unique(codes, return_inverse=True)[1].tolist())
        return _ScheduledScores(data.metric, data.values[rows, 0], tuple(keys[row] for row in rows), codes, bounds)

    def _decide_by_width(self, scheduled: _ScheduledScores) -> Decision | None:
        target = self._rule.width
        if target is None:
            return None
        n = scheduled.n_ready
        sequence = uq.confidence_sequence(
            scheduled.scores[:n],
            clusters=scheduled.clusters,
            level=self._rule.level,
            bounds=scheduled.bounds,
            planned=len(scheduled.scores),
            scope=cast(uq.SequentialScope, self._rule.scope),
        )
        description = f"after {n} questions, the anytime-valid {self._rule.scope} interval {_text(sequence)}"
        if sequence.width[-1] > target:
            self.undecided_reason = f"{description} is still wider than {target:g}"
            return None
        return self._decision("width", f"{description} is at most {target:g} wide", sequence)

    def _decide_by_comparison(self, scheduled: _ScheduledScores) -> Decision | None:
        if self._baseline is None:
            return None
        baseline_means = self._baseline.means(scheduled.metric)
        shared = scheduled.shared_with(baseline_means)
        n = shared.n_ready
        if n == 0:
            self.undecided_reason = f"no question shared with {self._baseline.name} has a score yet"
            return None
        sequence = uq.paired_confidence_sequence(
            shared.scores[:n],
            np.array([baseline_means[key] for key in shared.keys[:n]]),
            clusters=shared.clusters,
            level=self._rule.level,
            bounds=shared.bounds,
            planned=len(shared.scores),
        )
        difference = f"the anytime-valid interval of the difference from {self._baseline.name}"
        description = f"after {n} questions, {difference} is {_text(sequence)}"
        if sequence.low[-1] <= 0 <= sequence.high[-1]:
            self.undecided_reason = f"{description}, so the comparison is undecided"
            return None
        verdict = "better" if sequence.low[-1] > 0 else "worse"
        return self._decision("comparison", f"{description}, so this system is {verdict}", sequence)

    def _decision(self, kind: Literal["width", "comparison"], reason: str, sequence: uq.ConfidenceSequence) -> Decision:
        low, high = float(sequence.low[-1]), float(sequence.high[-1])
        values = {"low": low, "high": high, "width": high - low, "n_questions": float(sequence.n_questions[-1])}
        return Decision(kind, reason, self.n_trials, values)


def _text(sequence: uq.ConfidenceSequence) -> str:
    return f"[{sequence.low[-1]:.4f}, {sequence.high[-1]:.4f}]"
