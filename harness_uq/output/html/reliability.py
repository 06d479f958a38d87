"""The basis of the numbers of a report: estimand, method, structure, warnings and sources by task."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness_uq.messages import with_severity
from harness_uq.output.columns import SCOPE_MEANINGS
from harness_uq.output.footnotes import text_with_code
from harness_uq.output.html.tables import by_task
from harness_uq.output.phrases import join_names
from harness_uq.output.sanitize import file_name, redact_paths
from harness_uq.results.estimate import Estimate

KINDS = {
    "hdi": "highest-density credible interval",
    "quantile": "equal-tailed credible interval",
    "confidence": "confidence interval",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and the systems that it is about; empty if it is about all of them."""

    who: str
    text: str


@dataclass(frozen=True, slots=True)
class ReliabilityView:
    """The basis of the numbers of one task: facts by name."""

    title: str
    n_warnings: int
    facts: tuple[tuple[str, tuple[Statement, ...]], ...]


def reliability_view(rows: Sequence[Estimate]) -> list[ReliabilityView]:
    """Estimand, method, structure with its evidence, numerical facts, warnings, notes and source, by task.

    Facts that all of several tasks share come first, under `All tasks`.
    """
    views = []
    for title, members in by_task(rows):
        texts: dict[str, dict[str, list[str]]] = {}
        for row in members:
            for name, text in _facts(row):
                texts.setdefault(name, {}).setdefault(text, []).append(row.system)
        facts = tuple((name, _statements(owners, members)) for name, owners in texts.items())
        views.append(ReliabilityView(title, len(texts.get("Warning", {})), facts))
    return _gathered(views) if len(views) > 1 else views


def _gathered(tasks: Sequence[ReliabilityView]) -> list[ReliabilityView]:
    """Facts that all tasks share, then the others of each task that has any."""
    facts = [{(name, one) for name, statements in task.facts for one in statements} for task in tasks]
    shared = set.intersection(*facts)
    if not shared:
        return list(tasks)
    first = tasks[0]
    everywhere = _filtered(first, "All tasks", lambda fact: fact in shared)
    own = (_filtered(task, task.title, lambda fact: fact not in shared) for task in tasks)
    return [everywhere, *(task for task in own if task.facts)]


def _filtered(task: ReliabilityView, title: str, is_wanted: Callable[[tuple[str, Statement]], bool]) -> ReliabilityView:
    wanted = ((name, tuple(one for one in group if is_wanted((name, one)))) for name, group in task.facts)
    facts = tuple((name, group) for name, group in wanted if group)
    return ReliabilityView(title, sum(len(group) for name, group in facts if name == "Warning"), facts)


def _facts(row: Estimate) -> Iterable[tuple[str, str]]:
    yield "Estimand", f"{row.estimand}, {row.scope}: {SCOPE_MEANINGS[row.scope]}"
    yield "Method", row.method if row.interval is None else f"{row.method}, {KINDS[row.interval.kind]}"
    for fact in row.structure.facts if row.structure else ():
        yield fact.name.capitalize(), f"{fact.value} ({fact.evidence})"
    for name, value in row.diagnostics.items():
        yield "Numerics", f"{name.replace('_', ' ')} {value:.3g}"
    warnings = with_severity(row.messages, "refusal", "error", "warning")
    yield from (("Warning", redact_paths(text_with_code(message))) for message in warnings)
    yield from (("Note", redact_paths(text_with_code(message))) for message in row.notes)
    version = f" {row.source.version}" if row.source.version else ""
    time = f", {row.source.time}" if row.source.time else ""
    yield "Source", f"{file_name(row.source.path)} ({row.source.harness}{version}{time})"


def _statements(owners: Mapping[str, Sequence[str]], rows: Sequence[Estimate]) -> tuple[Statement, ...]:
    everyone = {row.system for row in rows}
    return tuple(
        Statement("" if set(systems) == everyone else join_names(systems), text) for text, systems in owners.items()
    )
