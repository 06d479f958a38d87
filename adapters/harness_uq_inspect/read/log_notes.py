"""Notes and warnings about a log: missing scores, errors, limits, removed samples, early stopping."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from harness_uq.plugin_api import Message
from harness_uq_inspect.log_metadata import NAME
from harness_uq_inspect.messages import (
    CHOSEN_ACTIVELY,
    DAMAGED_MEMBERS,
    ENDED_BY_LIMIT,
    EPOCHS_AS_QUESTIONS,
    ERRORS_AFTER_SCORE,
    LOG_TRIMMED,
    NEWER_LOG_FORMAT,
    QUESTIONS_GENERATED,
    REDUCED_SCORES_ONLY,
    REPEATED_TRIALS,
    RUN_INCOMPLETE,
    RUN_INCOMPLETE_PART,
    SCORES_CHANGED,
    SCORES_ENTERED,
    STALE_INTERVALS,
    STOPPED_ANYTIME,
    STOPPED_BY_RULE,
    STOPPED_EARLY,
    TRIALS_WITHOUT_SCORE,
)
from harness_uq_inspect.read.endings import limit_type
from harness_uq_inspect.read.harness_uq_metrics import is_stale
from harness_uq_inspect.read.parse_scores import is_unscored
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import STOP_WHEN, EarlyStopping, Sample
from harness_uq_inspect.read.score_columns import Frame

NEWEST_VERSION: Final = 3


def notes_on(log: Log, frame: Frame) -> Iterator[Message]:
    """Notes for the report."""
    cells = list(log.cells.values())
    for scorer in dict.fromkeys(scorer for cell in cells for scorer in cell.scores or ()):
        yield from _on_missing(scorer, cells)
        yield from _on_edits(scorer, cells)
    logged = [cell.limit for cell in cells if cell.limit is not None]
    limits = Counter(map(limit_type, logged))
    if limits:
        yield ENDED_BY_LIMIT(n_ended=limits.total(), n_trials=len(cells), limits=_counted(limits))
    yield from _on_reductions(log, frame)
    known = set(map(str, log.header.eval.dataset.sample_ids or ()))
    n_generated = sum(question not in known for question in log.documents)
    if any(NAME in (document.metadata or {}) for document in log.documents.values()):
        yield CHOSEN_ACTIVELY(n_questions=len(log.documents))
    elif known and n_generated:
        yield QUESTIONS_GENERATED(n_generated=n_generated, n_questions=len(log.documents))
    results = log.header.results
    if results is not None and results.early_stopping is not None:
        yield _on_early_stopping(results.early_stopping, results.total_samples)


def _on_early_stopping(stopping: EarlyStopping, n_planned: int) -> Message:
    counts = {"manager": stopping.manager, "n_skipped": len(stopping.early_stops), "n_planned": n_planned}
    if stopping.manager != STOP_WHEN:
        return STOPPED_EARLY(**counts)
    reason = (stopping.metadata or {}).get("reason", "no reason logged")
    return (STOPPED_ANYTIME if stopping.is_anytime else STOPPED_BY_RULE)(**counts, reason=reason)


def _on_missing(scorer: str, cells: Sequence[Sample]) -> Iterator[Message]:
    why = Counter(filter(None, (_why_missing(cell, scorer) for cell in cells)))
    if why:
        yield TRIALS_WITHOUT_SCORE(scorer=scorer, n_missing=why.total(), n_trials=len(cells), reasons=_counted(why))
    n_errors = sum(cell.error is not None and _why_missing(cell, scorer) is None for cell in cells)
    if n_errors:
        yield ERRORS_AFTER_SCORE(scorer=scorer, n_errors=n_errors, n_trials=len(cells))


def _on_edits(scorer: str, cells: Sequence[Sample]) -> Iterator[Message]:
    """Who entered scores, such as labels, and who changed those of a scorer."""
    scores = [score for cell in cells if (score := (cell.scores or {}).get(scorer)) is not None]
    for is_entered, kind in ((True, SCORES_ENTERED), (False, SCORES_CHANGED)):
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
    return ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))


def _on_reductions(log: Log, frame: Frame) -> Iterator[Message]:
    if not log.cells and log.reductions:
        yield REDUCED_SCORES_ONLY()
    if not frame.epochs.is_reduced and frame.epochs.n > 1:
        yield EPOCHS_AS_QUESTIONS(n_epochs=frame.epochs.n)


def warnings_on(log: Log) -> Iterator[Message]:
    """Warnings: facts that may change a conclusion."""
    version = log.header.version
    if version > NEWEST_VERSION:
        yield NEWER_LOG_FORMAT(version=version, supported=NEWEST_VERSION)
    if log.damaged:
        yield DAMAGED_MEMBERS(n_members=len(log.damaged), first=log.damaged[0])
    yield from log.oddities
    if log.n_repeated:
        yield REPEATED_TRIALS(n_trials=log.n_repeated)
    if is_stale(log):
        yield STALE_INTERVALS()
    yield from _on_completeness(log)


def _on_completeness(log: Log) -> Iterator[Message]:
    status, n, planned = log.header.status, len(log.cells), n_planned(log)
    if status != "success":
        if log.cells and is_short(log):
            yield RUN_INCOMPLETE_PART(status=status, n_logged=n, n_planned=planned)
        else:
            yield RUN_INCOMPLETE(status=status)
    elif log.cells and is_short(log):
        yield LOG_TRIMMED(n_logged=n, n_planned=planned)


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
