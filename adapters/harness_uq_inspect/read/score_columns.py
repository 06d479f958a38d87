"""The scores of a log as columns: one for each scorer, or for each key of a scorer that returns a dictionary."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import MAX_SCORES, Message, check_cells
from harness_uq_inspect.messages import DICTIONARY_VALUES, RARE_KEYS_OMITTED
from harness_uq_inspect.read.harness_results import Epochs
from harness_uq_inspect.read.parse_scores import NoNumbers, Numbers, is_unscored, numbers
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Header, Sample, ScoreTotals, Value

_Logged: TypeAlias = list[tuple[str, Value]]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Questions and epochs of a log, and the position of each sample in the question × epoch matrix.

    `epochs`: number of epochs, and how Inspect reduced them. `questions`: identifiers, in the order of the data set.
    `rows`, `epoch_columns`: int (n_scores,), row and column of each sample. `reductions`: reduced values by (scorer,
    reducer), then by question.
    """

    header: Header
    epochs: Epochs
    questions: Sequence[str]
    rows: NDArray[np.int64]
    epoch_columns: NDArray[np.int64]
    reductions: Mapping[tuple[str, str], Mapping[str, Value]]

    def matrix(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the samples as float (n_questions, n_epochs); NaN for missing samples."""
        grid = np.full((len(self.questions), int(self.epoch_columns.max(initial=0)) + 1), np.nan)
        grid[self.rows, self.epoch_columns] = values
        return grid

    def totals_of(self, column: "ScoreColumn") -> list[ScoreTotals]:
        """Entries of a column in Inspect's results, one for each reducer."""
        results = self.header.results
        return [
            score
            for score in (results.scores if results else ())
            if score.name == (column.key or column.scorer) and (score.scorer or score.name) == column.scorer
        ]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumn:
    """One score of all samples.

    `scorer`, `key`: name of the scorer, and key in its dictionary of values. `cells`: values of the samples; None if
    only reductions were logged.
    """

    scorer: str
    key: str | None
    metric: str
    cells: Numbers | NoNumbers | None
    n_questions: int


def make_frame(log: Log, questions: Sequence[str], epochs: Epochs) -> Frame:
    """The frame of a log's samples."""
    row_of = {question: row for row, question in enumerate(questions)}
    rows = np.array([row_of[question] for question, _ in log.cells], dtype=np.int64)
    column_of = {epoch: column for column, epoch in enumerate(sorted({epoch for _, epoch in log.cells}))}
    epoch_columns = np.array([column_of[epoch] for _, epoch in log.cells], dtype=np.int64)
    reductions = {
        (reduction.scorer, reduction.reducer or epochs.default_reducer): {
            str(sample.sample_id): sample.value for sample in reduction.samples
        }
        for reduction in log.reductions
    }
    return Frame(log.header, epochs, questions, rows, epoch_columns, reductions)


def columns_of(log: Log, frame: Frame) -> tuple[list[ScoreColumn], list[Message]]:
    """Columns in Inspect's order, and notes on omitted ones. Raises LogError if there are too many."""
    _check_number(log)
    logged = _from_samples(log) if log.cells else _from_reductions(frame)
    parts = [part for scorer, values in logged.items() for part in _split(scorer, values)]
    names = _metric_names(frame.header, [(scorer, key) for scorer, key, _ in parts])
    columns = [
        ScoreColumn(
            scorer,
            key,
            name,
            numbers([value for _, value in values]) if log.cells else None,
            len({question for question, value in values if not is_unscored(value)}),
        )
        for (scorer, key, values), name in zip(parts, names, strict=True)
    ]
    listed = [column for column in columns if column.key is None or column.n_questions > 1 or len(frame.questions) == 1]
    return listed, [*_notes_on_rare_keys(columns, listed), *_notes_on_whole_dictionaries(frame.header, listed)]


def _check_number(log: Log) -> None:
    """Make sure that the samples do not have too many different scores. Raises LogError if they do."""
    names = set[tuple[str, str | None]]()
    for cell in log.cells.values():
        for scorer, score in (cell.scores or {}).items():
            names.update((scorer, key) for key in (score.value if isinstance(score.value, dict) else (None,)))
    check_cells(len(log.cells), len(names), MAX_SCORES)


def value_at(value: Value, key: str | None) -> Value:
    """The value itself; if it is a dictionary, its value under `key`."""
    if key is None:
        return value
    return cast(Value, value.get(key)) if isinstance(value, dict) else None


def _from_samples(log: Log) -> dict[str, _Logged]:
    results = log.header.results
    scorers = dict.fromkeys(scorer for cell in log.cells.values() for scorer in cell.scores or ())
    printed = [score.scorer for score in (results.scores if results else ()) if score.scorer in scorers]
    return {
        scorer: [(question, _value(cell, scorer)) for (question, _), cell in log.cells.items()]
        for scorer in dict.fromkeys([*printed, *scorers])
        if scorer is not None
    }


def _value(cell: Sample, scorer: str) -> Value:
    """The score of the sample; None if it has no such score or was invalidated."""
    score = (cell.scores or {}).get(scorer)
    return None if score is None or cell.invalidation is not None else score.value


def _from_reductions(frame: Frame) -> dict[str, _Logged]:
    columns: dict[str, _Logged] = {}
    for (scorer, _), values in frame.reductions.items():
        columns.setdefault(scorer, list(values.items()))
    return columns


def _split(scorer: str, values: _Logged) -> Iterator[tuple[str, str | None, _Logged]]:
    """One column, or one for each key if the values are dictionaries."""
    keys = dict.fromkeys(key for _, value in values if isinstance(value, dict) for key in value)
    if not keys:
        yield scorer, None, values
    for key in keys:
        yield scorer, key, [(question, value_at(value, key)) for question, value in values]


def _metric_names(header: Header, parts: Sequence[tuple[str, str | None]]) -> list[str]:
    """The scorer; with a key, `scorer/key`, or the key alone if Inspect reports it under this name and it is unique."""
    printed = {(score.scorer, score.name) for score in (header.results.scores if header.results else ())}
    short = [key if key is not None and (scorer, key) in printed else scorer for scorer, key in parts]
    uses = Counter(short)
    return [
        scorer if key is None else name if name == key and uses[name] == 1 else f"{scorer}/{key}"
        for (scorer, key), name in zip(parts, short, strict=True)
    ]


def _notes_on_rare_keys(columns: Sequence[ScoreColumn], listed: Sequence[ScoreColumn]) -> list[Message]:
    dropped = Counter(column.scorer for column in columns if column not in listed)
    return [RARE_KEYS_OMITTED(scorer=scorer, n_keys=n) for scorer, n in dropped.items()]


def _notes_on_whole_dictionaries(header: Header, columns: Sequence[ScoreColumn]) -> list[Message]:
    by_key = {column.scorer for column in columns if column.key is not None}
    return [
        DICTIONARY_VALUES(scorer=score.name)
        for score in (header.results.scores if header.results else ())
        if score.name in by_key and score.scorer in (score.name, None)
    ]
