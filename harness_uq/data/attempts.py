"""Runs that several logs contain: which attempt at a run counts, and which logs are copies of another log."""

from collections.abc import Iterable

from harness_uq.data.task_log import Attempt, Source


def superseded_attempts(sources: Iterable[Source]) -> dict[Source, Source]:
    """The attempt that replaces each other attempt of the same run.

    A retry copies the finished samples of the earlier attempt into its own log, so only one of the logs counts: the
    newest finished attempt or, if no attempt is finished, the one with the most scored trials. Copies of one log are
    not attempts.

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
        last, chosen = max(candidates, key=_precedence)
        superseded |= {source: chosen for attempt, source in candidates if attempt.id != last.id}
    return superseded


def _precedence(candidate: tuple[Attempt, Source]) -> tuple[bool, int, str]:
    attempt, source = candidate
    return attempt.is_finished, 0 if attempt.is_finished else attempt.n_trials, source.time or ""


def copied_logs(sources: Iterable[Source]) -> dict[Source, Source]:
    """The first log with the same scores of the same attempt, for each log that repeats them.

    Copies, converted logs and logs to which intervals were added repeat the scores of another log. A log of the same
    attempt with other scores, for example of another grader, is not a copy.

    Examples
    --------
    >>> from harness_uq.data.task_log import Attempt, Source
    >>> attempt = Attempt("task", "1", is_finished=True, content="8c1d")
    >>> log, copy = (Source(path, "inspect", attempt=attempt) for path in ("a.eval", "b.json"))
    >>> copied_logs([log, copy]) == {copy: log}
    True
    """
    first: dict[tuple[str, str, str, str], Source] = {}
    copies: dict[Source, Source] = {}
    for source in dict.fromkeys(sources):
        if (attempt := source.attempt) is not None and attempt.content:
            original = first.setdefault((source.harness, attempt.run, attempt.id, attempt.content), source)
            if original is not source:
                copies[source] = original
    return copies
