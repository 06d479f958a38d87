import json
from pathlib import Path

import numpy as np
import pytest

from harness_uq import LogError, Scores, estimate
from harness_uq.data.task_log import AggregateScore, HarnessResult
from harness_uq.plugin_api import Run
from harness_uq_lm_eval.harness import LmEvalHarness
from tests.adapters.lm_eval.logs import TIME, Folder, data_of, one_task, row, rows, without
from tests.message_checks import has, names_of, params_of


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def values(log, metric="acc", filter_name="none"):
    data = data_of(log, metric, filter_name)
    assert isinstance(data, Scores)
    return data.values[:, 0].tolist()


# ---------------------------------------------------------------- a plain task


def test_a_run_names_its_system_source_and_questions(tmp_path):
    log = one_task(tmp_path, rows("acc", [1, 0]), {"acc,none": 0.5, "acc_stderr,none": 0.5})
    assert (log.system, log.task) == ("org/model", "t")
    assert (log.source.harness, log.source.version, log.source.time) == (
        "lm-eval",
        "0.4.13",
        "2026-01-02T03:04:05.000006",
    )
    assert log.source.path.endswith(f"samples_t_{TIME}.jsonl")
    assert log.questions.ids == ("0", "1")
    assert log.questions.hashes == ("hash of 0", "hash of 1")
    assert values(log) == [1, 0]
    assert log.reported == {("acc", "none"): HarnessResult(0.5, 0.5, 2)}
    assert (log.notes, log.warnings) == ((), ())


def test_ranks_that_were_concatenated_keep_each_value_with_its_question(tmp_path):
    # two ranks, each with all rows of one filter, then all rows of the other
    order = [(0, "a"), (2, "a"), (0, "b"), (2, "b"), (1, "a"), (3, "a"), (1, "b"), (3, "b")]
    records = [row(doc_id, filter_name=name, em=doc_id + (name == "b") / 10) for doc_id, name in order]
    log = one_task(tmp_path, records, {})
    assert log.questions.ids == ("0", "2", "1", "3")
    assert values(log, "em", "a") == [0, 2, 1, 3]
    assert values(log, "em", "b") == [0.1, 2.1, 1.1, 3.1]


def test_a_metric_of_part_of_the_questions_is_estimated_from_its_samples(tmp_path):
    records = [row(i, acc=i % 2, **({"em": i % 3 == 0} if i % 2 else {})) for i in range(40)]
    n_right = sum(i % 3 == 0 for i in range(1, 40, 2))
    log = one_task(tmp_path, records, {"acc,none": 0.5, "em,none": n_right / 20, "em_stderr,none": 0.1})
    assert {key[0]: result.n for key, result in log.reported.items()} == {"acc": 40, "em": 20}
    rows_of = {row.metric: row for row in estimate(str(tmp_path))}
    assert (rows_of["em"].method, rows_of["em"].n_questions) == ("beta", 20)


def test_a_metric_that_some_documents_lack_has_gaps(tmp_path):
    records = [row(0, acc=1, em=1), row(1, acc=0), row(2, acc=1, em=0)]
    log = one_task(tmp_path, records, {"acc,none": 2 / 3, "em,none": 0.5})
    np.testing.assert_array_equal(values(log, "em"), [1, np.nan, 0])
    assert names_of(log.notes) == ["scored-on-part"]
    assert has(log, "scored-on-part", label="em", n_scored=2, n_questions=3)
    assert log.warnings == ()


def test_a_row_with_nan_in_an_ignored_field_is_read(tmp_path):
    records = [row(0, acc=1), {**row(1, acc=0), "resps": [[float("nan")]]}, row(2, acc=float("nan"))]
    log = one_task(tmp_path, records, {"acc,none": float("nan")})
    np.testing.assert_array_equal(values(log), [1, 0, np.nan])
    assert log.reported["acc", "none"].value is None
    assert names_of(log.warnings) == ["unusable-scores"]
    assert has(log, "unusable-scores", n_left_out=1, n_questions=3, problem="the score NaN")


def test_fields_are_the_same_whether_or_not_a_row_holds_nan(tmp_path):
    records = [row(i, doc={"passage": f"é{i % 2}", "n": 1.5, "list": ["x", {"y": None}]}, acc=1) for i in range(4)]
    records[3]["resps"] = [[float("inf")]]
    log = one_task(tmp_path, records, {})
    assert {name: field.codes.tolist() for name, field in log.questions.fields.items()} == {
        "passage": [0, 1, 0, 1],
        "n": [0, 0, 0, 0],
        "list": [0, 0, 0, 0],
    }


def test_names_such_as_pass_at_1_are_metrics(tmp_path):
    log = one_task(tmp_path, [row(0, **{"pass@1": 1.0}), row(1, **{"pass@1": 0.0})], {"pass@1,none": 0.5})
    assert values(log, "pass@1") == [1, 0]


def test_columns_that_are_not_metrics_are_omitted_with_a_note(tmp_path):
    records = [row(i, metrics=["acc"], acc=1, hallucination="truthful", latency=1.5) for i in range(2)]
    log = one_task(tmp_path, records, {"acc,none": 1.0})
    assert [data.metric for data in log.data] == ["acc"]
    assert names_of(log.notes) == ["unlisted-columns"]
    assert has(log, "unlisted-columns", columns="hallucination, latency")


def test_an_unlisted_column_that_the_results_report_is_a_metric(tmp_path):
    records = [row(i, metrics=["acc"], acc=1, extra=0.5) for i in range(2)]
    assert values(one_task(tmp_path, records, {"acc,none": 1.0, "extra,none": 0.5}), "extra") == [0.5, 0.5]


def test_settings_for_other_scopes_are_kept(tmp_path):
    log = one_task(tmp_path, rows("acc", [1, 0]), {"acc,none": 0.5}, config={"num_fewshot": 0}, n=2)
    assert (log.facts.n_all, log.facts.settings["num_fewshot"]) == (100, 0)


def test_a_declared_cluster_is_part_of_the_task_log(tmp_path):
    config = {"metadata": {"uq": {"cluster": "passage"}}}
    log = one_task(tmp_path, rows("acc", [1, 0]), {"acc,none": 0.5}, config=config)
    assert (log.declared.cluster, log.declared.origin) == ("passage", "metadata.uq.cluster")


def test_hashes_count_only_where_every_row_has_one(tmp_path):
    records = [row(0, acc=1), without(row(1, acc=0), "doc_hash")]
    assert one_task(tmp_path, records, {}).questions.hashes == ()


# ---------------------------------------------------------------- filters and trials


def test_every_filter_has_its_own_values_and_one_set_of_questions(tmp_path):
    records = [row(i, filter_name=name, em=float(name == "b")) for name in "ab" for i in range(3)]
    log = one_task(tmp_path, records, {"em,a": 0.0, "em,b": 1.0})
    assert len(log.questions) == 3
    assert (values(log, "em", "a"), values(log, "em", "b")) == ([0, 0, 0], [1, 1, 1])


FILTERS = {"filter_list": [{"name": "strict"}, {"name": "flexible"}]}


def unlabelled(blocks):
    return [without(row(i, em=value), "filter") for block in blocks for i, value in enumerate(block)]


def test_rows_before_0_4_7_take_the_names_of_their_filters_in_order(tmp_path):
    log = one_task(tmp_path, unlabelled([[1, 0], [1, 1]]), {"em,strict": 0.5, "em,flexible": 1.0}, config=FILTERS)
    assert (values(log, "em", "strict"), values(log, "em", "flexible")) == ([1, 0], [1, 1])
    assert log.warnings == ()


def test_unlabelled_rows_beyond_the_last_filter_are_duplicates(tmp_path):
    log = one_task(tmp_path, unlabelled([[1, 0], [1, 1], [0]]), {"em,strict": 0.5, "em,flexible": 1.0}, config=FILTERS)
    assert values(log, "em", "strict") == [1, 0]
    assert names_of(log.warnings) == ["repeated-rows"]
    assert has(log, "repeated-rows", n_rows=1)


def test_unlabelled_rows_of_unknown_filters_are_numbered(folder):
    folder.samples("t", unlabelled([[1, 0], [1, 1]]))
    log = folder.log()
    assert (values(log, "em", "filter 1"), values(log, "em", "filter 2")) == ([1, 0], [1, 1])
    assert names_of(log.warnings) == ["filters-unnamed"]


def test_unlabelled_rows_that_repeat_some_questions_are_duplicates(folder):
    folder.samples("t", unlabelled([[1, 0, 1], [0]]))
    log = folder.log()
    assert values(log, "em") == [1, 0, 1]
    assert names_of(log.warnings) == ["repeated-rows"]
    assert has(log, "repeated-rows", n_rows=1)


def test_rows_without_a_list_of_metrics_have_those_that_the_results_report(tmp_path):
    records = [without(row(i, acc=1, f1=0.5), "metrics", "filter") for i in range(2)]
    log = one_task(tmp_path, records, {"acc,none": 1.0})
    assert [data.metric for data in log.data] == ["acc"]
    assert names_of(log.notes) == ["unlisted-columns"]
    assert has(log, "unlisted-columns", columns="f1")


def test_rows_without_a_list_of_metrics_and_without_results_have_all_their_columns(folder):
    folder.samples("t", [without(row(i, acc=1, f1=0.5), "metrics", "filter") for i in range(2)])
    assert [data.metric for data in folder.log().data] == ["acc", "f1"]


def test_repeats_are_stated_as_logged_and_reduced(tmp_path):
    records = [row(i, filter_name="maj@4", em=1.0) for i in range(2)]
    log = one_task(tmp_path, records, {"em,maj@4": 1.0}, config={"repeats": 4})
    data = data_of(log, "em", "maj@4")
    assert (data.logged_trials, data.reduction, data.values.shape) == (4, "maj@4", (2, 1))
    assert names_of(log.notes) == ["trials-not-scored", "trials-not-replayed"]
    assert has(log, "trials-not-scored", n_trials=4)


# ---------------------------------------------------------------- damaged and contradictory logs


def test_the_first_row_of_a_repeated_question_and_filter_counts(tmp_path):
    log = one_task(tmp_path, [*rows("acc", [1, 0]), row(0, acc=0), row(1, acc=1)], {"acc,none": 0.5})
    assert values(log) == [1, 0]
    assert names_of(log.warnings) == ["repeated-rows"]
    assert has(log, "repeated-rows", n_rows=2)


def test_a_truncated_line_is_a_warning_and_the_others_are_read(folder):
    records = [json.dumps(record) for record in rows("acc", [1, 0, 1])]
    folder.samples("t", [*records[:2], records[2][:50]])
    folder.results({"t": {"acc,none": 2 / 3}}, n=3)
    log = folder.log()
    assert values(log) == [1, 0]
    assert has(log, "broken-lines", n_lines=1, lines="3", n_kept=2)
    assert has(log, "samples-missing", n_logged=2, n_scored=3)
    assert len(log.warnings) == 2


def test_several_broken_lines_are_listed(folder):
    folder.samples("t", ["{", *rows("acc", [1]), *["}"] * 7])
    params = params_of(folder.log(), "broken-lines")
    assert (params["n_lines"], params["lines"]) == (8, "1, 3, 4, 5, 6 and 3 more")
    assert params["file"] == "samples_t_2026-01-02T03-04-05.000006.jsonl"


def test_trimmed_samples_are_reported_with_the_harness_value(tmp_path):
    log = one_task(tmp_path, rows("acc", [1, 0, 1]), {"acc,none": 0.75, "acc_stderr,none": 0.04}, n=100)
    assert values(log) == [1, 0, 1]
    assert log.reported["acc", "none"] == HarnessResult(0.75, 0.04, 100)
    assert names_of(log.warnings) == ["samples-missing"]
    assert has(log, "samples-missing", n_logged=3, n_scored=100)


def test_a_filter_without_rows_keeps_its_reported_value(tmp_path):
    log = one_task(tmp_path, rows("em", [1, 0], filter_name="strict"), {"em,strict": 0.5, "em,loose": 0.7})
    assert data_of(log, "em", "loose") == AggregateScore(
        "em", "loose", 0.7, 2, "The samples contain no row of filter 'loose'"
    )


def test_a_reported_metric_without_a_column_keeps_its_value(tmp_path):
    log = one_task(tmp_path, rows("acc", [1, 0]), {"acc,none": 0.5, "f1,none": 0.7})
    assert data_of(log, "f1").reason == "The samples contain no metric 'f1'"


def test_more_questions_than_the_results_say_are_a_warning(tmp_path):
    log = one_task(tmp_path, rows("acc", [1, 0, 1, 0]), {"acc,none": 0.5}, n=2)
    assert names_of(log.warnings) == ["more-samples-than-scored"]
    assert has(log, "more-samples-than-scored", n_logged=4, n_scored=2)


def test_questions_that_no_metric_scores_are_not_too_many(tmp_path):
    # lm-eval 0.4.12 counts the questions of the metric with the most scores
    records = [row(0, acc=1), row(1, metrics=[]), row(2, acc=0)]
    log = one_task(tmp_path, records, {"acc,none": 0.5}, n=2)
    assert (len(log.questions), log.warnings) == (3, ())
    assert names_of(log.notes) == ["scored-on-part"]
    assert has(log, "scored-on-part", label="acc", n_scored=2, n_questions=3)


def test_a_broken_line_of_a_run_of_unknown_size_contradicts_nothing(folder):
    folder.samples("t", [*rows("acc", [1, 0]), "{"])
    folder.results({"t": {"acc,none": 2 / 3}})
    assert names_of(folder.log().warnings) == ["broken-lines"]


def test_contradictory_totals_are_a_warning(tmp_path):
    log = one_task(tmp_path, rows("acc", [1, 0, 1, 0]), {"acc,none": 0.75})
    assert names_of(log.warnings) == ["value-not-reproduced"]
    assert has(log, "value-not-reproduced", label="acc", value=0.5, reported=0.75)


# ---------------------------------------------------------------- parts of a run


def test_results_without_samples_are_totals(folder):
    folder.results({"t": {"acc,none": 0.5, "acc_stderr,none": 0.1}, "u": {"acc,none": 0.25}}, n={"t": 40})
    logs = folder.logs()
    assert logs["t"].data == (AggregateScore("acc", "none", 0.5, 40, "No samples file of this task was found"),)
    assert data_of(logs["u"], "acc").n is None
    assert len(logs["t"].questions) == 0


def test_samples_without_results_have_no_reported_values(tmp_path):
    folder = Folder(tmp_path / "org__model")
    folder.samples("t", rows("acc", [1, 0]))
    log = folder.log()
    assert (log.system, dict(log.reported), log.source.version) == ("org/model", {}, None)
    assert values(log) == [1, 0]
    assert names_of(log.notes) == ["system-named-after-folder"]


@pytest.mark.parametrize(("content", "why"), [('{"results": {', "not valid JSON"), ("", "empty")])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_results_file_that_cannot_be_read_is_not_called_missing(tmp_path, content, why, is_named):
    logs = Folder(tmp_path / "org__model")
    samples = logs.samples("t", rows("acc", [1.0, 0.0, 1.0]))
    results = logs.results({"t": {"acc,none": 2 / 3}}, n=3)
    Path(results).write_text(content)
    (log,) = logs.logs(*([] if is_named else [samples])).values()
    reason = params_of(log, "system-named-after-folder")["reason"]
    assert reason.startswith(f"{Path(results).name} cannot be read: ")
    assert why in reason


def test_a_task_whose_samples_are_broken_keeps_its_reported_value(folder):
    folder.results({"t": {"acc,none": 0.5}, "u": {"acc,none": 0.5}}, n=2)
    folder.samples("t", ["{", "}"])
    folder.samples("u", rows("acc", [1, 0]))
    logs = folder.logs()
    assert data_of(logs["t"], "acc").reason == "The samples file contains no row"
    assert has(logs["t"], "broken-lines", n_lines=2, lines="1, 2")
    assert values(logs["u"]) == [1, 0]


def test_a_run_of_which_nothing_can_be_read_is_an_error(folder):
    folder.samples("t", ['{"doc_id": 0, "acc'])
    with pytest.raises(LogError, match=r"1 line of samples_t_"):
        folder.logs()


def test_a_group_is_totals_with_its_tasks(folder):
    folder.results(
        {"g": {"acc,none": 0.5, "acc_stderr,none": "N/A"}, "a": {"acc,none": 0.25}, "b": {"acc,none": 0.75}},
        n={"a": 4, "b": 4},
        group_subtasks={"g": ["a", "b"]},
    )
    folder.samples("a", rows("acc", [1, 0, 0, 0]))
    log = folder.logs()["g"]
    assert log.subtasks == ("a", "b")
    assert log.data == (AggregateScore("acc", "none", 0.5, 8, "This is a group of 2 tasks"),)
    assert log.reported == {("acc", "none"): HarnessResult(0.5, None, 8)}


def test_a_group_mixes_metrics_of_different_sizes(folder):
    counts = {"acc,none": 40, "f1,none": 20}
    folder.results({"g": {"acc,none": 0.5, "f1,none": 0.3, "sample_count": counts}}, group_subtasks={"g": ["a", "b"]})
    assert [data.n for data in folder.log().data] == [40, 20]


def test_a_run_that_only_generated_has_no_scores(tmp_path):
    log = one_task(tmp_path, rows("bypass", [None, None]), {"bypass,none": 999})
    assert log.data == ()
    assert names_of(log.notes) == ["bypassed-metrics"]
    assert has(log, "bypassed-metrics", metrics="bypass")


def test_a_metric_that_is_bypassed_has_no_scores(tmp_path):
    config = {"metric_list": [{"metric": "acc"}, {"metric": "likelihood", "aggregation": "bypass"}]}
    records = [row(i, acc=1, likelihood=[0, [-1.0, -2.0]]) for i in range(2)]
    log = one_task(tmp_path, records, {"acc,none": 1.0, "likelihood,none": 999.0}, config=config)
    assert [data.metric for data in log.data] == ["acc"]
    assert names_of(log.notes) == ["bypassed-metrics"]
    assert has(log, "bypassed-metrics", metrics="likelihood")


def test_lengths_that_a_run_did_not_try_are_no_metrics(tmp_path):
    records = [row(i, **{"4096": -1.0, "8192": 1.0, "16384": -1.0}) for i in range(2)]
    config = {"metric_list": [{"metric": m, "aggregation": "aggregate_metrics"} for m in ("4096", "8192", "16384")]}
    log = one_task(tmp_path, records, {"4096,none": -1, "8192,none": 1.0, "16384,none": -1}, config=config)
    assert [data.metric for data in log.data] == ["8192"]


def test_logs_of_0_4_0_are_read(folder):
    records = [without(row(i, acc=float(i)), "filter", "metrics", "doc_hash") for i in range(2)]
    for record in records:
        record["arguments"] = [[f"Q: {record['doc_id']}", " yes"]]
    folder.text("pretrained__org__m_t.jsonl", json.dumps(records, indent=2))
    folder.results(
        {"t": {"acc,none": 0.5, "acc_stderr,none": 0.5}},
        name="results.json",
        config={"model": "hf", "model_args": "pretrained=org/m"},
        model_name=None,
        lm_eval_version=None,
    )
    log = folder.log()
    assert (log.system, log.source.version, log.questions.hashes) == ("org/m", None, ())
    assert values(log) == [0, 1]
    assert log.questions.prompt_prefix.codes.tolist() == [0, 1]
    assert log.warnings == ()


def test_a_plain_run_of_files_is_read_too(folder):
    files = (folder.results({"t": {"acc,none": 0.5}}, n=2), folder.samples("t", rows("acc", [1, 0])))
    (log,) = LmEvalHarness().read(Run("run", files))
    assert values(log) == [1, 0]


# ---------------------------------------------------------------- openings of prompts


def prompts_log(tmp_path, prompts, *, num_fewshot=0, sampler="default"):
    records = [row(i, prompt=prompt, acc=1) for i, prompt in enumerate(prompts)]
    config = {"fewshot_config": {"sampler": sampler}}
    return one_task(tmp_path, records, {"acc,none": 1.0}, config=config, **{"n-shot": {"t": num_fewshot}})


def test_passages_that_open_the_prompts_are_candidates(tmp_path):
    prompts = [f"Read.\n{'AB'[i % 2] * 250} Question {i}" for i in range(4)]
    assert prompts_log(tmp_path, prompts).questions.prompt_prefix.codes.tolist() == [0, 1, 0, 1]


def test_examples_drawn_for_each_question_are_not(tmp_path):
    examples = [f"Q: example {i % 2}{'x' * 250}\nA: yes\n\n" for i in range(4)]
    prompts = [f"{example}Q: {i}\nA:" for i, example in enumerate(examples)]
    assert prompts_log(tmp_path, prompts, num_fewshot=1).questions.prompt_prefix is None


@pytest.mark.parametrize("sampler", ["default", "first_n"])
def test_examples_that_all_questions_share_do_not_matter(tmp_path, sampler):
    examples = "Q: example\nA: yes\n\n" * 40
    prompts = [f"{examples}{'AB'[i % 2] * 250} Question {i}" for i in range(4)]
    log = prompts_log(tmp_path, prompts, num_fewshot=40, sampler=sampler)
    assert log.questions.prompt_prefix.codes.tolist() == [0, 1, 0, 1]


def test_openings_of_unknown_runs_are_not_used(folder):
    folder.samples("t", rows("acc", [1, 0]))
    assert folder.log().questions.prompt_prefix is None


@pytest.mark.parametrize("n_right", [0, 41])
def test_pass_at_1_of_one_trial_has_the_same_interval_with_and_without_samples(tmp_path, n_right):
    """HumanEval: the function that computes `pass@1` has another name than the metric."""
    scores = [1] * n_right + [0] * (164 - n_right)
    config = {"repeats": 1, "metric_list": [{"metric": "def pass_at_k(a, b):\n    ...", "aggregation": "mean"}]}
    for name in ("total", "samples"):
        folder = Folder(tmp_path / name)
        totals = {"t": {"pass@1,none": n_right / 164, "pass@1_stderr,none": 0.03 * (n_right > 0)}}
        folder.results(totals, configs={"t": config}, n=164)
        if name == "samples":
            folder.samples("t", rows("pass@1", scores))
    (total,), (of_samples,) = (estimate(tmp_path / name) for name in ("total", "samples"))
    assert (total.method, of_samples.method) == ("totals", "beta")
    assert total.interval == of_samples.interval


def test_pass_at_1_of_several_trials_is_no_proportion_of_questions(tmp_path):
    folder = Folder(tmp_path)
    folder.results({"t": {"pass@1,none": 0.25}}, configs={"t": {"repeats": 4}}, n=164)
    assert data_of(folder.log(), "pass@1").is_share is None
