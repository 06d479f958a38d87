import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness_uq import Options, estimate, read_logs
from harness_uq.analyses.scan.engine import Engine
from harness_uq.analyses.scan.scan_logs import scan
from harness_uq.io.readers import ReadErrors
from tests.message_checks import has

pytest.importorskip("pyarrow")
from harness_uq.analyses.store.store import Store
from tests.adapters.inspect.logs import copy_as_run
from tests.analyses.store.killed_scans import scans_to_kill
from tests.output.rendering import render

WILSON = Options(method="wilson")


@pytest.fixture(scope="module")
def logs(shared, tmp_path_factory):
    return some_logs(shared, tmp_path_factory.mktemp("logs"))


def some_logs(shared, folder):
    """Ten logs of Inspect, one of them broken and one without scores, and a run of lm-eval with groups."""
    for name in ("inspect/unscored", "inspect/old_formats", "lm_eval/mmlu_pro_plus_group_two_models"):
        shutil.copytree(shared / "data" / name, folder / name)
    whole = next((shared / "data" / "inspect").rglob("*popularity*.eval"))
    for i in range(8):
        copy_as_run(whole, folder / f"{i}.eval")
    (folder / "cut.eval").write_bytes(whole.read_bytes()[:2000])
    return folder


@pytest.fixture
def opened(monkeypatch):
    """Files of runs that were read."""
    found = []
    read = ReadErrors.read

    def noted(self, harness, run, **options):
        found.append(run.files[0])
        return read(self, harness, run, **options)

    monkeypatch.setattr(ReadErrors, "read", noted)
    return found


def told(found):
    return (
        render(found.rows, "json"),
        sorted(found.reading.warnings, key=str),
        found.reading.failures,
        found.reading.n_skipped,
    )


def test_logs_that_have_not_changed_are_not_opened_again_and_give_the_same(logs, tmp_path, opened):
    store = str(tmp_path / "store")
    plain, cold = scan(logs, WILSON), scan(logs, WILSON, store=store)
    opened.clear()
    warm = scan(logs, WILSON, store=store)
    assert opened == []
    assert told(warm) == told(cold) == told(plain)


def test_other_options_are_estimated_from_what_is_kept_without_opening_a_log(logs, tmp_path, opened):
    store = str(tmp_path / "store")
    scan(logs, WILSON, store=store)
    opened.clear()
    kept = scan(logs, Options(method="t"), store=store)
    assert opened == []
    assert told(kept) == told(scan(logs, Options(method="t")))


def test_two_sets_of_options_live_side_by_side(logs, tmp_path, opened):
    store = str(tmp_path / "store")
    for method in ("wilson", "t"):
        scan(logs, Options(method=method), store=store)
    opened.clear()
    methods = [{row.method for row in scan(logs, Options(method=name), store=store).rows} for name in ("wilson", "t")]
    assert opened == []
    assert methods[0] != methods[1]


def test_task_logs_come_from_the_store_whole(logs, tmp_path, opened):
    store = str(tmp_path / "store")
    scan(logs, store=store)
    opened.clear()
    kept = scan(logs, full_logs=True, store=store, engine=Engine(jobs=1)).reading.logs
    assert opened == []
    assert render(estimate(kept, WILSON), "json") == render(
        estimate(read_logs(logs, need_scores=True).logs, WILSON), "json"
    )


def test_a_log_that_changed_replaces_its_rows_and_others_are_not_opened(logs, tmp_path, opened):
    folder, store = shutil.copytree(logs, tmp_path / "logs"), str(tmp_path / "store")
    scan(folder, WILSON, store=store)
    entries = len(Store(store).entries)
    os.utime(folder / "3.eval", ns=(0, 0))
    opened.clear()
    again = scan(folder, WILSON, store=store)
    assert opened == [str(folder / "3.eval")]
    assert told(again) == told(scan(folder, WILSON))
    assert len(Store(store).entries) == entries


def test_a_log_that_is_gone_has_no_rows(logs, tmp_path):
    folder, store = shutil.copytree(logs, tmp_path / "logs"), str(tmp_path / "store")
    scan(folder, WILSON, store=store)
    (folder / "3.eval").unlink()
    assert told(scan(folder, WILSON, store=store)) == told(scan(folder, WILSON))


def test_a_file_of_the_store_that_is_damaged_is_named_and_its_logs_are_read_again(logs, tmp_path):
    store = tmp_path / "store"
    cold = scan(logs, WILSON, store=str(store))
    damaged = [path for kind in ("logs", "estimates") for path in sorted((store / kind).iterdir())[:2]]
    for path in damaged:
        content = bytearray(path.read_bytes())
        content[len(content) // 3] ^= 0xFF
        path.write_bytes(content[: -len(content) // 4] if path == damaged[0] else content)
    found = scan(logs, WILSON, store=str(store))
    assert told(found) == told(cold)
    assert has(found.reading.trouble, "stored-file-unreadable", path=str(damaged[0]))


def test_a_store_may_be_a_url(logs):
    store = "memory://kept/store"
    cold = scan(logs, WILSON, store=store)
    assert told(scan(logs, WILSON, store=store)) == told(cold)
    assert len(Store(store).entries) > 0


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_a_store_that_can_be_read(standins, tmp_path):
    logs, store = some_logs(standins, tmp_path / "logs"), str(tmp_path / "store")
    with scans_to_kill(logs, store) as start:
        for i in range(5):
            before = len(list(Path(store).rglob("*.parquet")))
            scanning = start(level=0.9 + i / 100)
            while scanning.is_running() and len(list(Path(store).rglob("*.parquet"))) < before + 1 + i:
                time.sleep(0.01)
            scanning.kill()
            assert Store(store).unreadable_files == []
    assert told(scan(logs, WILSON, store=store)) == told(scan(logs, WILSON))


def test_what_a_store_holds_is_found_without_pandas(logs, tmp_path):
    scan(logs / "0.eval", WILSON, store=str(tmp_path))
    look = (
        f"import sys; from harness_uq.analyses.store.store import Store; print(len(Store({str(tmp_path)!r}).entries))"
    )
    command = [sys.executable, "-c", f"{look}; print('pandas' in sys.modules)"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["2", "False"]
