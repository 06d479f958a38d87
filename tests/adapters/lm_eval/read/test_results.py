import json

import pytest

from harness_uq import LogError
from harness_uq.data.task_log import ClusterDeclaration, HarnessResult
from harness_uq_lm_eval.read.results import NoResultsError, Results, load
from tests.adapters.lm_eval.logs import Folder
from tests.message_checks import raises_message


def results(tmp_path, rows, **options):
    return Results(Folder(tmp_path).results(rows, **options))


def test_reported_numbers_by_metric_and_filter(tmp_path):
    row = {"acc,none": 0.5, "acc_stderr,none": 0.1, "em,strict": "0.75", "em_stderr,strict": "N/A", " ": " "}
    assert results(tmp_path, {"t": row}, n=20).reported("t") == {
        ("acc", "none"): HarnessResult(0.5, 0.1, 20),
        ("em", "strict"): HarnessResult(0.75, None, 20),
    }


def test_a_value_that_is_no_number_is_reported_as_none(tmp_path):
    row = {"acc,none": float("nan"), "f1,none": None, "acc_ci95,none": [0.1, 0.2], "huge,none": 10**400}
    reported = results(tmp_path, {"t": row}).reported("t")
    assert reported == {(metric, "none"): HarnessResult(None) for metric in ("acc", "f1", "huge")}


@pytest.mark.parametrize(
    ("logged", "version"),
    [
        ("0.4.13", "0.4.13"),
        ("0.5.0.dev1+g1234", "0.5.0.dev1+g1234"),
        ("No package metadata was found for lm_eval", None),
        (None, None),
    ],
)
def test_an_error_message_is_no_version(tmp_path, logged, version):
    assert results(tmp_path, {"t": {"acc,none": 0.5}}, lm_eval_version=logged).version == version


def test_the_number_of_questions_is_never_invented(tmp_path):
    assert results(tmp_path, {"t": {"acc,none": 0.5}}).n_questions("t") is None
    assert results(tmp_path, {"t": {"acc,none": 0.5, "sample_len": 7}}).n_questions("t") == 7
    assert results(tmp_path, {"t": {"acc,none": 0.5, "sample_len": 7}}, n=5).n_questions("t") == 5


def test_999_is_no_value_where_a_metric_is_bypassed(tmp_path):
    rows = {"t": {"bypass,none": 999, "bypass_stderr,none": "N/A", "score,none": 999, "likelihood,none": 999}}
    metrics = [{"metric": "likelihood", "aggregation": "bypass"}]
    assert set(results(tmp_path, rows, configs={"t": {"metric_list": metrics}}).reported("t")) == {("score", "none")}


GROUP = {
    "all": {"acc,none": 0.5, "f1,none": 0.4, "sample_count": {"f1,none": 30}},
    "mid": {"acc,none": 0.4},
    "a": {"acc,none": 0.6},
    "b": {"acc,none": 0.5, "f1,none": 0.4},
    "c": {"acc,none": 0.3},
}
TREE = {"all": ["a", "mid"], "mid": ["b", "c"]}


def test_groups_hold_the_tasks_of_groups_within_them(tmp_path):
    found = results(tmp_path, GROUP, group_subtasks=TREE)
    assert found.leaves("all") == ("a", "b", "c")
    assert [found.is_group(name) for name in found.rows] == [True, True, False, False, False]


def test_a_group_counts_the_questions_of_the_tasks_that_have_the_metric(tmp_path):
    found = results(tmp_path, GROUP, group_subtasks=TREE, n={"a": 10, "b": 30, "c": 5})
    assert {key[0]: one.n for key, one in found.reported("all").items()} == {"acc": 45, "f1": 30}


def test_a_group_with_a_task_of_unknown_size_has_no_size(tmp_path):
    found = results(tmp_path, GROUP, group_subtasks=TREE, n={"a": 10, "b": 30})
    assert found.reported("all")["acc", "none"].n is None


def test_groups_that_contain_each_other_come_to_an_end(tmp_path):
    assert results(tmp_path, GROUP, group_subtasks={"all": ["mid", "a"], "mid": ["all", "b"]}).leaves("all") == (
        "b",
        "a",
    )


def test_a_plain_task_before_0_4_12_lists_no_subtasks(tmp_path):
    assert not results(tmp_path, {"t": {"acc,none": 1}}, group_subtasks={"t": []}).is_group("t")


SOURCE = "def agg_inst_level_acc(items):\n    return sum(items)\n"


@pytest.mark.parametrize(
    ("entry", "metric", "function"),
    [
        ({"metric": "acc", "aggregation": "mean"}, "acc", "mean"),
        ({"metric": "acc"}, "acc", None),
        ({"metric": "f1"}, "f1", "f1"),
        ({"metric": "inst", "aggregation": SOURCE}, "inst", "agg_inst_level_acc"),
        ({"metric": "def exact_match(a, b):\n  pass", "aggregation": "mean"}, "exact_match", "mean"),
        ({"metric": "f1", "aggregation": "<function weighted_f1 at 0x7f>"}, "f1", "weighted_f1"),
        ({"metric": "other", "aggregation": "mean"}, "acc", None),
    ],
)
def test_an_aggregation_has_a_name_even_where_its_source_is_logged(tmp_path, entry, metric, function):
    assert results(tmp_path, {"t": {}}, configs={"t": {"metric_list": [entry]}}).aggregation("t", metric) == function


@pytest.mark.parametrize(
    ("metadata", "declared"),
    [
        ({"uq": {"cluster": "doc.passage"}}, "doc.passage"),
        ({"uq": {"cluster": ["category", "question_index"]}}, "category+question_index"),
        ({"uq": {"cluster": "none"}}, "none"),
        ({"uq": "bayes"}, None),
        ({"uq": {"cluster": ""}}, None),
        (None, None),
    ],
)
def test_a_task_may_declare_its_clusters(tmp_path, metadata, declared):
    found = results(tmp_path, {"t": {}}, configs={"t": {"metadata": metadata}}).declared("t")
    assert found == (declared and ClusterDeclaration(declared, "metadata.uq.cluster"))


def test_the_settings_hold_no_paths_and_no_arguments_of_the_model(tmp_path):
    metadata = {"version": 2, "pretrained": "/home/alice/m", "config_source": "/home/alice/t.yaml"}
    found = results(
        tmp_path,
        {"t": {}},
        n=20,
        configs={"t": {"metadata": metadata, "repeats": 4, "dataset_kwargs": {"data_files": "/home/alice/d"}}},
        config={"limit": 20.0, "model_args": {"pretrained": "/home/alice/m"}, "use_cache": "/home/alice/cache"},
    ).facts("t")
    assert "alice" not in json.dumps(dict(found.settings))
    assert (found.is_limited, found.n_all) == (True, 100)
    assert found.settings["limit"] == 20
    assert found.settings["repeats"] == 4
    assert found.settings["metadata"] == {"version": 2}


def test_old_samples_are_named_after_the_arguments_in_either_way(tmp_path):
    found = results(tmp_path, {"arc_easy": {}, "easy": {}}, config={"model_args": "pretrained=org/m,dtype=float"})
    assert found.task_of_file("pretrained__org__m,dtype__float_arc_easy") == "arc_easy"
    assert found.task_of_file("pretrained=org__m,dtype=float_easy") == "easy"
    assert found.task_of_file("pretrained__org__other,dtype__float_easy") is None


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ('{"results": {"t": {"acc,no', LogError, "invalid-json"),
        ('{"results": {}, "versions": {}, "config": {"model": "gpt2"}}', LogError, "predates-version-4"),
        ('{"results": [1, 2], "configs": {}}', NoResultsError, "no-results"),
        ("[]", NoResultsError, "no-results"),
    ],
)
def test_what_is_no_results_file_is_an_error_that_says_why(tmp_path, content, error, words):
    with raises_message(error, words):
        load(Folder(tmp_path).text("results.json", content))


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(LogError, match="No such file"):
        load(str(tmp_path / "results.json"))
