"""The verdict or decision of every printed row is that of the interval printed beside it, for 1 to 60 random tasks.

`better` and `worse` mean that the interval excludes 0, `equivalent` that it lies within the margin, and `pass` of a
gate that it lies above the negative margin. A gate fails only if the interval lies below that.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from harness_uq.commands.main import main

CASES = [(1, 0.0), (1, 0.1), (2, 0.05), (3, 0.0), (5, 0.3), (9, 0.02), (20, 0.1), (60, 0.05)]


@pytest.fixture(scope="module", params=enumerate(CASES), ids=str)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A table of the scores of two systems, and a margin."""
    number, (n_tasks, margin) = request.param
    rng = np.random.default_rng([20261130, number])
    lines = ["model,task,question,score"]
    for task in range(n_tasks):
        n, shift = int(rng.choice([3, 8, 25, 40])), rng.normal(0, 0.25)
        chance = rng.uniform(0.1, 0.9, n)
        for name, share in (("a", np.clip(chance + shift, 0, 1)), ("b", chance)):
            scores = (rng.random(n) < share).astype(float)
            if task % 4 == 3:  # grades in [0, 1]
                scores = np.clip(share + rng.normal(0, 0.1, n), 0, 1).round(2)
            lines += [f"{name},t{task},q{k},{score:g}" for k, score in enumerate(scores)]
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    path.write_text("\n".join(lines), "utf-8")
    return path, margin


def document(capsys: pytest.CaptureFixture[str], *arguments: object) -> Mapping[str, list]:
    main([*map(str, arguments), "--range", "score=0,1", "--format", "json"])
    return json.loads(capsys.readouterr().out)


def printed(capsys: pytest.CaptureFixture[str], digits: int, *arguments: object) -> Iterator[tuple[float, float, str]]:
    """Limits and last word of the rows of tasks of the printed table."""
    main([*map(str, arguments), "--range", "score=0,1", "--format", "markdown", "--digits", str(digits)])
    for line in capsys.readouterr().out.splitlines():
        if line.startswith("| t") and (found := re.search(r"\[(-?[\d.]+), (-?[\d.]+)\]", line)):
            yield float(found[1]), float(found[2]), line.rstrip(" |").rpartition("|")[2].strip(" ()")


def expected_verdict(low: float, high: float, margin: float) -> str:
    if -margin < low and high < margin:
        return "equivalent"
    return "better" if low > 0 else "worse" if high < 0 else "undecided"


def test_verdicts_are_those_of_the_intervals(case: tuple[Path, float], capsys: pytest.CaptureFixture[str]) -> None:
    path, margin = case
    rows = document(capsys, "compare", path, "--margin", margin)["comparisons"]
    assert rows
    for row in rows:
        interval = row["difference"]["interval"]
        assert row["verdict"] == expected_verdict(interval["low"], interval["high"], margin), row["task"]
        assert row["verdict_corrected"] in (row["verdict"], "undecided")
        assert (row["n_additional_questions"] is None) or row["verdict"] == "undecided"
        assert (row["posterior_interval"] is not None) == (margin > 0 and row["method"] == "dirichlet")
    for digits in (2, 4):
        lines = list(printed(capsys, digits, "compare", path, "--margin", margin))
        assert len(lines) == sum(row["task"].startswith("t") for row in rows)
        assert all(word == expected_verdict(low, high, margin) for low, high, word in lines), lines


def test_decisions_are_those_of_the_intervals(case: tuple[Path, float], capsys: pytest.CaptureFixture[str]) -> None:
    path, margin = case
    arguments = ("gate", f"new={path}", "--baseline", f"old={path}", "--margin", margin)
    scores = path.read_text("utf-8").splitlines()
    sides = []
    for name in "ab":
        side = path.with_name(f"{name}.csv")
        side.write_text("\n".join([scores[0], *(line for line in scores if line.startswith(f"{name},"))]), "utf-8")
        sides.append(side)
    arguments = ("gate", sides[0], "--baseline", sides[1], "--margin", margin, "--at-least", 0.5)
    (gate,) = document(capsys, *arguments)["gates"]
    for row in gate["rows"]:
        interval = row["difference"]["interval"]
        assert (row["decision"] == "pass") == (interval["low"] > -margin), row["task"]
        assert (row["unadjusted_p"] <= gate["alpha"]) == (interval["high"] < -margin), row["task"]
        assert row["decision"] != "fail" or interval["high"] < -margin, row["task"]
        assert row["verdict"] == expected_verdict(interval["low"], interval["high"], margin), row["task"]
    for row in gate["requirements"]:
        assert (row["decision"] == "pass") == (row["interval"]["low"] > row["bound"]), row["task"]
        assert row["decision"] != "fail" or row["interval"]["high"] < row["bound"], row["task"]
    lines = list(printed(capsys, 3, *arguments))
    assert lines
    for low, high, word in lines[: len(gate["rows"]) - (gate["rows"][-1]["task"] == "overall")]:
        assert (word == "pass") == (low > -margin), (low, high, word)
        assert word != "fail" or high < -margin, (low, high, word)


def test_what_compare_calls_equivalent_or_better_passes_a_gate(
    case: tuple[Path, float], capsys: pytest.CaptureFixture[str]
) -> None:
    """Limits of the comparison have half the error probability of those of the gate, so that they lie outside them."""
    path, margin = case
    sides = [path.with_name(f"{name}.csv") for name in "ab"]
    if margin and all(side.exists() for side in sides):
        rows = {row["task"]: row for row in document(capsys, "compare", path, "--margin", margin)["comparisons"]}
        (gate,) = document(capsys, "gate", sides[0], "--baseline", sides[1], "--margin", margin)["gates"]
        for row in gate["rows"]:
            assert rows[row["task"]]["verdict"] not in ("equivalent", "better") or row["decision"] == "pass"
