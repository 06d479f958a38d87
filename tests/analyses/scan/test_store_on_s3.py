"""A store of results on S3 (moto's server): what it spares, and what a writer leaves that is killed."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from joblib.externals.loky import get_reusable_executor

from harness_uq import Options
from harness_uq.analyses.scan.engine import Engine
from harness_uq.analyses.scan.scan_logs import scan
from harness_uq.io import paths as io_paths

pytest.importorskip("pyarrow")
from harness_uq.analyses.store.store import Store
from harness_uq.commands.main import main
from tests.adapters.inspect.logs import copy_as_run
from tests.analyses.store.killed_scans import scans_to_kill
from tests.output.rendering import render

pytestmark = pytest.mark.slow
WILSON = Options(method="wilson")


@pytest.fixture(scope="module")
def logs(standins, tmp_path_factory):
    """Forty logs of Inspect and a run of lm-eval with groups."""
    folder = tmp_path_factory.mktemp("logs")
    whole = next((standins / "data" / "inspect").rglob("*popularity*.eval"))
    for i in range(40):
        copy_as_run(whole, folder / f"{i:02}.eval")
    name = "mmlu_pro_plus_group_two_models"
    shutil.copytree(standins / "data" / "lm_eval" / name, folder / name)
    return folder


def upload(folder, url):
    for file in io_paths.listing(str(folder)):
        io_paths.write_bytes(io_paths.join(url, os.path.relpath(file.url, folder)), io_paths.read_bytes(file.url))
    return url


def json_of(found, root, url):
    return render(found.rows, "json").replace(url, str(root))


def test_logs_and_store_on_s3_give_the_same_and_no_log_is_asked_for_again(logs, s3):
    there, store = upload(logs, f"{s3.url}/logs"), f"{s3.url}/kept"
    here = scan(logs, WILSON)
    get_reusable_executor().shutdown()  # workers of an earlier test do not know where S3 is
    cold = scan(there, WILSON, store=store, engine=Engine(jobs=2))
    s3.forget()
    warm = scan(there, WILSON, store=store)
    assert not [path for method, path, _, _ in s3.asked() if method == "GET" and ("eval" in path and "/logs/" in path)]
    assert json_of(cold, logs, there) == json_of(warm, logs, there) == render(here.rows, "json")
    assert cold.reading.trouble == warm.reading.trouble == ()


def test_an_object_that_changed_replaces_its_rows(logs, s3):
    there, store = upload(logs, f"{s3.url}/logs"), f"{s3.url}/kept"
    scan(there, WILSON, store=store)
    entries = len(Store(store).entries)
    io_paths.write_bytes(f"{there}/00.eval", io_paths.read_bytes(f"{there}/00.eval") + b" ")
    s3.forget()
    again = scan(there, WILSON, store=store)
    assert {path for _, path, _, _ in s3.asked() if path.endswith(".eval")} == {"/" + f"{there}/00.eval".split("//")[1]}
    assert len(again.rows) == len(scan(logs, WILSON).rows)
    assert len(Store(store).entries) == entries


def test_a_store_on_s3_is_looked_after(logs, s3, capsys):
    store = f"{s3.url}/kept"
    scan(logs, WILSON, store=store)
    assert main(["store", "verify", store]) == 0
    io_paths.write_bytes(f"{store}/logs/broken.parquet", b"no Parquet")
    assert main(["store", "verify", store]) == 1
    assert main(["store", "gc", store]) == 0
    assert main(["store", "verify", store]) == 0
    assert "broken.parquet" in capsys.readouterr().err


def test_a_run_that_is_killed_leaves_a_store_on_s3_that_can_be_read(logs, s3):
    store = f"{s3.url}/kept"
    with scans_to_kill(logs, store) as start:
        for i in range(4):
            before = len(list(io_paths.listing(store)))
            scanning = start(level=0.9 + i / 100)
            while scanning.is_running() and len(list(io_paths.listing(store))) < before + 1 + i:
                time.sleep(0.01)
            scanning.kill()
            found = Store(store)
            assert found.entries
            assert found.unreadable_files == []
    kept = scan(logs, WILSON, store=store)
    assert render(kept.rows, "json") == render(scan(logs, WILSON).rows, "json")


SENDS = """
import sys
from harness_uq.io import paths as io_paths
content = bytes(int(sys.argv[2]))
io_paths.write_bytes(sys.argv[1] + "-first", b"")
print("started", flush=True)
io_paths.write_bytes(sys.argv[1], content)
print("sent", flush=True)
"""


def test_a_writer_killed_while_it_sends_leaves_all_of_an_object_or_none(s3):
    size, was_cut = 40 << 20, []
    for i in range(6):
        url = f"{s3.url}/{i}"
        process = subprocess.Popen([sys.executable, "-c", SENDS, url, str(size)], stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"started\n"
        time.sleep(0.005 * 2**i)
        process.send_signal(signal.SIGKILL)
        was_cut.append(b"sent" not in process.communicate()[0])
        time.sleep(0.2)  # until the server has seen to it
        assert not io_paths.exists(url) or io_paths.size(url) == size
    assert any(was_cut)
