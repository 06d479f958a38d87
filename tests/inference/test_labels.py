"""A judge's scores of a log, corrected by labels of a table or of another metric."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness_uq.analyses.estimate import estimate
from harness_uq.commands.main import main
from harness_uq.data.task_log import Scores, Source, TaskLog
from harness_uq.inference.labels import Human, estimate_with_labels
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.human_labels import Label
from harness_uq.messages.errors import DataError
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.stats.labels.judge import judge_corrected_posterior
from tests.commands.test_main import write_lm_eval
from tests.data.toy import task_log
from tests.message_checks import has, names_of, raises_message

NONE = float("nan")
JUDGE = [1] * 70 + [0] * 30
HUMAN = [1] * 11 + [0] * 3 + [NONE] * 56 + [0] * 6 + [NONE] * 24
LABELS = [Label(str(i), score) for i, score in enumerate(HUMAN) if score == score]


def with_human(judge: object, human: object, **other: object) -> TaskLog:
    log = task_log(judge, metric="judge", **other)
    table = np.asarray(human, float)
    table = table[:, None] if table.ndim == 1 else table
    return replace(log, data=(*log.data, Scores("human", "none", table)))


def correct(logs: list[TaskLog], human: Human, options: Options | None = None) -> list[Estimate]:
    return estimate_with_labels(logs, human, options or Options(), load_plugins())


def only(rows: list[Estimate]) -> Estimate:
    (row,) = rows
    return row


def test_labels_of_a_table_give_the_posterior_of_stats() -> None:
    row = only(correct([task_log(JUDGE)], LABELS))
    expected = judge_corrected_posterior(JUDGE, HUMAN, rng=np.random.default_rng(0))
    assert row.interval is not None
    assert (row.interval.low, row.interval.high) == expected.interval(0.95, "hdi")
    assert row.method == "judge-corrected"
    assert row.value == pytest.approx(0.55)
    assert row.diagnostics["judge_mean"] == pytest.approx(0.7)
    assert row.diagnostics["n_labels"] == 20


def test_another_metric_of_the_log_is_as_good_as_a_table() -> None:
    assert (
        only(correct([with_human(JUDGE, HUMAN)], "human")).interval == only(correct([task_log(JUDGE)], LABELS)).interval
    )


def test_clusters_of_the_log_count_as_they_do_in_estimate() -> None:
    log = task_log(JUDGE, fields={"passage": [f"p{i // 5}" for i in range(100)]})
    options = Options(structure=Options().structure.parse(["passage"], {}))
    row = only(correct([log], LABELS, options))
    assert row.n_clusters == 20
    expected = judge_corrected_posterior(JUDGE, HUMAN, clusters=np.arange(100) // 5, rng=np.random.default_rng(0))
    assert row.posterior_mean == pytest.approx(expected.mean)


def test_a_trial_of_each_question_may_have_its_own_label() -> None:
    rng = np.random.default_rng(1)
    judge = rng.integers(0, 2, (60, 2)).astype(float)
    human = np.where(rng.random((60, 2)) < 0.4, judge, NONE)
    row = only(correct([with_human(judge, human)], "human"))
    assert row.diagnostics["n_labels"] == np.isfinite(human).sum()
    assert row.diagnostics["judge_agreement"] == 1.0


def test_a_judge_no_better_than_the_model_is_said_to_save_at_most_half() -> None:
    human = [1] * 11 + [0] * 3 + [NONE] * 56 + [1] * 5 + [0] + [NONE] * 24
    row = only(correct([with_human(JUDGE, human)], "human"))
    assert has(row, "weak-grader")
    assert not has(only(correct([task_log(JUDGE)], LABELS)), "weak-grader")


@pytest.mark.parametrize(
    ("log", "human", "reason"),
    [
        (task_log(JUDGE), [Label("nowhere", 1.0)], "no-labels"),
        (task_log(JUDGE), LABELS[:2], "not-computable"),
        (task_log(JUDGE), [replace(label, score=3.5 * label.score) for label in LABELS], "range-required"),
        (with_human(np.ones((9, 3)) * [1, 0, 1], np.ones((9, 2))), "human", "labels-unmatched"),
        (task_log(JUDGE), [*LABELS, LABELS[0]], "not-computable"),
    ],
)
def test_what_cannot_be_corrected_says_why(log: TaskLog, human: object, reason: str) -> None:
    row = only(correct([log], human))  # type: ignore[arg-type]
    assert row.interval is None
    assert (row.status, row.reason.name) == ("not_estimable", reason)


def test_a_log_without_the_metric_of_labels_says_why() -> None:
    rows = correct([task_log(JUDGE), with_human(JUDGE, HUMAN, task="other")], "human")
    assert [row.reason and row.reason.name for row in rows] == ["no-label-metric", None]


def test_estimate_says_that_a_model_graded_where_the_catalogue_knows() -> None:
    def notes(harness: str, task: str, metric: str) -> list[str]:
        log = task_log(JUDGE, task=task, metric=metric, source=Source("run", harness))
        return names_of(estimate([log])[0].notes)

    said = "graded-by-model"
    assert said in notes("inspect", "theory_of_mind", "model_graded_qa")
    assert said in notes("inspect", "theory_of_mind", "model_graded_fact/grade")
    assert said not in notes("inspect", "theory_of_mind", "match")
    # the only tasks of lm-eval 0.4.13 that ask a model
    assert said in notes("lm-eval", "pisa_en_llm_judged", "acc")
    assert said not in notes("lm-eval", "pisa_en", "acc")


def test_other_scopes_are_refused() -> None:
    with raises_message(DataError, "grader-correction-unsupported", scope="benchmark"):
        correct([task_log(JUDGE)], LABELS, Options(scope="benchmark"))


def test_the_command_reads_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_lm_eval(tmp_path, rows=100, right=70)
    labels = tmp_path / "labels.csv"
    labels.write_text("id,score\n" + "\n".join(f"{label.id},{label.score:g}" for label in LABELS))
    assert main(["estimate", str(run), "--labels", str(labels), "--notes"]) == 0
    out = capsys.readouterr().out
    assert "judge-corrected" in out
    assert "(UQ154)" in out
    assert "toy-model" in out
    assert "labels  " not in out  # the table, which lies beside the run, is none


def test_the_command_refuses_labels_of_other_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, labels = write_lm_eval(tmp_path, rows=100, right=70), tmp_path / "labels.csv"
    labels.write_text("id,system,score\n" + "\n".join(f"{label.id},toy,{label.score:g}" for label in LABELS))
    assert main(["estimate", str(run), "--labels", str(labels)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "toy-model" in shown.err


def test_labels_of_several_systems_must_name_the_system() -> None:
    logs = [task_log(JUDGE, system=name) for name in "ab"]
    with raises_message(DataError, "labels-without-system", n_labels=20, systems=("a", "b")):
        estimate(logs, labels=LABELS)
    named = [replace(label, system="a") for label in LABELS]
    assert estimate(logs, labels=named)[0].value == only(estimate(logs[0], labels=LABELS)).value


def test_the_command_names_the_metrics_where_none_has_the_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", str(write_lm_eval(tmp_path)), "--labels", "nobody"]) == 2
    assert "Available metrics: acc" in capsys.readouterr().err


def test_a_report_shows_the_corrected_score_and_where_the_judge_errs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, labels, page = write_lm_eval(tmp_path, rows=100, right=70), tmp_path / "labels.csv", tmp_path / "page.html"
    labels.write_text("id,score\n" + "\n".join(f"{label.id},{label.score:g}" for label in LABELS))
    assert main(["report", str(run), "--labels", str(labels), "--output", str(page)]) == 0
    shown = page.read_text(encoding="utf-8")
    assert "judge-corrected" in shown
    assert "(UQ154)" in shown
    assert "Only the intervals of scores corrected with human labels account for errors of the grader" in shown
    assert main(["report", f"a={run}", f"b={run}", "--labels", str(labels)]) == 2
    assert "covers one system" in capsys.readouterr().err
