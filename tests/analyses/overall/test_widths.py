"""The board of overall scores and comparisons on terminals of different widths."""

from itertools import pairwise

import pytest

from harness_uq import compare, rank
from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.output.terminal import documents_text
from harness_uq.results.documents import KINDS
from tests.analyses.overall.test_rank import logs_of, scores

NAMES = [f"provider/model-family-{k:02d}-instruct" for k in range(12)]
TABLES = {
    f"benchmark_task_{t}": scores(t, n=40, **{name: 0.7 - 0.02 * k for k, name in enumerate(NAMES)}) for t in range(3)
}


def printed(name: str, results: list[object], width: int) -> str:
    document = KINDS[name].document(results, 4)
    return documents_text([document], RenderOptions(width=width, is_terminal=False))


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_names_and_scores_of_the_board_are_shown_and_names_differ_at_any_width(width: int) -> None:
    board = rank(logs_of(TABLES), overall=True).overall
    assert board is not None
    text = printed("overall", [board], width)
    lines = text.splitlines()
    (head,) = (k for k, line in enumerate(lines) if line.startswith("System"))
    rows = lines[head + 1 : head + 13]
    assert all(f"{system.value:.4f}" in row for system, row in zip(board.systems, rows, strict=True))
    assert len({row.split()[0] for row in rows}) == 12
    assert max(map(len, lines)) <= width
    assert len(lines) <= 60


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_scores_of_both_systems_are_shown_at_any_width(width: int) -> None:
    a, b = ([log for log in logs_of(TABLES) if log.system == name] for name in NAMES[:2])
    rows = compare(a, b)
    text = printed("comparisons", rows, width)
    for row in rows:
        assert f"{row.value_a:.4f}" in text
        assert f"{row.value_b:.4f}" in text
    values = {f"{row.value_a:.4f}" for row in rows if row.task != "overall"}
    pairs = pairwise(text.splitlines())  # of lines, since a row has two on a narrow terminal
    tasks = {word for pair in pairs for word in " ".join(pair).split() if values & {*pair[1].split()}}
    assert len({task for task in tasks if task.startswith("bench")}) == 3
