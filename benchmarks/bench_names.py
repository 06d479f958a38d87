"""Time of reading and printing logs with long names: the ratio of the times at 2 n and n characters.

    python -m benchmarks.bench_names [--characters 50000] [--repeats 3]

Every function that escapes text is timed on texts that repeat one or two hostile parts, and every reader with all
outputs on logs whose names are such texts. Linear time has a ratio of 2; the script ends with 1 if a ratio exceeds 3.
Times below 20 ms are too short to say anything and have no ratio.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from harness_uq import Options, detect_structure, estimate, read_logs
from harness_uq.data.names import bounded_name
from harness_uq.messages.control_characters import escape_control, visible
from harness_uq.messages.redaction import redact
from harness_uq.output import sanitize
from harness_uq.output.document import Cells
from harness_uq.output.latex import breakable, escape_latex
from harness_uq.output.short_names import shorten
from harness_uq.output.terminal import TerminalPage
from harness_uq.output.words import commands_as
from tests.fuzz.names import FORMS, UNITS, Names
from tests.output.rendering import render

LIMIT, SHORTEST = 3.0, 0.02
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "escape_control": escape_control,
    "visible": visible,
    "bounded_name": bounded_name,
    "markdown": sanitize.markdown,
    "markdown_paragraph": sanitize.markdown_paragraph,
    "redact_paths": sanitize.redact_paths,
    "file_name": sanitize.file_name,
    "csv_field": sanitize.csv_field,
    "json_text": sanitize.json_text,
    "html_text": sanitize.html_text,
    "escape_latex": escape_latex,
    "breakable": breakable,
    "redact": redact,
    "shorten": shorten,
    "commands_as": lambda text: commands_as(text, "", ""),
    "table": lambda text: _page(text).text,
}


def main() -> int:
    """Print the largest ratio of each function and reader; 1 if one exceeds the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--characters", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{'what':20} {'largest ratio':>13} {'longest s':>10}  text")
    lines = [*_of_functions(options.characters, options.repeats), *_of_readers(options.characters, options.repeats)]
    return int(any(ratio > LIMIT for ratio in lines))


def _of_functions(n: int, repeats: int) -> Iterator[float]:
    rng = random.Random(1)
    parts = [*UNITS, *("".join(rng.choices(UNITS, k=2)) for _ in range(20))]
    for name, function in FUNCTIONS.items():
        yield _report(name, [(part, *_times(partial(partial, function), part, n, repeats)) for part in parts])


def _of_readers(n: int, repeats: int) -> Iterator[float]:
    parts = ("a", " ", "A: A: ", "=/", "_", "\n", "\x1b", "\u202e", "`", "[](", "\U0001f600")
    for form in FORMS:
        yield _report(form, [(part, *_times(partial(_job, form), part, n, repeats)) for part in parts])


def _job(form: str, text: str) -> Callable[[], object]:
    """Reading and printing logs of this form, all of whose names contain the text."""
    folder = Path(tempfile.mkdtemp())
    FORMS[form](folder, Names(*(f"{role}{text}{role}" for role in "tabmfsq")))
    return partial(_read_and_print, folder)


def _read_and_print(folder: Path) -> None:
    logs = read_logs(folder).logs
    rows = estimate(list(logs), Options())
    for name in ("table", "markdown", "csv", "json", "latex", "html"):
        render(rows, name)
    render(detect_structure(list(logs)), "table")


def _page(text: str) -> TerminalPage:
    page = TerminalPage(80, is_terminal=True)
    page.add_table([Cells("Task", [text, f"{text}b"], is_number=False), Cells("Value", ["0.5", "0.6"])])
    page.add(text)
    return page


def _times(job: Callable[[str], Callable[[], object]], part: str, n: int, repeats: int) -> tuple[float, float]:
    """The shortest times at n and at 2 n characters."""
    jobs = [job(part * (k * n // len(part))) for k in (1, 2)]
    return tuple(min(_seconds(one) for _ in range(repeats)) for one in jobs)  # type: ignore[return-value]


def _seconds(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def _report(what: str, measured: list[tuple[str, float, float]]) -> float:
    ratio, part = max((b / a if b > SHORTEST else 0.0, part) for part, a, b in measured)
    print(f"{what:20} {ratio:13.2f} {max(b for _, _, b in measured):10.3f}  {part!r}", flush=True)
    return ratio


if __name__ == "__main__":
    sys.exit(main())
