"""Links that someone else planted in the output folder do not redirect what a command writes."""

import os
from pathlib import Path

import pytest

from harness_uq.commands.emit import write_file


@pytest.mark.parametrize("name", [".report.html.part", "report.html"])
@pytest.mark.parametrize("exists", [True, False])
def test_nothing_is_written_through_a_planted_link(tmp_path: Path, name: str, *, exists: bool) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    folder.mkdir()
    if exists:
        outside.write_text("mine")
    (folder / name).symlink_to(outside)
    write_file(folder / "report.html", b"report")
    assert outside.exists() == exists
    assert not exists or outside.read_text() == "mine"
    assert not (folder / "report.html").is_symlink()
    assert (folder / "report.html").read_text() == "report"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_an_output_has_the_permissions_of_a_normal_new_file(tmp_path: Path) -> None:
    write_file(tmp_path / "report.html", b"report")
    (tmp_path / "normal").touch()
    assert (tmp_path / "report.html").stat().st_mode == (tmp_path / "normal").stat().st_mode
