"""Verdicts of one comparison after Holm's correction for its tasks."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from harness_uq import compare, compare_scores
from harness_uq.commands.main import main
from harness_uq.data.task_log import log_of_array
from harness_uq.inference.decisions import families, with_corrected_verdicts, worse_rows
from harness_uq.results.comparison import comparison_answer, reasons
from tests.results import factory as make


class NormalPosterior:
    """Posterior of a difference as a normal distribution whose tail beyond 0 is half the p-value."""

    def __init__(self, p: float, scale: float = 0.02) -> None:
        self.distribution = scipy_stats.norm(scipy_stats.norm.isf(p / 2) * scale, scale)

    def cdf(self, x: float) -> float:
        return self.distribution.cdf(x)


def row(p: float, task: str, **others: object):
    verdict = others.pop("verdict", "better" if p < 0.05 else "undecided")
    posterior = NormalPosterior(p)
    return replace(make.comparison(task=task), posterior=posterior, verdict=verdict, margin=0.0, p_value=None, **others)


def test_p_values_are_those_of_holm() -> None:
    """R: p.adjust(c(0.01, 0.02, 0.04, 0.3), "holm") gives 0.04, 0.06, 0.08, 0.30."""
    rows = [row(p, f"t{k}") for k, p in enumerate((0.01, 0.02, 0.04, 0.3))]
    adjusted = with_corrected_verdicts(rows, 0.95)
    assert [one.verdict_p_adjusted for one in adjusted] == pytest.approx([0.04, 0.06, 0.08, 0.3])
    assert all(one.verdict_p_value <= one.verdict_p_adjusted for one in adjusted)
    assert [one.verdict_corrected for one in adjusted] == ["better", "undecided", "undecided", "undecided"]
    assert [one.verdict for one in adjusted] == ["better", "better", "better", "undecided"]


def test_with_several_tasks_p_values_are_at_least_those_of_the_exact_test() -> None:
    rows = [replace(row(0.01, f"t{k}"), p_value=0.03) for k in range(2)]
    assert [one.verdict_p_adjusted for one in with_corrected_verdicts(rows, 0.95)] == pytest.approx([0.06, 0.06])
    assert with_corrected_verdicts(rows[:1], 0.95)[0].verdict_p_adjusted == pytest.approx(0.01)


def test_the_rows_over_all_tasks_are_corrected_for_their_own_number() -> None:
    rows = [row(0.04, "overall"), *(row(0.04, f"t{k}") for k in range(3))]
    assert [one.verdict_corrected for one in with_corrected_verdicts(rows, 0.95)] == ["better", *["undecided"] * 3]


def test_equivalence_is_tested_by_the_larger_tail_beyond_the_margin() -> None:
    (one,) = with_corrected_verdicts([replace(row(0.9, "t", verdict="equivalent"), margin=0.1)], 0.95)
    tail = 1 - one.posterior.cdf(0.1)
    assert one.verdict_p_adjusted == pytest.approx(2 * tail)
    assert one.verdict_corrected == "equivalent"


def test_a_comparison_that_is_not_estimable_is_undecided_and_not_counted() -> None:
    missing = replace(row(0.5, "t1"), difference=None, posterior=None)
    first, second = with_corrected_verdicts([row(0.04, "t0"), missing], 0.95)
    assert (first.verdict_corrected, first.verdict_p_adjusted) == ("better", pytest.approx(0.04))
    assert (second.verdict_corrected, second.verdict_p_adjusted) == ("undecided", None)


@pytest.mark.parametrize("scores", [([1, 1, 1, 1, 1, 1, 1, 1, 0, 1], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), ([1, 0], [0, 1])])
@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_a_single_task_keeps_its_verdict(scores, margin: float) -> None:
    one = compare_scores(*(np.tile(side, 6) for side in scores), margin=margin)
    assert one.verdict_corrected == one.verdict
    assert one.verdict_p_adjusted is not None


def scripted(n_tasks: int, rng: np.random.Generator) -> tuple[list, list]:
    """Two systems with equal success rates on questions of two sorts of difficulty, clearly not a Dirichlet prior."""
    sides: tuple[list, list] = ([], [])
    for task in range(n_tasks):
        chance = rng.choice([0.3, 0.95], size=80)
        for side, system in zip(sides, ("a", "b"), strict=True):
            values = (rng.random(80) < chance).astype(float)
            side.append(replace(log_of_array(values, system, clusters=None, metric="acc"), task=f"t{task}"))
    return sides


@pytest.mark.slow
def test_the_probability_of_any_wrong_verdict_is_at_most_5_per_cent() -> None:
    rng = np.random.default_rng(11)
    any_wrong = {"adjusted": 0, "alone": 0}
    n = 24
    for _ in range(n):
        rows = [one for one in compare(*scripted(8, rng)) if one.task != "overall"]
        any_wrong["adjusted"] += any(one.verdict_corrected != "undecided" for one in rows)
        any_wrong["alone"] += any(one.verdict != "undecided" for one in rows)
    assert scipy_stats.binomtest(any_wrong["adjusted"], n, 0.05, alternative="greater").pvalue > 1e-3
    # 1 - 0.95^8 = 0.34 without correction
    assert any_wrong["adjusted"] < any_wrong["alone"]


def test_headlines_tell_which_verdicts_of_intervals_hold_after_correction() -> None:
    rows = with_corrected_verdicts([row(0.04, f"t{k}") for k in range(4)], 0.95)
    assert "4 are better. After correction for 4 scores, t0, t1, t2 and 1 more are undecided." in comparison_answer(
        rows
    )
    assert reasons(rows) == []


def test_a_group_and_its_tasks_are_corrected_by_themselves() -> None:
    tasks = [row(p, f"t{k}") for k, p in enumerate((0.01, 0.02))]
    groups = [row(0.04, "g", subtasks=("t0", "t1")), row(0.04, "all", subtasks=("g", "t2"))]
    rows = with_corrected_verdicts([*tasks, *groups], 0.95)
    assert families([*tasks, *groups]) == [0, 0, 1, 2]
    assert [one.verdict_p_adjusted for one in rows] == pytest.approx([0.02, 0.02, 0.04, 0.04])


def test_a_row_fails_only_if_its_corrected_verdict_is_worse() -> None:
    clear = replace(row(0.001, "a", verdict="worse"), prob_noninferior=0.0005)
    open_rows = [replace(row(0.04, name, verdict="worse"), prob_noninferior=0.02) for name in "bc"]
    rows = with_corrected_verdicts([clear, *open_rows], 0.95)
    assert [one.task for one in worse_rows(rows)] == [one.task for one in rows if one.verdict_corrected == "worse"]
    within = replace(rows[0], margin=0.1, prob_noninferior=0.5)
    assert worse_rows([within]) == []


def test_there_is_one_overall_difference(tmp_path, capsys) -> None:
    rng = np.random.default_rng(3)
    lines = ["system,task,question,score"]
    lines += [
        f"{s},{t},{k},{int(rng.random() < p)}" for s, p in (("a", 0.8), ("b", 0.5)) for t in "xyzw" for k in range(40)
    ]
    table = tmp_path / "scores.csv"
    table.write_text("\n".join(lines) + "\n")
    assert main(["compare", str(table)]) == 0
    text = capsys.readouterr().out
    assert text.count("mean score of 4 tasks") == 1
    assert "all questions" not in text.lower()
    assert main(["compare", str(table), "--format", "json"]) == 0
    assert '"task": "overall"' not in capsys.readouterr().out
