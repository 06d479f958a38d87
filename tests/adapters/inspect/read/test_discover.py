import json

import pytest

from harness_uq_inspect.read.discover import find_logs
from tests.adapters.inspect.logs import ZSTANDARD, grid, header, write_eval, write_json
from tests.message_checks import params_of

CREATED = "2026-01-02T03:04:05+00:00"


def only_problem(path):
    found = find_logs([str(path)])
    assert found.runs == ()
    ((where, message),) = found.problems
    assert where == str(path)
    return message


@pytest.mark.parametrize("compression", [8, ZSTANDARD])
def test_a_finished_eval_log_is_a_run_with_its_time(tmp_path, compression):
    path = write_eval(tmp_path / "a.eval", header(), grid([["C"]]), compression=compression)
    (run,) = find_logs([str(path)]).runs
    assert (run.name, run.files, run.time) == (str(path), (str(path),), CREATED)


def test_an_unfinished_eval_log_is_a_run(tmp_path):
    path = write_eval(tmp_path / "a.eval", header(), grid([["C"]]), finished=False)
    assert [run.time for run in find_logs([str(path)]).runs] == [CREATED]


def test_a_json_log_is_recognised_under_any_name(tmp_path):
    path = write_json(tmp_path / "odd.json", header(), grid([["C"]]))
    assert [run.time for run in find_logs([str(path)]).runs] == [CREATED]


def test_a_json_log_with_nan_is_a_run(tmp_path):
    path = write_json(tmp_path / "log.json", header(), grid([[float("nan")]]))
    assert "NaN" in path.read_text()
    assert len(find_logs([str(path)]).runs) == 1


def test_other_files_of_inspect_and_of_others_are_not_recognised(tmp_path):
    contents = {
        "eval-set.json": {"eval_set_id": "x", "tasks": []},
        "logs.json": {"a.eval": header()},
        "results_2026.json": {"results": {}, "configs": {}, "eval": 3},
        "list.json": [{"eval": 1}],
        "version.json": {"version": 2, "eval": {"created": None}},
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "notes.txt").write_text('{"version": 2, "status": "success", "eval": {}}')
    (tmp_path / "empty.json").touch()
    paths = sorted(str(path) for path in tmp_path.iterdir())
    assert find_logs(paths) == type(find_logs([]))((), tuple(paths), ())


def test_a_truncated_zip_is_a_problem(tmp_path):
    path = write_eval(tmp_path / "a.eval", header(), grid([["C"]]))
    path.write_bytes(path.read_bytes()[:300])
    assert only_problem(path).text.startswith("the zip file is incomplete")


def test_an_empty_log_is_a_problem(tmp_path):
    for name in ("a.eval", "2025-05-12T20-28-13-04-00_popularity_TtTe.json"):
        (tmp_path / name).touch()
        assert only_problem(tmp_path / name).name == "file-empty"


def test_a_truncated_json_log_is_a_problem(tmp_path):
    path = write_json(tmp_path / "a.json", header(), grid([["C"]]))
    path.write_text(path.read_text()[:-20])
    assert only_problem(path).text.startswith("the file is not valid JSON, perhaps because it is incomplete: ")


def test_a_zip_that_is_not_a_log_is_a_problem(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("other.json", "{}")
    assert params_of(only_problem(tmp_path / "a.eval"), "log-unreadable")["reason"] == (
        "the zip file contains neither header.json nor _journal/start.json, so it is not a log of Inspect AI"
    )


def test_a_header_with_unexpected_types_is_a_problem(tmp_path):
    path = write_eval(tmp_path / "a.eval", header() | {"eval": {"task": 3}}, grid([["C"]]))
    assert "header.json does not have the format that Inspect AI writes" in only_problem(path).text
