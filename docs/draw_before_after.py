"""Draw docs/images/before-after.svg: `python docs/draw_before_after.py FILE`.

The picture shows scores of the example logs, as lm-eval prints them and as harness_uq does.
The text is set in the fonts of the browser, so that the picture is the same on every machine.
"""

import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

import harness_uq
from harness_uq import Estimate

# task, filter, what it is, what the harness gets wrong
TASKS = (
    ("demo_copying", "none", "40 of 40 answers correct", "A sample cannot show that a system never fails."),
    ("demo_passages", "none", "132 questions about 30 passages", "Questions about one passage are not independent."),
    ("demo_word_problems", "trials", "50 questions, 8 answers each", "lm-eval scores only the first answer."),
)
WIDTH, ROW, TOP, LEFT = 560, 104, 14, 18
AXIS = (345, 540)  # where scores of LOWEST and 1 are
LOWEST = 0.4
LEGEND = "Lines are 95 % intervals; for lm-eval, the score ± 1.96 standard errors."
BEFORE, AFTER, GREY = "#8a4b08", "#0b57a4", "#555555"


def main(file: Path) -> None:
    """Draw the picture from the example logs."""
    with tempfile.TemporaryDirectory() as folder:
        logs = harness_uq.demo(folder) / "lm-eval" / "scripted-large"
        rows = {(row.task, row.filter): row for row in harness_uq.estimate(logs)}
    file.write_text(picture(rows), encoding="utf-8")


def picture(rows: dict[tuple[str, str], Estimate]) -> str:
    """The picture as SVG."""
    bottom = TOP + ROW * len(TASKS)
    height = bottom + 32
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="system-ui, sans-serif" font-size="15">',
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff" stroke="#cccccc"/>',
    ]
    for i, (task, filter_, what, why) in enumerate(TASKS):
        parts += _task(TOP + ROW * i, what, why, _before(rows, task, filter_), rows[task, filter_])
    parts.append(_text(LEFT, bottom + 14, LEGEND, GREY, "font-size='12.5'"))
    return "\n".join([*parts, "</svg>", ""])


def _before(rows: dict[tuple[str, str], Estimate], task: str, filter_: str) -> tuple[float, float]:
    """Score and standard error of the harness; of several answers, it scores the first one."""
    result = rows[task, "first" if filter_ == "trials" else filter_].harness
    return result.value, result.std_error


def _task(y: float, what: str, why: str, before: tuple[float, float], after: Estimate) -> Iterator[str]:
    value, error = before
    yield _text(LEFT, y + 20, what, "#111111", "font-weight='600'")
    yield _text(LEFT, y + 84, why, GREY, "font-size='13.5'")
    yield from _line(y + 42, "lm-eval", f"{value:.4f} ± {error:.4f}", BEFORE)
    yield from _interval(y + 37, value, value - 1.96 * error, value + 1.96 * error, BEFORE)
    low, high = after.interval.low, after.interval.high
    yield from _line(y + 63, "harness_uq", f"{after.value:.4f} [{low:.4f}, {high:.4f}]", AFTER)
    yield from _interval(y + 58, after.value, low, high, AFTER)


def _line(y: float, name: str, numbers: str, colour: str) -> Iterator[str]:
    yield _text(LEFT, y, name, colour)
    yield _text(LEFT + 96, y, numbers, colour, "font-family='ui-monospace, Menlo, Consolas, monospace'")


def _interval(y: float, value: float, low: float, high: float, colour: str) -> Iterator[str]:
    """A line from `low` to `high`, with a point at the score."""
    left, middle, right = (
        AXIS[0] + (max(x, LOWEST) - LOWEST) / (1 - LOWEST) * (AXIS[1] - AXIS[0]) for x in (low, value, min(high, 1))
    )
    yield f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>'
    yield f'<circle cx="{middle:.1f}" cy="{y}" r="4.5" fill="{colour}"/>'


def _text(x: float, y: float, text: str, colour: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" {style}>{escape(text)}</text>'


if __name__ == "__main__":
    main(Path(sys.argv[1]))
