"""Overall results: which tasks, metrics and weights, and limits against the intervals of the tasks."""

import json
from dataclasses import replace

import numpy as np
import pytest

from harness_uq import DataError, estimate, stats
from harness_uq.analyses.overall.estimate import combine_estimates
from harness_uq.analyses.overall.read_weights import read_weights
from harness_uq.commands.main import main
from harness_uq.data.task_log import AggregateScore, HarnessResult, TaskLog
from harness_uq.options import Options
from harness_uq.results.overall import Overall
from tests.data.toy import TOY, task_log
from tests.message_checks import has

SIZES = {"arc": 40, "boolq": 80, "copa": 120}


def log(task: str, right: int, n: int, *, system: str = "model", metric: str = "acc", **other: object) -> TaskLog:
    return task_log([1] * right + [0] * (n - right), task=task, system=system, metric=metric, **other)


def three_tasks(system: str = "model", **other: object) -> list[TaskLog]:
    return [log(task, n // 2 + 5 * k, n, system=system, **other) for k, (task, n) in enumerate(SIZES.items())]


def overall(logs: list[TaskLog], **options: object) -> Overall:
    result = combine_estimates(estimate(logs), logs, Options(**options))
    assert result is not None
    return result


def ends(result: Overall, place: int = 0) -> tuple[float, float]:
    interval = result.systems[place].interval
    return interval.low, interval.high


def test_equal_weights_give_the_mean_of_the_task_scores_with_the_interval_of_a_group() -> None:
    result = overall(three_tasks())
    right, n = np.array([20, 45, 70]), np.array([40, 80, 120])
    assert result.systems[0].value == pytest.approx((right / n).mean())
    assert ends(result) == pytest.approx(stats.group_posterior(right, n).interval(0.95, "hdi"))
    assert [task.weight for task in result.tasks] == pytest.approx([1 / 3] * 3)


def test_weights_by_questions_give_the_share_of_right_answers_over_all_tasks() -> None:
    result = overall(three_tasks(), weights="questions")
    assert result.systems[0].value == pytest.approx(135 / 240)
    assert [task.weight for task in result.tasks] == pytest.approx([1 / 6, 1 / 3, 1 / 2])


def test_given_weights_select_the_tasks_that_they_name() -> None:
    result = overall(three_tasks(), weights={"arc": 3, "copa": 1})
    assert [task.task for task in result.tasks] == ["arc", "copa"]
    assert result.systems[0].value == pytest.approx(0.75 * 20 / 40 + 0.25 * 70 / 120)


def test_one_task_has_no_overall_result() -> None:
    logs = three_tasks()[:1]
    assert combine_estimates(estimate(logs), logs) is None


def group_of(logs: list[TaskLog], value: float, name: str = "suite") -> TaskLog:
    total = AggregateScore("acc", "none", value, None, "Groups have no samples")
    reported = {("acc", "none"): HarnessResult(value)}
    names = tuple(log.task for log in logs)
    return replace(
        logs[0], task=name, data=(total,), questions=task_log([]).questions, reported=reported, subtasks=names
    )


def test_a_group_counts_as_one_task_and_its_tasks_are_not_counted_again() -> None:
    members = three_tasks()
    logs = [*members, group_of(members, 135 / 240), log("drop", 10, 50)]
    result = overall(logs)
    assert [(task.task, task.n_subtasks) for task in result.tasks] == [("suite", 3), ("drop", None)]
    assert result.systems[0].value == pytest.approx((135 / 240 + 10 / 50) / 2)
    separate = overall(logs, weights="subtasks")
    assert [task.task for task in separate.tasks] == ["arc", "boolq", "copa", "drop"]
    assert separate.systems[0].value == pytest.approx((20 / 40 + 45 / 80 + 70 / 120 + 10 / 50) / 4)


def test_the_only_group_has_the_score_and_the_interval_that_its_own_row_has() -> None:
    members = three_tasks()
    logs = [*members, group_of(members, 135 / 240)]
    result = overall(logs)
    (row,) = (row for row in estimate(logs) if row.task == "suite")
    assert result.weights == "group"
    assert result.systems[0].value == pytest.approx(row.value)
    assert row.interval is not None
    assert ends(result) == pytest.approx((row.interval.low, row.interval.high))
    assert result.systems[0].std_error == pytest.approx(row.std_error)


def test_unknown_weights_of_a_group_are_refused() -> None:
    members = three_tasks()
    result = overall([*members, group_of(members, 0.99), log("drop", 10, 50)])
    assert result.systems == ()
    assert result.status == "not_estimable"
    assert has(result, "UQ297")


def two_metrics(task: str, first: str, second: str) -> TaskLog:
    one = log(task, 10, 40, metric=first)
    return replace(one, data=(*one.data, *log(task, 20, 40, metric=second).data))


def test_metrics_have_a_fixed_order_unless_the_user_chooses() -> None:
    logs = [two_metrics("arc", "acc", "acc_norm"), two_metrics("qa", "f1", "exact_match"), two_metrics("b", "z", "y")]
    for given in (logs, [replace(one, data=one.data[::-1]) for one in logs]):
        metrics = {task.task: task.metric for task in overall(given).tasks}
        assert metrics == {"arc": "acc_norm", "qa": "exact_match", "b": "y"}
    chosen = overall(logs, metric=["arc=acc", "qa=f1"])
    assert [task.metric for task in chosen.tasks] == ["acc", "f1", "y"]
    with pytest.raises(DataError, match="'f2'"):
        overall(logs, metric=["qa=f2"])
    with pytest.raises(DataError, match=r"'ark'.*'arc'"):
        overall(logs, metric=["ark=acc"])


def test_scores_without_a_filter_come_first() -> None:
    parts = [log("arc", k, 40, filter_name=name).data[0] for k, name in enumerate(("strict", "none", "loose"))]
    logs = [replace(log("arc", 1, 40), data=tuple(parts)), replace(log("qa", 1, 40), data=(parts[0], parts[2]))]
    assert [task.filter for task in overall(logs).tasks] == ["none", "loose"]


def test_a_metric_without_an_interval_is_replaced() -> None:
    without = AggregateScore("acc", "none", 0.5, None, "No samples")
    arc = log("arc", 10, 40, metric="f1")
    logs = [replace(arc, data=(without, *arc.data)), log("qa", 10, 40)]
    result = overall(logs)
    assert [task.metric for task in result.tasks] == ["f1", "acc"]
    assert has(result, "UQ287")
    assert result.messages[0].params["replaced"] == ("arc (f1 instead of acc)",)


def suite_of(members: list[TaskLog], metrics: list[str]) -> TaskLog:
    totals = [AggregateScore(metric, "none", None, None, "Groups have no samples") for metric in metrics]
    return replace(group_of(members, 0.5), data=tuple(totals), reported={})


def test_a_group_has_the_metric_of_its_tasks_in_any_order() -> None:
    members = [two_metrics("arc", "acc", "f1"), two_metrics("qa", "acc", "f1")]
    for metrics in (["acc", "f1"], ["f1", "acc"]):
        result = overall([*members, suite_of(members, metrics)])
        assert [task.metric for task in result.tasks] == ["acc", "acc"]
        assert result.weights == "group"
        assert result.systems[0].value == pytest.approx(10 / 40)


def test_tasks_with_different_metrics_use_the_first_common_one() -> None:
    members = [two_metrics("arc", "acc", "acc_norm"), log("qa", 10, 40)]
    result = overall([*members, suite_of(members, ["acc_norm", "acc"])])
    assert [task.metric for task in result.tasks] == ["acc", "acc"]
    assert result.messages[0].params["replaced"] == ("suite (acc instead of acc_norm)",)


def test_a_group_without_a_common_metric_is_divided_unless_the_user_chooses() -> None:
    members = [log("arc", 10, 40), log("boolq", 15, 40), log("qa", 20, 40, metric="exact_match")]
    for metrics in (["acc", "exact_match"], ["exact_match", "acc"]):
        logs = [*members, suite_of(members, metrics)]
        result = overall(logs)
        assert [(task.task, task.metric) for task in result.tasks] == [
            ("arc", "acc"),
            ("boolq", "acc"),
            ("qa", "exact_match"),
        ]
        assert result.systems[0].value == pytest.approx(45 / 120)
        assert [message.code for message in result.messages] == ["UQ288"]
        chosen = overall(logs, metric=["suite=acc"])
        assert [task.task for task in chosen.tasks] == ["arc", "boolq"]
        assert not chosen.warnings


def test_tasks_of_another_direction_or_range_are_left_out_and_named() -> None:
    plain = overall(three_tasks())
    lower = replace(log("wiki", 10, 40, metric="loss"), higher_is_better={"loss": False})
    result = overall([*three_tasks(), lower])
    (message,) = result.messages
    assert (message.code, message.params["left_out"]) == ("UQ289", ("wiki (loss)",))
    assert (result.tasks, result.systems) == (plain.tasks, plain.systems)
    weights = dict.fromkeys((*SIZES, "wiki"), 0.25)
    (message,) = overall([*three_tasks(), lower], weights=weights).messages
    assert (message.code, message.params["metrics"]) == ("UQ293", ("wiki (loss)",))
    (message,) = overall([three_tasks()[0], lower]).messages
    assert (message.code, message.params["metrics"]) == ("UQ293", ("wiki (loss)",))
    percent = replace(task_log([20.0, 50.0, 80.0] * 10, task="mt", metric="bleu"), data=())
    percent = replace(
        percent, data=(replace(task_log([20.0, 50.0, 80.0] * 10).data[0], metric="bleu", bounds=(0, 100)),)
    )
    (message,) = overall([*three_tasks(), percent]).messages
    assert (message.code, message.params["left_out"]) == ("UQ289", ("mt (bleu)",))
    (message,) = overall([three_tasks()[0], percent]).messages
    assert message.code == "UQ294"
    assert message.params["scales"][1] == "0 to 100 (mt)"


def test_scores_normalized_by_chance_are_shifted_and_stretched() -> None:
    plain = overall(three_tasks())
    normalized = overall(three_tasks(), normalize="chance", chance=dict.fromkeys(SIZES, 0.25))
    assert normalized.systems[0].value == pytest.approx((plain.systems[0].value - 0.25) / 0.75)
    assert ends(normalized) == pytest.approx(tuple((end - 0.25) / 0.75 for end in ends(plain)))
    refused = overall(three_tasks(), normalize="chance", chance={"arc": 0.25})
    assert has(refused, "UQ296", tasks=("boolq", "copa"))


def test_missing_tasks_are_left_out_for_all_systems_or_the_system_is_left_out_or_it_is_an_error() -> None:
    logs = [*three_tasks("a"), *three_tasks("b")[:2]]
    common = overall(logs)
    assert [task.task for task in common.tasks] == ["arc", "boolq"]
    assert has(common, "UQ290", left_out=("copa (b)",))
    dropped = overall(logs, missing_tasks="drop-system")
    assert [system.system for system in dropped.systems] == ["a"]
    assert len(dropped.tasks) == 3
    assert has(dropped, "UQ291", left_out=("b (lacks copa)",))
    with pytest.raises(DataError) as caught:
        overall(logs, missing_tasks="error")
    assert caught.value.message.code == "UQ292"
    disjoint = overall([*three_tasks("a")[:2], *three_tasks("b")[2:]])
    assert has(disjoint, "UQ295")


def test_clusters_and_trials_widen_the_interval_by_the_interval_of_their_task() -> None:
    trials = task_log(np.tile([[1.0], [0.0], [1.0], [1.0]], (10, 6)), task="trials")
    noisy = replace(
        trials, data=(replace(trials.data[0], values=np.where(np.arange(6) < 5, trials.data[0].values, 1)),)
    )
    logs = [*three_tasks(), noisy]
    rows = estimate(logs)
    result = overall(logs)
    own = rows[-1].interval
    assert own is not None
    assert rows[-1].method != "beta"
    block = stats.group_posterior([20, 45, 70], [40, 80, 120]).interval(0.95, "hdi")
    expected = stats.weighted_tasks_interval(
        [rows[-1].value, np.mean([20 / 40, 45 / 80, 70 / 120])],
        [own.low, block[0]],
        [own.high, block[1]],
        [1 / 4, 3 / 4],
    )
    assert ends(result) == pytest.approx(expected)


def test_new_tasks_add_the_variation_between_tasks() -> None:
    fixed, new = overall(three_tasks()), overall(three_tasks(), generalize_over="task")
    assert new.systems[0].interval.width > fixed.systems[0].interval.width
    assert has(new, "UQ146")
    assert has(new, "UQ108", n_tasks=3)
    means = [20 / 40, 45 / 80, 70 / 120]
    assert ends(new) == pytest.approx(stats.new_tasks_posterior(means, [1 / 3] * 3, 240).interval(0.95))


def test_the_newest_run_of_a_system_is_used() -> None:
    old = [replace(task, source=replace(TOY, time="2026-01-01")) for task in three_tasks()]
    newer = [replace(log("arc", 40, 40), source=replace(TOY, time="2026-02-01"))]
    assert overall([*newer, *old]).systems[0].value == pytest.approx((1 + 45 / 80 + 70 / 120) / 3)


def test_the_command_leads_with_the_overall_result(tmp_path, capsys) -> None:
    rows = [
        f"q{k},{system},{task},{(k * n + j) % 3 > 0:d}"
        for n, system in enumerate("ab", 1)
        for j, task in enumerate(SIZES)
        for k in range(40)
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["question,system,task,score", *rows]) + "\n")
    (tmp_path / "weights.csv").write_text("task,weight\narc,1\nboolq,3\n")
    file, weights = str(tmp_path / "scores.csv"), str(tmp_path / "weights.csv")
    assert main(["estimate", file]) == 0
    assert "Overall: mean score of 3 tasks" in capsys.readouterr().out.partition("a (csv")[0]
    assert main(["estimate", file, "--weights", weights, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [task["weight"] for task in document["overall"]["tasks"]] == [0.25, 0.75]
    assert {system["system"] for system in document["overall"]["systems"]} == {"a", "b"}
    assert main(["estimate", file, "--task", "arc", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"] is None
    assert main(["estimate", file, "--weights", "equally"]) == 2
    assert main(["estimate", file, "--chance", "arc=1"]) == 2


def test_weights_are_read_from_json_and_csv(tmp_path) -> None:
    (tmp_path / "w.json").write_text('{"arc": 1, "boolq": 0.5}')
    (tmp_path / "w.csv").write_text("task,weight\narc,1\nboolq,0.5\n")
    assert read_weights(str(tmp_path / "w.json")) == read_weights(str(tmp_path / "w.csv")) == {"arc": 1, "boolq": 0.5}
    (tmp_path / "bad.csv").write_text("name,weight\narc,1\n")
    with pytest.raises(DataError, match="columns task and weight"):
        read_weights(str(tmp_path / "bad.csv"))
    with pytest.raises(DataError, match="weights must be"):
        Options(weights={"arc": -1})


def test_many_scores_of_tasks_are_printed_on_request_only(tmp_path, capsys) -> None:
    rows = [
        f"q{k},{system},task-{j:02d},{(k * n + j) % 3 > 0:d}"
        for n, system in enumerate("abcd", 1)
        for j in range(12)
        for k in range(8)
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["question,system,task,score", *rows]) + "\n")
    file = str(tmp_path / "scores.csv")
    assert main(["estimate", file]) == 0
    brief = capsys.readouterr()
    assert "task-00" not in brief.out
    assert "--per-task" in brief.err
    assert main(["estimate", file, "--per-task"]) == 0
    assert capsys.readouterr().out.count("task-00") == 4
    assert main(["estimate", file, "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["estimates"]) == 48


@pytest.mark.parametrize("order", ["score", "name", "task", "width"])
def test_scores_are_sorted_on_request(order: str, tmp_path, capsys) -> None:
    rows = [
        f"q{k},{system},{task},{(k * n + j) % (2 + n) > 0:d}"
        for n, system in enumerate("ba", 1)
        for j, task in enumerate(reversed(SIZES))
        for k in range(30 + 9 * j)
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["question,system,task,score", *rows]) + "\n")
    assert main(["estimate", str(tmp_path / "scores.csv"), "--sort", order, "--format", "json"]) == 0
    estimates = json.loads(capsys.readouterr().out)["estimates"]
    keys = {
        "score": [-row["value"] for row in estimates],
        "name": [row["system"] for row in estimates],
        "task": [row["task"] for row in estimates],
        "width": [row["interval"]["high"] - row["interval"]["low"] for row in estimates],
    }
    assert keys[order] == sorted(keys[order])
    assert len(estimates) == 6


def test_a_mistyped_scheme_of_weights_is_explained() -> None:
    with pytest.raises(DataError, match=r"questions \(by number of questions\).*Did you mean 'questions'\?"):
        read_weights("question")
