"""Notes and warnings about a log: missing scores, errors, limits, early stopping, contradictions; and the endings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import Message, TrialEndings, ending_code
from harness_uq_inspect import messages as catalogue
from harness_uq_inspect.annotated_names import NAME
from harness_uq_inspect.read.harness_results import is_of_cells
from harness_uq_inspect.read.harness_uq_metrics import is_stale
from harness_uq_inspect.read.parse_scores import Numbers, is_unscored, numbers
from harness_uq_inspect.read.reducers import MEAN, mean_of_trials
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import STOP_WHEN, EarlyStopping, Sample
from harness_uq_inspect.read.score_columns import Frame, ScoreColumn, value_at

NEWEST_VERSION: Final = 3
_TOLERANCE: Final = 1e-6


def notes_on(log: Log, frame: Frame) -> Iterator[Message]:
    """Notes for the report."""
    cells = list(log.cells.values())
    for scorer in dict.fromkeys(scorer for cell in cells for scorer in cell.scores or ()):
        yield from _on_missing(scorer, cells)
        yield from _on_edits(scorer, cells)
    logged = [cell.limit for cell in cells if cell.limit is not None]
    limits = Counter(map(limit_type, logged))
    if limits:
        yield catalogue.ENDED_BY_LIMIT(n_ended=limits.total(), n_trials=len(cells), limits=_counted(limits))
    yield from _on_reductions(log, frame)
    known = set(map(str, log.header.eval.dataset.sample_ids or ()))
    n_generated = sum(question not in known for question in log.documents)
    if any(NAME in (document.metadata or {}) for document in log.documents.values()):
        yield catalogue.CHOSEN_ACTIVELY(n_questions=len(log.documents))
    elif known and n_generated:
        counts = {"n_listed": len(known), "n_questions": len(log.documents)}
        yield catalogue.UNLISTED_QUESTIONS(n_generated=n_generated, **counts)
    results = log.header.results
    if results is not None and results.early_stopping is not None:
        yield _on_early_stopping(results.early_stopping, results.total_samples)


def _on_early_stopping(stopping: EarlyStopping, n_planned: int) -> Message:
    counts = {"manager": stopping.manager, "n_skipped": len(stopping.early_stops), "n_planned": n_planned}
    if stopping.manager != STOP_WHEN:
        return catalogue.STOPPED_EARLY(**counts)
    reason = (stopping.metadata or {}).get("reason", "no reason logged")
    return (catalogue.STOPPED_ANYTIME if stopping.is_anytime else catalogue.STOPPED_BY_RULE)(**counts, reason=reason)


def _on_missing(scorer: str, cells: Sequence[Sample]) -> Iterator[Message]:
    why = Counter(filter(None, (_why_missing(cell, scorer) for cell in cells)))
    if why:
        yield catalogue.TRIALS_WITHOUT_SCORE(
            scorer=scorer, n_missing=why.total(), n_trials=len(cells), reasons=_counted(why)
        )
    n_errors = sum(cell.error is not None and _why_missing(cell, scorer) is None for cell in cells)
    if n_errors:
        yield catalogue.ERRORS_AFTER_SCORE(scorer=scorer, n_errors=n_errors, n_trials=len(cells))


def _on_edits(scorer: str, cells: Sequence[Sample]) -> Iterator[Message]:
    """Who entered scores, such as labels, and who changed those of a scorer."""
    scores = [score for cell in cells if (score := (cell.scores or {}).get(scorer)) is not None]
    for is_entered, kind in ((True, catalogue.SCORES_ENTERED), (False, catalogue.SCORES_CHANGED)):
        edited = [score for score in scores if score.authors and score.is_entered == is_entered]
        if edited:
            authors = sorted({author for score in edited for author in score.authors})
            yield kind(scorer=scorer, n_edited=len(edited), n_scores=len(scores), authors=authors)


def _why_missing(cell: Sample, scorer: str) -> str | None:
    """The reason why the sample has no score; None if it has one."""
    score = (cell.scores or {}).get(scorer)
    if cell.invalidation is not None:
        return "invalidated"
    if score is None:
        return "error" if cell.error is not None else "not scored"
    return "scored None or NaN" if is_unscored(score.value) else None


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {'errors' if what == 'error' and n > 1 else what}" for what, n in sorted(counts.items()))


def _on_reductions(log: Log, frame: Frame) -> Iterator[Message]:
    if not log.cells and log.reductions:
        yield catalogue.REDUCED_SCORES_ONLY()
    if not frame.epochs.is_reduced and frame.epochs.n > 1:
        yield catalogue.EPOCHS_AS_QUESTIONS(n_epochs=frame.epochs.n)


def warnings_on(log: Log) -> Iterator[Message]:
    """Warnings: facts that may change a conclusion."""
    version = log.header.version
    if version > NEWEST_VERSION:
        yield catalogue.NEWER_LOG_FORMAT(version=version, supported=NEWEST_VERSION)
    if log.damaged:
        yield catalogue.DAMAGED_MEMBERS(n_members=len(log.damaged), first=log.damaged[0])
    yield from log.oddities
    if log.repeated:
        yield catalogue.REPEATED_TRIALS(n_trials=len(log.repeated))
    if is_stale(log):
        yield catalogue.STALE_INTERVALS()
    yield from _on_completeness(log)


def _on_completeness(log: Log) -> Iterator[Message]:
    status, n, planned = log.header.status, len(log.cells), n_planned(log)
    if status != "success":
        if log.cells and is_short(log):
            yield catalogue.RUN_INCOMPLETE_PART(status=status, n_logged=n, n_planned=planned)
        else:
            yield catalogue.RUN_INCOMPLETE(status=status)
    elif log.cells and is_short(log):
        yield catalogue.LOG_TRIMMED(n_logged=n, n_planned=planned)


def n_planned(log: Log) -> int:
    """Number of planned trials, without those skipped by early stopping; 0 if the log does not state it."""
    results, spec = log.header.results, log.header.eval
    if results is None:
        return len(spec.dataset.sample_ids or ()) * (spec.config.epochs or 1)
    stopping = results.early_stopping
    return results.total_samples - (len(stopping.early_stops) if stopping else 0)


def is_short(log: Log) -> bool:
    """Whether the log contains fewer trials than planned."""
    return len(log.cells) < n_planned(log)


def contradictions(log: Log, frame: Frame, columns: Sequence[ScoreColumn]) -> Iterator[Message]:
    """A warning for each contradiction; none if the log itself states that parts of it are missing or invalidated."""
    if log.header.invalidated or log.damaged or not log.cells or log.header.results is None:
        return
    planned = n_planned(log)
    if 0 < planned < len(log.cells):
        yield catalogue.CONTRADICTORY_TRIALS(n_logged=len(log.cells), n_planned=planned)
    for column in columns:
        if isinstance(column.cells, Numbers):
            matrix = frame.matrix(column.cells.values)
            if not is_short(log):
                yield from _of_reduction(column, frame, mean_of_trials(matrix))
                yield from _of_count(column, frame, int(np.isfinite(matrix).any(axis=1).sum()))


def _of_reduction(column: ScoreColumn, frame: Frame, means: NDArray[np.float64]) -> Iterator[Message]:
    logged = frame.reductions.get((column.scorer, MEAN))
    if logged is None:
        return
    reduced = numbers([value_at(logged.get(question), column.key) for question in frame.questions])
    if not isinstance(reduced, Numbers):
        return
    both = np.isfinite(means) & np.isfinite(reduced.values)
    n = int(np.sum(~np.isclose(means[both], reduced.values[both], rtol=_TOLERANCE, atol=_TOLERANCE)))
    if n:
        yield catalogue.CONTRADICTORY_SCORES(metric=column.metric, n_different=n, n_questions=len(means))


def _of_count(column: ScoreColumn, frame: Frame, n_scored: int) -> Iterator[Message]:
    for score in frame.totals_of(column):
        if score.scored_samples is None or frame.epochs.filter_of(score.reducer) != frame.epochs.filter:
            continue
        if not is_of_cells(score, frame.header, frame.epochs) and score.scored_samples != n_scored:
            yield catalogue.CONTRADICTORY_COUNTS(
                metric=column.metric, n_scored=n_scored, n_reported=score.scored_samples
            )


def endings_of(log: Log, frame: Frame) -> TrialEndings | None:
    """How each sample ended, by question and epoch; None if the log contains no samples.

    Samples that were not logged, for example because of early stopping, have an unknown ending.
    """
    if not log.cells:
        return None
    codes = frame.matrix(np.array([_code(cell) for cell in log.cells.values()], np.float64))
    return TrialEndings(np.where(np.isnan(codes), -1, codes).astype(np.int64))


def limit_type(limit: object) -> str:
    """The kind of a limit that ended a sample: an object in a sample, a text in a summary."""
    return str(limit.get("type") if isinstance(limit, dict) else limit)


def _code(cell: Sample) -> int:
    """An error counts before a limit, because Inspect does not score samples with an error unless asked to."""
    if cell.error is not None:
        return ending_code("error")
    if cell.limit is None:
        return ending_code("completed")
    code = ending_code(f"{limit_type(cell.limit)} limit")
    return ending_code("limit") if code < 0 else code
