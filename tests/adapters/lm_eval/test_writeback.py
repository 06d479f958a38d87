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
