"""Test the difference between two systems on each group of questions, also for other scores of failed trials."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.analyses.comparison.compare import compare
from harness_uq.data.question_groups import QuestionGroups, divided_logs, part_of, usable_fields
from harness_uq.data.selection import ScoreKey, SelectedRun
from harness_uq.data.task_log import Scores
from harness_uq.inference.decisions import equality_p_value
from harness_uq.inference.marginals import with_structure_of_task
from harness_uq.inference.scenarios import Outcome, identified_difference, over_scenarios
from harness_uq.inference.sides import Side, common_keys
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.breakdown import GROUPS_OF_ONE_SYSTEM, UNKNOWN_GROUP_FIELD
from harness_uq.messages.errors import StructureError
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison, Verdict

Sides = tuple[Side, Side]


@dataclass(frozen=True, slots=True, eq=False)
class DividedScore:
    """A score of both systems, and the groups of its questions.

    `keys`, `runs`, `groups`: of the two systems. `notes`: about the field.
    """

    keys: tuple[ScoreKey, ScoreKey]
    runs: tuple[SelectedRun, SelectedRun]
    groups: tuple[QuestionGroups, QuestionGroups]
    notes: tuple[Message, ...]

    @property
    def labels(self) -> list[str]:
        """The groups that both systems have."""
        return [label for label in self.groups[0].labels if label in self.groups[1].labels]

    def n_missing(self, label: str) -> int:
        """Number of trials of a group without a score, of both systems."""
        return sum(
            int(np.isnan(run.data.values[groups.rows(label)]).sum())
            for run, groups in zip(self.runs, self.groups, strict=True)
            if isinstance(run.data, Scores) and run.data.missing is not None
        )


def divided_scores(sides: Sides, name: str) -> Iterator[DividedScore]:
    """Yield the scores of single questions that both systems have, with their groups by a field. Raises StructureError
    if no task has the field, or the field has too many values.
    """
    matched, _ = common_keys(*sides)
    chosen = [(keys, (sides[0].chosen[keys[0]], sides[1].chosen[keys[1]])) for keys in matched]
    scores = [(keys, runs) for keys, runs in chosen if _have_scores(runs)]
    logs = {id(run.log): run.log for _, runs in scores for run in runs}
    divided, notes = divided_logs(logs.values(), name)
    groups = {id(log): of_log for log, of_log in divided}
    in_both = [one for one in scores if all(id(run.log) in groups for run in one[1])]
    if scores and not in_both:
        lacking = next(run.log for _, runs in scores for run in runs if id(run.log) not in groups)
        raise StructureError(
            UNKNOWN_GROUP_FIELD(task=lacking.task, field=name, known=usable_fields(lacking) or ["none"])
        )
    for keys, runs in in_both:
        of_a, of_b = (groups[id(run.log)] for run in runs)
        yield DividedScore(keys, runs, (of_a, of_b), (*_of_one_system(of_a, of_b), *notes))


def _of_one_system(of_a: QuestionGroups, of_b: QuestionGroups) -> tuple[Message, ...]:
    """A warning about groups that only one system has."""
    labels = dict.fromkeys((*of_a.labels, *of_b.labels))
    alone = [label for label in labels if label not in of_a.labels or label not in of_b.labels]
    return (GROUPS_OF_ONE_SYSTEM(n_groups=len(alone), field=of_a.field, groups=alone),) if alone else ()


@dataclass(frozen=True, slots=True, eq=False)
class TestedGroups:
    """Comparisons of the groups of one score, and their tests.

    `values`: the differences that are tested; None if they are not estimable. `p_values`: two-sided p-values of the
    hypothesis that the systems are equal; None if it is not tested.
    """

    rows: tuple[Comparison, ...]
    values: tuple[float | None, ...]
    p_values: tuple[float | None, ...]

    @classmethod
    def of(cls, rows: Sequence[Comparison]) -> "TestedGroups":
        """The tests of these comparisons."""
        values = [row.difference.value if row.difference else None for row in rows]
        return cls(tuple(rows), tuple(values), tuple(map(equality_p_value, rows)))

    def verdicts(self, adjusted: Sequence[float | None], alpha: float, *, is_higher: bool) -> list[Verdict]:
        """The verdicts by adjusted p-values."""
        return [_verdict(value, p, alpha, is_higher=is_higher) for value, p in zip(self.values, adjusted, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class GroupTests:
    """How groups of questions are compared.

    `alternatives`: the sides with other scores of the trials without a score; None if there are none.
    """

    options: Options
    plugins: Plugins
    alternatives: Outcome[Sides] | None

    @classmethod
    def of(cls, sides: Sides, options: Options, plugins: Plugins) -> "GroupTests":
        """The tests of these sides."""
        structure = options.structure
        applied = replace(options, structure=structure.without_policies)
        return cls(applied, plugins, over_scenarios(sides, structure, plugins, lambda a, b: (a, b or sides[1])))

    def as_logged(self, score: DividedScore) -> TestedGroups:
        """The tests of the scores as they are."""
        return TestedGroups.of([self._compared(score, score.runs, label) for label in score.labels])

    def worst(self, score: DividedScore, plain: TestedGroups) -> TestedGroups:
        """The tests if trials without a score have the worst possible score; `plain` if it is unknown."""
        rows = self._rows_of(None if self.alternatives is None else self.alternatives.worst, score, plain)
        return plain if rows is None else TestedGroups.of(rows)

    def open(self, score: DividedScore, plain: TestedGroups) -> TestedGroups | None:
        """The tests if trials without a score may have any score; None if the possible scores are unknown."""
        if self.alternatives is None:
            return plain
        found = [self._rows_of(sides, score, plain) for sides in self.alternatives.ends]
        ends = [rows for rows in found if rows is not None]
        if len(ends) < len(found):
            return None
        of_groups = list(zip(plain.rows, *ends, strict=True))
        rows = [
            row if low is row else identified_difference(row, (low, high), self.options.level)
            for row, low, high in of_groups
        ]
        tests = [TestedGroups.of(of_end) for of_end in ends]
        first, second = tests[0].values, tests[1].values
        largest = map(_larger_p, zip(first, second, strict=True), zip(*(one.p_values for one in tests), strict=True))
        return TestedGroups(tuple(rows), first, tuple(largest))

    def _rows_of(self, sides: Sides | None, score: DividedScore, plain: TestedGroups) -> list[Comparison] | None:
        """The comparisons with other scores of the trials without a score; None if there are none."""
        if sides is None:
            return None
        runs = (sides[0].chosen[score.keys[0]], sides[1].chosen[score.keys[1]])
        if not _have_scores(runs):
            return None
        return [
            self._compared(score, runs, label) if score.n_missing(label) else row
            for label, row in zip(score.labels, plain.rows, strict=True)
        ]

    def _compared(self, score: DividedScore, runs: tuple[SelectedRun, SelectedRun], label: str) -> Comparison:
        """Compare the systems on the questions of one group."""
        structure = self.options.structure
        logs = [
            part_of(
                with_structure_of_task(replace(run.log, data=(run.data,)), structure, self.plugins), of_run.rows(label)
            )
            for run, of_run in zip(runs, score.groups, strict=True)
        ]
        return compare(logs[0], logs[1], self.options, plugins=self.plugins)[0]


def _have_scores(runs: tuple[SelectedRun, SelectedRun]) -> bool:
    return all(isinstance(run.data, Scores) for run in runs)


def _larger_p(values: tuple[float | None, ...], p_values: tuple[float | None, ...]) -> float | None:
    """The p-value of two extremes: the larger one, or 1 if they differ in direction."""
    known = [p for p in p_values if p is not None]
    if len(known) < len(p_values):
        return None
    return max(known) if len({np.sign(value or 0.0) for value in values}) == 1 else 1.0


def _verdict(value: float | None, p: float | None, alpha: float, *, is_higher: bool) -> Verdict:
    if p is None or p > alpha or not value:
        return "undecided"
    return "better" if (value > 0) == is_higher else "worse"
