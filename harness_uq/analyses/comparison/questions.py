"""The questions on which two systems differ: the largest differences, changed answers, and flaky questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.data.match_questions import common_questions
from harness_uq.data.panel import Panel, pair_panel
from harness_uq.data.selection import SelectedRun, higher_is_better
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import FloatArray, Scores
from harness_uq.inference.compared_runs import Side, common_keys
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError
from harness_uq.options import Options
from harness_uq.results.comparison import Disagreement, Disagreements
from harness_uq.results.gate import FlippedQuestion, FlippedQuestions
from harness_uq.results.history import MOST_QUESTIONS, FlakyQuestion
from harness_uq.stats.trials.question_changes import FLAKY, LARGE_CHANGE, QuestionChanges, question_changes


@dataclass(frozen=True, slots=True, eq=False)
class QuestionEvidence:
    """Answers of two systems to each question, and the evidence for a change.

    `right_a`, `n_a`, `right_b`, `n_b`: float (n_questions,); numbers of right answers and of answers. `changes`:
    evidence about each question; None if the second system answered each question once.
    """

    right_a: FloatArray
    n_a: FloatArray
    right_b: FloatArray
    n_b: FloatArray
    changes: QuestionChanges | None

    @classmethod
    def of(cls, panel: Panel, history: Sequence[SelectedRun] = ()) -> "QuestionEvidence | None":
        """The evidence in matched runs; None if their answers are not right or wrong.

        The answers in further runs of the second system count like its own.
        """
        tables = [
            run.data.values[rows] if isinstance(run.data, Scores) else np.empty((0, 0))
            for run, rows in zip(panel.runs, panel.rows, strict=True)
        ]
        if not all(table.size and np.isin(table[np.isfinite(table)], (0.0, 1.0)).all() for table in tables):
            return None
        right_a, right_b = (np.nansum(table, axis=1) for table in tables)
        n_a, n_b = (np.isfinite(table).sum(axis=1).astype(float) for table in tables)
        for right, n in _answers_in(history, panel.runs[1]):
            right_b, n_b = right_b + right[panel.rows[1]], n_b + n[panel.rows[1]]
        # one answer to each question does not show which questions are flaky
        changes = question_changes(right_b, n_b, right_a, n_a) if n_b.max() > 1 else None
        return cls(right_a, n_a, right_b, n_b, changes)

    @property
    def difference(self) -> FloatArray:
        """Share of right answers of the first system minus that of the second."""
        return np.asarray(self.right_a / self.n_a - self.right_b / self.n_b)

    def order(self, chosen: Sequence[int]) -> list[int]:
        """Questions by decreasing evidence, then by the size of the difference."""
        size = np.abs(self.difference)
        evidence = size if self.changes is None else self.changes.probability
        return sorted(chosen, key=lambda i: (-evidence[i], -size[i]))

    @property
    def reversed(self) -> "QuestionEvidence":
        """The evidence with the systems exchanged."""
        changes = question_changes(self.right_a, self.n_a, self.right_b, self.n_b) if self.n_a.max() > 1 else None
        return QuestionEvidence(self.right_b, self.n_b, self.right_a, self.n_a, changes)

    def is_flaky(self, i: int) -> bool:
        """Whether identical runs of the second system often answer the question differently."""
        if self.changes is None:
            return False
        return bool(self.changes.flakiness[i] >= FLAKY and 0 < self.right_b[i] < self.n_b[i])


def _answers_in(history: Sequence[SelectedRun], baseline: SelectedRun) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Numbers of right answers and of answers to each question of the baseline, for each run of a history.

    Runs whose questions do not match or whose answers are not right or wrong are left out.
    """
    for run in history:
        if not isinstance(run.data, Scores):
            continue
        try:
            of_run, of_baseline = common_questions([run, baseline]).rows
        except (DataError, NotEstimableError):
            continue
        table = run.data.values[of_run]
        if np.isin(table[np.isfinite(table)], (0.0, 1.0)).all():
            right, n = np.zeros((2, len(baseline.log.questions)))
            right[of_baseline], n[of_baseline] = np.nansum(table, axis=1), np.isfinite(table).sum(axis=1)
            yield right, n


def flipped_questions(panel: Panel, history: Sequence[SelectedRun] = ()) -> FlippedQuestions | None:
    """Find the questions that the new system answers worse or better; None if scores are not right or wrong.

    With several answers of the baseline to each question, or with a history of further runs, flaky
    questions are listed separately, and the others are ordered by the probability that they changed.
    """
    new = panel.runs[0]
    evidence = QuestionEvidence.of(panel, history)
    if evidence is None:
        return None
    sign = 1 if higher_is_better(new.log, new.data.metric) else -1
    change = sign * evidence.difference
    least = LARGE_CHANGE - 1e-9
    ids = [new.log.questions.ids[row] for row in panel.rows[0]]
    flaky = [i for i in range(len(ids)) if evidence.is_flaky(i)]
    worse, better = (
        evidence.order([i for i in np.flatnonzero(side).tolist() if i not in set(flaky)])
        for side in (change <= -least, change >= least)
    )
    probability = None if evidence.changes is None else evidence.changes.probability

    def listed(chosen: Sequence[int]) -> tuple[FlippedQuestion, ...]:
        return tuple(
            FlippedQuestion(
                question=ids[i],
                share_new=float(evidence.right_a[i] / evidence.n_a[i]),
                share_baseline=float(evidence.right_b[i] / evidence.n_b[i]),
                probability=None if probability is None else float(probability[i]),
            )
            for i in chosen[:MOST_QUESTIONS]
        )

    return FlippedQuestions(
        task=new.log.task,
        metric=new.data.metric,
        filter=new.data.filter,
        n_worse=len(worse),
        n_better=len(better),
        n_flaky=len(flaky),
        worse=listed(worse),
        better=listed(better),
        flaky=tuple(_flaky(evidence, ids, flaky)),
    )


def _flaky(evidence: QuestionEvidence, ids: Sequence[str], chosen: Sequence[int]) -> list[FlakyQuestion]:
    if evidence.changes is None:
        return []
    flakiness = evidence.changes.flakiness
    order = sorted(chosen, key=lambda i: -flakiness[i])[:MOST_QUESTIONS]
    return [FlakyQuestion(ids[i], float(evidence.right_b[i] / evidence.n_b[i]), float(flakiness[i])) for i in order]


# ---------------------------------------------------------------- the largest differences


def disagreements(
    a: Runs, b: Runs, n: int, options: Options | None = None, *, plugins: Plugins | None = None
) -> list[Disagreements]:
    """Find the questions on which two systems differ most, for every task, metric and filter with question scores.

    `a`, `b`: as in `compare`. `n`: maximum number of questions per task, metric and filter. Questions are ordered by
    the size of the difference; among equal differences, those on which A is worse come first. If B has several right or
    wrong answers to each question, the questions with the strongest evidence for a difference come first. Raises
    LogError, DataError or NotEstimableError as for `compare`.
    """
    offered, chosen = plugins or load_plugins(), options or Options()
    side_a, side_b = (
        Side.read(runs, name, offered, StructureOptions(use_samples=True)) for runs, name in ((a, "A"), (b, "B"))
    )
    found = []
    for key_a, key_b in common_keys(side_a, side_b)[0]:
        mine, theirs = side_a.chosen[key_a], side_b.chosen[key_b]
        if mine.log.subtasks or not (isinstance(mine.data, Scores) and isinstance(theirs.data, Scores)):
            continue
        try:
            found.append(_disagreements(pair_panel(mine, theirs, chosen.structure, offered), n))
        except (DataError, NotEstimableError, StructureError):
            continue  # `compare` reports why the questions do not match
    return found


def _disagreements(panel: Panel, n: int) -> Disagreements:
    log, data = panel.runs[0].log, panel.runs[0].data
    sign = 1.0 if higher_is_better(log, data.metric) else -1.0
    difference = sign * panel.differences
    evidence = QuestionEvidence.of(panel)
    changes = None if evidence is None else evidence.changes
    both_ways = () if evidence is None or changes is None else (evidence, evidence.reversed)
    strength = np.abs(difference) if changes is None else changes.probability
    order = np.lexsort((difference, -np.abs(difference), -strength))
    worst = [int(i) for i in order if difference[i]][:n]
    return Disagreements(
        task=log.task,
        metric=data.metric,
        filter=data.filter,
        n_questions=len(difference),
        n_a_better=int(np.sum(difference > 0)),
        n_b_better=int(np.sum(difference < 0)),
        questions=tuple(
            Disagreement(
                id=log.questions.ids[panel.rows[0][i]],
                value_a=float(panel.means[0, i]),
                value_b=float(panel.means[1, i]),
                probability=None if changes is None else float(changes.probability[i]),
                is_flaky=any(one.is_flaky(i) for one in both_ways) if both_ways else None,
            )
            for i in worst
        ),
    )
