import os

import pytest

from harness_uq import Options
from harness_uq.analyses.scan.scan_logs import scan
from harness_uq.commands.main import main

pytest.importorskip("pyarrow")
from harness_uq.analyses.store.store import Store
from tests.adapters.inspect.logs import copy_as_run


@pytest.fixture
def kept(shared, tmp_path):
    """Three logs and a store of them."""
    whole = next((shared / "data" / "inspect").rglob("*popularity*.eval"))
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    for i in range(3):
        copy_as_run(whole, logs / f"{i}.eval")
    scan(logs, Options(), store=str(store))
    return logs, store


def command(capsys, *arguments):
    code = main(["store", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_ls_says_what_there_is_by_options(kept, capsys):
    logs, store = kept
    scan(logs, Options(level=0.9), store=str(store))
    code, out, err = command(capsys, "ls", store)
    lines = out.splitlines()
    assert (code, err, len(lines)) == (0, "", 3)
    assert all("3 logs" in line for line in lines)
    assert sum("level=0.9, method=bayes, scope=population, seed=0" in line for line in lines) == 1
    assert "{" not in out


def test_verify_names_a_file_in_which_one_byte_is_wrong(kept, capsys):
    _, store = kept
    assert command(capsys, "verify", store)[0] == 0
    path = sorted((store / "logs").iterdir())[0]
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF
    path.write_bytes(content)
    code, out, err = command(capsys, "verify", store)
    assert code == 1
    assert str(path) in err
    assert out == "5 of 6 files are intact.\n"


def test_gc_drops_what_is_damaged_changed_gone_or_unfinished_and_keeps_the_rest(kept, capsys):
    logs, store = kept
    (store / "logs" / ".abc.harness-uq").touch()
    (store / "logs" / "broken.parquet").write_bytes(b"no Parquet")
    (logs / "0.eval").unlink()
    os.utime(logs / "1.eval", ns=(0, 0))
    code, out, _ = command(capsys, "gc", store)
    assert code == 0
    assert [int(line.split()[0]) for line in out.splitlines()] == [1, 1, 4, 0]
    assert {entry.kind for entry in Store(str(store)).entries} == {"logs", "estimates"}
    assert len(Store(str(store)).entries) == 2
    assert command(capsys, "verify", store)[0] == 0


def test_a_store_that_is_not_there_is_an_error(tmp_path, capsys):
    assert command(capsys, "ls", tmp_path / "nowhere")[::2] == (
        1,
        f"harness-uq: error: Folder not found: {tmp_path}/nowhere. Give a folder that --store created.\n",
    )
    assert not (tmp_path / "nowhere").exists()
