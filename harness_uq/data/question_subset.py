"""A task log with some of its questions."""

from dataclasses import replace

from harness_uq.data.task_log import (
    AggregateScore,
    Classifications,
    IntArray,
    Questions,
    Scores,
    SufficientStatistics,
    TaskData,
    TaskLog,
)
from harness_uq.data.trial_endings import TrialEndings


def select_questions(log: TaskLog, rows: IntArray) -> TaskLog:
    """Return the log with these questions only, without totals and without values that refer to all questions."""
    asked = log.questions
    prefix = asked.prompt_prefix
    ids, hashes, items, prompt_hashes = (
        tuple(labels[i] for i in rows) if labels else ()
        for labels in (asked.ids, asked.hashes, asked.items, asked.prompt_hashes)
    )
    questions = Questions(
        ids,
        hashes,
        {name: replace(field, codes=field.codes[rows]) for name, field in asked.fields.items()},
        None if prefix is None else replace(prefix, codes=prefix.codes[rows]),
        items,
        prompt_hashes,
    )
    data = [_data_rows(item, rows) for item in log.data if not isinstance(item, AggregateScore)]
    ended_by = None if log.ended_by is None else TrialEndings(log.ended_by.codes[rows])
    return replace(log, questions=questions, data=tuple(data), reported={}, resources=None, ended_by=ended_by)


def _data_rows(data: Scores | Classifications | SufficientStatistics, rows: IntArray) -> TaskData:
    clusters = None if data.clusters is None else data.clusters[rows]
    if isinstance(data, Scores):
        return replace(data, values=data.values[rows], clusters=clusters)
    if isinstance(data, SufficientStatistics):
        return replace(data, statistics=data.statistics[rows], clusters=clusters)
    return replace(data, targets=data.targets[rows], predictions=data.predictions[rows], clusters=clusters)
