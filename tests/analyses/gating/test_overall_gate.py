"""Gates that decide by the overall result of several tasks."""

from pathlib import Path

import numpy as np
import pytest

from harness_uq import DataError, compare
from harness_uq.analyses.gating.gate import gate
from harness_uq.commands.main import main
from tests.analyses.overall.test_rank import logs_of

N_TASKS, N = 5, 300


def scores(*drops: float) -> dict[str, dict[str, np.ndarray]]:
    """By task, the scores of `old` and of `new`, whose success rate on each task is lower by its drop."""
    rng = np.random.default_rng(1)
    tasks = {}
    for task, drop in enumerate(drops):
        chance = rng.uniform(0.3, 0.9, N)
        sides = {"old": chance, "new": np.clip(chance - drop, 0, 1)}
        tasks[f"t{task}"] = {name: (rng.random(N) < p).astype(float) for name, p in sides.items()}
    return tasks


def sides(tasks: dict[str, dict[str, np.ndarray]]):
    logs = logs_of(tasks)
    return [log for log in logs if log.system == "new"], [log for log in logs if log.system == "old"]


@pytest.mark.slow
def test_one_bad_task_fails_the_gate_of_all_scores_but_not_that_of_the_overall_result() -> None:
    new, old = sides(scores(0.3, 0, 0, 0, 0))
    assert gate(new, old, margin=0.1).decision == "fail"
    decided = gate(new, old, margin=0.1, overall=True)
    assert [(row.comparison.task, row.decision) for row in decided.rows] == [("overall", decided.decision)]
    assert decided.decision != "fail"


@pytest.mark.parametrize(
    ("drop", "margin", "decision"), [(0.2, 0.05, "fail"), (0.0, 0.15, "pass"), (0.05, 0.05, "undecided")]
)
def test_the_decision_is_that_of_the_overall_interval(drop: float, margin: float, decision: str) -> None:
    new, old = sides(scores(*[drop] * N_TASKS))
    decided = gate(new, old, margin=margin, overall=True)
    overall = compare(new, old, margin=margin, overall=True).overall
    assert overall is not None
    (one,) = overall.differences
    by_interval = (
        "fail" if one.single_interval.high < -margin else "pass" if one.single_interval.low > -margin else "undecided"
    )
    assert (decided.decision, by_interval) == (decision, decision)
    (row,) = decided.rows
    assert row.comparison.difference is not None
    assert row.comparison.difference.value == one.value
    assert row.comparison.difference.interval == one.single_interval
    # with 1,500 questions the posterior is nearly normal
    assert row.comparison.difference.std_error == pytest.approx(one.single_interval.width / 2 / 1.959964, rel=1e-3)


def test_weights_of_the_overall_result_apply() -> None:
    new, old = sides(scores(0.3, 0, 0, 0, 0))
    weighted = gate(new, old, margin=0.05, overall=True, weights={"t0": 1.0, "t1": 0.05})
    assert weighted.decision == "fail"


def test_a_missing_task_leaves_the_gate_undecided() -> None:
    new, old = sides(scores(*[0.0] * N_TASKS))
    assert gate(new[1:], old, margin=0.15, overall=True).decision == "undecided"


def test_one_task_has_no_overall_result() -> None:
    new, old = sides(scores(0.0))
    with pytest.raises(DataError, match="two tasks"):
        gate(new, old, margin=0.1, overall=True)


@pytest.mark.slow
def test_the_option_overall_decides_the_exit_code(tmp_path: Path) -> None:
    for system in ("new", "old"):
        lines = [
            f"{system},{task},{k},{value:g}"
            for task, by_system in scores(0.3, 0, 0, 0, 0).items()
            for k, value in enumerate(by_system[system])
        ]
        (tmp_path / f"{system}.csv").write_text("\n".join(["system,task,question,score", *lines]) + "\n")
    command = ["gate", str(tmp_path / "new.csv"), "--baseline", str(tmp_path / "old.csv"), "--margin", "0.12"]
    assert main(command) == 1
    assert main([*command, "--overall"]) in (0, 3)


def test_a_gate_reproduces_the_weights_of_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The group `demo_exam` of the example logs is weighted by size."""
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    large, small = (f"demo-output/lm-eval/scripted-{size}" for size in ("large", "small"))
    assert main(["gate", large, "--baseline", small, "--overall", "--metric", "acc", "--margin", "0.02"]) == 0
