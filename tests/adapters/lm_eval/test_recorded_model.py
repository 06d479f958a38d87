"""The model `recorded` repeats the answers of a logged run."""

import functools
import json
import tomllib

import pytest

import harness_uq
from harness_uq.commands.main import main
from tests.conftest import ROOT

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TASKS = ["demo_exam_units", "demo_word_problems", "demo_perplexity"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`run(path, *arguments)` returns the exit code and the folder of the output."""
    from lm_eval import tasks as lm_eval_tasks

    own_tasks_only = functools.partial(lm_eval_tasks.TaskManager, include_defaults=False)
    monkeypatch.setattr(lm_eval_tasks, "TaskManager", own_tasks_only)
    monkeypatch.chdir(tmp_path)
    harness_uq.demo()

    def call(path, *arguments):
        model = ["--model", "recorded", "--model_args", f"path={path}", "--include_path", "demo-output/tasks"]
        return main(["lm-eval", "run", *model, "--tasks", ",".join(TASKS), "--output_path", "out", *arguments])

    return call


def values(folder):
    (path,) = folder.rglob("results_*.json")
    results = json.loads(path.read_text(encoding="utf-8"))
    return {
        (task, key): value
        for task, row in results["results"].items()
        for key, value in row.items()
        if task in TASKS and "," in key
    }, results.get("uq", {}).get("trials")


def test_scores_and_intervals_are_those_of_the_logged_run(run, tmp_path):
    assert run("demo-output/lm-eval/scripted-large", "--uq", "bayes") == 0
    new, trials = values(tmp_path / "out")
    logged, logged_trials = values(tmp_path / "demo-output" / "lm-eval" / "scripted-large")
    assert len(new) >= 10
    assert new == pytest.approx(logged)
    assert trials == [entry for entry in logged_trials if entry["task"] in TASKS]


def test_it_needs_no_uq(run):
    assert run("demo-output/lm-eval/scripted-small", "--limit", "3") == 0


def test_a_folder_without_samples_and_a_question_without_answer_are_errors(run, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert run("empty", "--uq", "bayes") != 0
    assert "Samples of lm-eval not found: empty. Give the folder of a run" in capsys.readouterr().err
    (path,) = tmp_path.glob("demo-output/lm-eval/scripted-large/samples_demo_exam_units_*")
    path.write_text(path.read_text(encoding="utf-8").partition("\n")[0] + "\n", encoding="utf-8")
    assert run("demo-output/lm-eval/scripted-large") != 0
    assert "has no answer 1 to question 1 of demo_exam_units" in capsys.readouterr().err


def test_it_is_declared_as_a_model_of_lm_eval():
    from harness_uq_lm_eval import recorded_model

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert declared["lm_eval.models"] == {recorded_model.NAME: f"{recorded_model.__name__}:RecordedLM"}
