"""Logs of other people, read in place; SOURCES.md in their folder lists their origin and peculiarities."""

import json
import math
from collections import defaultdict

import pytest

from harness_uq import Scores
from harness_uq.data.task_log import AggregateScore
from harness_uq_lm_eval.harness import LmEvalHarness
from tests.adapters.lm_eval.logs import data_of
from tests.message_checks import has, names_of
from tests.reference_values import reference_values

TRIMMED = {"gsm8k": 3, "mmlu_pro_plus_chemistry": 3, "mmlu_pro_plus_health": 3, "mmlu_pro_plus_psychology": 3}


@pytest.fixture(scope="module")
def runs(shared):
    """Runs and their logs, by folder."""
    harness = LmEvalHarness()
    paths = sorted(str(path) for path in (shared / "data/lm_eval").rglob("*") if path.is_file())
    found = harness.find(paths)
    assert (found.unrecognised, found.problems) == ((), ())
    assert sorted(path for run in found.runs for path in run.files) == paths
    folders = defaultdict(list)
    for run in sorted(found.runs, key=lambda run: run.time):
        folders[run.name.split("/data/lm_eval/")[1].split("/")[0]].append(list(harness.read(run)))
    return folders


def test_every_run_is_found(runs):
    assert {folder: len(logs) for folder, logs in runs.items()} == {
        "derived_repeats4_aime25_ii": 2,
        "gsm8k_two_models_truncated_samples": 2,
        "mmlu_pro_plus_group_two_models": 2,
        "negotiationtom_group_clusters": 2,
        "truthfulqa_gen_category_clusters": 2,
    }


def test_means_are_those_computed_independently(runs, shared):
    expected = reference_values("expected_from_logs.json")
    by_path = {log.source.path: log for logs in runs.values() for run in logs for log in run}
    checked = 0
    for name, reference in expected.items():
        if "/lm_eval/" not in name:
            continue
        log = by_path[str(shared / name)]
        assert len(log.questions) == reference["docs"]
        for key, numbers in reference["metrics"].items():
            metric, filter_name = key.split(",")
            if "mean" in numbers:
                data = data_of(log, metric, filter_name)
                assert data.is_scored.sum() == numbers["n"]
                assert math.isclose(data.values[data.is_scored].mean(), numbers["mean"], abs_tol=1e-9)
                assert log.reported[metric, filter_name].value == numbers["logged"]
                checked += 1
    assert checked == 42


def test_only_trimmed_samples_are_warned_of(runs, request):
    is_made = "stand-ins" in request.node.name  # whose hashes are made, too, and are not those of the results file
    for logs in runs.values():
        for log in (log for run in logs for log in run):
            n = TRIMMED.get(log.task)
            names = [name for name in names_of(log.warnings) if not (is_made and name == "samples-of-another-run")]
            assert names == (["samples-missing"] if n else [])
            assert not n or has(log, "samples-missing", n_logged=n, n_scored=100)


def test_two_runs_of_one_model_that_differ_in_two_metrics(runs):
    a, b = runs["negotiationtom_group_clusters"]
    assert {log.system for log in (*a, *b)} == {"Qwen/Qwen3-8B (enable_thinking=False)"}
    for first, second in zip(a[:2], b[:2], strict=True):
        assert data_of(first, "acc").values.tolist() == data_of(second, "acc").values.tolist()
        assert first.questions.hashes == second.questions.hashes
    assert a[2].reported["micro_f1", "none"].value != b[2].reported["micro_f1", "none"].value


def test_four_identifiers_of_one_dialogue_are_candidates(runs):
    belief, desire, intention, _ = runs["negotiationtom_group_clusters"][0]
    for log in (belief, desire):
        assert log.questions.fields["dialogue_id"].n_distinct == 4
    assert intention.questions.fields["dialogue_id"].n_distinct == 11


def test_lists_of_labels_keep_the_reported_value(runs):
    data = data_of(runs["negotiationtom_group_clusters"][0][2], "micro_f1")
    assert isinstance(data, AggregateScore)
    assert (data.value, data.n) == (0.30188679245283023, 20)


def test_a_group_mixes_sizes_and_unknown_standard_errors(runs):
    group = runs["negotiationtom_group_clusters"][0][3]
    assert group.subtasks == ("negotiationtom_belief", "negotiationtom_desire", "negotiationtom_intention")
    assert {data.metric: data.n for data in group.data} == {
        "acc": 40,
        "micro_f1": 20,
        "macro_f1": 20,
        "exact_match": 20,
    }
    assert group.reported["micro_f1", "none"].std_error is None


def test_user_names_in_paths_of_the_results_are_not_copied(runs):
    for run in runs["negotiationtom_group_clusters"]:
        for log in run:
            assert "/home/" not in json.dumps(dict(log.facts.settings), default=str)
            assert "/Users/" not in json.dumps(dict(log.facts.settings), default=str)


def test_a_limited_run_and_a_column_that_is_no_metric(runs):
    ((full,), (limited,)) = runs["truthfulqa_gen_category_clusters"]
    assert (len(full.questions), len(limited.questions)) == (817, 20)
    assert (full.facts.is_limited, limited.facts.settings["limit"], limited.facts.n_all) == (False, 20, 817)
    for log in (full, limited):
        assert names_of(log.notes) == ["unlisted-columns"]
        assert has(log, "unlisted-columns", columns="hallucination")
        assert all(isinstance(data, Scores) for data in log.data)
    assert full.questions.fields["category"].n_distinct == 38


def test_a_filter_without_samples_keeps_its_value(runs):
    ((first,), (second,)) = runs["gsm8k_two_models_truncated_samples"]
    assert {first.system, second.system} == {"gemma3:12b-u1", "gemma3:12b-it-q4_K_M"}
    assert data_of(first, "exact_match", "flexible-extract") == AggregateScore(
        "exact_match", "flexible-extract", 0.78, 100, "The samples contain no row of filter 'flexible-extract'"
    )
    assert first.questions.ids == ("16", "17", "18")


def test_tasks_of_a_group_without_samples_are_totals(runs):
    for run in runs["mmlu_pro_plus_group_two_models"]:
        group, *tasks = run
        assert len(group.subtasks) == len(tasks) == 14
        assert sum(isinstance(task.data[0], AggregateScore) for task in tasks) == 11
        assert {task.reported["exact_match", "custom-extract"].n for task in tasks} == {100}


def test_four_repeats_are_stated_and_scored_once(runs):
    for (log,) in runs["derived_repeats4_aime25_ii"]:
        for data in log.data:
            assert (data.values.shape, data.logged_trials, data.reduction) == ((15, 1), 4, data.filter)
