"""Mutants of names through every reader and every output: no failure, no control characters, valid files.

HARNESS_UQ_FUZZ says how many, at most 2,000; a failure names its seed and the form of the log.
"""

import csv
import io
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from harness_uq import Options, Scores, TaskLog, compare, detect_structure, estimate, gate, plan, rank, read_logs
from harness_uq.analyses.comparison.questions import disagreements
from harness_uq.analyses.effects import effects
from harness_uq.data.names import MAX_NAME
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.messages.control_characters import escape_control
from harness_uq.output.formats import format_named
from harness_uq.results.documents import result_set
from tests.fuzz.names import FORMS, mutant_names
from tests.output.rendering import render
from tests.security.hostile_names import problems_in

N = min(int(os.environ.get("HARNESS_UQ_FUZZ", "50")), 2000)
FIRST = int(os.environ.get("HARNESS_UQ_FUZZ_FIRST", "0"))
QUICK, CHUNK = 2, 100


@pytest.fixture(scope="module")
def plugins():
    return load_plugins()


@pytest.fixture(scope="module")
def counts():
    """What came of the mutants, by form; printed at the end (pytest -s)."""
    found = Counter()
    yield found
    print()
    for what, n in sorted(found.items()):
        print(f"  {n:6} {what}")


def chunks():
    starts = [FIRST, *range(FIRST + QUICK, FIRST + N, CHUNK)]
    ends = [*starts[1:], FIRST + N]
    return [
        pytest.param(a, b, marks=[pytest.mark.slow] if a > FIRST else []) for a, b in zip(starts, ends, strict=True)
    ]


@pytest.mark.filterwarnings("ignore:Glyph", "ignore:constrained_layout")  # odd letters, and names as wide as the figure
@pytest.mark.parametrize(("start", "end"), chunks())
def test_a_mutant_of_names_is_text_in_every_output(start, end, plugins, counts, tmp_path):
    failures = []
    for seed in range(start, end):
        names = mutant_names(seed)
        for form, write in FORMS.items():
            folder = tmp_path / f"{seed} {form}"
            folder.mkdir()
            try:
                write(folder, names)
                problems = list(problems_of(folder, plugins, counts, form, seed))
            except Exception as error:
                problems = [f"{error!r:.300}"]
            counts[f"{form}: {'FAILED' if problems else 'passed'}"] += 1
            failures += [f"seed {seed}, {form}: {problem:.300}" for problem in problems]
    assert not failures, "\n".join(failures[:20])


def problems_of(folder: Path, plugins, counts, form: str, seed: int) -> Iterator[str]:
    """What is wrong with the outputs of the logs in a folder."""
    reading = read_logs(folder, harnesses=plugins.harnesses)
    said = [*reading.failures, *reading.warnings]
    yield from _in_text("messages", "\n".join(escape_control(f"{path}: {message.text}") for path, message in said))
    logs = list(reading.logs)
    if not logs:
        counts[f"{form}: named, not read"] += 1
        return
    too_long = [name for log in logs for name in (log.system, log.task, *log.questions.fields) if len(name) > MAX_NAME]
    yield from (f"name of {len(name)} characters" for name in too_long)
    rows = estimate(logs, Options(), plugins=plugins)
    yield from _in_results(rows, logs)
    if form == list(FORMS)[seed % len(FORMS)]:
        yield from _in_page(render(rows, "html"))
        yield from _in_plot(rows, folder)
        if seed % 4 == 0:
            yield from _in_analyses(logs, plugins)
    yield from _in_store(logs)


def _in_results(rows: Sequence[object], logs: Sequence[TaskLog]) -> Iterator[str]:
    for name, check in CHECKS.items():
        text = render(rows, name)
        yield from _in_text(name, text)
        yield from (f"{name}: {problem}" for problem in check(text))
    options = RenderOptions(logs=logs)
    records = format_named("eee", load_plugins()).render(result_set({"estimates": rows}), options)
    assert isinstance(records, str)
    yield from _in_text("eee", records)
    for line in records.splitlines():
        json.loads(line)


def _in_text(what: str, text: str) -> Iterator[str]:
    text.encode()
    yield from (f"{what}: {problem}" for problem in problems_in(text))


def _in_analyses(logs: Sequence[TaskLog], plugins) -> Iterator[str]:
    """What is wrong with structures, comparisons, disagreements, rankings, plans, gates and effects."""
    analyses = [detect_structure(logs, plugins=plugins)]
    sides: dict[str, list[TaskLog]] = {}
    for log in logs:
        if any(isinstance(data, Scores) for data in log.data):
            sides.setdefault(log.system, []).append(log)
    if len(sides) == 2:
        first, second = sides.values()
        again = [replace(log, source=replace(log.source, path="again")) for log in first]
        analyses += [
            compare(first, second, plugins=plugins),
            disagreements(first, second, 5, plugins=plugins),
            rank([*first, *second], plugins=plugins),
            plan(first, plugins=plugins),
            [gate(first, second, Options(margin=0.1), plugins=plugins)],
            effects([*first, *again], plugins=plugins),
        ]
    for results in analyses:
        for name, check in CHECKS.items():
            text = render(list(results), name)
            yield from _in_text(f"{type(results[0]).__name__} {name}", text)
            yield from (f"{type(results[0]).__name__} {name}: {problem}" for problem in check(text))


def _in_json(text: str) -> Iterator[str]:
    json.loads(text)
    yield from ()


def _in_csv(text: str) -> Iterator[str]:
    """Rows of unequal length, and cells that a spreadsheet would run."""
    rows = list(csv.reader(io.StringIO(text)))
    if len({len(row) for row in rows}) != 1:
        yield f"rows of {sorted({len(row) for row in rows})} cells"
    for cell in (cell for row in rows for cell in row if cell[:1] in {"=", "+", "-", "@"}):
        if not re.fullmatch(r"[-+]?[\d.e+-]+", cell):
            yield f"formula {cell!r}"


def _in_markdown(text: str) -> Iterator[str]:
    """Rows with more or fewer cells than their header, and markup that is not ours."""
    n_bars = 0
    for line in text.splitlines():
        here = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) if line.startswith("| ") else 0
        if n_bars and here and here != n_bars:
            yield f"{here} bars instead of {n_bars}"
        n_bars = here or (n_bars if line.startswith("|") else 0)
    page = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    allowed = {"h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code"}
    if other := set(re.findall(r"<(\w+)", page)) - allowed:
        yield f"markup {sorted(other)}"


def _in_latex(text: str) -> Iterator[str]:
    """Unbalanced braces, and commands that names could have brought."""
    bare = re.sub(r"\\.", "", text.replace(r"\\", "").replace("% needs", ""))
    if bare.count("{") != bare.count("}"):
        yield "unbalanced braces"
    if found := re.search(r"\\(?:input|write|include|openout|def|catcode)", text):
        yield found[0]


class _Tags(HTMLParser):
    """Collects what a page must not contain."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Elements and attributes that load or run something."""
        if tag in {"script", "img", "iframe", "object", "embed", "form", "base"}:
            self.problems.append(f"<{tag}>")
        for name, value in attrs:
            is_foreign = name in ("href", "src") and not (value or "").startswith(("#", "https://doi.org/", "data:,"))
            if name.startswith("on") or is_foreign:
                self.problems.append(f"{tag} {name}={value}")


def _in_page(page: str) -> Iterator[str]:
    parser = _Tags()
    parser.feed(page)
    yield from (f"html: {problem}" for problem in parser.problems)
    yield from (f"html: {problem}" for problem in problems_in(page) if problem.startswith("U+"))


def _in_plot(rows: Sequence[object], folder: Path) -> Iterator[str]:
    from harness_uq.commands.emit import write_figure
    from harness_uq.output.figures.forest import plot_forest

    axes = plot_forest(rows)  # with many scores a list, with a panel for each task
    write_figure(folder / "plot.svg", (axes[0] if isinstance(axes, list) else axes).figure)
    svg = (folder / "plot.svg").read_text("utf-8")
    ElementTree.fromstring(svg)
    yield from _in_text("svg", svg)


def _in_store(logs: Sequence[TaskLog]) -> Iterator[str]:
    """Logs of a store have the names that they were stored with, and bounded ones if the store was made by others."""
    pa = pytest.importorskip("pyarrow")
    from harness_uq.analyses.store.log_rows import COLUMNS, log_from_row, log_to_row

    def stored(log: TaskLog) -> TaskLog:
        return log_from_row(pa.Table.from_pylist([log_to_row(log)], pa.schema(COLUMNS)).to_pylist()[0])

    for log in logs:
        again = stored(log)
        if (again.system, again.task, *again.questions.fields) != (log.system, log.task, *log.questions.fields):
            yield f"store: {again.system!r:.80} instead of {log.system!r:.80}"
        raw = stored(replace(log, system=f"\x1b\n{log.system}", task="\u202e" + "x" * 1000))
        if any(problem.startswith("U+") for problem in problems_in(raw.system + raw.task)) or len(raw.task) > MAX_NAME:
            yield f"store: {raw.system!r:.80}"


CHECKS = {
    "table": lambda text: iter(()),
    "json": _in_json,
    "csv": _in_csv,
    "markdown": _in_markdown,
    "latex": _in_latex,
}
