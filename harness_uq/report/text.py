"""Tables for a terminal, with what a careful reader should know below them."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from harness_uq.data import TaskLog, Totals
from harness_uq.report.columns import columns, legend
from harness_uq.report.page import Cells, Page
from harness_uq.results import Estimate

if TYPE_CHECKING:
    from harness_uq.analysis import TaskStructure

MAX_TASKS_NAMED = 3

# left out of a table where a line is too short, the greatest number first
_SPARE = {"Harness": 1, "± harness": 1, "Questions": 2, "Method": 3, "Clusters": 4, "ICC": 5, "Deff": 5}


def estimates_table(rows: Sequence[Estimate], *, width: int | None = None) -> str:
    """Estimates as text: a table a run, then warnings and notes, each once.

    Parameters
    ----------
    rows : in the order to print
    width : characters a line; None takes the terminal's, or as many as needed where there is none
    """
    page = Page(width)
    groups: dict[str, list[Estimate]] = {}
    for row in rows:
        groups.setdefault(_title(row), []).append(row)
    for title, members in groups.items():
        page.say(title, "bold")
        page.table(_cells(members))
    page.say_left_out()
    if rows:
        page.say("\n" + legend(rows), "dim")
    _footnotes(page, "Warnings", rows, lambda e: e.warnings, "yellow")
    _footnotes(page, "Notes", rows, lambda e: e.notes, "dim")
    return page.text()


def _cells(rows: Sequence[Estimate]) -> list[Cells]:
    return [
        Cells(column.header, [column.cell(row) for row in rows], column.is_number, _SPARE.get(column.header, 0))
        for column in columns(rows)
    ]


def _title(row: Estimate) -> str:
    source = row.source
    version = f" {source.version}" if source.version else ""
    return f"\n{row.system}  ({source.harness}{version})"


def _footnotes(
    page: Page,
    heading: str,
    rows: Sequence[Estimate],
    texts: Callable[[Estimate], Iterable[str]],
    style: str,
) -> None:
    owners: dict[str, dict[str, None]] = {}
    for row in rows:
        for text in texts(row):
            owners.setdefault(text, {})[row.task] = None
    if not owners:
        return
    page.say(f"\n{heading}", "bold")
    n_tasks = len({row.task for row in rows})
    for text, tasks in owners.items():
        page.say(f"- {_whose(list(tasks), n_tasks)}{text}", style)


def _whose(tasks: Sequence[str], n_all: int) -> str:
    if n_all > 1 and len(tasks) == n_all:
        return "all tasks: "
    return f"{_named(tasks)}: "


def _named(tasks: Sequence[str]) -> str:
    named = ", ".join(tasks[:MAX_TASKS_NAMED])
    more = len(tasks) - MAX_TASKS_NAMED
    return f"{named}{f' and {more} more' if more > 0 else ''}"


def structures_text(found: "Sequence[TaskStructure]") -> str:
    """What was found of each task's structure, a paragraph a task."""
    return "\n\n".join(_structure_paragraph(item) for item in found)


def _structure_paragraph(item: "TaskStructure") -> str:
    log = item.log
    lines = [f"{log.system}  {log.task}  ({log.source.path})"]
    if not item.metrics:
        lines.append(f"  {_without_scores(log)}")
        return "\n".join(lines)
    lines.append(f"  questions    {len(log.questions)}")
    lines.append(f"  clusters     {item.clusters.fact.value}: {item.clusters.fact.evidence}")
    for (metric, filter_name), structure in item.metrics.items():
        facts = {fact.name: fact for fact in structure.facts}
        score, trials = facts["score type"], facts["trials"]
        name = metric if filter_name == "none" else f"{metric} ({filter_name})"
        n_scores = f"{structure.n_cells} score{'s' if structure.n_cells != 1 else ''}"
        lines.append(f"  {name}: {score.value} ({score.evidence}); {trials.value}; {n_scores}")
    hints = dict.fromkeys([*item.clusters.hints, *(h for s in item.metrics.values() for h in s.hints)])
    lines += [f"  hint: {hint}" for hint in hints]
    lines += [f"  warning: {warning}" for warning in item.clusters.warnings]
    return "\n".join(lines)


def _without_scores(log: TaskLog) -> str:
    if log.subtasks:
        return f"a group of {len(log.subtasks)} tasks: {_named(log.subtasks)}"
    reasons = dict.fromkeys(data.reason for data in log.data if isinstance(data, Totals))
    return f"no score a question: {'; '.join(reasons) or 'the log holds none'}"
