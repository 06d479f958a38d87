"""The best split from logged runs: what it rests on, what it prints, what it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness_uq.analyses.budget_allocation import BEST, NOW, splits
from harness_uq.analyses.effects import effects
from harness_uq.commands.main import main
from harness_uq.messages.errors import DataError
from harness_uq.options import Options
from harness_uq.results.plan import BudgetAllocation
from tests.analyses.variance_components.test_effects import runs
from tests.message_checks import has

BOTH = Options(generalize_over=("question", "seed"))


def one(shift: float = 0.8, **options: object) -> BudgetAllocation:
    (found,) = splits(runs(shift), replace(BOTH, **options))
    return found


def test_the_run_at_hand_is_a_row_with_the_width_of_its_components() -> None:
    found = one(budget=2000)
    (now,) = [row for row in found.rows if row.name == NOW]
    parts = {part.name: part.sd**2 for part in effects(runs(0.8), BOTH)[0].components}
    variance = parts["question"] / 200 + parts["seed"] / 5 + parts["residual"] / 1000
    assert (now.questions, now.levels, now.cost) == (200, {"seed": 5}, 1000)
    assert 1.96 * np.sqrt(variance) < now.half_width < 3 * np.sqrt(variance)


def test_seeds_that_differ_are_bought_and_dear_ones_less() -> None:
    cheap, dear = (one(budget=2000, cost_per_level={"seed": price}).rows[0] for price in (0.0, 150.0))
    assert cheap.name == dear.name == BEST
    assert cheap.levels["seed"] > dear.levels["seed"] >= 2
    assert cheap.half_width < dear.half_width


def test_seeds_that_stay_are_not_bought() -> None:
    (found,) = splits(runs(0.8), Options(generalize_over=("question",), budget=2000))
    best = found.rows[0]
    assert (best.levels, best.questions) == ({"seed": 5}, 400)


def test_a_price_of_what_is_not_new_is_refused() -> None:
    with pytest.raises(DataError, match="'judge' has a price and is no new factor; there are seed"):
        one(budget=100, cost_per_level={"judge": 3.0})


def test_a_component_of_zero_is_warned_of() -> None:
    (found,) = splits(runs(0.0, n_seeds=4), replace(BOTH, budget=2000))
    assert has(found, "zero-variance-estimated", factors=("seed",))
    assert not has(one(budget=2000), "zero-variance-estimated")


@pytest.fixture
def tables(tmp_path: Path) -> list[str]:
    """Two seeds' runs of one model as tables."""
    rng = np.random.default_rng(5)
    for seed in (0, 1, 2):
        lines = [f"m (seed={seed}),toy,{i},{int(rng.random() < 0.5 + 0.2 * seed)}" for i in range(60)]
        (tmp_path / f"{seed}.csv").write_text("\n".join(["system,task,question,score", *lines]) + "\n")
    return [str(tmp_path / f"{seed}.csv") for seed in (0, 1, 2)]


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_every_form_names_the_best_run(tables: list[str], form: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--generalize-over", "question,seed", "--cost-per-level", "seed=20", "--budget", "900", "--format", form]
    assert main(["plan", *tables, *options]) == 0
    printed = capsys.readouterr().out
    assert "best" in printed
    if form == "json":
        (plan,) = json.loads(printed)["allocations"]
        assert plan["rows"][0]["cost"] <= 900
        assert plan["new"] == ["question", "seed"]


def test_a_plot_or_a_difference_of_a_split_is_refused(tables: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *tables, "--generalize-over", "question,seed", "--difference", "0.1"]) == 2
    assert "supports neither --difference nor --plot" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--labels", "acc"], ["--reference-runs", "runs", "--scope", "full"]])
def test_new_levels_of_labelled_or_drawn_runs_are_refused(
    tables: list[str], option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", *tables, "--generalize-over", "question,seed", *option]) == 2
    assert "--generalize-over" in capsys.readouterr().err
