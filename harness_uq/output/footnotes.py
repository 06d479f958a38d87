"""Warnings and notes, each printed once with the names of the results that it concerns."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from harness_uq.messages import HasMessages, Message, Severity, with_severity
from harness_uq.messages.catalogue.comparison import MONTE_CARLO_ERROR
from harness_uq.messages.catalogue.estimation import (
    BINOMIAL_UPPER_BOUND,
    FEW_QUESTIONS,
    FULL_SCOPE_AVAILABLE,
    NON_RANDOM_SUBSET,
)
from harness_uq.output.columns import metric_name, run_time
from harness_uq.output.phrases import join_names
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate

if TYPE_CHECKING:
    from harness_uq.results.plan import Plan
    from harness_uq.results.ranking import Ranking

Result: TypeAlias = "Estimate | Comparison | Ranking | Plan"


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of a message: one result by its names, or, if names are empty, all results with the other names."""

    task: str
    metric: str = ""
    system: str = ""
    run: str = ""


_WITH_RANGES = (
    FEW_QUESTIONS,
    NON_RANDOM_SUBSET,
    FULL_SCOPE_AVAILABLE,
    BINOMIAL_UPPER_BOUND,
    MONTE_CARLO_ERROR,
)
"""Messages that are printed once for several tasks, with ranges of the numbers in which the tasks differ."""


def warnings_of(rows: Iterable[Result]) -> list[tuple[str, str]]:
    """Every warning once with its subject, in the order of first appearance.

    The subject consists of tasks. It includes metrics and systems if other results of these tasks do not have the
    warning, and runs if other runs of the system do not have it.
    """
    return _by_subject(list(rows), "refusal", "error", "warning")


def footnotes(rows: Sequence[Result]) -> dict[str, list[str]]:
    """Warnings and notes, each as `SUBJECT: TEXT`, under their headings."""
    return {"Warnings": sentences(warnings_of(rows)), "Notes": sentences(_by_subject(rows, "note"))}


def text_with_code(message: Message) -> str:
    """The text of a message, with its code for `--ignore` and the documentation."""
    return f"{message.text} ({message.code})"


def message_lists(rows: Iterable[HasMessages]) -> dict[str, list[str]]:
    """Warnings and notes of results that name their subject elsewhere, under their headings."""
    messages = [message for row in rows for message in row.messages]
    return {"Warnings": _texts(messages, "refusal", "error", "warning"), "Notes": _texts(messages, "note")}


def _by_subject(rows: Sequence[Result], *severities: Severity) -> list[tuple[str, str]]:
    """The messages of these severities, each once, after whom it is about."""
    messages = [with_severity(row.messages, *severities) for row in rows]
    summaries = _summaries(message for of_row in messages for message in of_row)
    texts = [[summaries.get(message) or text_with_code(message) for message in of_row] for of_row in messages]
    return _attributed(list(zip(map(_subject, rows), texts, strict=True)))


def _summaries(messages: Iterable[Message]) -> dict[Message, str]:
    """One text for all messages of a type that differ in numbers only."""
    alike: dict[tuple[object, ...], dict[Message, None]] = {}
    for message in messages:
        words = (value for value in message.params.values() if not isinstance(value, int | float))
        alike.setdefault((message.code, *words), {})[message] = None
    types = {kind.code: kind for kind in _WITH_RANGES}
    return {
        message: f"{kind.summarize(list(group))} ({kind.code})"
        for (code, *_), group in alike.items()
        if len(group) > 1 and (kind := types.get(str(code))) and all(kind.fields == one.params.keys() for one in group)
        for message in group
    }


def _texts(messages: Iterable[Message], *severities: Severity) -> list[str]:
    return [text_with_code(message) for message in with_severity(messages, *severities)]


def sentences(attributed: Iterable[tuple[str, str]]) -> list[str]:
    """`WHO: TEXT` of each."""
    return [f"{who}: {text}" if who else text for who, text in attributed]


def _subject(row: Result) -> _Subject:
    metric = metric_name(row.metric, row.filter)
    match row:
        case Estimate():
            return _Subject(row.task, metric, row.system, run_time(row))
        case Comparison():
            return _Subject(row.task, metric, f"{row.system_a} against {row.system_b}")
    return _Subject(row.task, metric)


def _attributed(said: Iterable[tuple[_Subject, Sequence[str]]]) -> list[tuple[str, str]]:
    members: dict[_Subject, set[_Subject]] = {}
    owners: dict[str, dict[_Subject, None]] = {}
    for subject, texts in said:
        # the wider subjects that it belongs to
        for metric in (subject.metric, ""):
            for names in ((), (subject.system,), (subject.system, subject.run)):
                members.setdefault(_Subject(subject.task, metric, *names), set()).add(subject)
        for text in texts:
            owners.setdefault(text, {})[subject] = None
    return [(_who(owning, members), text) for text, owning in owners.items()]


def _who(owning: Mapping[_Subject, None], members: Mapping[_Subject, set[_Subject]]) -> str:
    """The subjects in words, as few as tell them from the others."""

    def is_shared(circle: _Subject) -> bool:
        return members[circle] <= owning.keys()

    systems: dict[str, dict[str, None]] = {}
    for one in owning:
        metric = "" if is_shared(_Subject(one.task, "", one.system, one.run)) else one.metric
        named_here = systems.setdefault(f"{one.task}, {metric}" if metric else one.task, {})
        if not is_shared(_Subject(one.task, metric)):
            is_every_run = is_shared(_Subject(one.task, metric, one.system))
            named_here[one.system if is_every_run else f"{one.system} (run {one.run})"] = None
    tasks: dict[tuple[str, ...], list[str]] = {}
    for task, names in systems.items():
        tasks.setdefault(tuple(names), []).append(task)
    everything = {circle.task for circle in members}
    return "; ".join(_phrase(these, names, everything) for names, these in tasks.items())


def _phrase(tasks: Sequence[str], systems: Sequence[str], everything: Set[str]) -> str:
    are_all = len(everything) > 1 and set(tasks) == everything
    what = "all tasks" if are_all else join_names(tasks)
    return f"{what} of {join_names(systems)}" if systems else what
