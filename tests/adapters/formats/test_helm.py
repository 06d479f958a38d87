"""Runs of HELM: a real run, and each trap of the format."""

import json
from pathlib import Path

import numpy as np
import pytest

from harness_uq import TaskLog, compare
from harness_uq.data.task_log import AggregateScore
from harness_uq.io.readers import read_logs
from harness_uq_formats import helm
from harness_uq_formats.reader import FORMATS
from tests.adapters.formats.files import ResourceReader
from tests.conftest import originals
from tests.message_checks import has

READERS = {name: ResourceReader(name, module) for name, module in FORMATS.items()}
TYPOS = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed", "seed": 1, "prob": 0.1}


def stat(name: str, mean: float | None, *, split: str = "test", **names: object) -> dict[str, object]:
    """A statistic; without a mean, it has no values."""
    label = {"name": name, "split": split} | names
    return {"name": label, "count": 0, "sum": 0} if mean is None else {"name": label, "count": 1, "mean": mean}


def entry(instance: str, *stats: dict[str, object], **members: object) -> dict[str, object]:
    return {"instance_id": instance, "train_trial_index": 0, "stats": list(stats)} | members


def written(
    folder: Path, *entries: object, model: str = "org/one", name: str = "toy:subject=a", **files: object
) -> Path:
    """A run with these entries; `files` has the contents of other files, and `adapter` other settings."""
    folder.mkdir()
    adapter = {"model": model, "method": "generation", "num_outputs": 1} | files.pop("adapter", {})
    spec = {"name": f"{name},model={model.replace('/', '_')}", "adapter_spec": adapter}
    contents = {"run_spec": spec, "per_instance_stats": list(entries)} | files
    for file, content in contents.items():
        (folder / f"{file}.json").write_text(json.dumps(content))
    return folder


def only_log(folder: Path) -> TaskLog:
    reading = read_logs([str(folder)], harnesses=READERS)
    assert reading.failures == ()
    (log,) = reading.logs
    return log


def test_a_real_run_has_its_counts_and_means() -> None:
    """10 instances, of which id11 is of the split valid; only id222 is correct (read from the file with jq)."""
    log = only_log(originals() / "data/formats/helm")
    assert (log.system, log.task) == ("openai/gpt2", "mmlu:subject=philosophy,method=multiple_choice_joint")
    assert len(log.questions) == len(set(log.questions.hashes)) == 10
    by_key = {(data.metric, data.filter): data for data in log.data}
    assert next(iter(by_key)) == ("exact_match", "test")
    assert len(by_key) == 16  # 8 metrics, 2 splits
    test, valid = by_key["exact_match", "test"].values[:, 0], by_key["exact_match", "valid"].values[:, 0]
    assert [question for question, value in zip(log.questions.ids, test, strict=True) if value == 1] == ["id222"]
    assert (np.isfinite(test).sum(), np.nanmean(test)) == (9, 1 / 9)
    assert (np.isfinite(valid).sum(), valid[log.questions.ids.index("id11")]) == (1, 0)
    assert by_key["exact_match@5", "test"].event == "pass@5"
    assert (log.facts.is_limited, log.facts.is_random_subset) == (True, True)  # max_eval_instances is 10
    assert not log.messages
    (usage,) = log.resources.usage
    assert usage.input_tokens[0, 0] == 333
    assert usage.output_tokens.sum() == 10
    assert log.resources.total_time[0, 0] == pytest.approx(0.6803672313690186)
    assert log.ended_by.counts() == {"completed": 10}


def test_a_perturbed_copy_is_another_question_with_a_filter_and_cluster_of_its_own(tmp_path: Path) -> None:
    copies = [
        entry(one, stat("exact_match", value, perturbation=TYPOS | {"seed": seed}), perturbation=TYPOS | {"seed": seed})
        for one, seed, value in (("id0", 1, 0), ("id0", 2, 1), ("id1", 1, 0), ("id1", 2, 0))
    ]
    originals_ = [entry("id0", stat("exact_match", 1)), entry("id1", stat("exact_match", 0))]
    log = only_log(written(tmp_path / "run", *originals_, *copies))
    original, perturbed = log.data
    assert (original.filter, perturbed.filter) == ("test", "test, typos prob=0.1")
    assert len(log.questions) == 6
    assert (np.nanmean(original.values), np.isfinite(original.values).sum()) == (0.5, 2)
    assert (np.nanmean(perturbed.values), np.isfinite(perturbed.values).sum()) == (0.25, 4)
    assert original.clusters is None
    assert perturbed.clusters.tolist() == [0, 1, 0, 0, 1, 1]


def test_statistics_of_prompts_and_requests_are_no_metrics(tmp_path: Path) -> None:
    names = ("num_references", "finish_reason_stop", "training_co2_cost", "inference_idealized_runtime", "batch_size")
    log = only_log(written(tmp_path / "run", entry("id0", *(stat(name, 1) for name in names), stat("f1_score", 0.5))))
    assert [data.metric for data in log.data] == ["f1_score"]


def test_a_statistic_without_values_has_no_score(tmp_path: Path) -> None:
    log = only_log(
        written(tmp_path / "run", entry("id0", stat("f1_score", None)), entry("id1", stat("f1_score", 0.25)))
    )
    np.testing.assert_array_equal(log.data[0].values, [[np.nan], [0.25]])


@pytest.mark.parametrize(
    ("method", "first"), [("generation", "quasi_exact_match"), ("multiple_choice_joint", "exact_match")]
)
def test_the_main_metric_comes_first(tmp_path: Path, method: str, first: str) -> None:
    names = ("toxic_frac", "exact_match", "quasi_exact_match")
    stats = [stat(name, 1, split=split) for split in ("valid", "test") for name in names]
    log = only_log(written(tmp_path / "run", entry("id0", *stats), adapter={"method": method}))
    assert [(log.data[at].metric, log.data[at].filter) for at in (0, 1)] == [(first, "test"), (first, "valid")]
    assert log.higher_is_better == {"toxic_frac": False}


def test_the_best_of_several_outputs_is_another_quantity(tmp_path: Path) -> None:
    stats = [stat("exact_match", 0), stat("exact_match@5", 1), stat("NDCG@10", 0.4)]
    log = only_log(written(tmp_path / "run", entry("id0", *stats), adapter={"num_outputs": 3}))
    assert {data.metric: data.event for data in log.data} == {
        "exact_match": None,
        "exact_match@5": "pass@3",
        "NDCG@10": None,
    }


def test_choices_of_examples_are_trials_and_metrics_of_one_instance_are_joined(tmp_path: Path) -> None:
    entries = [
        entry("id0", stat("exact_match", 1), train_trial_index=0),
        entry("id0", stat("exact_match", 0), train_trial_index=2),
        entry("id1", stat("exact_match", 1), train_trial_index=2),
        entry("id1", stat("f1_score", 0.5), train_trial_index=2),
    ]
    log = only_log(written(tmp_path / "run", *entries))
    by_metric = {data.metric: data.values for data in log.data}
    np.testing.assert_array_equal(by_metric["exact_match"], [[1, 0], [np.nan, 1]])
    np.testing.assert_array_equal(by_metric["f1_score"], [[np.nan, np.nan], [np.nan, 0.5]])


def test_reported_means_are_those_of_unperturbed_or_perturbed_instances_alone(tmp_path: Path) -> None:
    totals = [
        stat("exact_match", 0.5),
        stat("exact_match", 0.25, perturbation=TYPOS | {"computed_on": "worst"}),
        stat("exact_match", 0.75, perturbation=TYPOS | {"computed_on": "original"}),
    ]
    entries = [entry("id0", stat("exact_match", 1)), entry("id1", stat("exact_match", 0))]
    log = only_log(written(tmp_path / "run", *entries, stats=totals))
    assert {key: result.value for key, result in log.reported.items()} == {("exact_match", "test"): 0.5}


def test_failed_requests_are_noted(tmp_path: Path) -> None:
    states = [
        {"instance": {"id": f"id{at}", "input": {"text": f"q{at}"}}, "result": {"success": at == 0, "error": "timeout"}}
        for at in (0, 1)
    ]
    entries = [entry("id0", stat("exact_match", 1)), entry("id1", stat("exact_match", 0))]
    log = only_log(written(tmp_path / "run", *entries, scenario_state={"request_states": states}))
    assert has(log, "failed-requests-scored", n_failed=1, n_requests=2)
    assert len(set(log.questions.hashes)) == 2


@pytest.mark.parametrize(
    ("result", "ending"),
    [
        ({"success": True}, "completed"),
        ({"success": True, "completions": [{"text": "a", "finish_reason": {"reason": "length"}}]}, "completed"),
        ({"success": False, "error": "Anthropic response has empty content"}, "error"),
        ({"success": False, "error": "Request error: 500, Raw Request: {'prompt': 'refusal'}"}, "error"),
        ({"success": False, "error": "Content blocked: SAFETY"}, "refused"),
        ({"success": False, "error": "Prompt blocked by OpenAI's safety filter"}, "refused"),
        ({"success": False, "error": "Received refusal from OpenAI API: no"}, "refused"),
        ({"success": True, "completions": [{"finish_reason": {"reason": "content_filter"}}]}, "refused"),
        (
            {
                "success": True,
                "completions": [{"finish_reason": {"reason": "The prompt violates OpenAI's content policy. See x"}}],
            },
            "refused",
        ),
        (None, "unknown"),
    ],
)
def test_results_of_requests_are_endings(tmp_path: Path, result: dict[str, object] | None, ending: str) -> None:
    states = [
        {"instance": {"id": "id0"}, "result": result},
        {"instance": {"id": "id1"}, "result": {"success": True}},
        {"instance": {"id": "of no statistic"}, "result": {"success": False}},
    ]
    entries = [entry("id1", stat("exact_match", 0)), entry("id0", stat("exact_match", 1))]
    log = only_log(written(tmp_path / "run", *entries, scenario_state={"request_states": states}))
    assert log.ended_by.counts_without_score(np.array([[0], [np.nan]])) == {ending: 1}
    assert log.ended_by.counts_without_score(np.array([[np.nan], [0]])) == {"completed": 1}


def test_a_trial_of_several_requests_ended_like_the_first_that_failed(tmp_path: Path) -> None:
    results = ({"success": True}, {"success": False, "error": "x"}, {"success": False, "error": "Content blocked"})
    states = [{"instance": {"id": "id0"}, "train_trial_index": 3, "result": result} for result in results]
    entries = [entry("id0", stat("exact_match", 0), train_trial_index=index) for index in (1, 3)]
    log = only_log(written(tmp_path / "run", *entries, scenario_state={"request_states": states}))
    assert log.ended_by.counts() == {"error": 1, "unknown": 1}
    assert log.ended_by.codes[0, 0] == -1


def test_only_statistics_without_values_are_missing_scores(tmp_path: Path) -> None:
    entries = [entry("id0", stat("f1_score", 1)), entry("id1", stat("f1_score", 0, split="valid"))]
    log = only_log(written(tmp_path / "splits", *entries))
    assert log.ended_by is None
    assert [data.is_complete for data in log.data] == [True, True]
    log = only_log(written(tmp_path / "missing", *entries, entry("id2", stat("f1_score", None))))
    assert {data.filter: data.is_complete for data in log.data} == {"test": False, "valid": True}


def test_instances_pair_only_within_the_same_scenario_and_arguments(tmp_path: Path) -> None:
    entries = [entry(f"id{at}", stat("exact_match", at % 2)) for at in range(4)]
    written(tmp_path / "one", *entries)
    written(tmp_path / "two", *entries, model="org/two")
    written(tmp_path / "three", *entries, model="org/two", name="toy:subject=b")
    (comparison,) = compare(tmp_path / "one", tmp_path / "two")
    assert (comparison.n_matched, comparison.task) == (4, "toy:subject=a")
    assert only_log(tmp_path / "three").task == "toy:subject=b"


def test_without_statistics_of_instances_the_totals_remain(tmp_path: Path) -> None:
    totals = [stat("exact_match", 0.5), stat("num_instances", 40), stat("num_references", 4)]
    folder = written(tmp_path / "run", stats=totals)
    (folder / "per_instance_stats.json").unlink()
    (total,) = only_log(folder).data
    assert isinstance(total, AggregateScore)
    assert (total.metric, total.filter, total.value, total.n) == ("exact_match", "test", 0.5, 40)


def test_a_run_in_progress_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", scenario={})
    (folder / "per_instance_stats.json").unlink()
    ((path, message),) = read_logs([str(folder)], harnesses=READERS).failures
    assert path in (str(folder), str(folder / "run_spec.json"))
    assert has([message], "run-without-results", tool="HELM")


@pytest.mark.parametrize("file", ["run_spec", "per_instance_stats", "stats", "scenario_state"])
def test_a_damaged_file_is_named_and_other_runs_are_read(tmp_path: Path, file: str) -> None:
    written(tmp_path / "good", entry("id0", stat("exact_match", 1)))
    bad = written(tmp_path / "bad", entry("id0", stat("exact_match", 1)), model="org/bad")
    (bad / f"{file}.json").write_text('{"name": ')
    reading = read_logs([str(tmp_path)], harnesses=READERS)
    assert [log.system for log in reading.logs] == ["org/one"]
    ((_, message),) = reading.warnings
    assert message.params["reason"].startswith(f"{file}.json: ")


def test_other_folders_are_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "run_spec.json").write_text("{}")
    paths = [str(tmp_path / "run_spec.json"), str(tmp_path / "stats.json")]
    assert helm.find(paths[:1]).unrecognised == (paths[0],)
    assert helm.find(paths[1:]).unrecognised == (paths[1],)


def test_files_of_one_folder_belong_together(tmp_path: Path) -> None:
    paths = [str(tmp_path / run / name) for name in ("run_spec.json", "stats.json") for run in ("one", "two")]
    assert sorted(map(sorted, READERS["helm"].parts(paths))) == [sorted(paths[0::2]), sorted(paths[1::2])]


def test_a_mean_that_differs_from_that_of_the_tool_is_named(tmp_path: Path) -> None:
    entries = [
        entry(f"id{at}", stat("exact_match", value), train_trial_index=trial)
        for at, trial, value in ((0, 0, 1), (1, 0, 0), (0, 1, 1))
    ]
    right = only_log(written(tmp_path / "right", *entries, stats=[stat("exact_match", 0.75)]))
    wrong = only_log(written(tmp_path / "wrong", *entries, stats=[stat("exact_match", 2 / 3)]))
    assert not right.messages
    assert has(wrong, "tool-value-differs", metric="exact_match", value=0.75, tool="HELM")


def test_a_range_is_only_said_to_be_inferred_if_all_scores_are_equal(tmp_path: Path) -> None:
    for name, second, source in (("a", 0.5, "its name"), ("b", 0.25, None)):
        entries = [entry("id0", stat("f1_score", 0.5)), entry("id1", stat("f1_score", second))]
        (scores,) = only_log(written(tmp_path / name, *entries)).data
        assert (scores.bounds, scores.bounds_source) == ((0, 1), source)
