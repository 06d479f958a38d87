"""What the commands print on terminals of four widths, for 2 systems on 3 tasks and for 12 systems on 30 tasks.

`python -m tests.output.test_terminal_widths` writes the expected files; read what changed. The commands run on the logs
of `harness-uq demo`, on a table of 12 systems and 30 tasks, and on a table of agents with trials, two scores and costs.
"""

import csv
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from harness_uq.commands.main import main
from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.output import terminal
from harness_uq.output.document import Cells
from harness_uq.output.terminal import TerminalPage
from harness_uq.results.documents import render_lists
from harness_uq.results.overall import Overall, OverallDifference, OverallSystem, OverallTask
from tests.results import factory as make

FOLDER = Path(__file__).parent / "terminal"
WIDTHS = (60, 80, 120, 200)
SYSTEMS = [
    f"organization/model-instruct-{size}-{kind}-2026-07-01"
    for kind in ("base", "chat", "coder")
    for size in ("7b", "13b", "70b", "405b")
]
TASKS = [*(f"mmlu_pro_plus_{word}" for word in ("anatomy", "logic")), "gsm8k", *(f"task_{k}" for k in range(27))]


def overall(n_systems: int, n_tasks: int, baseline: str | None = None) -> Overall:
    systems = tuple(
        OverallSystem(
            system,
            0.8 - 0.03 * k,
            make.interval(0.78 - 0.03 * k, 0.82 - 0.03 * k),
            std_error=0.0102,
            n_questions=5000,
            **({} if baseline else _ranks(k, n_systems)),
        )
        for k, system in enumerate(SYSTEMS[:n_systems])
    )
    tasks = tuple(OverallTask(task, "acc", "none", 1 / n_tasks) for task in TASKS[:n_tasks])
    result = Overall("equal", "none", False, True, tasks, systems)
    return (
        result if baseline is None else replace(result, baseline=baseline, differences=_differences(result, baseline))
    )


def _ranks(k: int, n: int) -> dict[str, object]:
    low, high = max(1, k), min(n, k + 2)
    return {
        "prob_best": 0.9 if k == 0 else 0.1 / (n - 1),
        "expected_rank": k + 1.0,
        "rank_interval": (low, high),
        "rank_set": (low, high),
        "letters": "abcdefghijklm"[k : k + 2],
        "tie_group": "abcdefghijklm"[max(0, k - 2) : k + 1],
        "average_rank": k + 1.5,
        "tasks_led": 30 if k == 0 else 0,
    }


def _differences(result: Overall, baseline: str) -> tuple[OverallDifference, ...]:
    base = next(system.value for system in result.systems if system.system == baseline)
    rows = []
    for system in result.systems:
        gap = system.value - base
        verdict = "undecided" if abs(gap) < 0.04 else "better" if gap > 0 else "worse"
        intervals = make.interval(gap - 0.04, gap + 0.04), make.interval(gap - 0.025, gap + 0.025)
        text = f"{system.system} is {verdict}."
        if system.system != baseline:
            rows.append(OverallDifference(system.system, gap, *intervals, 0.97, verdict, text, verdict))
    return tuple(rows)


def without_ranks(result: Overall) -> Overall:
    names = ("system", "value", "interval", "std_error", "n_questions")
    systems = tuple(OverallSystem(**{name: getattr(one, name) for name in names}) for one in result.systems)
    return replace(result, systems=systems)


def estimates(n_systems: int, n_tasks: int) -> list[object]:
    return [
        make.estimate(system=system, task=task, successes=150 - 2 * k, n=200)
        for k, system in enumerate(SYSTEMS[:n_systems])
        for task in TASKS[:n_tasks]
    ]


def ranking() -> object:
    one = make.ranking(12)
    systems = tuple(replace(row, system=name) for row, name in zip(one.systems, SYSTEMS, strict=True))
    return replace(one, systems=systems)


def comparisons(n_tasks: int) -> list[object]:
    return [make.comparison(task=task) for task in TASKS[:n_tasks]]


OUTPUTS: Mapping[str, Mapping[str, Sequence[object]]] = {
    "estimate_2x3": {"overall": [without_ranks(overall(2, 3))], "estimates": estimates(2, 3)},
    "estimate_12x30": {"overall": [without_ranks(overall(12, 30))]},
    "compare_2x3": {"overall": [overall(2, 3, SYSTEMS[1])], "comparisons": comparisons(3)},
    "compare_12x30": {"overall": [overall(12, 30, SYSTEMS[4])]},
    "rank_2x3": {"overall": [overall(2, 3)]},
    "rank_12x30": {"overall": [overall(12, 30)]},
    "rank_per_task": {"rankings": [ranking()]},
}


COMMANDS = {
    "demo_estimate": "estimate demo/lm-eval/scripted-large",
    "demo_compare": "compare demo/lm-eval",
    "demo_rank": "rank demo/lm-eval",
    "demo_gate": "gate demo/lm-eval/scripted-large --baseline demo/lm-eval/scripted-small --margin 0.05",
    "demo_plan": "plan demo/lm-eval/scripted-large --difference 0.05",
    "demo_report": "report demo/inspect",
    "demo_history": "history nightly=tables/nightly",
    "grid_estimate": "estimate grid",
    "grid_compare": "compare grid/0.csv grid/1.csv",
    "grid_rank": "rank grid",
    "grid_gate": "gate grid/0.csv --baseline grid/1.csv --margin 0.05",
    "grid_plan": "plan grid/0.csv --width 0.1",
    "grid_report": "report grid/0.csv grid/1.csv",
    "grid_history": "history grid",
    "agent_estimate": "estimate agents --resources --column metric=solved,progress",
    "agent_compare": "compare agents --column metric=solved,progress",
    "agent_rank": "rank agents --column metric=solved,progress",
    "agent_gate": "gate agents/large.csv --baseline agents/small.csv --metric solved --margin 0.1",
    "agent_plan": "plan agents/large.csv --metric solved --difference 0.05",
    "agent_report": "report agents --column metric=solved,progress",
    "agent_history": "history agents/large.csv agents/small.csv",
}


@cache
def folder() -> Path:
    """A folder with the logs and tables of `COMMANDS`."""
    place = Path(_PLACE.name)
    with chdir(place), redirect_stdout(StringIO()):
        assert main(["demo", "demo"]) == main(["demo", "--tables", "tables"]) == 0
    rng = np.random.default_rng(5)
    for k, system in enumerate(SYSTEMS):
        rows = ((task, i, int(rng.random() < 0.8 - 0.03 * k)) for task in TASKS for i in range(40))
        _write(place / f"grid/{k}.csv", system, ("task", "question", "acc"), rows)
    columns = ("task", "question", "trial", "solved", "progress", "cost")
    for system, share in (("large", 0.7), ("small", 0.4)):
        rows = (("tool_use", i, t, *_outcome(rng, share)) for i in range(30) for t in range(4))
        _write(place / f"agents/{system}.csv", system, columns, rows)
    return place


_PLACE = tempfile.TemporaryDirectory()


def _outcome(rng: np.random.Generator, share: float) -> tuple[int, str, str]:
    progress = min(1.0, rng.random() * 2 * share)
    return int(progress > 0.6), f"{progress:.2f}", f"{0.1 + rng.random() * share:.3f}"


def _write(path: Path, system: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("model", *columns), *((system, *row) for row in rows)])


@cache
def outcome(name: str) -> tuple[ResultSet, RenderOptions]:
    """The results of a command, and the options with which it prints them."""
    with chdir(folder()), redirect_stdout(StringIO()), patch.object(terminal, "render") as render:
        main(COMMANDS[name].split())
    results, options = render.call_args.args
    return results, options


@cache
def printed(name: str, width: int) -> str:
    if name in COMMANDS:
        results, options = outcome(name)
        return terminal.render(results, replace(options, width=width)) + "\n"
    return str(render_lists(OUTPUTS[name], "table", RenderOptions(width=width))) + "\n"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*OUTPUTS, *COMMANDS])
def test_terminals_of_each_width_show_what_is_stored(name: str, width: int) -> None:
    stored = FOLDER / f"{name}_{width}.txt"
    assert printed(name, width) == stored.read_text("utf-8"), "run: python -m tests.output.test_terminal_widths"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*OUTPUTS, *COMMANDS])
def test_no_line_is_longer_than_the_terminal(name: str, width: int) -> None:
    assert max(map(len, printed(name, width).splitlines())) <= width


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *(("demo_estimate", 6), ("grid_estimate", 6), ("demo_compare", 10), ("agent_compare", 10)),
        *(("demo_plan", 11), ("grid_plan", 11), ("agent_plan", 15)),
    ],
)
def test_there_are_few_lines_beside_the_table_on_80_columns(name: str, most: int) -> None:
    beside = [line for line in printed(name, 80).splitlines() if "  " not in line]
    assert len(beside) <= most


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.endswith("estimate")])
def test_the_first_score_is_in_the_first_four_lines(name: str) -> None:
    assert re.search(r"\d\.\d{3}", "".join(printed(name, 80).splitlines(keepends=True)[:4]))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["demo_rank", "grid_rank", "agent_rank"])
def test_a_ranking_has_at_most_40_lines(name: str, width: int) -> None:
    assert len(printed(name, width).splitlines()) <= 40


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("name", "headers"),
    [
        ("demo_estimate", ("Value", "95% interval", "SE", "Harness", "(N|Questions)")),
        ("demo_compare", ("A", "B", "A − B", "95% interval", "Verdict")),
        ("demo_gate", ("Task", "Change", "90/95% interval", "Margin", "Decision")),
    ],
)
def test_main_columns_and_all_names_are_shown_at_each_width(name: str, headers: Sequence[str], width: int) -> None:
    text = printed(name, width)
    assert all(re.search(rf"(^|[ ]){header}( |,|\n)", text, re.MULTILINE) for header in headers)
    tasks = ("passages", "word_problems", "exam_sums", "exam_series", "exam_units", "copying", "divides", "perplexity")
    assert all(task in text for task in (*tasks, "(first)", "(maj@8)", "(trials)", "bits_per_byte"))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["estimate_12x30", "compare_12x30", "rank_12x30"])
def test_twelve_systems_on_thirty_tasks_have_at_most_60_lines_with_all_names_and_scores(name: str, width: int) -> None:
    text = printed(name, width)
    assert len(text.splitlines()) <= 60
    table = text.partition("\nSystem")[2].splitlines()[1:13]
    assert [float(re.search(r"0\.\d{3,4}", line)[0]) for line in table] == [round(0.8 - 0.03 * k, 4) for k in range(12)]
    assert len({line.split()[0] for line in table}) == 12
    words = [system.removeprefix("organization/model-instruct-").removesuffix("-2026-07-01") for system in SYSTEMS]
    assert all(word in line for word, line in zip(words, table, strict=True))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["compare_2x3"])
def test_comparisons_always_show_the_scores_of_both_systems(name: str, width: int) -> None:
    row = next(line for line in printed(name, width).splitlines() if line.startswith("gsm8k "))
    one = OUTPUTS[name]["comparisons"][0]
    assert f"{one.value_a:.3f}" in row
    assert f"{one.value_b:.3f}" in row


@pytest.mark.parametrize("width", range(20, 60))
def test_headers_take_at_most_two_lines_and_formulas_are_not_broken(width: int) -> None:
    page = TerminalPage(width=width)
    page.add_table([Cells("Harness SE", ["0.05"]), Cells("Pass rate if equal", ["0.9"]), Cells("P(A > B)", ["0.9"])])
    above, _, below = page.text.strip("\n").partition("0.05")
    assert below
    assert len(above.splitlines()) <= 3
    assert ("P(A > B)" in above) != ("P(A > B)" in page.hidden)


def test_names_with_a_common_part_remain_different_in_narrow_columns() -> None:
    page = TerminalPage(width=30)
    page.add_table([Cells("System", SYSTEMS, is_number=False), Cells("Score", ["0.5000"] * 12)])
    names = [line.split()[0] for line in page.text.splitlines()[1:]]
    assert len(set(names)) == 12


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for one in (*OUTPUTS, *COMMANDS):
        for columns in WIDTHS:
            (FOLDER / f"{one}_{columns}.txt").write_text(printed(one, columns), "utf-8")
