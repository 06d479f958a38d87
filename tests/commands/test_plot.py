"""`--plot` of the commands that have scores or differences to draw."""

from pathlib import Path

import pytest

from harness_uq.commands.main import main

pytest.importorskip("matplotlib")


@pytest.fixture
def table(tmp_path: Path) -> str:
    lines = [f"{system},toy,{i},{int(i % bad > 0)}" for system, bad in (("a", 5), ("b", 3)) for i in range(40)]
    (tmp_path / "scores.csv").write_text("\n".join(["system,task,question,score", *lines]) + "\n")
    return str(tmp_path / "scores.csv")


@pytest.mark.parametrize("command", ["estimate", "compare", "rank"])
@pytest.mark.parametrize(("name", "start"), [("p.svg", b"<?xml"), ("p.png", b"\x89PNG"), ("p.pdf", b"%PDF")])
def test_a_picture_is_written_in_the_format_of_its_name(
    command: str, name: str, start: bytes, table: str, tmp_path: Path
) -> None:
    assert main([command, table, "--plot", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_folder_that_is_not_there_is_named_before_anything_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "no such log", "--plot", "nowhere/p.svg"]) != 0
    assert "nowhere" in capsys.readouterr().err


def test_a_log_that_cannot_be_read_is_reported_although_there_is_nothing_to_draw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("question,remark\nq1,good\n")
    assert main(["estimate", str(path), "--plot", str(tmp_path / "p.svg")]) == 1
    assert "No column of the table is recognized as the score" in capsys.readouterr().err
    assert not (tmp_path / "p.svg").exists()
