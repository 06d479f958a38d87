"""`harness-uq demo` writes logs that every command can read, and the logs are those that the examples write today."""

import re
import shlex
import zipfile
from pathlib import Path

import pytest

import harness_uq
from harness_uq.commands.main import main
from tests.commands.test_main import output
from tests.conftest import ROOT

ARCHIVE = ROOT / "harness_uq" / "io" / "example_logs.zip"


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("option", [(), ("--tables",)])
def test_the_commands_that_are_suggested_succeed(tmp_path, monkeypatch, capsys, option):
    monkeypatch.chdir(tmp_path)
    code, out, err = output(capsys, "demo", *option)
    commands = [line.split() for line in out.splitlines() if line.startswith("  harness-uq ")]
    assert (code, err, len(commands)) == (0, "", 4 if option else 7)
    assert max(map(len, out.splitlines())) <= 80
    for _, *arguments in commands:
        assert main(arguments) == 0


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_the_logs_of_both_harnesses_have_categories_of_questions(tmp_path, harness):
    rows = harness_uq.compare(harness_uq.demo(tmp_path) / harness, by="category")
    assert {group.group for row in rows for group in row.groups} == {"home", "person", "visits"}


def test_of_the_whole_folder_the_folder_of_a_harness_is_suggested(tmp_path, capsys):
    folder = harness_uq.demo(tmp_path)
    code, _, err = output(capsys, "compare", str(folder))
    assert code == 2
    assert f"{folder}/inspect (inspect), {folder}/lm-eval (lm-eval)" in err


def test_the_suggested_report_shows_both_systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    harness_uq.demo()
    assert main(["report", "demo-output/lm-eval", "--output", "report.html"]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "scripted-large" in page
    assert "scripted-small" in page
    assert "`--" not in page  # options in warnings are code


def test_the_name_of_the_folder_is_quoted_in_suggested_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _, out, _ = output(capsys, "demo", "my logs")
    (line,) = (line for line in out.splitlines() if " estimate " in line)
    assert Path(shlex.split(line)[2]).is_dir()


def test_a_second_run_writes_the_same_files(tmp_path):
    harness_uq.demo(tmp_path)
    first = files_in(tmp_path)
    (path,) = tmp_path.glob("lm-eval/scripted-small/results_*")
    path.write_text("damaged")
    assert harness_uq.demo(tmp_path) == tmp_path
    assert files_in(tmp_path) == first


def test_logs_of_other_runs_are_not_mixed_with_the_example_logs(tmp_path, capsys):
    folder = tmp_path / "inspect" / "scripted-large"
    folder.mkdir(parents=True)
    (folder / "mine.json").write_text("{}")
    code, out, err = output(capsys, "demo", str(tmp_path))
    assert (code, out) == (1, "")
    assert "mine.json" in err
    assert list(files_in(tmp_path)) == ["inspect/scripted-large/mine.json"]


def test_the_archive_is_small_and_contains_no_path_of_a_machine():
    assert ARCHIVE.stat().st_size < 200_000
    with zipfile.ZipFile(ARCHIVE) as archive:
        for name in archive.namelist():
            assert not re.search(rb'"/[a-z]+/|/(home|root|tmp)/', archive.read(name)), name


def test_the_tables_are_those_of_the_examples(tmp_path):
    tables = files_in(harness_uq.demo(tmp_path, tables=True))
    assert len(tables) == 28
    assert tables == files_in(ROOT / "examples" / "tables"), "run examples/make_example_logs.py"


def test_tables_of_the_user_may_stay_beside_the_example_tables(tmp_path):
    harness_uq.demo(tmp_path, tables=True)
    (tmp_path / "to-label.csv").write_text("id\nq1\n")
    harness_uq.demo(tmp_path, tables=True)
    assert (tmp_path / "to-label.csv").exists()


@pytest.mark.harness
def test_the_logs_have_the_scores_of_a_new_run(tmp_path, lm_eval_runs, inspect_runs):
    logs = harness_uq.demo(tmp_path)
    for harness, runs in (("lm-eval", lm_eval_runs), ("inspect", inspect_runs)):
        assert estimates(logs / harness) == estimates(runs / harness), "run examples/make_example_logs.py"


def estimates(folder: Path) -> dict[tuple[str, ...], tuple[object, ...]]:
    return {
        (row.system, row.task, row.metric, row.filter): (row.value, row.interval, row.harness, row.cluster_key)
        for row in harness_uq.estimate(folder)
    }


@pytest.mark.harness
def test_inspect_reads_the_logs(tmp_path):
    from inspect_ai.log import read_eval_log

    paths = sorted((harness_uq.demo(tmp_path) / "inspect").rglob("*.json"))
    assert len(paths) == 8
    assert all(read_eval_log(str(path)).status == "success" for path in paths)
