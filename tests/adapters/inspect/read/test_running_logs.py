"""Runs in progress: reading their logs and buffers, and the line that `watch` prints."""

import hashlib
import json
import sqlite3
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from harness_uq import LogError
from harness_uq.commands.main import main
from harness_uq.stats import confidence_sequence
from harness_uq_inspect.read.running_logs import read_running
from tests.adapters.inspect.environment import run_as_command

N = 40


def summary(question, right, epoch=1):
    scores = None if right is None else {"right": {"value": "C" if right else "I"}}
    return {"id": question, "epoch": epoch, "input": f"Question {question}?", "target": "t", "scores": scores}


def write_log(path, written, *, shuffled=True, status="started"):
    dataset = {"samples": N, "sample_ids": [str(i) for i in range(N)], "shuffled": shuffled}
    spec = {"task": "toy", "model": "mockllm/model", "created": "2026-01-01T00:00:00+00:00", "dataset": dataset}
    with ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "status": status, "eval": spec}))
        archive.writestr("_journal/summaries/1.json", json.dumps(written))
    return path


def write_database(log, summaries):
    """The buffer of a log in the format of Inspect AI 0.3.285."""
    name = hashlib.sha256(log.parent.as_uri().encode()).hexdigest()
    folder = log.parents[1] / "data" / "inspect_ai" / "samplebuffer" / name
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / f"{log.name}.4711.db") as database:
        database.execute("CREATE TABLE samples (id TEXT, epoch INTEGER, data TEXT)")
        rows = [(entry["id"], entry["epoch"], json.dumps(entry)) for entry in summaries]
        database.executemany("INSERT INTO samples VALUES (?, ?, ?)", rows)
    database.close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def log(folder):
    """Ten questions in the log, five in the buffer, of which one has no score yet, and two that have not begun."""
    path = write_log(folder / "run.eval", [summary(str(i), i % 4 > 0) for i in range(10)])
    write_database(path, [summary(str(i), None if i == 12 else i % 4 > 0) for i in range(10, 15)])
    return path


def test_log_and_buffer_make_one_line_of_all_questions_planned(log):
    task = read_running(str(log))
    scores = task.data[0].values[:, 0]
    assert task.questions.ids == tuple(str(i) for i in range(N))
    assert np.flatnonzero(np.isfinite(scores)).tolist() == [*range(12), 13, 14]
    assert scores[:12].tolist() == [float(i % 4 > 0) for i in range(12)]


def test_a_buffer_in_the_log_folder_is_read(folder):
    path = write_log(folder / "run.eval", [])
    shared = folder / ".buffer" / "run"
    shared.mkdir(parents=True)
    entries = [{"summary": summary("0", True), "segments": []}]
    (shared / "manifest.json").write_text(json.dumps({"metrics": [], "samples": entries, "segments": []}))
    assert read_running(str(path)).data[0].values[0, 0] == 1


def test_a_finished_run_is_not_in_progress(folder):
    assert read_running(str(write_log(folder / "run.eval", [summary("0", True)], status="success"))) is None


def test_a_damaged_buffer_is_named(log):
    (database,) = log.parents[1].glob("data/inspect_ai/samplebuffer/*/*.db")
    database.write_bytes(b"no database" * 100)
    with pytest.raises(LogError, match=r"run\.eval\.4711\.db cannot be read"):
        read_running(str(log))


def test_watch_counts_questions_up_to_the_first_without_a_score(log, capsys):
    assert main(["watch", str(log.parent), "--once", "--format", "json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    sequence = confidence_sequence([float(i % 4 > 0) for i in range(12)], planned=N)
    assert (seen["n_used"], seen["n_scored"], seen["n_planned"]) == (12, 14, N)
    assert (seen["low"], seen["high"]) == (sequence.low[-1], sequence.high[-1])
    assert (seen["status"], seen["messages"]) == ("ok", [])


def test_watch_prints_a_line(log, capsys):
    main(["watch", str(log.parent), "--once"])
    line = capsys.readouterr().out
    assert "toy  right  12 of 40 (2 more finished out of order)  0.7500  95% [" in line


def test_watch_of_the_full_scope_accounts_for_answered_questions(folder, capsys):
    write_log(folder / "run.eval", [summary(str(i), True) for i in range(30)])
    main(["watch", str(folder), "--once", "--scope", "full", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["low"] >= 30 / N


def test_a_non_random_order_is_a_warning(folder, capsys):
    write_log(folder / "run.eval", [summary("0", True)], shuffled=False)
    main(["watch", str(folder), "--once"])
    assert "assumes a random order" in capsys.readouterr().out


def test_watch_ends_without_running_logs_and_names_missing_paths(folder, capsys):
    assert main(["watch", str(folder)]) == 0
    assert "No run is in progress." in capsys.readouterr().err
    assert main(["watch", str(folder / "nowhere")]) == 1
    assert "nowhere: The file cannot be read: No such file or folder" in capsys.readouterr().err


def test_watch_goes_on_until_the_run_has_ended(log, capsys, monkeypatch):
    def end(seconds):
        write_log(log, [summary(str(i), True) for i in range(N)], status="success")

    monkeypatch.setattr("time.sleep", end)
    assert main(["watch", str(log.parent), "--every", "5"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.harness
def test_a_real_run_can_be_monitored_from_within(tmp_path, inspect_log):
    script = Path(__file__).with_name("watched_run.py")
    run_as_command(sys.executable, script, tmp_path, cwd=tmp_path, HARNESS_UQ=None, XDG_DATA_HOME=tmp_path / "data")
    said = json.loads((tmp_path / "looks.json").read_text())
    (seen,) = said["looks"]
    assert said["problems"] == []
    assert (seen["n_used"], seen["n_planned"]) == (23, 39)  # 24 questions were asked, one of which failed
    assert seen["value"] == pytest.approx(17 / 23)
    assert "failed-questions" in [message["name"] for message in seen["messages"]]
