"""What a reader of the numbers should know about a log: missing cells, errors, limits, trimming, early stops."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from harness_uq_inspect.read.columns import Frame
from harness_uq_inspect.read.ours import is_stale
from harness_uq_inspect.read.reported import n_made
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import STOP_WHEN, EarlyStopping, Sample
from harness_uq_inspect.read.values import is_unscored

NEWEST_VERSION: Final = 3
_CORRECTED: Final = (
    "; the method confidence-sequence allows for the looks, other intervals and comparisons of this run do not"
)
_UNCORRECTED: Final = (
    "; the interval is that of a run of this length planned beforehand and does not allow for the looks, which cost it "
    "little where a width ended the run and more where a comparison did; stop_when(valid='anytime') allows for them"
)


def notes_on(log: Log, frame: Frame) -> Iterator[str]:
    """Facts that belong in a report."""
    cells = list(log.cells.values())
    for scorer in dict.fromkeys(scorer for cell in cells for scorer in cell.scores or ()):
        yield from _on_missing(scorer, cells)
    limits = Counter(_limit_type(cell.limit) for cell in cells if cell.limit is not None)
    if limits:
        yield f"{_counted(limits)} limit ended {limits.total()} of {len(cells)} trials, scored as they stood"
    yield from _on_reductions(log, frame)
    known, made = len(log.header.eval.dataset.sample_ids or ()), n_made(log.header, frame.epochs.n)
    if 0 < known < made:
        yield (
            f"{made - known} of the {made} questions were made while the run went on (a SampleSource); where scores "
            "decided which, intervals do not account for that"
        )
    results = log.header.results
    if results is not None and results.early_stopping is not None:
        yield _on_early_stopping(results.early_stopping, results.total_samples)


def _on_early_stopping(stopping: EarlyStopping, n_planned: int) -> str:
    text = f"early stopping ({stopping.manager}) skipped {len(stopping.early_stops)} of {n_planned} trials"
    if stopping.manager == STOP_WHEN:
        reason = (stopping.metadata or {}).get("reason", "no reason logged")
        return f"{text}: {reason}{_CORRECTED if stopping.is_anytime else _UNCORRECTED}"
    return f"{text}; the number of trials depends on the scores, and intervals do not account for that"


def _on_missing(scorer: str, cells: Sequence[Sample]) -> Iterator[str]:
    why = Counter(filter(None, (_why_missing(cell, scorer) for cell in cells)))
    if why:
        yield f"{scorer}: {why.total()} of {len(cells)} trials have no score ({_counted(why)})"
    n_errors = sum(cell.error is not None and _why_missing(cell, scorer) is None for cell in cells)
    if n_errors:
        yield f"{scorer}: {n_errors} of {len(cells)} trials ended in an error after this score, which counts"


def _why_missing(cell: Sample, scorer: str) -> str | None:
    """Why the cell has no score; None where it has one."""
    score = (cell.scores or {}).get(scorer)
    if cell.invalidation is not None:
        return "invalidated"
    if score is None:
        return "error" if cell.error is not None else "not scored"
    return "scored None or NaN" if is_unscored(score.value) else None


def _limit_type(limit: object) -> str:
    return str(limit.get("type")) if isinstance(limit, dict) else str(limit)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))


def _on_reductions(log: Log, frame: Frame) -> Iterator[str]:
    if not log.cells and log.reductions:
        yield (
            "the log holds no samples; the scores of its questions are those that Inspect reduced over the epochs, and "
            "each counts once, however many of its trials were scored"
        )
    if not frame.epochs.is_reduced and frame.epochs.n > 1:
        yield (
            f"Inspect's own metrics took the {frame.epochs.n} epochs of a question for independent questions "
            "(no epochs reducer), so its stderr is too small"
        )


def warnings_on(log: Log) -> Iterator[str]:
    """Facts that may change a conclusion."""
    version = log.header.version
    if version > NEWEST_VERSION:
        yield f"log format {version} is newer than this reader, which knows {NEWEST_VERSION}"
    if log.damaged:
        yield f"{len(log.damaged)} member(s) of the file are damaged and were left out, first {log.damaged[0]}"
    yield from log.oddities
    if log.n_repeated:
        yield f"{log.n_repeated} trial(s) are logged more than once for the same question and epoch; the last counts"
    if is_stale(log):
        yield (
            "the intervals in the log are of other scores, which were edited since; `harness-uq rescore --in-place` "
            "renews them"
        )
    yield from _on_completeness(log)


def _on_completeness(log: Log) -> Iterator[str]:
    status, n, planned = log.header.status, len(log.cells), n_planned(log)
    if status != "success":
        part = f": {n} of {planned} planned trials are in it" if log.cells and is_short(log) else ""
        caution = ", and those that end first may be unlike the rest" if part else ""
        yield f"the run did not finish (status {status}){part}{caution}"
    elif log.cells and is_short(log):
        yield (
            f"trimmed: the log holds {n} of the {planned} trials behind Inspect's results; "
            "values here are of those kept, Inspect's of all"
        )


def n_planned(log: Log) -> int:
    """Trials that the run was to make and did not stop on purpose; 0 where the log does not say."""
    results, spec = log.header.results, log.header.eval
    if results is None:
        return len(spec.dataset.sample_ids or ()) * (spec.config.epochs or 1)
    stopping = results.early_stopping
    return results.total_samples - (len(stopping.early_stops) if stopping else 0)


def is_short(log: Log) -> bool:
    """Whether the log holds fewer trials than the run was to make."""
    return len(log.cells) < n_planned(log)
