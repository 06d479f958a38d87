"""The verdict or decision of every printed row is that of the interval printed beside it, for 1 to 60 random tasks.

`better` and `worse` mean that the interval excludes 0, `equivalent` that it lies within the margin, and `pass` and
`fail` of a gate that it lies above and below the negative margin. The same applies to
groups of questions, and to `higher` and `lower` of graders.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from harness_uq.commands.main import main

KINDS = ("tact", "talk", "tale")
CASES = [(1, 0.0), (1, 0.1), (2, 0.05), (3, 0.0), (5, 0.3), (9, 0.02), (20, 0.1), (60, 0.05)]


@pytest.fixture(scope="module", params=enumerate(CASES), ids=str)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A table of the scores of two systems, and a margin."""
    number, (n_tasks, margin) = request.param
    rng = np.random.default_rng([20261130, number])
    lines = ["model,task,question,kind,score"]
    for task in range(n_tasks):
        n, shift = int(rng.choice([3, 8, 25, 40])), rng.normal(0, 0.25)
        chance = rng.uniform(0.1, 0.9, n)
        for name, share in (("a", np.clip(chance + shift, 0, 1)), ("b", chance)):
            scores = (rng.random(n) < share).astype(float)
            if task % 4 == 3:  # grades in [0, 1]
                scores = np.clip(share + rng.normal(0, 0.1, n), 0, 1).round(2)
            lines += [f"{name},t{task},q{k},{KINDS[k % 3]},{score:g}" for k, score in enumerate(scores)]
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


def test_verdicts_of_groups_are_those_of_the_intervals(
    case: tuple[Path, float], capsys: pytest.CaptureFixture[str]
) -> None:
    path, margin = case
    tables = document(capsys, "compare", path, "--margin", margin, "--by", "kind")["difference_breakdowns"]
    rows = [row for table in tables for row in table["groups"]]
    assert {row["group"] for row in rows} == set(KINDS)
    assert all(row["verdict"] == "undecided" for row in rows if row["interval"] is None)
    rows = [row for row in rows if row["interval"] is not None]
    for row in rows:
        assert row["verdict"] == expected_verdict(row["interval"]["low"], row["interval"]["high"], margin)
        is_held = row["adjusted_p"] is not None and row["adjusted_p"] <= 0.05
        assert row["verdict_corrected"] == (row["verdict"] if is_held else "undecided")
    for digits in (2, 4):
        lines = list(printed(capsys, digits, "compare", path, "--margin", margin, "--by", "kind"))
        assert len(lines) >= len(rows)
        assert all(word == expected_verdict(low, high, margin) for low, high, word in lines), lines


def sides_of(path: Path) -> list[Path]:
    """The table of each system."""
    scores, sides = path.read_text("utf-8").splitlines(), []
    for name in "ab":
        side = path.with_name(f"{name}.csv")
        side.write_text("\n".join([scores[0], *(line for line in scores if line.startswith(f"{name},"))]), "utf-8")
        sides.append(side)
    return sides


@pytest.mark.parametrize("by", [(), ("--by", "kind")], ids=["tasks", "groups"])
def test_decisions_are_those_of_the_intervals(
    case: tuple[Path, float], by: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    path, margin = case
    sides = sides_of(path)
    arguments = ("gate", sides[0], "--baseline", sides[1], "--margin", margin, "--at-least", 0.5, *by)
    (gate,) = document(capsys, *arguments)["gates"]
    unknown = [row for row in gate["rows"] if row["difference"] is None]
    unknown += [row for row in gate["requirements"] if row["interval"] is None]
    assert all(row["decision"] == "undecided" for row in unknown)
    for row in [row for row in gate["rows"] if row not in unknown]:
        interval = row["difference"]["interval"]
        assert (row["decision"] == "pass") == (interval["low"] > -margin), row["task"]
        assert (row["unadjusted_p"] <= gate["alpha"]) == (interval["high"] < -margin), row["task"]
        assert (row["decision"] == "fail") == (interval["high"] < -margin), row["task"]
        assert row["decision_corrected"] in (row["decision"], "undecided")
        assert row["verdict"] == expected_verdict(interval["low"], interval["high"], margin), row["task"]
    for row in [row for row in gate["requirements"] if row not in unknown]:
        assert (row["decision"] == "pass") == (row["interval"]["low"] > row["bound"]), row["task"]
        assert (row["decision"] == "fail") == (row["interval"]["high"] < row["bound"]), row["task"]
        assert row["decision_corrected"] in (row["decision"], "undecided")
    lines = list(printed(capsys, 3, *arguments))
    assert lines
    for low, high, word in lines[: sum(row["task"] != "overall" and row not in unknown for row in gate["rows"])]:
        assert (word == "pass") == (low > -margin), (low, high, word)
        assert (word == "fail") == (high < -margin), (low, high, word)


def test_what_compare_calls_equivalent_or_better_passes_a_gate(
    case: tuple[Path, float], capsys: pytest.CaptureFixture[str]
) -> None:
    """Limits of the comparison have half the error probability of those of the gate, so that they lie outside them."""
    path, margin = case
    sides = sides_of(path)
    if margin:
        rows = {row["task"]: row for row in document(capsys, "compare", path, "--margin", margin)["comparisons"]}
        (gate,) = document(capsys, "gate", sides[0], "--baseline", sides[1], "--margin", margin)["gates"]
        for row in gate["rows"]:
            if row["task"] == "overall":  # of the questions of all tasks, which only gates pool
                continue
            assert rows[row["task"]]["verdict"] not in ("equivalent", "better") or row["decision"] == "pass"


@pytest.mark.parametrize("n_tasks", [1, 4, 30])
def test_verdicts_on_graders_are_those_of_the_intervals(
    n_tasks: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng([20261128, n_tasks])
    lines, path = ["task,question,grader,score"], tmp_path / "grades.csv"
    for task in range(n_tasks):
        change = rng.choice([0.0, 0.1, 0.25, 0.6])
        for k in range(40):
            first = rng.random() < 0.4
            second = first | (rng.random() < change)
            lines += [f"t{task},q{k},{name},{int(score)}" for name, score in (("g", first), ("h", second))]
    path.write_text("\n".join(lines), "utf-8")
    main(["grader", str(path), "--column", "metric=grader", "--format", "json"])
    rows = json.loads(capsys.readouterr().out)["grader_differences"]
    assert len(rows) == n_tasks
    for row in rows:
        low, high = row["interval"]["low"], row["interval"]["high"]
        assert row["verdict"] == ("higher" if low > 0 else "lower" if high < 0 else "undecided")
        assert row["verdict_corrected"] == (row["verdict"] if row["adjusted_p"] <= 0.05 else "undecided")
    assert n_tasks < 30 or any(row["verdict"] != row["verdict_corrected"] for row in rows)
