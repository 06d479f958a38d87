"""Records and samples of Every Eval Ever."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from harness_uq.data.task_log import AggregateScore, Scores
from tests.adapters.formats.files import (
    READERS,
    eee_line,
    eee_record,
    eee_result,
    read,
    write_eee,
    write_json,
    write_lines,
)
from tests.conftest import originals
from tests.message_checks import has


def values_of(log, metric: str) -> list[list[float]]:
    (scores,) = [item for item in log.data if item.metric == metric]
    assert isinstance(scores, Scores)
    return scores.values.tolist()


def test_lines_of_a_result_are_scores_and_other_results_are_totals(tmp_path: Path) -> None:
    record = eee_record([eee_result("acc", 0.5), eee_result("f1", 0.25)])
    write_eee(tmp_path, record, [eee_line("q2", 1.0), eee_line("q1", 0.0)])
    (log,) = read(tmp_path).logs
    assert (log.system, log.task, log.questions.ids) == ("lab/m", "bench", ("q2", "q1"))
    assert values_of(log, "acc") == [[1.0], [0.0]]
    (total,) = [item for item in log.data if isinstance(item, AggregateScore)]
    assert (total.metric, total.value, total.std_error, total.n) == ("f1", 0.25, 0.125, 4)
    reported = log.reported["acc", "none"]
    assert (reported.value, reported.std_error, reported.n) == (0.5, 0.125, 4)
    assert log.source.time == "2025-06-15T15:06:40+00:00"
    assert log.messages == ()


def test_epochs_are_trials_in_their_order_and_lines_without_epochs_are_counted(tmp_path: Path) -> None:
    lines = [eee_line("q", float(epoch == 2), metadata={"epoch": str(epoch)}) for epoch in (3, 1, 2)]
    write_eee(tmp_path, eee_record([]), [*lines, eee_line("p", 0.25, result=None), eee_line("p", 0.75, result=None)])
    (log,) = read(tmp_path).logs
    assert log.task == "bench acc"
    assert log.questions.ids == ("q", "p")
    np.testing.assert_array_equal(values_of(log, "acc"), [[0, 1, 0], [np.nan] * 3])
    np.testing.assert_array_equal(values_of(log, "score"), [[np.nan] * 2, [0.25, 0.75]])


def test_a_repeated_epoch_is_left_out(tmp_path: Path) -> None:
    lines = [eee_line("q", score, metadata={"epoch": "1"}) for score in (1.0, 0.0)]
    write_eee(tmp_path, eee_record([eee_result("acc", 1.0)]), lines)
    (log,) = read(tmp_path).logs
    assert values_of(log, "acc") == [[1.0]]
    assert has(log.messages, "repeated-records", n_repeated=1, examples="q")


def test_a_reduced_score_that_is_repeated_for_each_epoch_is_one_trial(tmp_path: Path) -> None:
    lines = [eee_line(q, score, metadata={"epoch": str(k)}) for q, score in (("a", 0.25), ("b", 0.5)) for k in (1, 2)]
    library = {"name": "inspect_ai", "version": "0.3.260"}
    write_eee(tmp_path, eee_record([eee_result("acc", 0.375)], eval_library=library), lines)
    (log,) = read(tmp_path).logs
    assert values_of(log, "acc") == [[0.25], [0.5]]
    assert has(log.messages, "reduced-score-repeated", n_trials=2)
    lines[0]["evaluation"]["score"] = 0.5
    write_eee(tmp_path, eee_record([eee_result("acc", 0.375)], eval_library=library), lines)
    (log,) = read(tmp_path).logs
    assert values_of(log, "acc") == [[0.5, 0.25], [0.5, 0.5]]
    assert has(log.messages, "tool-value-differs", value=0.4375, reported=0.375)


def test_lines_with_errors_are_endings_if_any_line_has_one(tmp_path: Path) -> None:
    lines = [eee_line("b", 1.0), eee_line("a", 0.0, error=None), eee_line("b", None, error="timeout")]
    more = [eee_line(one, 0.5, result="f1") for one in "bab"]
    write_eee(tmp_path, eee_record([eee_result("acc", 0.5), eee_result("f1", 0.5)]), [*lines, *more])
    (log,) = read(tmp_path).logs
    endings = [[0, 1], [0, -1]]  # completed, error; completed
    assert log.ended_by.codes.tolist() == endings
    assert log.ended_by.counts() == {"completed": 2, "error": 1, "unknown": 1}
    assert {data.metric: data.is_complete for data in log.data} == {"acc": False, "f1": True}
    write_eee(tmp_path, eee_record([eee_result("acc", 0.5)]), lines[:2])
    (log,) = read(tmp_path).logs
    assert log.ended_by is None


def test_score_counts_and_not_is_correct_and_unknown_levels_are_missing(tmp_path: Path) -> None:
    config = {"score_type": "levels", "level_names": ["a", "b"], "has_unknown_level": True}
    lines = [eee_line("a", 1.0), eee_line("b", -1), eee_line("c", 0)]
    write_eee(tmp_path, eee_record([eee_result("acc", 0.5, **config)]), lines)
    (log,) = read(tmp_path).logs
    np.testing.assert_array_equal(log.data[0].values, [[1], [np.nan], [0]])


@pytest.mark.parametrize(
    ("config", "bounds"),
    [
        ({"min_score": 0, "max_score": 1}, (0.0, 1.0)),
        ({"min_score": "-Infinity", "max_score": 1}, None),
        ({"min_score": 0, "max_score": "Infinity"}, None),
        ({"min_score": None, "max_score": 1}, None),
        ({"min_score": 1, "max_score": 0}, None),
        ({"min_score": "low", "max_score": 1}, None),
    ],
)
def test_bounds(tmp_path: Path, config: dict[str, object], bounds: tuple[float, float] | None) -> None:
    write_eee(tmp_path, eee_record([eee_result("acc", 0.5, lower_is_better=True, **config)]), [eee_line("q", 0.5)])
    (log,) = read(tmp_path).logs
    assert log.data[0].bounds == bounds
    assert log.higher_is_better == {"acc": False}


def test_results_with_one_metric_are_told_apart_by_their_identifiers(tmp_path: Path) -> None:
    results = [eee_result(name, score) for name, score in (("one", 0.5), ("two", 0.75))]
    for result in results:
        result["metric_config"]["metric_id"] = "accuracy"
    results.append(eee_result("accuracy", 1.0, dataset="other"))
    write_eee(tmp_path, eee_record(results))
    found = {(log.task, item.metric, item.value) for log in read(tmp_path).logs for item in log.data}
    assert found == {("bench", "one", 0.5), ("bench", "two", 0.75), ("other", "accuracy", 1.0)}


def test_a_repeated_result_is_left_out(tmp_path: Path) -> None:
    write_eee(tmp_path, eee_record([eee_result("acc", 1.0), eee_result("acc", 1.0)]), [eee_line("q", 1.0)])
    (log,) = read(tmp_path).logs
    assert values_of(log, "acc") == [[1.0]]
    assert has(log.messages, "repeated-records", n_repeated=1, examples="acc")


def test_samples_without_a_record_and_of_other_models_are_read(tmp_path: Path) -> None:
    lines = [eee_line("q", 1.0), eee_line("q", 0.0, model_id="lab/n"), eee_line("q", 1.0, evaluation_id="other")]
    write_lines(tmp_path / "x_samples.jsonl", lines)
    assert sorted((log.system, values_of(log, "acc")) for log in read(tmp_path).logs) == [
        ("lab/m", [[1.0]]),
        ("lab/m", [[1.0]]),
        ("lab/n", [[0.0]]),
    ]


def test_the_hash_identifies_a_sample_without_an_identifier(tmp_path: Path) -> None:
    lines = [eee_line("", 1.0, sample_hash="h1"), eee_line("", 0.0, sample_hash=None)]
    write_eee(tmp_path, eee_record([eee_result("acc", 1.0)]), lines)
    (log,) = read(tmp_path).logs
    assert log.questions.ids == ("h1",)
    assert has(log.messages, "lines-unreadable", n_lines=1, line=2)


def test_a_damaged_line_costs_its_own_score(tmp_path: Path) -> None:
    write_eee(tmp_path, eee_record([eee_result("acc", 1.0)]), [eee_line("a", 1.0), eee_line("b", 0.0)])
    path = tmp_path / "record_samples.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    (log,) = read(tmp_path).logs
    assert log.questions.ids == ("a",)
    assert has(log.messages, "lines-unreadable", n_lines=1, line=2)
    path.write_bytes(path.read_bytes()[:150])
    reading = read(tmp_path)
    assert (reading.logs, len(reading.failures)) == ((), 1)


def test_samples_that_were_changed_are_warned_of(tmp_path: Path) -> None:
    lines = [eee_line("a", 1.0), eee_line("b", 0.0)]
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    for algorithm in ("sha256", "md5"):
        described = {"hash_algorithm": algorithm, "checksum": hashlib.new(algorithm, content).hexdigest()}
        record = eee_record([eee_result("acc", 0.5)], detailed_evaluation_results=described)
        write_eee(tmp_path, record, lines)
        assert read(tmp_path).logs[0].messages == ()
        lines[0]["output"] = {"raw": ["other"]}
        write_eee(tmp_path, record, lines)
        assert has(read(tmp_path).logs[0].messages, "checksum-differs", algorithm=algorithm)
        lines[0]["output"] = {"raw": ["a"]}


def test_settings_of_the_generation_are_part_of_the_system(tmp_path: Path) -> None:
    result = eee_result("acc", 0.5) | {"generation_config": {"generation_args": {"temperature": 0.5, "api_key": "x"}}}
    write_eee(tmp_path, eee_record([result]))
    assert read(tmp_path).logs[0].system == "lab/m (temperature=0.5)"


def test_tokens_and_time(tmp_path: Path) -> None:
    used = {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17, "reasoning_tokens": 2}
    lines = [eee_line("a", 1.0, token_usage=used, performance={"latency_ms": 1500}), eee_line("b", 0.0)]
    write_eee(tmp_path, eee_record([eee_result("acc", 0.5)]), lines)
    (log,) = read(tmp_path, with_resources=True).logs
    (usage,) = log.resources.usage
    for array, expected in (
        (usage.input_tokens, [12, np.nan]),
        (usage.output_tokens, [5, np.nan]),
        (usage.reasoning_tokens, [2, np.nan]),
        (log.resources.total_time, [1.5, np.nan]),
    ):
        np.testing.assert_array_equal(np.ravel(array), expected)
    assert usage.cache_read_tokens is None


def test_records_of_one_file_and_the_parts_of_a_folder(tmp_path: Path) -> None:
    records = [eee_record([eee_result("acc", 0.5)]), eee_record([eee_result("acc", 0.25)], model_info={"id": "n"})]
    write_lines(tmp_path / "all.jsonl", records)
    assert [log.system for log in read(tmp_path).logs] == ["lab/m", "n"]
    write_eee(tmp_path, records[0], [eee_line("a", 1.0)])
    write_json(tmp_path / "notes.json", {"schema_version": 3, "other": 1})
    files = sorted(map(str, tmp_path.iterdir()))
    assert sorted(map(len, READERS["every-eval-ever"].parts(files))) == [1, 1, 2]
    assert read(tmp_path / "notes.json").logs == ()


def test_the_files_of_others() -> None:
    logs = {log.system: log for log in read(originals() / "data/formats/every_eval_ever", with_resources=True).logs}
    demo = logs["demo-org/demo-model"]
    assert (demo.task, demo.questions.ids, values_of(demo, "accuracy")) == ("demo_bench", ("demo_0001",), [[1.0]])
    assert demo.data[0].bounds == (0.0, 1.0)
    assert [message.name for message in demo.messages] == ["tool-value-differs"]  # 1 sample of a score of 0.75
    (usage,) = demo.resources.usage
    assert (usage.input_tokens.item(), usage.output_tokens.item()) == (12, 5)
    board = logs["01-ai/yi-1.5-34b-chat"]
    totals = {item.metric: item.value for item in board.data}
    assert len(totals) == 15
    assert (totals["mmlu_pro/overall"], totals["mmlu_pro/law"]) == (0.5229, 0.3479)
    assert board.source.version is None
