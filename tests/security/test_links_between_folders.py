"""`rescore` and `restore` change nothing outside the folders that the user names."""

from pathlib import Path

import pytest

from harness_uq.analyses.rescore import rescore, restore
from tests.adapters.inspect.logs import grid, header, write_eval
from tests.adapters.lm_eval.logs import Folder, rows

VALUES = [["C"], ["I"], ["C"], ["C"]]


def write_inspect(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return write_eval(folder / "log.eval", header(total=4), grid(VALUES))


def write_lm_eval(folder: Path) -> Path:
    run = Folder(folder)
    run.samples("toy", rows("acc", [1.0, 0.0, 1.0, 1.0]))
    run.results({"toy": {"acc,none": 0.75, "acc_stderr,none": 0.25}}, n=4)
    (results,) = folder.glob("results*.json")
    return results


WRITERS = pytest.mark.parametrize("write", [write_inspect, write_lm_eval])


def linked(log: Path, folder: Path) -> Path:
    """A folder with links to the files beside a log."""
    folder.mkdir()
    for file in log.parent.iterdir():
        (folder / file.name).symlink_to(file)
    return folder


@WRITERS
def test_logs_outside_are_changed_only_if_the_user_says_so(tmp_path: Path, write) -> None:
    log = write(tmp_path / "mine")
    folder, content = linked(log, tmp_path / "shared"), log.read_bytes()
    for path in (folder, folder / log.name, f"{folder}/*"):
        done = rescore(path)
        assert [message.code for _, message in done.failures] == ["UQ337"]
        assert log.read_bytes() == content
    assert not rescore(folder, follow_links=True).failures
    changed = log.read_bytes()
    assert changed != content
    assert "UQ337" in [message.code for _, message in restore(folder).failures]
    assert log.read_bytes() == changed
    restore(folder, follow_links=True)
    assert log.read_bytes() == content


@WRITERS
def test_links_within_a_folder_are_followed(tmp_path: Path, write) -> None:
    log = write(tmp_path / "logs" / "stored")
    content = log.read_bytes()
    linked(log, tmp_path / "logs" / "links")
    log_paths = tmp_path / "logs"
    assert not rescore(log_paths).failures
    assert log.read_bytes() != content


@WRITERS
def test_a_copy_is_not_written_through_a_dangling_link(tmp_path: Path, write) -> None:
    log, folder, outside = write(tmp_path / "mine"), tmp_path / "output", tmp_path / "outside"
    folder.mkdir()
    (folder / log.name).symlink_to(outside)
    assert rescore(log, output=folder).failures
    assert not outside.exists()


@WRITERS
def test_copies_are_not_written_into_a_linked_folder(tmp_path: Path, write) -> None:
    write(tmp_path / "mine" / "run")
    folder, outside = tmp_path / "output", tmp_path / "outside"
    for new in (folder, outside):
        new.mkdir()
    (folder / "run").symlink_to(outside)
    ((_, message),) = rescore(tmp_path / "mine", output=folder).failures
    assert message.code == "UQ338"
    assert not list(outside.iterdir())
