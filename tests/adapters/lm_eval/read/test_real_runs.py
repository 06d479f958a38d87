"""Read logs that the installed lm-eval writes."""

import json
import os
import subprocess
import sys

import pytest

from harness_uq import Scores
from harness_uq.data.task_log import Classifications, SufficientStatistics
from harness_uq_lm_eval.harness import LmEvalHarness
from tests.adapters.lm_eval.logs import data_of

pytestmark = [pytest.mark.harness, pytest.mark.slow]


@pytest.fixture(scope="module")
def logs(lm_eval_runs):
    harness = LmEvalHarness()
    found = harness.find([str(path) for path in lm_eval_runs.rglob("*") if path.is_file()])
    assert (found.unrecognised, found.problems) == ((), ())
    return [log for run in found.runs for log in harness.read(run)]


def test_samples_agree_with_the_results_files(logs):
    assert len(logs) == 18
    assert [log.warnings for log in logs] == [()] * len(logs)


def test_every_reported_metric_is_read(logs):
    for log in logs:
        assert {(data.metric, data.filter) for data in log.data if data.filter != "trials"} == set(log.reported)


def test_scores_have_the_reported_means(logs):
    checked = 0
    for log in logs:
        for data in (data for data in log.data if isinstance(data, Scores) and data.filter != "trials"):
            reported = log.reported[data.metric, data.filter]
            assert data.values.mean() == pytest.approx(reported.value, abs=1e-12)
            assert reported.n == len(log.questions)
            checked += 1
    assert checked == 14


def test_passages_repeats_groups_and_classes_are_as_the_tasks_define_them(logs):
    by_task = {log.task: log for log in logs if log.system.startswith("scripted-large")}
    passages = by_task["demo_passages"].questions
    assert passages.fields["passage_id"].n_distinct == passages.prompt_prefix.n_distinct == 30
    assert data_of(by_task["demo_word_problems"], "exact_match", "maj@8").logged_trials == 8
    trials = data_of(by_task["demo_word_problems"], "exact_match", "trials").values
    first = data_of(by_task["demo_word_problems"], "exact_match", "first").values
    assert trials.shape == (50, 8)
    assert (trials[:, :1] == first).all()
    assert by_task["demo_exam"].subtasks == ("demo_exam_sums", "demo_exam_series", "demo_exam_units")
    assert isinstance(data_of(by_task["demo_divides"], "f1"), Classifications)


READ_ALL = """
import sys
from pathlib import Path
from harness_uq_lm_eval.harness import LmEvalHarness

harness = LmEvalHarness()
paths = [str(path) for path in Path(sys.argv[1]).rglob("*") if path.is_file()]
logs = [log for run in harness.find(paths).runs for log in harness.read(run)]
print(len(logs), sorted({"lm_eval", "torch", "datasets", "transformers", "sklearn"} & set(sys.modules)))
"""


def test_reading_loads_neither_lm_eval_nor_its_dependencies(lm_eval_runs):
    done = subprocess.run([sys.executable, "-c", READ_ALL, lm_eval_runs], capture_output=True, text=True, check=True)
    assert done.stdout == "18 []\n"


# ---------------------------------------------------------------- values that are no numbers

DOCUMENTS = {
    "choices": [{"q": f"question {i}", "choices": ["a", "b", "c"], "label": i % 3} for i in range(12)],
    "answers": [
        {"idx": {"paragraph": i // 6, "question": i // 3}, "q": f"answer {i}", "choices": ["no", "yes"], "label": i % 2}
        for i in range(24)
    ],
    "texts": [{"text": "word " * (i + 3)} for i in range(9)],
}

TASKS = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/{documents}.jsonl}}}}
test_split: test
output_type: {output_type}
doc_to_text: "{prompt}"
doc_to_target: {target}
metric_list: {metrics}
{more}
"""

FUNCTIONS = """
import numpy as np
from lm_eval.api.metrics import acc_all

def process_results(doc, results):
    prediction = int(np.argmax([likelihood for likelihood, _ in results]))
    flags = [bool(prediction), True, doc["label"] == 1][: 1 + doc["idx"]["question"] % 3]
    return {
        "acc_all": (prediction, doc),
        "inst_level": flags,
        "accuracy_amb": (float(prediction), np.array(doc["label"] == 1)),
    }

def all_flags(items):
    flags = [flag for item in items for flag in item]
    return sum(flags) / len(flags)

def unmasked(items):
    scores, mask = zip(*items)
    return np.array(scores)[~np.array(mask, dtype=bool)].mean()
"""

RUN = """
import functools, sys
import lm_eval.models
import lm_eval.evaluator as evaluator
from lm_eval import tasks
from lm_eval.__main__ import cli_evaluate

# finding lm-eval's own 13,000 tasks takes several seconds per run
tasks.TaskManager = functools.partial(tasks.TaskManager, include_defaults=False)

evaluate = evaluator.evaluate
evaluator.evaluate = lambda *args, **options: evaluate(*args, **{**options, "bootstrap_iters": 0})
sys.argv = ["lm-eval", "run", "--model", "dummy", "--tasks", "choice,classes,kinds,rolling", "--include_path", ".",
            "--output_path", "out", "--log_samples"]
cli_evaluate()
"""


def write_tasks(folder):
    for name, documents in DOCUMENTS.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (folder / "functions.py").write_text(FUNCTIONS)
    choice = {"output_type": "multiple_choice", "prompt": "{{q}}", "target": "label", "more": "doc_to_choice: choices"}
    of_functions = {**choice, "more": "doc_to_choice: choices\nprocess_results: !function functions.process_results"}
    of_texts = {"output_type": "loglikelihood_rolling", "prompt": "", "target": '"{{text}}"', "more": ""}
    functions = {"acc_all": "acc_all", "inst_level": "all_flags", "accuracy_amb": "unmasked"}
    aggregated = [f"{{metric: {metric}, aggregation: !function functions.{f}}}" for metric, f in functions.items()]
    tasks = {
        "choice": ("choices", ["{metric: acc}", "{metric: brier_score}"], choice),
        "classes": ("answers", ["{metric: f1}", "{metric: mcc}"], choice),
        "kinds": ("answers", aggregated, of_functions),
        "rolling": (
            "texts",
            [f"{{metric: {m}}}" for m in ("word_perplexity", "byte_perplexity", "bits_per_byte")],
            of_texts,
        ),
    }
    for name, (documents, metrics, parts) in tasks.items():
        listed = f"[{', '.join(metrics)}]"
        text = TASKS.format(name=name, folder=folder, documents=documents, metrics=listed, **parts)
        (folder / f"{name}.yaml").write_text(text)


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """Logs that lm-eval wrote with its dummy model, by task."""
    pytest.importorskip("lm_eval")
    folder = tmp_path_factory.mktemp("kinds")
    write_tasks(folder)
    environment = {**os.environ, "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", RUN], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    harness = LmEvalHarness()
    (run,) = harness.find([str(path) for path in (folder / "out").rglob("*.json*")]).runs
    return {log.task: log for log in harness.read(run)}


@pytest.mark.parametrize(
    ("task", "metric", "kind"),
    [
        ("choice", "acc", Scores),
        ("choice", "brier_score", Scores),
        ("classes", "f1", Classifications),
        ("classes", "mcc", Classifications),
        ("kinds", "acc_all", Scores),
        ("kinds", "inst_level", SufficientStatistics),
        ("kinds", "accuracy_amb", Scores),
        ("rolling", "word_perplexity", SufficientStatistics),
        ("rolling", "byte_perplexity", SufficientStatistics),
        ("rolling", "bits_per_byte", SufficientStatistics),
    ],
)
def test_values_of_every_kind_give_what_lm_eval_computed_from_them(kinds, task, metric, kind):
    log = kinds[task]
    assert isinstance(data_of(log, metric), kind)
    assert log.reported[metric, "none"].value is not None
    assert log.warnings == ()


def test_a_model_that_lm_eval_gave_a_random_name_is_named_after_its_class(kinds):
    assert {log.system for log in kinds.values()} == {"dummy"}
