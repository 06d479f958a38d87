"""Differences of two graders on the same answers, and of one grader between systems of its own family and others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from harness_uq.alignment.panel import Panel, panel_of_scores
from harness_uq.comparison.decisions import adjusted_p_values
from harness_uq.data.selection import matches
from harness_uq.data.task_log import IntArray
from harness_uq.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.graders.graded_answers import GradedAnswers, clusters_across_entries
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.messages.catalogue.graders import LABELS_OF_ONE_FAMILY, NO_COMMON_ANSWERS
from harness_uq.results.estimate import Interval
from harness_uq.results.grader import GraderDifference, GraderVerdict, SelfPreference
from harness_uq.stats.labels.validate_labels import mean_of_trials

_FEWEST = 3
_Row = TypeVar("_Row", GraderDifference, SelfPreference)


def grader_differences(entries: Sequence[GradedAnswers], level: float) -> list[GraderDifference]:
    """Compare every later grader with the first grader of the same answers, with Holm's correction."""
    by_answers: dict[tuple[str, ...], list[GradedAnswers]] = {}
    for entry in entries:
        by_answers.setdefault(entry.answers, []).append(entry)
    rows = []
    for graders in by_answers.values():
        first, *later = sorted(graders, key=lambda entry: entry.log.source.time or "")
        rows += [_difference(entry, first, level) for entry in later]
    return with_verdicts(rows, level)


def self_preferences(entries: Sequence[GradedAnswers], patterns: Sequence[str], level: float) -> list[SelfPreference]:
    """Compare the errors of each grader on systems that match the patterns with those on other systems."""
    by_grader: dict[tuple[str, str, str], list[GradedAnswers]] = {}
    for entry in entries:
        by_grader.setdefault((entry.grader, entry.log.task, entry.data.filter), []).append(entry)
    return with_verdicts([_preference(graded, patterns, level) for graded in by_grader.values()], level)


def with_verdicts(rows: Sequence[_Row], level: float) -> list[_Row]:
    """The rows with p-values adjusted by Holm's method, and a verdict from these and the intervals."""
    adjusted = adjusted_p_values([row.p_value for row in rows])
    return [row if p is None else _with_verdict(row, p, level) for row, p in zip(rows, adjusted, strict=True)]


def _with_verdict(row: _Row, adjusted_p: float, level: float) -> _Row:
    verdict: GraderVerdict = "undecided"
    if row.interval is not None and adjusted_p <= 1 - level and not row.interval.low <= 0 <= row.interval.high:
        verdict = "higher" if row.interval.low > 0 else "lower"
    return replace(row, adjusted_p=adjusted_p, verdict=verdict)


def _difference(a: GradedAnswers, b: GradedAnswers, level: float) -> GraderDifference:
    row = GraderDifference(a.grader, b.grader, a.log.task, a.data.filter, a.log.system, 0)
    try:
        at_a, at_b = _common_rows(a, b)
        values_a, values_b = a.data.values[at_a], b.data.values[at_b]
        if values_a.shape[1] != values_b.shape[1]:
            values_a, values_b = (mean_of_trials(values)[:, None] for values in (values_a, values_b))
        both = np.isfinite(values_a) & np.isfinite(values_b)
        used = both.any(axis=1)
        if used.sum() < _FEWEST:
            raise NotEstimableError(NO_COMMON_ANSWERS(grader_a=a.grader, grader_b=b.grader))
        mean_a, mean_b = (mean_of_trials(np.where(both, values, np.nan)[used]) for values in (values_a, values_b))
        units = None if a.clusters is None else np.unique(a.clusters[at_a][used], return_inverse=True)[1]
        bounds = a.bounds if a.bounds == b.bounds else None
        is_binary = values_a.shape[1] == 1 and bool(np.isin([mean_a, mean_b], (0.0, 1.0)).all())
        row = replace(row, n_questions=int(used.sum()), n_clusters=None if units is None else int(units.max()) + 1)
        different = float((values_a != values_b)[both].mean())
        panel = panel_of_scores([mean_a, mean_b], units, bounds, is_binary=is_binary)
        return _with_difference(replace(row, share_different=different), panel, level)
    except (DataError, LogError, NotEstimableError, StructureError) as error:
        return replace(row, messages=(refusal_of(error),))


def _common_rows(a: GradedAnswers, b: GradedAnswers) -> tuple[IntArray, IntArray]:
    """Rows of the questions that both have, in the same order."""
    place = {question: i for i, question in enumerate(b.log.questions.ids)}
    pairs = [(i, place[q]) for i, q in enumerate(a.log.questions.ids) if q in place]
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _preference(entries: Sequence[GradedAnswers], patterns: Sequence[str], level: float) -> SelfPreference:
    first = entries[0]
    is_own = [matches(entry.log.system, patterns) for entry in entries]
    sides = [[entry for entry, own in zip(entries, is_own, strict=True) if own is wanted] for wanted in (True, False)]
    own, others = (tuple(dict.fromkeys(entry.log.system for entry in side)) for side in sides)
    row = SelfPreference(first.grader, first.log.task, first.data.filter, own, others)
    try:
        errors = [_mean_errors(side) for side in sides]
        common = [question for question in errors[0] if question in errors[1]]
        if len(common) < _FEWEST:
            raise NotEstimableError(LABELS_OF_ONE_FAMILY(n_questions=len(common), needed=_FEWEST))
        cluster = _cluster_by_question(entries)
        a, b = (np.array([side[question] for question in common]) for side in errors)
        codes = np.unique([cluster[question] for question in common], return_inverse=True)[1]
        has_clusters = any(entry.clusters is not None for entry in entries)
        units = codes if has_clusters else None
        bounds = (
            None if first.bounds is None else (first.bounds[0] - first.bounds[1], first.bounds[1] - first.bounds[0])
        )
        row = replace(row, n_questions=len(common), n_clusters=int(codes.max()) + 1 if has_clusters else None)
        return _with_difference(row, panel_of_scores([a, b], units, bounds), level)
    except (DataError, LogError, NotEstimableError, StructureError) as error:
        return replace(row, messages=(refusal_of(error),))


def _mean_errors(entries: Sequence[GradedAnswers]) -> Mapping[str, float]:
    """Mean over systems of the score minus the label, by question with a label of any system."""
    errors: dict[str, list[float]] = {}
    for entry in entries:
        difference = mean_of_trials(entry.data.values) - entry.labels
        for question, error in zip(entry.log.questions.ids, difference.tolist(), strict=True):
            if np.isfinite(error):
                errors.setdefault(question, []).append(error)
    return {question: float(np.mean(values)) for question, values in errors.items()}


def _cluster_by_question(entries: Sequence[GradedAnswers]) -> dict[str, int]:
    return {
        question: code
        for entry, codes in zip(entries, clusters_across_entries(entries), strict=True)
        for question, code in zip(entry.log.questions.ids, codes.tolist(), strict=True)
    }


def _with_difference(row: _Row, panel: Panel, level: float) -> _Row:
    result = paired_contrast(panel)
    low, high = result.posterior.interval(level)
    value = float(panel.differences.mean())
    return replace(row, value=value, interval=Interval(low, high, level, result.kind), p_value=result.p_value)
