"""Warnings and notes, each printed once with the names of the results that it concerns."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, cast

from harness_uq.messages import MESSAGE_REGISTRY, HasMessages, Message, MessageType, Severity, with_severity
from harness_uq.messages.catalogue.comparison import MONTE_CARLO_ERROR, TOTALS_USED
from harness_uq.messages.catalogue.estimation import (
    BINOMIAL_UPPER_BOUND,
    FEW_QUESTIONS,
    FULL_SCOPE_AVAILABLE,
    NON_RANDOM_SUBSET,
)
from harness_uq.output.short_names import cell_len
from harness_uq.output.words import MAX_NAMED, counted, join_names, metric_name

_CODE = re.compile(r" \(([A-Z]+\d{3})\)$")
_SENTENCE = re.compile(r"(?<=[.?]) (?=[A-Z])")
_SEVERE: tuple[Severity, ...] = ("refusal", "error", "warning")
_WITH_RANGES = (
    FEW_QUESTIONS,
    NON_RANDOM_SUBSET,
    FULL_SCOPE_AVAILABLE,
    BINOMIAL_UPPER_BOUND,
    MONTE_CARLO_ERROR,
)
"""Messages that are printed once for several tasks, with ranges of the numbers in which the tasks differ."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of a message: one result by its names, or, if names are empty, all results with the other names."""

    task: str
    metric: str = ""
    system: str = ""
    run: str = ""


def warnings_of(rows: Sequence[Any]) -> list[tuple[str, str]]:
    """Every warning once with its subject, in the order of first appearance.

    The subject consists of tasks. It includes metrics and systems if other results of these tasks do not have the
    warning, and runs if other runs of the system do not have it. `rows`: results with task, metric, filter and
    `subject`.
    """
    return _by_subject(rows, *_SEVERE)


def footnotes(rows: Sequence[Any]) -> dict[str, list[str]]:
    """Warnings and notes, each as `SUBJECT: TEXT`, under their headings."""
    return {"Warnings": sentences(warnings_of(rows)), "Notes": sentences(_without_similar(_by_subject(rows, "note")))}


def text_with_code(message: Message) -> str:
    """The text of a message, with its code for `--ignore` and the documentation."""
    return f"{message.text} ({message.code})"


def texts_with_code(messages: Iterable[Message], *severities: Severity) -> list[str]:
    """The texts of the messages of these severities that are not ignored, by default warnings and worse."""
    return [text_with_code(message) for message in with_severity(messages, *(severities or _SEVERE))]


def folded(footnotes: Mapping[str, Sequence[str]], width: int, hint: str) -> str:
    """The number and the names of the messages in one line, and a hint at how to read them.

    `…` replaces names that do not fit into the width.
    """
    kinds = [(text, _kind_of(text)) for texts in footnotes.values() for text in texts]
    names = list(dict.fromkeys(kind.name for _, kind in kinds if kind))
    counts = [
        counted(len({*texts}), heading[:-1].lower()) for heading, texts in reversed([*footnotes.items()]) if texts
    ]
    if not names:
        return f"{', '.join(counts)} ({hint})" if counts else ""
    line = f"{', '.join(counts)}: {', '.join(names)} ({hint})"
    listed = ["…"]
    for name in names if cell_len(line) > width else ():
        line = f"{', '.join(counts)}: {', '.join(listed)} ({hint})"
        if cell_len(f"{line}, {name}") <= width:
            listed.insert(-1, name)
    if len(listed) > 1:
        line = f"{', '.join(counts)}: {', '.join(listed)} ({hint})"
    return line


def prominent_sentences(footnotes: Mapping[str, Sequence[str]], printed: str) -> list[str]:
    """The first sentences of up to three messages that change how a number is read, and are not in the printed text."""
    texts = [text for texts in footnotes.values() for text in texts if (kind := _kind_of(text)) and kind.is_prominent]
    sentences = dict.fromkeys(first_sentence(_CODE.sub("", text)) for text in texts)
    return [text for text in sentences if text.partition(": ")[2] not in printed][:MAX_NAMED]


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    return _SENTENCE.split(text)[0]


def _kind_of(text: str) -> MessageType | None:
    """The type of the message in a footnote, by its code at the end; None for other sentences."""
    code = _CODE.search(text)
    return MESSAGE_REGISTRY.find(code[1]) if code else None


def message_lists(rows: Iterable[Any]) -> dict[str, list[str]]:
    """Warnings and notes of results that name their subject elsewhere, under their headings."""
    messages = [message for row in rows for message in getattr(row, "messages", ())]
    return {"Warnings": texts_with_code(messages), "Notes": texts_with_code(messages, "note")}


def totals_sentence(rows: Iterable[HasMessages]) -> str:
    """Which logs contain only a part of their samples, so that totals were used; empty if there are none."""
    used = [message for row in rows for message in row.messages if message.code == TOTALS_USED.code]
    texts = list(dict.fromkeys(message.text for message in used))
    if len(texts) <= MAX_NAMED:
        return " ".join(texts)
    n_systems = len({message.params["system"] for message in used})
    return f"The logs of {n_systems} systems contain only a part of their samples, so totals are used."


def missing_caveat(names: Iterable[str]) -> str:
    """A sentence on the tasks or groups whose verdicts depend on how missing scores are counted; empty without names.

    >>> missing_caveat(["arc", "boolq"])
    'The verdicts on arc, boolq depend on how missing scores are counted.'
    """
    listed = list(names)
    if not listed:
        return ""
    verdicts, depend = ("verdict", "depends") if len(listed) == 1 else ("verdicts", "depend")
    return f"The {verdicts} on {join_names(listed)} {depend} on how missing scores are counted."


def sentences(attributed: Iterable[tuple[str, str]]) -> list[str]:
    """`WHO: TEXT` of each."""
    return [f"{who}: {text}" if who else text for who, text in attributed]


def _by_subject(rows: Sequence[Any], *severities: Severity) -> list[tuple[str, str]]:
    """The messages of these severities, each once, after whom it is about."""
    messages = [with_severity(row.messages, *severities) for row in rows]
    summaries = _summaries(message for of_row in messages for message in of_row)
    texts = [[summaries.get(message) or text_with_code(message) for message in of_row] for of_row in messages]
    subjects = [_Subject(row.task, metric_name(row.metric, row.filter), *row.subject) for row in rows]
    return _attributed(list(zip(subjects, texts, strict=True)))


def _without_similar(attributed: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The notes; of more than three with the same code, only the first, with the subjects of the others."""
    subjects: dict[str, list[str]] = {}
    for who, text in attributed:
        subjects.setdefault(_CODE.split(text)[-2:][0], []).append(who)
    listed: dict[str, tuple[str, str]] = {}
    for who, text in attributed:
        code = _CODE.split(text)[-2:][0]
        if len(subjects[code]) <= MAX_NAMED:
            listed[f"{who}: {text}"] = who, text
        elif code not in listed:
            others = subjects[code][1:]
            more = f"{len(others)} similar notes concern {join_names(others)}."
            listed[code] = who, f"{_CODE.sub('', text)} {more} ({code})"
    return list(listed.values())


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
        if len(group) > 1 and (kind := types.get(cast("str", code)))
        if all(kind.fields == one.params.keys() for one in group)
        for message in group
    }


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
