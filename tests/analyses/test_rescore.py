"""Estimates written into logs and taken out again, for a harness that keeps its runs in text files."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness_uq.analyses.rescore import rescore, restore
from harness_uq.commands.main import main
from harness_uq.data.structure import StructureOptions
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.protocols import Discovery, Reader, Run
from harness_uq.messages.errors import LogError, StructureError
from harness_uq.options import Options
from tests.data.toy import task_log


class TextHarness:
    """A run is a .scores file; writing appends the standard errors."""

    name = "text"

    def find(self, paths):
        return Discovery(tuple(Run(path, (path,)) for path in paths if path.endswith(".scores")))

    def read(self, run):
        text = Path(run.files[0]).read_text(encoding="utf-8")
        if "broken" in text:
            raise LogError("it is broken")
        return [task_log([float(part) for part in text.split()])]

    def main(self, argv):
        return len(argv)

    def write(self, run, estimates, destination, *, settings):
        source = Path(run.files[0])
        target = source if destination is None else Path(destination) / source.name
        if "full" in source.name:
            raise OSError(28, "No space left on device")
        target.parent.mkdir(parents=True, exist_ok=True)
        if destination is None:
            source.with_suffix(".original").write_bytes(source.read_bytes())
        target.write_text(f"{settings['method']} {estimates[0].std_error:.4f}", encoding="utf-8")
        return [str(target)]

    def restore(self, path):
        original = Path(path).with_suffix(".original")
        if path.endswith(".original") or not original.exists():
            return []
        original.replace(path)
        return [path]


@pytest.fixture
def plugins():
    return replace(load_plugins(), harnesses={"text": TextHarness()})


@pytest.fixture
def runs(tmp_path):
    for name, text in (("a/one", "1 0 1 1"), ("a/two", "1 1 1 1 0"), ("b/three", "broken")):
        path = tmp_path / "runs" / f"{name}.scores"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "runs"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.scores")}


def test_the_example_is_a_harness():
    assert isinstance(TextHarness(), Reader)


def test_copies_lie_as_the_originals_do_which_stay_untouched(runs, plugins, tmp_path):
    before = contents(runs)
    done = rescore(runs, Options(method="wilson"), output=tmp_path / "out", plugins=plugins)
    assert contents(runs) == before
    assert {name: text.split()[0] for name, text in contents(tmp_path / "out").items()} == {
        "a/one.scores": "wilson",
        "a/two.scores": "wilson",
    }
    assert [len(rescored.estimates) for rescored in done.runs] == [1, 1]


def test_a_run_that_fails_leaves_the_others(runs, plugins, tmp_path):
    (runs / "full.scores").write_text("1 0", encoding="utf-8")
    done = rescore(runs, output=tmp_path / "out", plugins=plugins)
    assert len(done.runs) == 2
    assert {Path(path).name: (message.name, message.params) for path, message in done.failures} == {
        "three.scores": ("log-unreadable", {"reason": "it is broken"}),
        "full.scores": ("operation-failed", {"reason": "[Errno 28] No space left on device"}),
    }


def test_in_place_and_back(runs, plugins):
    before = contents(runs)
    rescore(runs, plugins=plugins)
    assert contents(runs)["a/one.scores"].startswith("bayes ")
    assert sorted(Path(path).name for path in restore(runs, plugins=plugins).restored) == ["one.scores", "two.scores"]
    assert contents(runs) == before
    assert restore(runs, plugins=plugins).restored == ()


def test_a_file_that_cannot_be_brought_back_leaves_the_others(runs, plugins, monkeypatch):
    rescore(runs, plugins=plugins)
    original = TextHarness.restore

    def restore_one(self, path):
        if path.endswith("one.scores"):
            raise LogError("it was changed since")
        return original(self, path)

    monkeypatch.setattr(TextHarness, "restore", restore_one)
    done = restore(runs, plugins=plugins)
    assert [Path(path).name for path in done.restored] == ["two.scores"]
    ((path, message),) = done.failures
    assert (Path(path).name, message.params) == ("one.scores", {"reason": "it was changed since"})


def test_a_single_file_goes_right_into_the_folder(runs, plugins, tmp_path):
    rescore(runs / "a" / "one.scores", output=tmp_path / "out", plugins=plugins)
    assert list(contents(tmp_path / "out")) == ["one.scores"]


def test_the_own_folder_is_refused_as_output(runs, plugins):
    done = rescore(runs, output=runs, plugins=plugins)
    assert done.runs == ()
    assert "in place" in dict(done.failures)[str(runs / "a" / "one.scores")].text


def test_a_path_without_a_run_is_a_failure(tmp_path, plugins):
    failures = rescore([tmp_path / "nothing", tmp_path], plugins=plugins).failures
    assert [(path, message.name) for path, message in failures] == [
        (str(tmp_path / "nothing"), "path-missing"),
        (str(tmp_path), "folder-empty"),
    ]


def test_a_missing_path_is_an_error_before_anything_is_restored(runs, plugins):
    rescore(runs, plugins=plugins)
    with pytest.raises(LogError, match="absent: No such file or folder"):
        restore([runs, runs / "absent"], plugins=plugins)
    assert len(restore(runs, plugins=plugins).restored) == 2


def test_a_task_that_no_run_has_stops_it_before_anything_is_written(runs, plugins):
    before = contents(runs)
    options = Options(structure=StructureOptions.parse(["tyo=passage"]))
    with pytest.raises(StructureError, match="no task 'tyo'"):
        rescore(runs, options, plugins=plugins)
    assert contents(runs) == before


class TestCommandLine:
    def test_a_place_must_be_chosen(self, capsys):
        assert main(["rescore", "runs"]) == 2
        assert "--output-dir" in capsys.readouterr().err

    def test_nothing_to_restore_is_said(self, tmp_path, capsys):
        assert main(["restore", str(tmp_path)]) == 1
        assert "Nothing to restore" in capsys.readouterr().err

    def test_nothing_to_rescore_is_said(self, tmp_path, capsys):
        assert main(["rescore", str(tmp_path), "--in-place"]) == 1
        assert "The folder is empty" in capsys.readouterr().err
