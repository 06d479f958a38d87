"""Files that commands write: whole or not at all, and tried before the work."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_uq.commands.emit import try_file, write_file
from harness_uq.messages.errors import HarnessUqError


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    try_file(path)
    assert path.read_text() == "old"
    write_file(path, b"new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_what_was_there_and_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(HarnessUqError, match=r"Cannot write .*page\.html: No space left on device"):
        write_file(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("attempt", [try_file, lambda path: write_file(path, b"")])
def test_folders_and_places_in_no_folder_are_refused(tmp_path: Path, attempt: Callable[[Path], None]) -> None:
    with pytest.raises(HarnessUqError, match="Is a directory"):
        attempt(tmp_path)
    with pytest.raises(HarnessUqError, match="No such file or directory"):
        attempt(tmp_path / "no" / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="devices of POSIX")
def test_a_device_is_written_to_and_stays_one() -> None:
    try_file(Path("/dev/null"))
    write_file(Path("/dev/null"), b"gone")
    assert not Path("/dev/null").is_file()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux has it")
def test_an_open_file_is_appended_to_and_its_link_stays(tmp_path: Path) -> None:
    with (tmp_path / "redirected").open("wb") as file:
        file.write(b"table\n")
        file.flush()
        link = tmp_path / "stdout"  # as /dev/stdout, if standard output is a file
        link.symlink_to(f"/proc/self/fd/{file.fileno()}")
        try_file(link)
        write_file(link, b"annotations\n")
    assert link.is_symlink()
    assert (tmp_path / "redirected").read_bytes() == b"table\nannotations\n"
