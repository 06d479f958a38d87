"""Records of Every Eval Ever: what its schema asks for, and nothing that is no score."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness_uq import Interval, estimate, read_logs
from harness_uq.commands.main import main
from harness_uq.data.task_log import HarnessResult, Scores, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.readers import task_logs
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq_formats.write_every_eval_ever import Record, eee_files, eee_lines, eee_place, eee_records
from tests.conftest import ROOT
from tests.data.toy import task_log
from tests.message_checks import made
from tests.results import factory as make

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((ROOT / "tests/reference/every_eval_ever.json").read_text())
SAMPLES_SCHEMA = json.loads((ROOT / "tests/reference/every_eval_ever_samples.json").read_text())


def check(records: list[Record]) -> None:
    for line in eee_lines(records).splitlines():
        jsonschema.validate(json.loads(line), SCHEMA)


def test_every_log_gives_records_that_its_schema_takes(shared: Path) -> None:
    plugins = load_plugins()
    logs = task_logs(read_logs(shared / "data" / "lm_eval").logs + read_logs(shared / "data" / "inspect").logs, plugins)
    rows = estimate(logs, plugins=plugins)
    records = eee_records(rows, logs, when=1e9)
    check(records)
    results = [result for record in records for result in record["evaluation_results"]]
    assert len(results) == sum(row.value is not None for row in rows) > 40
    assert len({record["evaluation_id"] for record in records}) == len(records)


def test_interval_error_scope_method_and_clusters_are_in_their_places() -> None:
    log = task_log([1, 0, 1, 1] * 30, fields={"passage_id": [i // 4 for i in range(120)]}, metric="brier")
    log = replace(log, higher_is_better={"brier": False}, reported={("brier", "none"): HarnessResult(0.75, 0.04)})
    (row,) = estimate(log, Options(level=0.9))
    ((result,),) = (record["evaluation_results"] for record in eee_records([row], [log], when=0))
    assert result["metric_config"]["lower_is_better"] is True
    assert (result["metric_config"]["min_score"], result["metric_config"]["max_score"]) == (0.0, 1.0)
    details = result["score_details"]
    assert details["score"] == row.value
    assert details["uncertainty"]["confidence_interval"] == {
        "lower": row.interval.low,
        "upper": row.interval.high,
        "confidence_level": 0.9,
        "method": "highest-density credible interval: clustered",
    }
    assert details["uncertainty"]["standard_error"]["value"] == row.std_error
    assert details["uncertainty"]["num_samples"] == 120
    said = {name: details["details"][name] for name in ("scope", "method", "clusters", "harness_standard_error")}
    assert said == {
        "scope": "population",
        "method": "clustered",
        "clusters": "30 by passage_id",
        "harness_standard_error": "0.04",
    }


def test_unknown_numbers_are_left_out_and_a_row_without_a_value_is_no_result() -> None:
    row = make.estimate(std_error=math.nan, interval=Interval(-math.inf, 1.0, 0.95, "confidence"), n_questions=None)
    records = eee_records([row, replace(row, value=None), replace(row, value=math.nan)], [], when=0)
    check(records)
    ((result,),) = (record["evaluation_results"] for record in records)
    assert result["score_details"]["uncertainty"] == {}


def test_texts_of_logs_stay_texts() -> None:
    hostile = 'a/\x1b[2J\u202e"}\n{"schema_version": 1}'
    row = make.estimate(system=hostile, task="../../../etc", metric=hostile, messages=(made(hostile),))
    records = eee_records([row], [], when=0)
    check(records)
    assert len(eee_lines(records).splitlines()) == 1
    assert "\x1b" not in eee_lines(records)
    place = eee_place(records[0])
    assert not place.is_absolute()
    assert ".." not in place.parts
    assert len(place.parts) == 4


def test_the_settings_of_a_model_are_no_part_of_its_identifier() -> None:
    (record,) = eee_records([make.estimate(system="Qwen/Qwen3-8B (enable_thinking=False)")], [], when=0)
    assert record["model_info"]["id"] == "Qwen/Qwen3-8B"
    assert record["model_info"]["additional_details"]["settings"] == "enable_thinking=False"
    (record,) = eee_records([make.estimate(system="o3-mini (high)")], [], when=0)
    assert record["model_info"]["id"] == "o3-mini (high)"


def test_the_place_of_a_record_is_the_same_tomorrow_and_another_for_another_score() -> None:
    row = make.estimate(system="org/m")
    today, tomorrow = (eee_records([row], [], when=when)[0] for when in (0, 86_400))
    (other,) = eee_records([replace(row, value=0.123)], [], when=0)
    assert eee_place(today) == eee_place(tomorrow) != eee_place(other)
    assert eee_place(today).parts[:3] == (row.task, "org", "m")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: record.pop("eval_library"),
        lambda record: record.update(scope="population"),
        lambda record: record["evaluation_results"][0]["score_details"]["details"].update(n=3),
        lambda record: record["evaluation_results"][0]["score_details"].update(score="0.5"),
        lambda record: record["evaluation_results"][0]["metric_config"].update(score_type="continuous", max_score=[]),
    ],
)
def test_the_schema_of_the_tests_refuses_what_the_real_one_refuses(spoil) -> None:
    (record,) = json.loads(f"[{eee_lines(eee_records([make.estimate()], [], when=0))}]")
    spoil(record)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record, SCHEMA)


def test_rows_that_rescore_wrote_into_a_log_are_no_scores(shared: Path, tmp_path: Path) -> None:
    logs = shared / "data" / "inspect" / "popularity_100_two_models"
    assert main(["rescore", str(logs), "--output-dir", str(tmp_path)]) == 0
    before, after = (
        [
            (record["model_info"]["id"], [result["evaluation_result_id"] for result in record["evaluation_results"]])
            for record in eee_records(estimate(found), found, when=0)
        ]
        for found in (read_logs(logs).logs, read_logs(tmp_path).logs)
    )
    assert before == after
    assert all(len(results) == 1 for _, results in after)


def test_the_commands_print_and_write_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "m.csv"
    table.write_text("id,score\n" + "".join(f"{i},{i % 2}\n" for i in range(30)))
    assert main(["estimate", str(table), "--format", "eee"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert main(["rescore", str(table), "--output-dir", str(tmp_path / "data"), "--format", "eee"]) == 0
    samples, path = map(Path, capsys.readouterr().out.splitlines())
    assert samples == path.with_name(f"{path.stem}_samples.jsonl")
    written = json.loads(path.read_text())
    assert path.parent == tmp_path / "data" / "scores" / "unknown" / "m"
    assert written["evaluation_results"] == printed["evaluation_results"]
    check([written])


def written_files(rows: Sequence[Estimate], logs: Sequence[TaskLog], folder: Path) -> Path:
    """The folder, with the files of the estimates, which match the schemas."""
    for place, content in eee_files(rows, logs, when=1e9):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        schema = SAMPLES_SCHEMA if place.name.endswith("_samples.jsonl") else SCHEMA
        for line in content.splitlines()[:20]:
            jsonschema.Draft7Validator(schema).validate(json.loads(line))
    return folder


def is_same(row: Estimate, other: Estimate) -> bool:
    """Whether two estimates have the same method, counts and, to 1e-12, numbers."""

    def counts(one: Estimate) -> tuple[object, ...]:
        return one.method, one.n_questions, one.n_trials, one.n_clusters, one.interval is None

    def numbers(one: Estimate) -> list[float]:
        ends = [one.interval.low, one.interval.high] if one.interval else []
        return [one.value, math.nan if one.std_error is None else one.std_error, *ends]

    return counts(row) == counts(other) and numbers(row) == pytest.approx(numbers(other), rel=0, abs=1e-12, nan_ok=True)


def test_records_that_are_read_give_the_estimates_that_were_written(shared: Path, tmp_path: Path) -> None:
    logs = task_logs([shared / "data" / "lm_eval", shared / "data" / "inspect"], load_plugins())
    rows = estimate(logs)
    means = {(log.system, log.task, item.metric) for log in logs for item in log.data if isinstance(item, Scores)}
    back = estimate(written_files(rows, logs, tmp_path))
    checked = [row for row in rows if (row.system, row.task, row.metric) in means and row.value is not None]
    for row in checked:
        alike = [other for other in back if (other.system, other.task) == (row.system, row.task)]
        assert any(is_same(row, other) for other in alike if (other.metric, other.filter) == (row.metric, row.filter))
    assert len(checked) > 40


def test_trials_and_clusters_are_written_and_read(tmp_path: Path) -> None:
    values = np.array([[1, 0, np.nan], [0, 0, 1]] * 30)
    log = task_log(values, fields={"passage_id": [i // 2 for i in range(60)], "other_id": [i // 3 for i in range(60)]})
    (row,) = estimate(log, cluster="other_id")
    (again,) = estimate(written_files([row], [log], tmp_path))
    assert (again.cluster_key, again.n_clusters, again.n_trials) == ("other_id", 20, 3)
    assert is_same(again, row)


def test_samples_have_neither_texts_nor_scores_of_other_quantities(tmp_path: Path) -> None:
    log = task_log([[1, 0, 1, 1], [0, 0, 0, 1]] * 10)
    rows = [*estimate(log), *estimate(log, estimand="pass@2")]
    folder = written_files(rows, [log], tmp_path)
    (samples,) = folder.rglob("*_samples.jsonl")
    lines = list(map(json.loads, samples.read_text().splitlines()))
    assert len(lines) == 80
    assert {line["evaluation_result_id"] for line in lines} == {"acc/none/mean"}
    assert {(line["input"]["raw"], *line["output"]["raw"]) for line in lines} == {("",)}
    (record,) = folder.rglob("*[0-9a-f].json")
    described = json.loads(record.read_text())["detailed_evaluation_results"]
    assert described["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
    assert described["file_path"] == f"data/{samples.relative_to(folder)}"
    assert described["total_rows"] == 80


def test_records_are_not_written_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rescore", str(tmp_path), "--in-place", "--format", "eee"]) == 2
    assert "Give --output-dir DIR" in capsys.readouterr().err


def test_a_task_that_is_not_there_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("id,score\n1,1\n2,0\n")
    arguments = ["rescore", str(tmp_path / "m.csv"), "--output-dir", str(tmp_path / "data"), "--format", "eee"]
    assert main([*arguments, "--cluster", "other=passage"]) == 2
    assert not (tmp_path / "data").exists()
