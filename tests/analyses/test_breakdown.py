"""Scores and differences by groups of questions."""

import json
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest

from harness_uq import Questions, TaskLog, compare, compare_scores, estimate, estimate_scores
from harness_uq.commands.main import main
from harness_uq.data.task_log import MetadataField, Scores, Source
from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.messages.catalogue.breakdown import (
    FIELD_MISSING_IN_TASKS,
    GROUPS_NOT_POOLED,
    GROUPS_OF_ONE_SYSTEM,
    GROUPS_WITH_ANY_SCORE,
    UNKNOWN_GROUP_FIELD,
)
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.messages.errors import StructureError, UsageError
from harness_uq.results.breakdown import difference_breakdown_answer
from harness_uq.results.documents import render_results
from harness_uq.stats.pairs.multiple_testing import adjust_p_values
from tests.data.toy import task_log
from tests.message_checks import has

SUBJECTS = ("law", "art", "war", "tax")


def log(right: dict[str, tuple[int, int]], system: str = "m", task: str = "t", **more: object) -> TaskLog:
    """`right` has the numbers of right answers and of questions by subject."""
    scores = [float(i < k) for k, n in right.values() for i in range(n)]
    codes = np.repeat(np.arange(len(right)), [n for _, n in right.values()])
    field = MetadataField(codes, values=tuple(right))
    questions = Questions(tuple(map(str, range(len(scores)))), fields={"subject": field})
    data = (Scores("acc", "none", np.array(scores)[:, None]),)
    return TaskLog(system=system, task=task, source=Source(system, "table"), questions=questions, data=data, **more)


def test_a_group_has_the_estimate_of_its_own_questions() -> None:
    (row,) = estimate(log({"law": (30, 60), "art": (50, 60), "war": (20, 60)}), by="subject")
    alone = estimate_scores([1.0] * 50 + [0.0] * 10)
    art = row.groups[1]
    assert (art.group, art.n_questions, art.value) == ("art", 60, 50 / 60)
    assert (art.interval.low, art.interval.high) == pytest.approx((alone.interval.low, alone.interval.high), abs=1e-12)
    assert row.heterogeneity_p < 1e-4


def passages(system: str, share: float, **more: object) -> TaskLog:
    """40 passages of five questions that are all right or all wrong; each of four subjects has ten of the passages."""
    passage = np.repeat(np.arange(40), 5)
    fields = {
        "passage": MetadataField(passage, values=tuple(f"p{k}" for k in range(40))),
        "subject": MetadataField(passage // 10, values=SUBJECTS),
    }
    questions = Questions(tuple(map(str, range(200))), fields=fields)
    data = (Scores("acc", "none", (passage % 10 < 10 * share).astype(float)[:, None]),)
    return TaskLog(system=system, task="t", source=Source(system, "table"), questions=questions, data=data, **more)


def test_groups_have_the_clusters_of_the_task() -> None:
    """A group has ten passages, fewer than the 20 from which a field is used as clusters automatically."""
    a, b = passages("a", 0.3), passages("b", 0.8)
    (row,) = estimate(a, by="subject")
    one = np.repeat(np.arange(10) < 3, 5).astype(float)
    alone = estimate_scores(one, clusters=np.repeat(np.arange(10), 5))
    assert [(group.n_questions, group.n_clusters) for group in row.groups] == [(50, 10)] * 4
    assert row.groups[0].interval.low == pytest.approx(alone.interval.low, abs=1e-12)
    (compared,) = compare(a, b, by="subject")
    together = compare_scores(one, np.repeat(np.arange(10) < 8, 5).astype(float), clusters=np.repeat(np.arange(10), 5))
    assert compared.groups[0].interval.low == pytest.approx(together.difference.interval.low, abs=1e-12)


def test_pooled_values_are_between_the_group_and_the_others() -> None:
    (row,) = estimate(log({"law": (30, 60), "art": (36, 60), "war": (9, 10), "tax": (33, 60)}), by="subject")
    law, _, war, _ = row.groups
    assert law.value < law.pooled_value < 0.6
    assert 0.58 < war.pooled_value < war.value
    assert row.spread > 0


def test_pooled_intervals_stay_in_the_range_of_the_score_and_of_the_difference() -> None:
    """A few small groups, in which A is always right and B is always wrong, are nearly as far apart as possible."""
    few = {"law": (5, 5), "art": (4, 4), "war": (5, 6), "tax": (5, 5)}
    a, b = log(few, "a"), log({"law": (0, 5), "art": (0, 4), "war": (1, 6), "tax": (1, 5)}, "b")
    (scores,), (differences,) = estimate(a, by="subject"), compare(a, b, by="subject")
    assert max(one.pooled_interval.high for one in scores.groups) == 1.0
    assert max(one.pooled_interval.high for one in differences.groups) == 1.0
    (reverse,) = compare(b, a, by="subject")
    assert min(one.pooled_interval.low for one in reverse.groups) == -1.0
    assert all(-1 <= one.pooled_value <= 1 for one in (*differences.groups, *reverse.groups))


def test_pooled_differences_are_limited_by_the_range_of_the_metric() -> None:
    few = {"law": (5, 5), "art": (4, 4), "war": (5, 6), "tax": (5, 5)}
    a, b = log(few, "a"), log({"law": (0, 5), "art": (0, 4), "war": (1, 6), "tax": (1, 5)}, "b")
    (wide,) = compare(a, b, by="subject", range={"acc": (0.0, 10.0)})
    assert 1.0 < max(one.pooled_interval.high for one in wide.groups) < 10.0


def test_only_mean_scores_are_tested_for_differences() -> None:
    """The test compares mean scores, so it says nothing about pass@2."""
    whole = log({"law": (30, 60), "art": (50, 60)})
    values = np.concatenate([whole.data[0].values, whole.data[0].values[::-1]], axis=1)
    trials = replace(whole, data=(Scores("acc", "none", values),))
    (mean,), (of_pass,) = (estimate(trials, by="subject", estimand=estimand) for estimand in ("mean", "pass@2"))
    assert mean.heterogeneity_p is not None
    assert of_pass.heterogeneity_p is None
    assert of_pass.groups[0].value > mean.groups[0].value


def test_tables_of_several_runs_name_the_run() -> None:
    runs = [log({"law": (30, 60), "art": (50, 60)}), log({"law": (31, 60), "art": (52, 60)})]
    rows = estimate(
        [replace(one, source=replace(one.source, time=f"2026-11-0{k}T03:00:00")) for k, one in enumerate(runs, 1)],
        by="subject",
    )
    assert [row.source.time[:10] for row in rows] == ["2026-11-01", "2026-11-02"]
    table = render_results(rows, "table", RenderOptions(width=200))
    assert "m: t, acc by subject (run 2026-11-01 03:00)" in table
    assert "(run" not in render_results(rows[:1], "table", RenderOptions(width=200))


def test_two_groups_are_not_pooled() -> None:
    (row,) = estimate(log({"law": (30, 60), "art": (50, 60)}), by="subject")
    assert [one.pooled_value for one in row.groups] == [None, None]
    assert has(row, GROUPS_NOT_POOLED.code)
    assert row.heterogeneity_p < 1e-3


def test_several_fields_give_a_breakdown_each_and_tasks_without_the_field_a_note() -> None:
    plain = log({"law": (5, 10)}, task="other")
    plain = TaskLog("m", "other", plain.source, Questions(plain.questions.ids), plain.data)
    with_field = log(dict.fromkeys(SUBJECTS, (10, 20)))
    (row,) = estimate([with_field, plain], by="subject")
    assert has(row, FIELD_MISSING_IN_TASKS.code)
    assert len(estimate(with_field, by=["subject", "subject"])) == 2
    with pytest.raises(StructureError):
        estimate(plain, by="subject")


def test_a_group_has_the_comparison_of_its_own_questions() -> None:
    a = log({"law": (40, 50), "art": (30, 50), "war": (25, 50)}, "a")
    b = log({"law": (20, 50), "art": (32, 50), "war": (25, 50)}, "b")
    (row,) = compare(a, b, by="subject")
    art, _, law = row.groups
    alone = compare_scores([1] * 40 + [0] * 10, [1] * 20 + [0] * 30)
    assert (law.value_a, law.value_b, law.n_questions) == (0.8, 0.4, 50)
    assert law.interval.low == pytest.approx(alone.difference.interval.low, abs=1e-12)
    assert (law.verdict, art.verdict) == ("better", "undecided")
    assert 0 < law.pooled_value < law.value
    assert law.adjusted_p == pytest.approx(min(3 * law.p_value, 1), rel=1e-9)
    assert row.heterogeneity_p < 1e-3


def test_groups_of_one_system_are_named() -> None:
    a, b = log({"law": (30, 60), "art": (50, 60)}, "a"), log({"law": (30, 60), "war": (50, 60)}, "b")
    (row,) = compare(a, b, by="subject")
    (warning,) = (message for message in row.messages if message.code == GROUPS_OF_ONE_SYSTEM.code)
    assert [one.group for one in row.groups] == ["law"]
    assert warning.params["groups"] == ("art", "war")


def test_a_field_that_one_system_lacks_is_an_error() -> None:
    a, b = log({"law": (30, 60), "art": (50, 60)}, "a"), log({"law": (30, 60), "art": (50, 60)}, "b")
    with pytest.raises(StructureError) as caught:
        compare(a, replace(b, questions=replace(b.questions, fields={})), by="subject")
    assert caught.value.message.code == UNKNOWN_GROUP_FIELD.code


def test_where_lower_is_better_a_lower_score_is_better() -> None:
    lower = {"higher_is_better": {"acc": False}}
    a = log({"law": (10, 50), "art": (25, 50), "war": (25, 50)}, "a", **lower)
    b = log({"law": (45, 50), "art": (25, 50), "war": (25, 50)}, "b", **lower)
    (row,) = compare(a, b, by="subject")
    assert [one.group for one in row.groups] == ["art", "war", "law"]
    assert (row.groups[-1].verdict, row.higher_is_better) == ("better", False)


def test_differences_begin_with_the_groups_on_which_the_first_system_loses_most() -> None:
    right = {"law": (20, 40), "art": (5, 40), "war": (30, 40), "tax": (12, 40)}
    a, b = log(right, "a"), log(dict.fromkeys(right, (20, 40)), "b")
    (row,) = compare(a, b, by="subject")
    assert [one.group for one in row.groups] == ["art", "tax", "law", "war"]
    table = render_results([row], "table", RenderOptions(width=200))
    positions = [table.index(f"\n{one.group} ") for one in row.groups]
    assert positions == sorted(positions)


@pytest.fixture
def tables(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(3)
    paths = []
    for name, effects in (("a", (0.9, 0.5, 0.7)), ("b", (0.5, 0.5, 0.7))):
        rows = [
            {"id": f"{s}{i}", "subject": s, "length": int(10 * i), "score": int(rng.random() < p)}
            for s, p in zip(SUBJECTS, effects, strict=False)
            for i in range(80)
        ]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(str(path))
    return paths


def test_commands_print_groups(tables: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", tables[0], "--by", "subject", "--by", "length", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["field"] for row in document["breakdowns"]] == ["subject", "length"]
    assert [one["group"] for one in document["breakdowns"][0]["groups"]] == ["law", "art", "war"]
    assert document["breakdowns"][1]["groups"][0]["group"] == "0 to 190"
    assert main(["compare", *tables, "--by", "subject", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["difference_breakdowns"]
    assert [one["verdict"] for one in row["groups"]] == ["undecided", "undecided", "better"]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_groups_and_scores_are_never_hidden(tables: list[str], width: int) -> None:
    options = RenderOptions(width=width)
    scores = render_results(estimate(tables[0], by="subject"), "table", options)
    differences = render_results(compare(*tables, by="subject"), "table", options)
    for out in (scores, differences):
        assert max(map(len, out.splitlines())) <= width
        assert {"law", "art", "war"} <= {line.split(" ")[0] for line in out.splitlines()}
        assert "interval" in out
    assert "Score" in scores
    assert "A − B" in differences
    assert "better" in differences


def test_an_unknown_field_is_a_wrong_argument(tables: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", tables[0], "--by", "subjct"]) == 2
    assert "subject" in capsys.readouterr().err


def test_rank_and_report_contain_groups(tables: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"a={tables[0]}", f"b={tables[1]}"]
    assert main(["rank", *names, "--by", "subject", "--format", "json"]) == 0
    tasks = [row["task"] for row in json.loads(capsys.readouterr().out)["rankings"]]
    assert tasks[1:] == [f"scores, subject: {subject}" for subject in ("law", "art", "war")]
    assert main(["report", *names, "--by", "subject", "--output", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "Groups of questions" in page
    assert page.count('id="groups-table-') == 3
    assert main(["report", *names, "--by", "subject", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (len(document["breakdowns"]), len(document["difference_breakdowns"])) == (2, 1)


def test_the_p_value_of_a_group_is_at_least_that_of_mcnemars_exact_test() -> None:
    """With 7 and 1 discordant questions, twice the posterior tail is smaller than the exact p-value, 18 / 256."""
    logs = (log({"law": (47, 60), "art": (30, 60)}), log({"law": (41, 60), "art": (30, 60)}, "other"))
    values = np.concatenate([logs[0].data[0].values[:60], logs[0].data[0].values[60:]])
    values[:8] = 0.0
    values[0], values[1:8] = 0.0, 1.0
    other = values.copy()
    other[0], other[1:8] = 1.0, 0.0
    pair = [replace(one, data=(Scores("acc", "none", x),)) for one, x in zip(logs, (values, other), strict=True)]
    (row,) = compare(*pair, by="subject")
    alone = compare_scores(values[:60, 0], other[:60, 0])
    tail = 2 * min(alone.prob_positive, 1 - alone.prob_positive)
    exact = 2 * sum(comb(8, k) for k in (0, 1)) / 2**8
    assert tail < exact
    assert row.groups[-1].p_value == pytest.approx(exact)


def test_without_an_exact_test_the_p_value_is_twice_the_tail_of_the_posterior() -> None:
    """Unpaired groups have no table of right and wrong answers."""
    first, second = log({"law": (50, 60), "art": (30, 60)}), log({"law": (30, 60), "art": (31, 60)}, "other")
    apart = replace(second, questions=replace(second.questions, ids=tuple(f"other {k}" for k in range(120))))
    (row,) = compare(first, apart, by="subject")
    alone = compare_scores([1.0] * 50 + [0.0] * 10, [1.0] * 30 + [0.0] * 30, method="independent")
    assert alone.p_value is None
    assert row.groups[-1].p_value == pytest.approx(2 * (1 - alone.prob_positive), rel=1e-6)


def test_policies_for_missing_scores_apply_to_groups() -> None:
    values = log({"law": (30, 60), "art": (50, 60)}).data[0].values.copy()
    values[0] = np.nan
    part = replace(log({"law": (30, 60), "art": (50, 60)}), data=(Scores("acc", "none", values),))
    (zero,), (drop,) = (estimate(part, by="subject", missing=policy) for policy in ("zero", "drop"))
    assert (zero.groups[0].value, drop.groups[0].value) == (29 / 60, 29 / 59)
    with pytest.raises(UsageError, match="bounds"):
        estimate(part, by="subject", missing="bounds")


def divided_run(scores: dict[str, list[float]], system: str, task: str = "t") -> TaskLog:
    """A run with these scores by level, in which NaN are trials without a score."""
    flat = [value for values in scores.values() for value in values]
    codes = np.repeat(np.arange(len(scores)), [len(values) for values in scores.values()])
    fields = {"level": MetadataField(codes, values=tuple(scores))}
    questions = Questions(tuple(map(str, range(len(flat)))), fields=fields)
    data = (Scores("acc", "none", np.array(flat)[:, None], is_complete=False),)
    return TaskLog(system=system, task=task, source=Source(system, "table"), questions=questions, data=data)


@pytest.fixture
def failing() -> tuple[TaskLog, TaskLog]:
    """A is better on both levels, but 20 of the 100 hard questions, which B answered right, have no score of A."""
    easy, hard = [1.0] * 60 + [0.0] * 20, [1.0] * 45 + [0.0] * 35 + [np.nan] * 20
    of_b = {"easy": [0.0] * 20 + [1.0] * 40 + [0.0] * 20, "hard": [1.0] * 25 + [0.0] * 55 + [1.0] * 20}
    return divided_run({"easy": easy, "hard": hard}, "A"), divided_run(of_b, "B")


def test_a_group_whose_verdict_depends_on_failed_trials_has_a_warning(failing: tuple[TaskLog, TaskLog]) -> None:
    (row,) = compare(*failing, by="level")
    (warning,) = (message for message in row.messages if message.code == VERDICT_DEPENDS_ON_MISSING.code)
    by_policy = {
        policy: {one.group: one.verdict for one in compare(*failing, by="level", missing=policy)[0].groups}
        for policy in ("drop", "zero", "bounds")
    }
    shown = warning.params
    assert (shown["group"], shown["n_missing"]) == ("hard", 20)
    assert [shown[name] for name in ("dropped", "worst", "open")] == [of["hard"] for of in by_policy.values()]
    assert [of["easy"] for of in by_policy.values()] == ["better"] * 3
    assert "The verdict on hard depends on how missing scores are counted." in difference_breakdown_answer(row)


def test_a_chosen_policy_needs_no_warning(failing: tuple[TaskLog, TaskLog]) -> None:
    for policy in ("drop", "zero", "bounds"):
        (row,) = compare(*failing, by="level", missing=policy)
        assert not has(row, VERDICT_DEPENDS_ON_MISSING.code)
        assert difference_breakdown_answer(row).endswith(("easy.", "hard."))


def test_bounds_contain_the_intervals_of_both_extremes(failing: tuple[TaskLog, TaskLog]) -> None:
    (row,) = compare(*failing, by="level", missing="bounds")
    hard = next(one for one in row.groups if one.group == "hard")
    a, b = (np.array(run.data[0].values[80:, 0]) for run in failing)
    worst, best = (compare_scores(np.nan_to_num(a, nan=value), b).difference for value in (0.0, 1.0))
    assert hard.interval.low < worst.value < best.value < hard.interval.high
    assert all(one.pooled_value is None for one in row.groups)
    assert row.heterogeneity_p is None
    assert has(row, GROUPS_WITH_ANY_SCORE.code)


def test_the_groups_of_each_task_are_corrected_by_themselves() -> None:
    a, b = {"easy": [1.0] * 40, "hard": [1.0, 0.0] * 20}, {"easy": [0.0] * 8 + [1.0] * 32, "hard": [0.0, 1.0] * 20}
    first = [divided_run(a, "A", task) for task in ("t", "u", "v")]
    second = [divided_run(b, "B", task) for task in ("t", "u", "v")]
    alone, together = compare(first[0], second[0], by="level"), compare(first, second, by="level")
    assert [row.n_tests for row in (*alone, *together)] == [2, 2, 2, 2]
    assert together[0].groups == alone[0].groups
    assert [one.adjusted_p for one in alone[0].groups] == pytest.approx(
        adjust_p_values([one.p_value for one in alone[0].groups])
    )


def test_groups_that_are_clusters_are_noted_once_and_have_their_number() -> None:
    rng = np.random.default_rng(0)
    passages = [f"p{k // 6}" for k in range(60)]
    fields = {"passage": passages, "level": ["easy", "hard"] * 30}
    a, b = (task_log((rng.random(60) < p) * 1.0, system=name, fields=fields) for name, p in (("a", 0.8), ("b", 0.6)))
    (row,) = compare(a, b, by="passage", cluster="passage")
    assert [one.n_clusters for one in row.groups] == [1] * 10
    assert has(row, "UQ437", field="passage")
    assert has(estimate(a, by="passage", cluster="passage")[0], "UQ437")
    (row,) = compare(a, b, by="level", cluster="passage")
    assert [one.n_clusters for one in row.groups] == [10, 10]
    assert not has(row, "UQ437")
    assert "Pooled interval" not in str(compare(a, b, by="level"))
    assert "Pooled interval" in str(compare(a, b, by="passage"))


@pytest.mark.parametrize("option", ["--labels", "--reference-runs", "--generalize-over"])
def test_options_that_do_not_apply_to_groups_are_wrong_arguments(
    option: str, tables: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise the groups would show scores of the grader beside a corrected score of the task."""
    assert main(["estimate", tables[0], "--by", "subject", "--scope", "full", option, tables[1]]) == 2
    assert f"--by cannot be combined with {option}" in capsys.readouterr().err


def test_scores_of_groups_do_not_support_bounds(tables: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", tables[0], "--by", "subject", "--missing", "bounds"]) == 2
    assert "--missing bounds is not supported for scores of groups (--by)." in capsys.readouterr().err
