"""Runs that were continued in another log: which attempt of a run counts."""

from collections.abc import Iterable

from harness_uq.data.task_log import Attempt, Source


def superseded_attempts(sources: Iterable[Source]) -> dict[Source, Source]:
    """The attempt that replaces each other attempt of the same run.

    A retry copies the finished samples of the earlier attempt into its own log, so only one of the logs counts: the
    newest finished attempt or, if no attempt is finished, the newest attempt. Copies of one log are not attempts.

    Examples
    --------
    >>> from harness_uq.data.task_log import Attempt, Source
    >>> first = Source("a.eval", "inspect", time="2026-01-01", attempt=Attempt("task", "1", is_finished=False))
    >>> retry = Source("b.eval", "inspect", time="2026-01-02", attempt=Attempt("task", "2", is_finished=True))
    >>> superseded_attempts([first, retry]) == {first: retry}
    True
    """
    attempts: dict[tuple[str, str], list[tuple[Attempt, Source]]] = {}
    for source in dict.fromkeys(sources):
        if (attempt := source.attempt) is not None:
            attempts.setdefault((source.harness, attempt.run), []).append((attempt, source))
    superseded: dict[Source, Source] = {}
    for candidates in attempts.values():
        last, chosen = max(candidates, key=lambda pair: (pair[0].is_finished, pair[1].time or ""))
        superseded |= {source: chosen for attempt, source in candidates if attempt.id != last.id}
    return superseded
