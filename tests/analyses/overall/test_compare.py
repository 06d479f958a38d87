"""Overall differences from a baseline: simultaneous limits, verdicts, and the command with several systems."""

import json
from pathlib import Path

import numpy as np
import pytest

from harness_uq import DataError, NotEstimableError, compare, estimate, rank
from harness_uq.commands.main import main
from harness_uq.results.overall import Overall
from tests.analyses.overall.test_rank import THREE, logs_of, scores

FOUR = {f"t{k}": scores(k, a=0.7, b=0.55, c=0.54, d=0.4) for k in range(4)}


def compared(baseline: str = "b", **options: object) -> Overall:
    result = compare(logs_of(FOUR), baseline=baseline, overall=True, **options).overall
    assert result is not None
    return result


def test_differences_have_the_scores_and_the_verdicts_of_the_board() -> None:
    result, board = compared(), rank(logs_of(FOUR), overall=True).overall
    assert board is not None
    values = {system.system: system.value for system in board.systems}
    assert [one.system for one in result.differences] == ["a", "c", "d"]
    assert [one.value for one in result.differences] == pytest.approx([values[s] - values["b"] for s in "acd"])
    assert [one.verdict for one in result.differences] == ["better", "undecided", "worse"]
    assert (result.baseline, [system.system for system in result.systems]) == ("b", ["a", "b", "c", "d"])
    assert [one.prob_better > 0.5 for one in result.differences] == [one.value > 0 for one in result.differences]


def test_simultaneous_intervals_lie_between_single_and_bonferroni_intervals() -> None:
    """Dunnett (1955): the critical value for k comparisons lies between that of one and Bonferroni's."""
    single, bonferroni = compared(), compared(level=1 - 0.05 / 3)
    for one, wide in zip(single.differences, bonferroni.differences, strict=True):
        assert one.single_interval.width < one.interval.width < 1.03 * wide.single_interval.width
    (alone,) = compared_pair().differences
    assert alone.interval == alone.single_interval


def compared_pair() -> Overall:
    logs = [log for log in logs_of(FOUR) if log.system in "ab"]
    result = compare(logs, baseline="b", overall=True).overall
    assert result is not None
    return result


def test_the_error_of_one_difference_is_that_of_the_paired_tasks() -> None:
    (one,) = compared_pair().differences
    gaps = [by_system["a"] - by_system["b"] for by_system in FOUR.values()]
    std_error = np.sqrt(sum(np.var(gap, ddof=1) / len(gap) for gap in gaps)) / len(gaps)
    assert one.interval.width == pytest.approx(2 * 1.96 * std_error, rel=0.06)


def test_a_margin_of_the_overall_result_makes_small_differences_equivalent() -> None:
    verdicts = {one.system: one.verdict for one in compared(margins={"overall": 0.12}).differences}
    assert verdicts["c"] == "equivalent"


def test_lower_scores_can_be_better() -> None:
    result = compare(logs_of(FOUR, higher_is_better={"acc": False}), baseline="b", overall=True).overall
    assert result is not None
    assert {one.system: one.verdict for one in result.differences} == {"d": "better", "c": "undecided", "a": "worse"}
    assert result.systems[0].system == "d"


def test_unknown_baselines_are_errors_and_baselines_without_a_task_are_refused() -> None:
    with pytest.raises(DataError, match="'e'"):
        compare(logs_of(FOUR), baseline="e", overall=True)
    logs = [log for log in logs_of(THREE) if (log.system, log.task) != ("b", "t3")]
    refused = compare(logs, baseline="b", missing_tasks="drop-system").overall
    assert refused is not None
    assert refused.systems == ()
    assert compare(logs_of({"t0": FOUR["t0"]}), baseline="a", overall=True).overall is None


@pytest.fixture
def table(tmp_path: Path) -> str:
    rows = [
        f"q{k},{system},{task},{value:g}"
        for task, by_system in FOUR.items()
        for system, values in by_system.items()
        for k, value in enumerate(values)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["question,system,task,score", *rows]) + "\n")
    return str(path)


@pytest.mark.slow
def test_the_command_compares_all_systems_with_the_baseline(table: str, capsys) -> None:
    assert main(["compare", table, "--baseline", "b"]) == 0
    out = capsys.readouterr().out
    assert "Overall: mean score of 4 tasks" in out
    assert "Tasks: t0, t1, t2, t3." in " ".join(out.split())
    assert "A: c, B: b" not in out  # single tasks
    assert main(["compare", table, "--baseline", "b", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["overall"]["baseline"] == "b"
    assert {row["system_b"] for row in document["comparisons"]} == {"b"}
    assert {row["system_a"] for row in document["comparisons"]} == {"a", "c", "d"}


def test_without_a_baseline_several_systems_are_an_error_that_names_the_alternatives(table: str, capsys) -> None:
    assert main(["compare", table]) == 2
    error = capsys.readouterr().err
    assert "--baseline" in error
    assert "harness-uq rank" in error
    assert main(["compare", table, "--baseline", "e"]) == 2


def test_verdicts_of_tasks_do_not_depend_on_the_overall_result(table: str, capsys) -> None:
    def verdicts(*arguments: str) -> list[object]:
        assert main(["compare", table, *arguments, "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)["comparisons"]
        return [(row["task"], row["verdict"], row["difference"]) for row in rows if row["system_a"] == "a"]

    assert verdicts("--baseline", "b") == verdicts("--model", "a", "--model", "b")


def test_a_system_compared_with_itself_has_an_overall_result_without_a_winner(table: str, tmp_path, capsys) -> None:
    single = tmp_path / "single.csv"
    lines = Path(table).read_text().splitlines()
    single.write_text("\n".join([lines[0], *(line for line in lines if ",a," in line)]) + "\n")
    assert main(["compare", str(single), str(single), "--format", "json"]) == 0
    overall = json.loads(capsys.readouterr().out)["overall"]
    assert [one["verdict"] for one in overall["differences"]] in ([], ["undecided"])


def test_the_exit_code_depends_on_the_overall_result_on_request_only(table: str, capsys) -> None:
    pair = ["compare", table, "--model", "d", "--model", "a", "--fail-if-worse"]
    assert main([*pair, "--overall"]) == 3
    assert main([*pair, "--overall", "--margin", "overall=0.9"]) == 0
    assert main([*pair, "--margin", "overall=0.9"]) == 3
    assert main(["compare", table, "--model", "a", "--model", "d", "--fail-if-worse", "--overall"]) == 0
    assert main([*pair, "--overall", "--task", "t0"]) == 2
    assert "--overall" in capsys.readouterr().err


def test_options_of_the_overall_result_request_it() -> None:
    logs = logs_of(FOUR)
    assert estimate(logs).overall is None
    for call in (estimate, rank, lambda given, **options: compare(given, baseline="b", **options)):
        assert call(logs, overall=True).overall.systems
        assert call(logs, weights="questions").overall.weights == "questions"
        assert call(logs, weights="questions", missing_tasks="error").overall is not None


def test_documents_of_a_list_contain_its_overall_result() -> None:
    rows = estimate(logs_of(FOUR), overall=True)
    assert rows.to_dict()["overall"]["systems"][0]["system"] == rows.overall.systems[0].system
    assert "Overall: mean acc of" in rows.render()
    assert {record["task"] for record in rows.to_dicts()} == set(FOUR)


def test_every_other_system_is_compared_with_the_baseline() -> None:
    rows = compare(logs_of(FOUR), baseline="b", overall=True)
    assert {(row.system_a, row.system_b) for row in rows} == {(name, "b") for name in "acd"}
    assert {one.system for one in rows.overall.differences} == set("acd")
    with pytest.raises(DataError, match="baseline"):
        compare(logs_of(FOUR))
    alone = [log for log in logs_of(FOUR) if log.system == "b"]
    with pytest.raises(NotEstimableError):
        compare(alone, baseline="b")
