"""Find the file of a task by its name."""

import os
import subprocess
import sys

import pytest

from harness_uq_lm_eval.read import task_files
from harness_uq_lm_eval.read.task_files import task_file
from tests.adapters.lm_eval.logs import Folder, rows


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(task_files, "_lm_eval_folders", list)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "line",
    [
        "task: mine",
        'task: "mine"',
        "task:  'mine'  # note",
        "group: g\ntask: mine\r\nx: 1",
        '"task": "mine"',
        "'task' : mine",
    ],
)
def test_a_task_is_found_by_what_its_file_declares(tmp_path, nothing_installed, line):
    path = write(tmp_path / "deep" / "other.yaml", f"include: base\n{line}\n")
    assert task_file("mine", str(tmp_path)) == path


@pytest.mark.parametrize("line", ["task: mine_too", "subtask: mine", "task:\n  - mine", "# task: mine"])
def test_similar_task_names_do_not_match(tmp_path, nothing_installed, line):
    write(tmp_path / "mine.yaml", f"{line}\n")
    assert task_file("mine", str(tmp_path)) is None


def test_folders_of_the_user_come_first_in_their_order(tmp_path, monkeypatch):
    paths = [write(tmp_path / folder / "t.yaml", "task: t\n") for folder in ("own", "first", "second")]
    monkeypatch.setattr(task_files, "_lm_eval_folders", lambda: [str(tmp_path / "own")])
    named = os.pathsep.join([str(tmp_path / "first"), str(tmp_path / "second")])
    assert task_file("t", named) == paths[1]
    assert task_file("t") == paths[0]


@pytest.mark.parametrize("name", ["gsm8k", "mmlu_anatomy"])
def test_tasks_of_lm_eval_are_found(name):
    pytest.importorskip("lm_eval")
    path = task_file(name)
    assert path is not None
    assert path.stem.endswith(name)


def test_no_other_file_is_opened_if_one_has_the_name_of_the_task(tmp_path, nothing_installed, monkeypatch):
    path = write(tmp_path / "mine.yaml", "task: mine\n")
    write(tmp_path / "a.yaml", "task: a\n")
    opened = []
    monkeypatch.setattr(task_files.Path, "read_bytes", lambda self: opened.append(self) or self.read_text().encode())
    assert task_file("mine", str(tmp_path)) == path
    assert opened == [path]


def test_files_of_lm_eval_are_listed_and_opened_once_for_all_names(tmp_path, monkeypatch):
    paths = {write(tmp_path / f"{name}.yaml", f"task: {name}_2\n") for name in "abc"}
    monkeypatch.setattr(task_files, "_lm_eval_folders", lambda: [str(tmp_path)])
    opened = []
    monkeypatch.setattr(task_files.Path, "read_bytes", lambda self: opened.append(self) or self.read_text().encode())
    assert [task_file(name) for name in ("a_2", "b_2", "none")] == [tmp_path / "a.yaml", tmp_path / "b.yaml", None]
    assert sorted(opened) == sorted(paths)


@pytest.mark.slow
def test_a_log_of_repeats_whose_task_is_unknown_is_read_without_lm_eval(tmp_path):
    folder = Folder(tmp_path)
    folder.samples("no_such_task", rows("acc", [1, 0]))
    folder.results({"no_such_task": {"acc,none": 0.5}}, n=2, configs={"no_such_task": {"repeats": 4}})
    code = (
        "import sys, harness_uq; (log,) = harness_uq.read_logs(sys.argv[1]).logs; print(log.notes);"
        "print(sorted({'lm_eval', 'datasets', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    notes, modules = done.stdout.splitlines()
    assert "no task file of this name is installed" in notes
    assert modules == "[]"
