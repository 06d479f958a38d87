"""Results of promptfoo: a real file of others, a run of promptfoo 0.123.1, and each trap of the format."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

from harness_uq import TaskLog, compare, estimate
from harness_uq.io.readers import read_logs
from harness_uq.options import Options
from harness_uq_formats.reader import FORMATS
from tests.adapters.formats.files import ResourceReader
from tests.conftest import originals
from tests.message_checks import has

READERS = {name: ResourceReader(name, module) for name, module in FORMATS.items()}


def result(question: str, score: float, *, column: int = 0, test: int = 0, **members: object) -> dict[str, object]:
    """A result as promptfoo writes it."""
    return {
        "gradingResult": {"pass": score == 1, "score": score},
        "latencyMs": 500,
        "namedScores": {},
        "prompt": {"raw": f"Say {question}", "label": "Say {{q}}"},
        "promptId": f"{column % 2:064x}",
        "promptIdx": column,
        "provider": {"id": "toy:a", "label": "A"},
        "score": score,
        "success": score == 1,
        "failureReason": 0 if score == 1 else 1,
        "testIdx": test,
        "testCase": {"vars": {"q": question}, "assert": [{"type": "contains", "value": "x"}]},
        "vars": {"q": question},
    } | members


def evaluation(*results: dict[str, object], version: int = 3, **members: object) -> dict[str, object]:
    return {"evalId": "e", "results": {"version": version, "results": list(results)}, "config": {}} | members


def read(path: Path) -> tuple[TaskLog, ...]:
    reading = read_logs([str(path)], harnesses=READERS)
    assert reading.failures == ()
    return reading.logs


def written(folder: Path, content: object, name: str = "results.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content))
    return path


def message_of(path: Path) -> object:
    ((_, message),) = read_logs([str(path)], harnesses=READERS).failures
    return message


# ---------------------------------------------------------------- files of others


def test_a_run_with_repeats_has_the_counts_and_means_of_promptfoo() -> None:
    """Per column 12 results: 0.75 twice, 4 errors, 1 four times and 0 twice (read from the file with jq)."""
    logs = read(originals() / "data/formats/promptfoo/own_run_0.123.1_repeat2.json")
    assert [log.system for log in logs] == [f"{one}, prompt {two}" for one in "AB" for two in ("6bc1f4ff", "2d267633")]
    for log in logs:
        success, score, has_hello, half = log.data
        assert (log.task, len(log.questions), success.values.shape) == ("toy", 6, (6, 2))
        assert (success.values == [[1, 1], [0, 0], [0, 0], [1, 1], [0, 0], [1, 1]]).all()
        np.testing.assert_array_equal(score.values.mean(axis=1), [0.75, 0, 0, 1, 0, 1])
        assert np.isfinite(has_hello.values).sum() == np.isfinite(half.values).sum() == 2
        assert log.reported["success", "none"].value == 6 / 12 == success.values.mean()
        assert log.reported["score", "none"].value == 5.5 / 12 == score.values.mean()
        assert has(log.messages, "errors-count-as-zero", tool="promptfoo", n_errors=4, n_trials=12)
        assert log.ended_by.counts() == {"completed": 8, "error": 4}
        (usage,) = log.resources.usage
        assert (np.nansum(usage.input_tokens), np.nansum(usage.output_tokens)) == (80, 16)
        assert np.nansum(usage.cost) == pytest.approx(0.008)
    assert log.questions.ids == logs[0].questions.ids
    assert np.nansum(logs[0].resources.total_time) == pytest.approx(0.018)


def test_a_file_of_which_results_were_removed_keeps_the_totals() -> None:
    """5 of 56 results, of which tests 0, 2 and 3 passed; promptfoo reports 53 of 56."""
    (log,) = read(originals() / "data/formats/promptfoo/virsel_v1_gpt4o_trimmed.json")
    assert (log.system, log.task, len(log.questions)) == ("openai:gpt-4o", "test_v1old", 5)
    assert log.data[0].values[:, 0].tolist() == [1, 1, 1, 0, 0]
    reported = log.reported["success", "none"]
    assert (reported.value, reported.n) == (53 / 56, 56)
    (usage,) = log.resources.usage
    costs = [0.00303, 0.0026225, 0.0034325, 0.0036975, 0.0032075]
    np.testing.assert_allclose(usage.cost[:, 0], costs)
    np.testing.assert_allclose(log.resources.total_time[:, 0], [1.52, 0.892, 0.908, 4.946, 1.07])


# ---------------------------------------------------------------- traps


def test_repeats_are_trials_although_each_has_its_own_test_number(tmp_path: Path) -> None:
    rows = [
        result(question, score, test=test)
        for test, (question, score) in enumerate(zip("abab", (1, 0, 0, 1), strict=True))
    ]
    (log,) = read(written(tmp_path, evaluation(*reversed(rows))))
    assert log.data[0].values.tolist() == [[1, 0], [0, 1]]


def test_repeats_from_a_cache_are_no_trials_of_the_model(tmp_path: Path) -> None:
    """Question a has one answer of the model and two from a cache; the first answer to b was there before the run."""
    answers = [("a", 1, False), ("a", 1, True), ("a", 1, True), ("b", 0, True), ("b", 1, None), ("b", 0, False)]
    rows = [
        result(question, score, test=test, response={"output": "x", "cached": cached})
        for test, (question, score, cached) in enumerate(answers)
    ]
    path = written(tmp_path, evaluation(*rows))
    (log,) = read(path)
    assert log.facts.n_cached == 2
    row, of_k = (estimate(path, Options(estimand=estimand), metric=["success"])[0] for estimand in ("mean", "pass^2"))
    assert has(row.notes, "cached-trials", n_cached=2, n_repeats=4)
    assert has(of_k.warnings, "cached-trials-of-pass-k", n_cached=2, n_repeats=4, estimand="pass^2")


def test_only_failure_reason_2_is_an_error(tmp_path: Path) -> None:
    failed = result("a", 0, error="Expected output to contain x")
    errored = result("b", 0, failureReason=2, error="timeout", gradingResult=None)
    (log,) = read(written(tmp_path, evaluation(failed, errored, result("c", 1))))
    assert log.ended_by.counts() == {"completed": 2, "error": 1}
    assert has(log.messages, "errors-count-as-zero", n_errors=1, n_trials=3)
    assert log.data[0].values.sum() == 1


def test_version_2_has_neither_numbers_nor_reasons(tmp_path: Path) -> None:
    rows = [result("a", 1), result("b", 0, error="no x"), result("c", 0, error="timeout", gradingResult=None)]
    rows += [result("a", 1, provider={"id": "toy:b"})]
    for row in rows:
        for name in ("promptIdx", "testIdx", "failureReason", "testCase", "promptId"):
            del row[name]
    table = {"head": {"prompts": [], "vars": ["q"]}, "body": []}
    document = evaluation(*rows, version=2)
    document["results"]["table"] = table
    first, second = read(written(tmp_path, document))
    assert (first.system, second.system) == ("A", "toy:b")
    assert first.data[0].values[:, 0].tolist() == [1, 0, 0]
    assert has(first.messages, "errors-count-as-zero", n_errors=1, n_trials=3)
    assert second.questions.ids == first.questions.ids[:1]


def test_results_without_a_document_are_read_from_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    rows = [result("a", 1), result("b", 0.5, test=1, success=False), result("a", 0, test=2)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (log,) = read(path)
    assert (log.task, log.system) == ("run", "A")
    success, score = log.data
    np.testing.assert_array_equal(success.values, [[1, 0], [0, np.nan]])
    np.testing.assert_array_equal(score.values, [[1, 0], [0.5, np.nan]])


def test_files_pair_on_the_content_and_not_on_the_number_of_a_test(tmp_path: Path) -> None:
    first = [result("a\nb", 1, test=0), result("c", 0, test=1)]
    second = [result("c", 0, test=0, provider="toy:b"), result("a\r\nb", 1, test=1, provider="toy:b")]
    for name, rows in (("one", first), ("two", second)):
        written(tmp_path, evaluation(*rows, evalId=name), f"{name}.json")
    logs = read(tmp_path)
    assert set(logs[0].questions.ids) == set(logs[1].questions.ids)
    comparison = compare(tmp_path / "one.json", tmp_path / "two.json")[0]
    assert (comparison.n_matched, comparison.difference.value) == (2, 0)


def test_the_same_variables_with_other_assertions_are_another_question(tmp_path: Path) -> None:
    other = result("a", 0, test=1)
    other["testCase"]["assert"][0]["value"] = "y"
    (log,) = read(written(tmp_path, evaluation(result("a", 1), other)))
    assert len(log.questions) == 2


def test_a_list_of_variables_gives_a_question_for_each_value(tmp_path: Path) -> None:
    rows = [result("a", 1), result("b", 1, test=1)]
    for row in rows:
        row["testCase"]["vars"] = {"q": ["a", "b"]}
    (log,) = read(written(tmp_path, evaluation(*rows)))
    assert len(log.questions) == 2


def test_variables_that_promptfoo_adds_and_numbers_of_rows_do_not_identify_a_question(tmp_path: Path) -> None:
    rows = [result("a", 1), result("a", 0, test=1)]
    for number, row in enumerate(rows):
        row["vars"] = {"q": "a", "sessionId": f"s{number}", "_conversation": [number]}
        row["testCase"]["description"] = f"Row #{number}"
    (log,) = read(written(tmp_path, evaluation(*rows)))
    assert log.data[0].values.tolist() == [[1, 0]]


def test_removed_variables_are_named_unless_the_results_are_repeats(tmp_path: Path) -> None:
    rows = [result("a", 1, vars={}), result("b", 0, test=1, vars={})]
    for row in rows:
        del row["testCase"]["vars"]
    document = evaluation(*rows)
    assert has([message_of(written(tmp_path, document))], "questions-not-identified", n_results=2)
    (log,) = read(written(tmp_path, document | {"runtimeOptions": {"repeat": 2}}))
    assert log.data[0].values.tolist() == [[1, 0]]


@pytest.mark.parametrize("place", ["config", "test"])
def test_the_number_of_repeats_can_be_an_option_of_the_evaluation_or_of_the_test(tmp_path: Path, place: str) -> None:
    rows = [result("", 1, vars={}), result("", 0, test=1, vars={})]
    for row in rows:
        row["testCase"] = {"options": {"repeat": 2} if place == "test" else {}}
    config = {"evaluateOptions": {"repeat": 2}} if place == "config" else {}
    (log,) = read(written(tmp_path, evaluation(*rows, config=config)))
    assert log.data[0].values.tolist() == [[1, 0]]


def test_a_cost_of_0_is_unknown_and_tokens_of_graders_are_not_of_the_system(tmp_path: Path) -> None:
    tokens = {"prompt": 10, "completion": 2}
    row = result("a", 1, cost=0, response={"tokenUsage": tokens}, tokenUsage={"prompt": 99, "completion": 99})
    (log,) = read(written(tmp_path, evaluation(row)))
    (usage,) = log.resources.usage
    assert (usage.cost, usage.input_tokens.tolist(), usage.output_tokens.tolist()) == (None, [[10]], [[2]])
    assert log.resources.is_grader_separate
    del row["response"]
    (log,) = read(written(tmp_path, evaluation(row)))
    assert not log.resources.is_grader_separate


@pytest.mark.parametrize("version", [1, 4, None])
def test_another_version_is_named(tmp_path: Path, version: int | None) -> None:
    path = written(tmp_path, evaluation(result("a", 1), version=version))
    assert has([message_of(path)], "version-not-supported", field="results.version", version=json.dumps(version))


def test_prompts_are_named_by_label_file_or_hash_but_not_by_their_text(tmp_path: Path) -> None:
    texts = {"short": "short", "notes.txt: A long\ntext": "notes.txt", "Tell {{q}}": "prompt 00000000"}
    rows = [
        result("a", 1, column=column, promptId="0" * 64, prompt={"raw": "Tell a", "label": label})
        for column, label in enumerate(texts)
    ]
    assert [log.system for log in read(written(tmp_path, evaluation(*rows)))] == [
        f"A, {name}" for name in texts.values()
    ]


def test_a_copy_of_an_evaluation_counts_once(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        written(tmp_path, evaluation(result("a", 1), result("b", 0, test=1)), name)
    assert len(read(tmp_path)) == 1


def test_other_json_files_are_not_recognised(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, content, f"{at}.json") for at, content in enumerate(({"results": {}}, [1], {"evalId": 1}))
    ]
    discovery = READERS["promptfoo"].find(list(map(str, paths)))
    assert (discovery.runs, discovery.problems) == ((), ())


def test_the_result_does_not_depend_on_the_order_of_the_results(tmp_path: Path) -> None:
    rows = [result(question, score, test=test) for test, (question, score) in enumerate((("a", 1), ("b", 0), ("a", 0)))]
    logs = [read(written(tmp_path, evaluation(*order)))[0] for order in (rows, copy.deepcopy(rows)[::-1])]
    np.testing.assert_array_equal(logs[0].data[0].values, logs[1].data[0].values)


def test_a_mean_that_differs_from_that_of_the_tool_is_named(tmp_path: Path) -> None:
    document = evaluation(result("a", 1), result("b", 0, test=1))
    document["results"]["prompts"] = [{"metrics": {"score": 1.5, "testPassCount": 1, "testFailCount": 1}}]
    (log,) = read(written(tmp_path, document))
    assert has(log, "tool-value-differs", metric="score", value=0.5, reported=0.75)
    assert not has(log, "tool-value-differs", metric="success")


def test_a_range_is_only_said_to_be_inferred_if_all_scores_are_equal(tmp_path: Path) -> None:
    for name, scores, source in (("a", (0.5, 0.5), "the usual range of assertions"), ("b", (0.5, 1), None)):
        rows = [result(str(at), score, test=at) for at, score in enumerate(scores)]
        (log,) = read(written(tmp_path, evaluation(*rows, evalId=name), f"{name}.json"))
        assert (log.data[1].bounds, log.data[1].bounds_source) == ((0, 1), source)
