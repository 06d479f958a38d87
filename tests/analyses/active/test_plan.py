"""Plans of active evaluations: the width for a number of questions, and the number for a width."""

import json

import numpy as np
import pytest

from harness_uq import ActiveSampler, DataError, Options, plan_active
from harness_uq.commands.main import main
from harness_uq.data.structure import StructureOptions
from harness_uq.stats.active.expected_width import WidthSimulation
from tests.commands.test_main import output
from tests.data.toy import task_log
from tests.stats.test_active import leaderboard

SCORES = leaderboard(24, 120, 1, 40)
RUNS = [task_log(row, system=f"system-{i}") for i, row in enumerate(SCORES[:12])]


def test_the_width_for_a_number_of_questions_is_that_of_new_systems():
    (plan,) = plan_active(RUNS, Options(questions=40))
    (row,) = plan.rows
    assert (row.n_questions, plan.n_all, plan.n_systems, plan.n_simulated) == (40, 120, 12, 12)
    widths = []
    for scores in SCORES[12:]:
        sampler = ActiveSampler(SCORES[:12], n_questions=40)
        while not sampler.done:
            questions = sampler.ask()
            sampler.tell(questions, scores[questions])
        widths.append(sampler.estimate().interval.width)
    assert row.expected_width == pytest.approx(np.mean(widths), rel=0.15)


@pytest.mark.slow
def test_the_number_for_a_width_has_this_width():
    (plan,) = plan_active(RUNS, Options(width=0.2))
    (row,) = (row for row in plan.rows if row.n_questions == plan.recommended)
    assert row.expected_width == pytest.approx(0.2, abs=max(0.003, row.std_error))
    assert plan.recommended < plan.n_uniform < 120
    assert [row.n_questions for row in plan.rows] == sorted(row.n_questions for row in plan.rows)
    assert WidthSimulation(SCORES[:12]).width(plan.recommended).width == row.expected_width


def test_scores_in_per_cent_have_widths_in_per_cent():
    runs = [task_log(100 * row, system=f"system-{i}") for i, row in enumerate(SCORES[:12])]
    structure = StructureOptions(ranges={"acc": (0.0, 100.0)})
    (plan,) = plan_active(runs, Options(questions=40, structure=structure))
    (other,) = plan_active(RUNS, Options(questions=40))
    assert plan.rows[0].expected_width == pytest.approx(100 * other.rows[0].expected_width)


def test_a_width_and_a_number_contradict_each_other():
    with pytest.raises(DataError):
        plan_active(RUNS, width=0.1, questions=10)


def test_without_complete_runs_the_plan_gives_the_reason():
    (plan,) = plan_active(RUNS[:1])
    assert (plan.status, plan.rows) == ("not_estimable", ())


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "earlier.csv"
    rows = [f"system-{s},toy,q{q},{score:g}" for s, row in enumerate(SCORES[:12]) for q, score in enumerate(row)]
    path.write_text("\n".join(["system,task,id,score", *rows]), encoding="utf-8")
    return str(path)


def test_the_command_prints_the_plan(capsys, table):
    code, out, _ = output(capsys, "plan", "--reference-runs", table, "--questions", "40", "--format", "json")
    (plan,) = json.loads(out)["active_plans"]
    assert code == 0
    assert plan["rows"] == [plan_active(RUNS, Options(questions=40))[0].rows[0].to_dict()]


def test_without_a_target_the_plan_has_several_shares_of_the_questions(capsys, table):
    code, out, _ = output(capsys, "plan", "--reference-runs", table, "--format", "json")
    (plan,) = json.loads(out)["active_plans"]
    assert code == 0
    assert [row["n_questions"] for row in plan["rows"]] == [10, 12, 24]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--difference", "0.1"],
        ["--trials", "2"],
        ["--target", "labels"],
        ["--width", "0.1", "--questions", "20"],
        ["--questions", "120"],
    ],
)
def test_unsupported_options_are_refused(capsys, table, arguments):
    assert main(["plan", "--reference-runs", table, *arguments]) != 0
