"""Ranks by overall scores: joint errors against closed forms, secondary columns by hand, and the command's output."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness_uq import compare, rank
from harness_uq.analyses.joint_tasks import comparable_runs, joint_tasks
from harness_uq.analyses.overall.joint_scores import overall_scores, overall_tasks
from harness_uq.commands.main import main
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.options import Options
from harness_uq.results.overall import Overall
from tests.data.toy import task_log
from tests.message_checks import find, has


def scores(seed: int, n: int = 150, **abilities: float) -> dict[str, np.ndarray]:
    """Answers of systems whose errors on a question are correlated."""
    rng = np.random.default_rng(seed)
    common = rng.random(n)
    return {name: (0.5 * common + 0.5 * rng.random(n) < ability).astype(float) for name, ability in abilities.items()}


def logs_of(tables: dict[str, dict[str, np.ndarray]], **other: object) -> list[TaskLog]:
    return [
        task_log(values, task=task, system=system, **other)
        for task, by_system in tables.items()
        for system, values in by_system.items()
    ]


THREE = {f"t{k}": scores(k, a=0.7, b=0.55, c=0.54) for k in range(4)}


def ranked(logs: list[TaskLog], **options: object) -> Overall:
    result = rank(logs, overall=True, **options).overall
    assert result is not None
    return result


def test_the_errors_of_differences_are_those_of_the_paired_tasks() -> None:
    logs = logs_of(THREE)
    options, plugins = Options(), load_plugins()
    runs = comparable_runs(logs, options, plugins)
    selection = overall_tasks(runs, options, plugins)
    joint = overall_scores(joint_tasks(runs, options, plugins), selection, options)
    differences = [by_system["a"] - by_system["b"] for by_system in THREE.values()]
    expected = np.sqrt(sum(np.var(d, ddof=1) / len(d) for d in differences)) / len(differences)
    assert (joint.draws[0] - joint.draws[1]).std() == pytest.approx(expected, rel=0.06)
    assert joint.draws.mean(axis=1) == pytest.approx([system.value for system in joint.systems])


def test_a_clear_leader_is_first_and_alone_in_its_rank_set() -> None:
    result = ranked(logs_of(THREE))
    first, *others = result.systems
    assert (first.system, first.rank_set, first.letters) == ("a", (1, 1), "a")
    assert {system.rank_set for system in others} == {(2, 3)}
    assert first.prob_best is not None
    assert first.prob_best > 0.99
    assert sum(system.prob_best or 0 for system in result.systems) == pytest.approx(1)
    assert np.array(result.prob_better)[0, 1:].min() > 0.99


def test_average_rank_and_tasks_led_count_ties_for_each() -> None:
    right = {"t0": {"a": 10, "b": 10, "c": 4}, "t1": {"a": 8, "b": 12, "c": 10}}
    tables = {
        task: {name: np.repeat([1.0, 0.0], [n, 20 - n]) for name, n in by_system.items()}
        for task, by_system in right.items()
    }
    by_name = {system.system: system for system in ranked(logs_of(tables)).systems}
    assert {name: system.average_rank for name, system in by_name.items()} == {"a": 2.25, "b": 1.25, "c": 2.5}
    assert {name: system.tasks_led for name, system in by_name.items()} == {"a": 1, "b": 2, "c": 0}


def test_if_lower_is_better_the_lowest_score_is_first() -> None:
    result = ranked(logs_of(THREE, higher_is_better={"acc": False}))
    assert [system.system for system in result.systems][-1] == "a"
    assert result.systems[0].rank_set == (1, 2)
    assert not result.higher_is_better


def test_tasks_that_are_copies_of_one_another_have_the_error_of_one_task() -> None:
    one = scores(3, a=0.7, b=0.55)
    copies = [
        replace(log, questions=replace(log.questions, items=log.questions.ids))
        for log in logs_of(dict.fromkeys(("de", "en", "fr"), one))
    ]
    single = rank(logs_of({"en": one}))[0]
    result = ranked(copies)
    assert result.systems[0].interval.width == pytest.approx(single.systems[0].interval.width, rel=0.05)
    (note,) = find(result, "UQ298")
    assert note.params["factor"] == pytest.approx(np.sqrt(3), rel=0.03)
    assert not find(ranked(logs_of(dict.fromkeys(("de", "en", "fr"), one))), "UQ298")


def test_a_system_without_a_task_restricts_the_tasks_or_is_left_out() -> None:
    logs = [log for log in logs_of(THREE) if (log.system, log.task) != ("c", "t3")]
    common = ranked(logs)
    assert has(common, "UQ290", left_out=("t3 (c)",))
    assert [len(common.tasks), len(common.systems)] == [3, 3]
    dropped = ranked(logs, missing_tasks="drop-system")
    assert [len(dropped.tasks), [system.system for system in dropped.systems]] == [4, ["a", "b"]]


def test_new_tasks_widen_the_intervals_and_use_the_differences_between_tasks() -> None:
    fixed, new = ranked(logs_of(THREE)), ranked(logs_of(THREE), generalize_over="task")
    assert has(new, "UQ108")
    assert new.systems[0].value == fixed.systems[0].value
    assert new.systems[0].rank_set is not None


def test_warnings_of_tasks_are_counted_by_kind() -> None:
    few = {f"t{k}": scores(k, n=60, a=0.7, b=0.5) for k in range(3)}
    logs = [replace(log, facts=replace(log.facts, is_limited=True, n_all=1000)) for log in logs_of(few)]
    codes = {message.params["warning"]: message.params["n_tasks"] for message in find(ranked(logs), "UQ299")}
    per_task = [{message.code for message in ranking.warnings} for ranking in rank(logs)]
    assert codes == {code: sum(code in found for found in per_task) for code in set().union(*per_task)}


@pytest.mark.parametrize("options", [{}, {"weights": "questions"}, {"generalize_over": "task"}])
@pytest.mark.parametrize("higher", [True, False])
def test_ranks_of_two_systems_are_those_of_their_difference(options: dict[str, str], higher: bool) -> None:
    for ability in (0.6, 0.57):
        logs = logs_of({f"t{k}": scores(k, a=ability, b=0.55) for k in range(4)}, higher_is_better={"acc": higher})
        result = ranked(logs, **options)
        by_name = {system.system: system for system in result.systems}
        assert by_name["a"].prob_best == pytest.approx(1 - by_name["b"].prob_best)
        assert np.array(result.prob_better)[0, 1] == result.systems[0].prob_best
        is_apart = len({system.letters for system in result.systems}) == 2
        assert ({system.rank_set for system in result.systems} == {(1, 1), (2, 2)}) == is_apart
        if "generalize_over" in options:
            continue
        (difference,) = compare(logs, baseline="b", overall=True, **options).overall.differences
        assert by_name["a"].prob_best == pytest.approx(difference.prob_better)
        assert is_apart == (difference.verdict in ("better", "worse"))


def test_two_identical_systems_are_equally_likely_the_best() -> None:
    logs = logs_of({task: {"a": by_system["a"], "b": by_system["a"]} for task, by_system in THREE.items()})
    assert [system.prob_best for system in ranked(logs).systems] == pytest.approx([0.5, 0.5], abs=1e-9)


@pytest.fixture
def table(tmp_path: Path) -> str:
    rows = [
        f"q{k},{system},{task},{value:g}"
        for task, by_system in THREE.items()
        for system, values in by_system.items()
        for k, value in enumerate(values)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["question,system,task,score", *rows]) + "\n")
    return str(path)


def test_the_command_prints_one_board_and_those_of_tasks_on_request(table: str, capsys) -> None:
    assert main(["rank", table]) == 0
    out = capsys.readouterr().out
    assert "Overall: mean score of 4 tasks" in out
    assert "t0, score" not in out
    assert main(["rank", table, "--per-task"]) == 0
    out = capsys.readouterr().out
    assert out.index("Overall: mean score of 4 tasks") < out.index("t0, score")


def test_json_has_the_overall_result_and_all_tasks(table: str, capsys) -> None:
    assert main(["rank", table, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["rankings"]) == 4
    first = document["overall"]["systems"][0]
    assert first["rank_set"] == [1, 1]
    assert {"value", "interval", "rank_interval", "prob_best", "prob_best_flat", "letters"} <= first.keys()
    assert main(["rank", table, "--task", "t0", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"] is None


def test_without_an_overall_result_the_command_prints_the_boards_of_tasks(table: str, capsys) -> None:
    assert main(["rank", table, "--normalize", "chance"]) == 0
    out = capsys.readouterr().out
    assert "Leader" in out
    assert "overall-chance-unknown" in out
    assert main(["rank", table, "--normalize", "chance", "--per-task"]) == 0
    assert "t0, score" in capsys.readouterr().out


@pytest.fixture
def directions(tmp_path: Path) -> str:
    """A table in which lower scores of one task are better."""
    rows = [
        f"q{k},{system},{task},{(k + len(system)) % 3 == 0:d},{higher}"
        for task, higher in (("qa", "yes"), ("wiki", "no"))
        for system in ("new", "older")
        for k in range(30)
    ]
    path = tmp_path / "directions.csv"
    path.write_text("\n".join(["question,system,task,score,higher_is_better", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize("command", ["estimate", "rank", "report", "compare"])
def test_a_missing_overall_result_is_a_warning_only_if_an_option_requests_it(
    command: str, directions: str, capsys
) -> None:
    for request, severity in (
        ([], "note"),
        (["--weights", "equal"], "refusal"),
        (["--missing-tasks", "common"], "refusal"),
    ):
        assert main([command, directions, "--format", "json", *request]) == 0
        overall = json.loads(capsys.readouterr().out)["overall"]
        assert [(one["code"], one["severity"]) for one in overall["messages"]] == [("UQ293", severity)]
        assert overall["status"] == "not_estimable"
    main([command, directions, "--format", "markdown"])
    out = capsys.readouterr().out
    assert out.index("UQ293") > out.index("Notes")
