"""What the numbers of a report rest on, each fact said once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness_uq.report.clean import file_name, for_readers
from harness_uq.report.html.tables import by_task
from harness_uq.report.words import named
from harness_uq.results.estimate import Estimate

SCOPES = {
    "population": "expected on new questions of the same kind",
    "benchmark": "expected on exactly these questions, tried again and again",
    "full": "on all questions of the benchmark, of which the run used a part",
}
KINDS = {
    "hdi": "highest-density credible interval",
    "quantile": "equal-tailed credible interval",
    "confidence": "confidence interval",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and whom it is about: empty where it holds for every row at hand."""

    who: str
    text: str


@dataclass(frozen=True, slots=True)
class Reliability:
    """What one task's numbers rest on: facts under their names, each said once."""

    title: str
    n_warnings: int
    facts: tuple[tuple[str, tuple[Statement, ...]], ...]


def reliability(rows: Sequence[Estimate]) -> list[Reliability]:
    """Estimand, method, structure with its evidence, numerical facts, warnings, notes and source, by task.

    What holds of every one of several tasks stands first, under `All tasks`.
    """
    found = []
    for title, members in by_task(rows):
        texts: dict[str, dict[str, list[str]]] = {}
        for row in members:
            for name, text in _facts(row):
                texts.setdefault(name, {}).setdefault(text, []).append(row.system)
        facts = tuple((name, _statements(owners, members)) for name, owners in texts.items())
        found.append(Reliability(title, len(texts.get("Warning", {})), facts))
    return _gathered(found) if len(found) > 1 else found


def _gathered(tasks: Sequence[Reliability]) -> list[Reliability]:
    """What all tasks have, then what each has besides, where it has anything."""
    said = [{(name, one) for name, statements in task.facts for one in statements} for task in tasks]
    shared = set.intersection(*said)
    if not shared:
        return list(tasks)
    first = tasks[0]
    everywhere = _kept(first, "All tasks", lambda fact: fact in shared)
    own = (_kept(task, task.title, lambda fact: fact not in shared) for task in tasks)
    return [everywhere, *(task for task in own if task.facts)]


def _kept(task: Reliability, title: str, is_wanted: Callable[[tuple[str, Statement]], bool]) -> Reliability:
    kept = ((name, tuple(one for one in told if is_wanted((name, one)))) for name, told in task.facts)
    facts = tuple((name, told) for name, told in kept if told)
    return Reliability(title, sum(len(told) for name, told in facts if name == "Warning"), facts)


def _facts(row: Estimate) -> Iterable[tuple[str, str]]:
    yield "Estimand", f"{row.estimand}, {row.scope}: {SCOPES[row.scope]}"
    yield "Method", row.method if row.interval is None else f"{row.method}, {KINDS[row.interval.kind]}"
    for fact in row.structure.facts if row.structure else ():
        yield fact.name.capitalize(), f"{fact.value} ({fact.evidence})"
    for name, value in row.diagnostics.items():
        yield "Numerics", f"{name.replace('_', ' ')} {value:.3g}"
    yield from (("Warning", for_readers(text)) for text in row.warnings)
    yield from (("Note", for_readers(text)) for text in (*row.notes, *(row.structure.hints if row.structure else ())))
    version = f" {row.source.version}" if row.source.version else ""
    time = f", {row.source.time}" if row.source.time else ""
    yield "Source", f"{file_name(row.source.path)} ({row.source.harness}{version}{time})"


def _statements(owners: Mapping[str, Sequence[str]], rows: Sequence[Estimate]) -> tuple[Statement, ...]:
    everyone = {row.system for row in rows}
    return tuple(
        Statement("" if set(systems) == everyone else named(systems), text) for text, systems in owners.items()
    )
