"""Plans of graders from logs, and the table of the answers to grade."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from harness_uq import DataError, Options, estimate, plan_graders
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.stats.labels.grader_design import grader_variance, pairs_in_clusters
from tests.commands.test_main import output
from tests.data.toy import task_log
from tests.message_checks import has
from tests.output.rendering import render

N, PILOT = 120, 30
GRADERS = ("strict", "fair", "lenient")
RNG = np.random.default_rng(12)
IDS = [f"q{i}" for i in range(N)]


def panel(system: str, ids: list[str] = IDS, n_scored: int = PILOT) -> TaskLog:
    ability = RNG.normal(size=(N, 1))
    leniency = np.array([-0.5, 0.1, 0.6])
    scores = (ability + leniency + RNG.normal(size=(N, 3)) > 0).astype(float)
    scores[n_scored:] = np.nan
    log = task_log(scores[:, 0], system=system, ids=ids)
    columns = (Scores(name, "none", scores[:, [j]]) for j, name in enumerate(GRADERS))
    return replace(log, data=tuple(columns))


LOGS = [panel("a"), panel("b")]


def test_all_graders_score_equally_many_answers_of_each_system():
    for budget in (60, 100, 170):
        for plan in plan_graders(LOGS, Options(budget=budget)):
            best = plan.designs[0]
            assert len(plan.template) == best.n_answers * best.n_per_answer <= budget
            counts = [sum(row[3] == grader for row in plan.template) for grader in GRADERS]
            assert max(counts) - min(counts) <= 1
            assert {row[2] for row in plan.template} == {plan.system}


def test_questions_have_the_same_graders_in_all_systems():
    reverse = panel("c", ids=IDS[::-1])
    plans = plan_graders([*LOGS, reverse], Options(budget=70))
    assigned = [{(row[0], row[3]) for row in plan.template} for plan in plans]
    assert assigned[0] == assigned[1] == assigned[2]
    (other,) = plan_graders(LOGS[0], Options(budget=70, seed=1))
    assert {(row[0], row[3]) for row in other.template} != assigned[0]


def test_designs_have_the_errors_of_the_pilot():
    (plan,) = plan_graders(LOGS[0], Options(budget=90))
    pilot = np.column_stack([data.values[:PILOT, 0] for data in LOGS[0].data])
    variance = grader_variance(pilot)
    by_name = {one.design: one for one in plan.designs}
    assert (by_name["all graders"].n_answers, by_name["one grader"].n_answers) == (30, 90)
    assert by_name["all graders"].std_error == pytest.approx(variance.rotated_error(30, 3))
    assert by_name["one grader"].std_error == pytest.approx(variance.single_error(90))
    rotation = by_name["rotation"]
    assert rotation.std_error == pytest.approx(min(variance.rotated_error(90, 1), variance.rotated_error(45, 2)))
    assert plan.designs[0] == rotation
    assert (plan.n_pilot, plan.status) == (PILOT, "ok")
    assert plan.sd_graders == pytest.approx(np.sqrt(variance.graders))


def test_with_enough_grades_all_graders_score_all_answers():
    (plan,) = plan_graders(LOGS[0], Options(budget=3 * N))
    assert (plan.designs[0].design, plan.designs[0].n_answers) == ("all graders", N)
    (plan,) = plan_graders(LOGS[0], Options(budget=2))
    assert [one.design for one in plan.designs] == ["rotation", "one grader"]


def test_known_grades_are_in_the_table():
    (plan,) = plan_graders(LOGS[0], Options(budget=N))
    scores = {
        (q, name): data.values[i, 0]
        for data, name in zip(LOGS[0].data, GRADERS, strict=True)
        for i, q in enumerate(IDS)
    }
    for question, _, _, grader, score in plan.template:
        known = scores[question, grader]
        assert score == ("" if np.isnan(known) else f"{known:g}")


def clustered(codes: np.ndarray, n_scored: int = PILOT) -> TaskLog:
    """A panel whose scores are similar within clusters."""
    rng = np.random.default_rng(3)
    ability = rng.normal(size=(codes.max() + 1, 1))[codes] + 0.5 * rng.normal(size=(N, 1))
    scores = (ability + [-0.5, 0.1, 0.6] + 0.5 * rng.normal(size=(N, 3)) > 0).astype(float)
    scores[n_scored:] = np.nan
    log = task_log(scores[:, 0], system="a", ids=IDS)
    columns = (Scores(name, "none", scores[:, [j]], clusters=codes) for j, name in enumerate(GRADERS))
    return replace(log, data=tuple(columns))


def test_the_errors_account_for_clusters():
    codes = np.arange(N) // 4 % 15
    log = clustered(codes, n_scored=60)
    (plan,) = plan_graders(log, Options(budget=N))
    (alone,) = plan_graders(
        replace(log, data=tuple(replace(data, clusters=None) for data in log.data)), Options(budget=N)
    )
    pilot = np.column_stack([data.values[:60, 0] for data in log.data])
    variance = grader_variance(pilot, codes[:60])
    share = pairs_in_clusters(codes)
    assert plan.n_clusters == 15
    assert plan.sd_clusters == pytest.approx(np.sqrt(variance.clusters))
    expected = {"rotation": variance.rotated_error(N, 1, share), "one grader": variance.single_error(N, share)}
    for design in plan.designs:
        if design.design in expected:
            assert design.std_error == pytest.approx(expected[design.design])
    assert plan.designs[0].std_error > 1.5 * alone.designs[0].std_error
    assert (alone.n_clusters, alone.sd_clusters) == (None, None)
    assert not plan.messages
    document = render([plan], "table")
    assert "The standard errors account for clusters of questions (15 in the pilot)." in document


def test_a_pilot_with_few_or_single_answers_of_clusters_is_reported():
    (plan,) = plan_graders(clustered(np.arange(N) % 60), Options(budget=N))
    assert has(plan, "pilot-clusters-unknown")
    assert plan.sd_clusters == 0
    (plan,) = plan_graders(clustered(np.arange(N) // 20), Options(budget=N))
    assert has(plan, "pilot-few-clusters")
    (plan,) = plan_graders(clustered(np.arange(N) // 40, n_scored=30), Options(budget=N))
    assert has(plan, "plan-unavailable")


def test_what_cannot_be_planned_is_named():
    with pytest.raises(DataError, match="several graders"):
        plan_graders(task_log([1, 0, 1]), Options(budget=10))
    with pytest.raises(DataError, match="Invalid budget"):
        plan_graders(LOGS, budget=0)
    (plan,) = plan_graders(panel("a", n_scored=9), Options(budget=10))
    assert has(plan, "plan-unavailable")
    assert (plan.status, plan.designs, plan.template) == ("not_estimable", (), ())


@pytest.fixture
def grades(tmp_path):
    path = tmp_path / "grades.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["system", "question", "grader", "score"])
        for log in LOGS:
            for data in log.data:
                for question, score in zip(IDS, data.values[:, 0], strict=True):
                    table.writerow([log.system, question, data.metric, "" if np.isnan(score) else int(score)])
    return path


def test_the_command_writes_a_table_that_estimate_reads(grades, capsys):
    assigned = grades.parent / "assigned.csv"
    command = ["plan", str(grades), "--column", "metric=grader", "--target", "graders", "--budget", "100"]
    code, text, _ = output(capsys, *command, "--ids", str(assigned))
    assert code == 0
    assert "Let the 3 graders take turns" in text
    with assigned.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]] == ["question", "task", "system", "grader", "score"]
    assert sum(row["system"] == "a" for row in rows) <= 100
    with assigned.open("w", newline="") as file:
        table = csv.DictWriter(file, [*rows[0]])
        table.writeheader()
        table.writerows(row | {"score": row["score"] or "1"} for row in rows)
    estimates = estimate(str(assigned))
    assert [row.system for row in estimates] == ["a", "b"]
    for row in estimates:
        scores = [float(one["score"] or 1) for one in rows if one["system"] == row.system]
        assert row.value == pytest.approx(np.mean(scores))
    code, text, _ = output(capsys, *command, "--format", "json")
    expected = [plan.to_dict()["designs"] for plan in plan_graders(LOGS, Options(budget=100))]
    assert [plan["designs"] for plan in json.loads(text)["grader_plans"]] == expected


@pytest.mark.parametrize("arguments", [["--budget", "50", "--width", "0.1"], ["--budget", "50", "--labels", "x"]])
def test_the_command_names_the_options_that_it_supports(arguments, grades, capsys):
    code, _, err = output(capsys, "plan", str(grades), "--target", "graders", *arguments)
    assert code == 2
    assert "--target graders supports only --budget, --seed and --ids" in err
