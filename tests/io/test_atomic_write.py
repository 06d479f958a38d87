"""Unfinished files: those of living processes stay, those of killed ones go."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from harness_uq.io.atomic_write import remove_temporary_files, temporary_file

HOLD = """
import sys, time
from pathlib import Path
from harness_uq.io.atomic_write import temporary_file
with temporary_file(Path(sys.argv[1])) as file:
    print(file.name, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def writer(tmp_path):
    """A process that holds an unfinished file, and the file's name."""
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_file_is_left_alone_until_its_writer_is_gone(writer, tmp_path):
    process, name = writer
    assert remove_temporary_files([tmp_path]) == []
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert remove_temporary_files([tmp_path]) == [name]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_took_its_name_stays_and_one_that_did_not_is_deleted(tmp_path):
    with temporary_file(tmp_path) as file:
        file.write(b"whole")
        file.flush()
        Path(file.name).replace(tmp_path / "target")
    with pytest.raises(KeyboardInterrupt), temporary_file(tmp_path):
        raise KeyboardInterrupt
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"target": b"whole"}


@pytest.mark.parametrize("place", ["", "beneath"])
def test_beneath_a_folder_and_beside_a_file(tmp_path, place):
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    for name in (".a.harness-uq", ".harness-uq-notes", "b.harness-uq"):
        (folder / name).touch()
    (folder / ".c.harness-uq").mkdir()
    (folder / ".d.harness-uq").symlink_to(folder / "b.harness-uq")
    asked = tmp_path if place else tmp_path / "log.json"
    assert remove_temporary_files([asked]) == [str(folder / ".a.harness-uq")]


@pytest.mark.parametrize("command", [["estimate"], ["rescore", "--in-place"], ["restore"]])
def test_commands_remove_leftovers_and_say_so(tmp_path, capsys, command):
    (tmp_path / ".a.harness-uq").touch()
    main([*command, str(tmp_path)])
    assert f"removed {tmp_path / '.a.harness-uq'}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
