"""What the commands print on terminals of four widths, for 2 systems on 3 tasks and for 12 systems on 30 tasks.

`python -m tests.output.test_terminal_widths` writes the expected files; read what changed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness_uq.io.plugins.protocols import RenderOptions
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


def printed(name: str, width: int) -> str:
    text = str(render_lists(OUTPUTS[name], "table", RenderOptions(width=width)))
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OUTPUTS)
def test_terminals_of_each_width_show_what_is_stored(name: str, width: int) -> None:
    stored = FOLDER / f"{name}_{width}.txt"
    assert printed(name, width) == stored.read_text("utf-8"), "run: python -m tests.output.test_terminal_widths"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OUTPUTS)
def test_no_line_is_longer_than_the_terminal(name: str, width: int) -> None:
    assert max(map(len, printed(name, width).splitlines())) <= width


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
    for one in OUTPUTS:
        for columns in WIDTHS:
            (FOLDER / f"{one}_{columns}.txt").write_text(printed(one, columns), "utf-8")
