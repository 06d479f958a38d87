"""The whole benchmark from a run of a drawn part and runs of earlier systems: in Python and on the command line."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness_uq.commands.main import main
from harness_uq.data.reference_runs import reference_runs
from harness_uq.data.selection import merge_runs
from harness_uq.data.task_log import RunMetadata, TaskLog
from harness_uq.inference.subset import estimate_whole, read_probabilities
from harness_uq.messages.errors import DataError, LogError, NotEstimableError
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.stats.subsets.draw import draw_subset
from harness_uq.stats.subsets.estimate import subset_estimate
from tests.commands.test_main import TIME
from tests.data.toy import task_log
from tests.message_checks import has, raises_message

N = 120


def scores(n_systems: int = 6) -> np.ndarray:
    """Scores of systems in rows, the last of them the new one."""
    rng = np.random.default_rng(7)
    ease, strength = rng.normal(0, 2.5, N), rng.normal(0, 1, (n_systems + 1, 1))
    return (rng.random((n_systems + 1, N)) < 1 / (1 + np.exp(-2 * (strength + ease)))).astype(float)


TABLE = scores()
EARLIER = [task_log(row, system=f"old-{i}") for i, row in enumerate(TABLE[:-1])]
DRAWN = draw_subset(N, 40, history=TABLE[:-1])


def part(indices: np.ndarray = DRAWN.indices, n_all: int | None = N, **other: object) -> TaskLog:
    ids = [str(i) for i in indices]
    facts = RunMetadata(n_all=n_all, is_limited=True)
    return task_log(TABLE[-1][indices], system="new", ids=ids, facts=facts, **other)


def only(rows: list[Estimate]) -> Estimate:
    (row,) = rows
    return row


def write_run(folder: Path, system: str, row: np.ndarray, indices: np.ndarray) -> Path:
    folder.mkdir()
    results = {
        "results": {"toy": {"alias": "toy", "acc,none": float(row[indices].mean()), "acc_stderr,none": 0.1}},
        "configs": {"toy": {"task": "toy", "output_type": "multiple_choice", "repeats": 1}},
        "versions": {"toy": 1},
        "n-samples": {"toy": {"original": N, "effective": len(indices)}},
        "config": {"model": "toy", "model_args": {}},
        "model_name": system,
        "lm_eval_version": "0.4.13",
    }
    (folder / f"results_{TIME}.json").write_text(json.dumps(results))
    lines = [
        {
            "doc_id": int(i),
            "doc": {"q": int(i)},
            "filter": "none",
            "metrics": ["acc"],
            "doc_hash": f"h{i}",
            "acc": row[i],
        }
        for i in indices
    ]
    (folder / f"samples_toy_{TIME}.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return folder


def test_a_drawn_part_gives_the_estimate_of_stats() -> None:
    row = only(estimate_whole([part()], EARLIER))
    tried = np.full(N, np.nan)
    tried[DRAWN.indices] = TABLE[-1][DRAWN.indices]
    expected = subset_estimate(tried, history=TABLE[:-1])
    assert row.value == pytest.approx(expected.mean)
    assert row.interval is not None
    assert (row.interval.low, row.interval.high) == pytest.approx(expected.interval())
    assert row.diagnostics["effective_subset"] == pytest.approx(expected.effective_questions)
    assert (row.scope, row.method, row.diagnostics["n_all"]) == ("full", "difference-estimator", N)


def test_the_order_of_questions_in_the_run_does_not_matter() -> None:
    shuffled = np.random.default_rng(0).permutation(DRAWN.indices)
    one, other = (only(estimate_whole([part(indices)], EARLIER)) for indices in (DRAWN.indices, shuffled))
    assert one.value == pytest.approx(other.value)


def test_a_run_of_the_same_system_is_no_history() -> None:
    own = task_log(TABLE[-1], system="new")
    with_own, without = (only(estimate_whole([part()], runs)) for runs in ([*EARLIER, own], EARLIER))
    assert with_own.value == without.value


def test_probabilities_of_the_draw_change_the_estimate() -> None:
    drawn = draw_subset(N, 40, history=TABLE[:-1], design="informative")
    given = {"toy": {str(i): p for i, p in enumerate(drawn.probabilities)}}
    row = only(estimate_whole([part(drawn.indices)], EARLIER, drawn=given))
    tried = np.full(N, np.nan)
    tried[drawn.indices] = TABLE[-1][drawn.indices]
    assert row.value == pytest.approx(subset_estimate(tried, drawn.probabilities, history=TABLE[:-1]).mean)


@pytest.mark.parametrize(
    ("log", "history", "drawn", "reason"),
    [
        (part(), [], None, "no-reference-scores"),
        (part(n_all=200), EARLIER, None, "reference-size-mismatch"),
        (replace(part(), task="other"), EARLIER, None, "no-reference-scores"),
        (task_log([1, 0], system="new", ids=["7", "nowhere"]), EARLIER, None, "questions-not-in-reference"),
        (part(), EARLIER, {"toy": {"0": 0.5}}, "probabilities-missing"),
        (part(np.arange(N)), EARLIER, None, "not-computable"),
    ],
)
def test_what_does_not_fit_says_why(log: TaskLog, history: list[TaskLog], drawn: dict | None, reason: str) -> None:
    row = only(estimate_whole([log], history, drawn=drawn))
    assert row.interval is None
    assert (row.status, row.reason.name) == ("not_estimable", reason)


def test_another_estimand_is_refused() -> None:
    with raises_message(DataError, "whole-benchmark-estimand"):
        estimate_whole([part()], EARLIER, Options(estimand="pass@1", scope="benchmark"))


def test_a_history_holds_every_question_that_any_run_holds() -> None:
    logs = [task_log([1, 0], system="a", ids=["x", "y"]), task_log([1, 1], system="b", ids=["y", "z"])]
    history = reference_runs(logs, "toy")
    assert history.ids == ("x", "y", "z")
    np.testing.assert_array_equal(history.scores, [[1, 0, np.nan], [np.nan, 1, 1]])
    with raises_message(NotEstimableError, "no-reference-scores", what="metric 'f1' of task 'toy'"):
        reference_runs(logs, "toy", "f1")


def test_a_document_that_recurs_counts_as_often_as_it_stands_in_the_benchmark() -> None:
    history = reference_runs([task_log([1, 0, 1], hashes=["h", "h", "k"])], "toy")
    assert history.scores.tolist() == [[1, 0, 1]]
    assert not history.by_hash


def test_a_file_without_probabilities_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ids.json"
    path.write_text('{"toy": [1, 2]}')
    with raises_message(LogError, "probabilities-invalid"):
        read_probabilities(path)
    with pytest.raises(LogError, match="cannot be read"):
        read_probabilities(tmp_path / "none.json")


@pytest.mark.parametrize("design", ["stratified", "uniform", "informative"])
def test_draw_run_and_estimate_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], design: str
) -> None:
    history = [str(write_run(tmp_path / f"old-{i}", f"old-{i}", row, np.arange(N))) for i, row in enumerate(TABLE[:-1])]
    ids = tmp_path / "ids.json"
    assert (
        main(["subset", "toy", "--reference-runs", *history, "--n", "40", "--ids", str(ids), "--design", design]) == 0
    )
    printed = capsys.readouterr().out.strip().split(",")
    chosen = json.loads(ids.read_text())["toy"]
    assert [str(i) for i in chosen] == printed
    assert len(set(chosen)) == 40
    run = write_run(tmp_path / "new", "new", TABLE[-1], np.array(chosen))
    drawn = str(tmp_path / "ids.drawn.json")
    command = [
        "estimate",
        str(run),
        "--scope",
        "full",
        "--reference-runs",
        *history,
        "--inclusion-probabilities",
        drawn,
        "--format",
        "json",
    ]
    assert main(command) == 0
    (row,) = json.loads(capsys.readouterr().out)["estimates"]
    assert row["method"] == "difference-estimator"
    assert row["interval"]["low"] < TABLE[-1].mean() < row["interval"]["high"]


def test_runs_of_two_parts_count_as_one() -> None:
    halves = [part(DRAWN.indices[:25]), part(DRAWN.indices[25:])]
    both, whole = only(estimate_whole(halves, EARLIER)), only(estimate_whole([part()], EARLIER))
    assert both.value == pytest.approx(whole.value)
    assert has(both, "runs-merged", n_runs=2)


def test_probabilities_of_another_draw_are_told_from_those_of_the_questions_tried() -> None:
    def warned(n: int) -> bool:
        given = {"toy": dict.fromkeys(map(str, range(N)), n / N)}
        return has(only(estimate_whole([part()], EARLIER, drawn=given)), "draw-size-mismatch")

    assert [warned(n) for n in (12, 38, 40, 60)] == [True, False, False, True]


def test_runs_that_share_a_question_stay_apart() -> None:
    assert len(estimate_whole([part(DRAWN.indices[:25]), part(DRAWN.indices[24:])], EARLIER)) == 2


def test_runs_of_other_systems_or_tasks_are_not_joined() -> None:
    logs = [part(DRAWN.indices[:20]), replace(part(DRAWN.indices[20:]), system="newer")]
    assert [log.system for log in merge_runs(logs)] == ["new", "newer"]


def test_joined_runs_keep_what_all_of_them_scored() -> None:
    one = task_log([[1, 0], [1, 1]], ids=["a", "b"], hashes=["h", "i"])
    other = task_log([[0]], ids=["c"], hashes=["k"])
    (log,) = merge_runs([one, replace(other, data=(*other.data, replace(other.data[0], metric="f1")))])
    assert (log.questions.ids, log.questions.hashes) == (("a", "b", "c"), ("h", "i", "k"))
    (data,) = log.data
    np.testing.assert_array_equal(data.values, [[1, 0], [1, 1], [0, np.nan]])


def test_further_questions_are_drawn_after_a_first_part_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history = [str(write_run(tmp_path / f"old-{i}", f"old-{i}", row, np.arange(N))) for i, row in enumerate(TABLE[:-1])]
    first, more = tmp_path / "first.json", tmp_path / "more.json"
    start = ["subset", "toy", "--reference-runs", *history]
    assert main([*start, "--n", "12", "--ids", str(first)]) == 0
    asked = json.loads(first.read_text())["toy"]
    run = str(write_run(tmp_path / "one", "new", TABLE[-1], np.array(asked)))
    after = ["--after", run, "--inclusion-probabilities", str(tmp_path / "first.drawn.json")]
    assert main([*start, "--n", "28", *after, "--ids", str(more)]) == 0
    further = json.loads(more.read_text())["toy"]
    assert len(set(further) | set(asked)) == 40
    second = str(write_run(tmp_path / "two", "new", TABLE[-1], np.array(further)))
    capsys.readouterr()
    drawn = ["--inclusion-probabilities", str(tmp_path / "more.drawn.json")]
    command = ["estimate", run, second, "--scope", "full", "--reference-runs", *history, *drawn, "--format", "json"]
    assert main(command) == 0
    (row,) = json.loads(capsys.readouterr().out)["estimates"]
    assert row["n_questions"] == 40
    assert row["interval"]["low"] < TABLE[-1].mean() < row["interval"]["high"]


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (["one", "one-again"], "share no question. Found runs of new."),
        (["old-0", "one"], "Found runs of new, old-0."),
        (["elsewhere"], "Found runs of no system."),
    ],
)
def test_a_first_part_that_is_not_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], runs: list[str], message: str
) -> None:
    for name, system in (("old-0", "old-0"), ("one", "new"), ("one-again", "new")):
        write_run(tmp_path / name, system, TABLE[-1], np.arange(5))
    (tmp_path / "elsewhere").mkdir()
    after = [str(tmp_path / name) for name in runs]
    command = ["subset", "toy", "--reference-runs", str(tmp_path / "old-0"), "--n", "2", "--after", *after]
    assert main([*command, "--ids", str(tmp_path / "ids.json")]) == 2
    assert message in capsys.readouterr().err


def test_probabilities_of_no_first_part_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "subset",
        "toy",
        "--reference-runs",
        "x",
        "--n",
        "2",
        "--inclusion-probabilities",
        "y",
        "--ids",
        str(tmp_path / "ids.json"),
    ]
    assert main(command) == 2
    assert "--inclusion-probabilities requires --after" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reference-runs", "x"], "requires --scope full"),
        (["--scope", "full", "--reference-runs", "x", "--labels", "y"], "Give one of them"),
        (["--inclusion-probabilities", "x"], "--inclusion-probabilities requires --labels or --reference-runs"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", "nowhere", *arguments]) == 2
    assert message in capsys.readouterr().err
