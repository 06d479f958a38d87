"""Write estimates into logged lm-eval runs, and restore the originals."""

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness_uq import LogError
from harness_uq.commands.main import main
from harness_uq_lm_eval.harness import LmEvalHarness
from harness_uq_lm_eval.write import writeback
from tests.adapters.lm_eval.logs import Folder, row


@pytest.fixture
def run(tmp_path):
    """Folder with a run of one task with twelve questions."""
    folder = tmp_path / "model"
    records = [row(i, acc=float(i % 3 > 0)) for i in range(12)]
    logs = Folder(folder)
    logs.samples("toy", records)
    logs.results({"toy": {"acc,none": 2 / 3, "acc_stderr,none": 0.1421}}, n=12, configs={"toy": {}})
    return folder


def files(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def results(folder):
    (path,) = Path(folder).glob("results_*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_copy_has_the_block_and_the_standard_error(run, tmp_path):
    before = files(run)
    assert main(["rescore", str(run), "--output-dir", str(tmp_path / "out"), "--level", "0.9"]) == 0
    assert files(run) == before
    written = results(tmp_path / "out")
    (entry,) = written["uq"]["estimates"]
    assert written["uq"] | {"estimates": []} == {
        "schema": 1,
        "method": "bayes",
        "level": 0.9,
        "scope": "population",
        "estimand": "mean",
        "estimates": [],
    }
    assert written["results"]["toy"]["acc_stderr,none"] == entry["std_error"]
    assert entry["harness"]["std_error"] == 0.1421
    samples = {name: content for name, content in before.items() if name.startswith("samples")}
    assert samples.items() <= files(tmp_path / "out").items()


def test_in_place_keeps_the_original_and_restore_brings_it_back(run):
    before = files(run)
    assert main(["rescore", str(run), "--in-place"]) == 0
    assert main(["rescore", str(run), "--in-place", "--level", "0.5"]) == 0
    assert results(run)["uq"]["level"] == 0.5
    assert results(run)["uq"]["estimates"][0]["harness"]["std_error"] == 0.1421
    assert main(["restore", str(run)]) == 0
    assert files(run) == before


def results_path(folder):
    (path,) = Path(folder).glob("results_*.json")
    return path


def change(path, **more):
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | more), encoding="utf-8")


def test_changes_by_other_programs_are_not_overwritten_by_rescoring(run, capsys):
    path, first = results_path(run), results_path(run).read_bytes()
    assert main(["rescore", str(run), "--in-place"]) == 0
    path.write_bytes(first.replace(b"org/model", b"org/other"))
    changed = files(run)
    assert main(["rescore", str(run), "--in-place"]) == 1
    assert "the file was changed after harness-uq wrote it" in capsys.readouterr().err
    assert files(run) == changed
    assert writeback.original_path(path).read_bytes() == first


def test_a_file_that_was_put_back_by_hand_is_rescored(run):
    path, first = results_path(run), files(run)
    assert main(["rescore", str(run), "--in-place"]) == 0
    path.write_bytes(first[path.name])
    assert main(["rescore", str(run), "--in-place"]) == 0
    assert main(["restore", str(run)]) == 0
    assert files(run) == first


def test_a_file_that_changes_during_the_estimation_is_not_written(run, monkeypatch):
    path, exclusive = results_path(run), writeback.exclusive
    monkeypatch.setattr(writeback, "exclusive", lambda folder: change(path, note="mine") or exclusive(folder))
    assert main(["rescore", str(run), "--in-place"]) == 1
    assert json.loads(path.read_text(encoding="utf-8"))["note"] == "mine"


def test_rescoring_twice_at_once_keeps_the_original(run, monkeypatch):
    path, before = results_path(run), results_path(run).read_bytes()
    (found,) = LmEvalHarness().find([str(path)]).runs
    fsync = writeback.os.fsync
    monkeypatch.setattr(writeback.os, "fsync", lambda fd: (time.sleep(0.005), fsync(fd)))
    for _ in range(10):
        with ThreadPoolExecutor(4) as pool:
            done = [pool.submit(writeback.write, found, [], None, {"level": level}) for level in (0.5, 0.6, 0.7, 0.8)]
        assert [future.result() for future in done] == [[str(path)]] * 4
        assert writeback.restore(str(path)) == [str(path)]
        assert path.read_bytes() == before


def test_lm_eval_does_not_mistake_saved_originals_for_results(run):
    utils = pytest.importorskip("lm_eval.utils")
    before = sorted(map(str, run.iterdir()))
    assert main(["rescore", str(run), "--in-place"]) == 0
    after = sorted(map(str, run.iterdir()))
    assert len(after) == len(before) + 1
    for found in (utils.get_results_filenames, utils.get_sample_results_filenames):
        assert found(after) == found(before)


@pytest.mark.parametrize("others", [{"note": "mine"}, {"uq": None}])
def test_changes_by_other_programs_are_not_overwritten_by_restore(run, capsys, others):
    path, before = results_path(run), results_path(run).read_bytes()
    assert main(["rescore", str(run), "--in-place"]) == 0
    change(path, **others)
    changed = files(run)
    assert main(["restore", str(run)]) != 0
    assert "was changed after harness-uq wrote it" in capsys.readouterr().err
    assert files(run) == changed
    assert changed[writeback.original_path(path).name] == before


def test_a_deleted_file_is_restored(run):
    before = files(run)
    assert main(["rescore", str(run), "--in-place"]) == 0
    results_path(run).unlink()
    assert main(["restore", str(run)]) == 0
    assert files(run) == before


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_permissions_stay(run, tmp_path, mode):
    path = results_path(run)
    path.chmod(mode)
    assert main(["rescore", str(run), "--output-dir", str(tmp_path / "out")]) == 0
    assert main(["rescore", str(run), "--in-place"]) == 0
    modes = [written.stat().st_mode & 0o777 for written in (path, results_path(tmp_path / "out"))]
    assert modes == [mode, mode]
    assert main(["restore", str(run)]) == 0
    assert path.stat().st_mode & 0o777 == mode


def test_the_target_of_a_symbolic_link_is_written(run, tmp_path):
    path, stored = results_path(run), tmp_path / "stored.json"
    before = path.read_bytes()
    path.rename(stored)
    path.symlink_to(stored)
    assert main(["rescore", str(run), "--in-place", "--follow-links"]) == 0
    assert path.is_symlink()
    assert "uq" in json.loads(stored.read_text(encoding="utf-8"))
    assert main(["restore", str(run), "--follow-links"]) == 0
    assert path.is_symlink()
    assert stored.read_bytes() == before


def test_a_copy_is_not_overwritten(run, tmp_path, capsys):
    assert main(["rescore", str(run), "--output-dir", str(tmp_path / "out")]) == 0
    before = files(tmp_path / "out")
    assert main(["rescore", str(run), "--output-dir", str(tmp_path / "out")]) == 1
    assert "exists already" in capsys.readouterr().err
    assert files(tmp_path / "out") == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kill", "ENOSPC", "EIO", "EACCES"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_writer_interrupted_at_any_call_loses_nothing(run, tmp_path, kind):
    """At each audited call of rescoring in place and of restoring, the process dies or the call fails."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("interrupted_writes.py"), run, tmp_path / "work", kind],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 20


def test_copies_that_a_killed_process_left_are_completed(run, tmp_path):
    (samples,) = run.glob("samples_*")
    (tmp_path / "out").mkdir()
    shutil.copy(samples, tmp_path / "out")
    assert main(["rescore", str(run), "--output-dir", str(tmp_path / "out")]) == 0
    assert "uq" in results(tmp_path / "out")


def test_other_samples_under_the_name_of_a_copy_are_not_overwritten(run, tmp_path):
    (samples,) = run.glob("samples_*")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / samples.name).write_text("mine")
    assert main(["rescore", str(run), "--output-dir", str(tmp_path / "out")]) == 1
    assert files(tmp_path / "out") == {samples.name: b"mine"}


class TestFullDisk:
    """The disk is full at one of the steps of writing."""

    @pytest.mark.parametrize("step", ["replace", "copystat", "fsync"])
    def test_in_place_leaves_the_original(self, run, monkeypatch, capsys, step):
        before = files(run)
        fill(monkeypatch, step)
        assert main(["rescore", str(run), "--in-place"]) == 1
        assert "No space left" in capsys.readouterr().err
        path = results_path(run)
        assert {name: found for name, found in files(run).items() if name in before} == before
        assert files(run).keys() - before.keys() <= {writeback.original_path(path).name}
        monkeypatch.undo()
        main(["restore", str(run)])
        assert files(run) == before

    @pytest.mark.parametrize("step", ["replace", "copyfileobj", "fsync"])
    def test_copies_are_all_or_none(self, run, tmp_path, monkeypatch, step):
        before = files(run)
        fill(monkeypatch, step)
        assert main(["rescore", str(run), "--output-dir", str(tmp_path / "out")]) == 1
        assert files(run) == before
        assert files(tmp_path / "out") == {}


def fill(monkeypatch, step):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    owner = {"fsync": writeback.os, "replace": Path}.get(step, shutil)
    monkeypatch.setattr(owner, step, full)


def test_a_run_without_results_file_cannot_be_written(run, tmp_path):
    (path,) = run.glob("results_*.json")
    path.unlink()
    harness = LmEvalHarness()
    (found,) = harness.find([str(path) for path in run.iterdir()]).runs
    with pytest.raises(LogError, match="no results file"):
        harness.write(found, [], str(tmp_path / "out"), settings={})


def test_nan_in_a_log_survives(run, tmp_path):
    (path,) = run.glob("results_*.json")
    path.write_text(path.read_text(encoding="utf-8").replace("0.1421", "NaN"), encoding="utf-8")
    assert main(["rescore", str(run), "--output-dir", str(tmp_path / "out")]) == 0
    assert results(tmp_path / "out")["uq"]["estimates"][0]["harness"]["std_error"] is None
