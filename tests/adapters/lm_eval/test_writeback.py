"""Logged lm-eval runs with estimates written into them."""

import errno
import json
import shutil
from pathlib import Path

import pytest

from harness_uq import LogError
from harness_uq.cli import main
from harness_uq_lm_eval import writeback
from harness_uq_lm_eval.harness import LmEvalHarness
from tests.adapters.lm_eval.logs import Folder, row


@pytest.fixture
def run(tmp_path):
    """A folder with a run of one task, twelve questions."""
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
    assert main(["rescore", str(run), "--output", str(tmp_path / "out"), "--level", "0.9"]) == 0
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


def test_a_new_run_in_the_same_file_is_the_original_of_the_next_rescoring(run):
    path, first = results_path(run), results_path(run).read_bytes()
    assert main(["rescore", str(run), "--in-place"]) == 0
    path.write_bytes(first.replace(b"org/model", b"org/other"))
    second = files(run)[path.name]
    assert main(["rescore", str(run), "--in-place"]) == 0
    assert main(["restore", str(run)]) == 0
    assert path.read_bytes() == second


@pytest.mark.parametrize("others", [{"note": "mine"}, {"uq": None}])
def test_what_others_wrote_since_is_not_discarded_by_restore(run, capsys, others):
    path, before = results_path(run), results_path(run).read_bytes()
    assert main(["rescore", str(run), "--in-place"]) == 0
    change(path, **others)
    changed = files(run)
    assert main(["restore", str(run)]) != 0
    assert "was changed since" in capsys.readouterr().err
    assert files(run) == changed
    assert changed[path.name + writeback.ORIGINAL] == before


def test_an_earlier_output_of_ours_does_not_bring_back_the_original_of_a_later_run(run):
    path, first = results_path(run), results_path(run).read_bytes()
    assert main(["rescore", str(run), "--in-place"]) == 0
    output = path.read_bytes()
    path.write_bytes(first.replace(b"org/model", b"org/other"))
    assert main(["rescore", str(run), "--in-place"]) == 0
    path.write_bytes(output)
    with pytest.raises(LogError, match="was changed since"):
        writeback.restore(str(path))


def test_a_file_that_was_deleted_since_is_brought_back(run):
    before = files(run)
    assert main(["rescore", str(run), "--in-place"]) == 0
    results_path(run).unlink()
    assert main(["restore", str(run)]) == 0
    assert files(run) == before


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_permissions_stay(run, tmp_path, mode):
    path = results_path(run)
    path.chmod(mode)
    assert main(["rescore", str(run), "--output", str(tmp_path / "out")]) == 0
    assert main(["rescore", str(run), "--in-place"]) == 0
    modes = [written.stat().st_mode & 0o777 for written in (path, results_path(tmp_path / "out"))]
    assert modes == [mode, mode]
    assert main(["restore", str(run)]) == 0
    assert path.stat().st_mode & 0o777 == mode


def test_a_link_stays_a_link_and_the_file_behind_it_is_written(run, tmp_path):
    path, stored = results_path(run), tmp_path / "stored.json"
    before = path.read_bytes()
    path.rename(stored)
    path.symlink_to(stored)
    assert main(["rescore", str(run), "--in-place"]) == 0
    assert path.is_symlink()
    assert "uq" in json.loads(stored.read_text(encoding="utf-8"))
    assert main(["restore", str(run)]) == 0
    assert path.is_symlink()
    assert stored.read_bytes() == before


def test_a_copy_is_not_overwritten(run, tmp_path, capsys):
    assert main(["rescore", str(run), "--output", str(tmp_path / "out")]) == 0
    before = files(tmp_path / "out")
    assert main(["rescore", str(run), "--output", str(tmp_path / "out")]) == 1
    assert "exists already" in capsys.readouterr().err
    assert files(tmp_path / "out") == before


class TestFullDisk:
    """The disk is full at each step of writing."""

    @pytest.mark.parametrize("step", ["write_bytes", "copy2", "fsync"])
    def test_in_place_leaves_the_original(self, run, monkeypatch, capsys, step):
        before = files(run)
        fill(monkeypatch, step)
        assert main(["rescore", str(run), "--in-place"]) == 1
        assert "No space left" in capsys.readouterr().err
        assert files(run) == before

    @pytest.mark.parametrize("step", ["write_bytes", "copy2", "fsync"])
    def test_copies_are_all_or_none(self, run, tmp_path, monkeypatch, step):
        before = files(run)
        fill(monkeypatch, step)
        assert main(["rescore", str(run), "--output", str(tmp_path / "out")]) == 1
        assert files(run) == before
        assert files(tmp_path / "out") == {}

    def test_a_real_full_device(self, run, monkeypatch):
        if not Path("/dev/full").exists():
            pytest.skip("no /dev/full")

        def write_to_full_device(path, content):
            with Path("/dev/full").open("wb", 0) as device:
                device.write(content)

        monkeypatch.setattr(Path, "write_bytes", write_to_full_device)
        before = files(run)
        assert main(["rescore", str(run), "--in-place"]) == 1
        assert files(run) == before


def fill(monkeypatch, step):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    owner = {"write_bytes": Path, "copy2": shutil, "fsync": writeback.os}[step]
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
    assert main(["rescore", str(run), "--output", str(tmp_path / "out")]) == 0
    assert results(tmp_path / "out")["uq"]["estimates"][0]["harness"]["std_error"] is None
