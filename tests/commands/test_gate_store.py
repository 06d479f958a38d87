"""`harness-uq gate` with a store in the baseline's place: the numbers of its logs, none of which is opened."""

import json
import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from harness_uq.commands.main import main
from harness_uq.messages.errors import HarnessUqError

pytest.importorskip("pyarrow")
from harness_uq.analyses.store.read import is_store, stored_logs


def rows(system: str, n_right: dict[str, int]) -> str:
    return "".join(
        f"{system},{task},p{i // 4},{task}-{i},{int(i < n)}\n" for task, n in n_right.items() for i in range(120)
    )


def table(path: Path, systems: dict[str, dict[str, int]]) -> Path:
    body = "".join(rows(name, n_right) for name, n_right in systems.items())
    path.write_text("system,task,passage,id,correct\n" + body)
    return path


OLD = {"reading": 90, "sums": 70}


@pytest.fixture(params=["folder", "file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        pytest.importorskip("fsspec")
        return f"memory://{uuid4().hex}/kept"
    kept = tmp_path / "kept"
    return kept.as_uri() if request.param == "file" else str(kept)


def keep(logs: Path, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", str(logs), "--store", store]) == 0
    capsys.readouterr()


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["gate", *arguments, "--cluster", "passage"]) == code
    said = capsys.readouterr()
    return said.err if code in (2, 4) else said.out


def test_a_store_decides_as_its_logs_do_when_they_are_gone(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = table(tmp_path / "new.csv", {"new": {"reading": 60, "sums": 71}})
    old = table(tmp_path / "old.csv", {"old": OLD})
    keep(old, store, capsys)
    rest = ("--margin", "0.05", "--format", "json")
    from_logs = printed(capsys, str(new), "--baseline", str(old), *rest, code=1)
    old.unlink()
    from_store = printed(capsys, str(new), "--baseline", store, *rest, code=1)
    assert from_store == from_logs
    assert json.loads(from_store)["gates"][0]["rows"][0]["n_clusters"] == 30


def test_of_a_store_of_several_systems_one_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = table(tmp_path / "new.csv", {"new": OLD})
    old, store = table(tmp_path / "old.csv", {"a": OLD, "b": {"reading": 119, "sums": 119}}), str(tmp_path / "kept")
    keep(old, store, capsys)
    paths = [str(new), "--baseline", store, "--margin", "0.05"]
    said = printed(capsys, *paths, code=2)
    assert "The baseline runs contain several systems: a, b. Select one, such as --model a." in said
    assert "new: new, baseline: a" in printed(capsys, *paths, "--model", "a")
    assert printed(capsys, *paths, "--model", "b", code=1).startswith("FAIL")
    assert "No model matches 'c'" in printed(capsys, *paths, "--model", "a", "--model", "c", code=2)
    paths[2] = f"main={store}"
    assert "baseline: main" in printed(capsys, *paths, "--model", "a")


def test_of_several_runs_the_newest_counts_and_the_answer_says_so(
    lm_eval_runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large, small = (lm_eval_runs / "lm-eval" / f"scripted-{size}" for size in ("large", "small"))
    store, again = str(tmp_path / "kept"), tmp_path / "again"
    shutil.copytree(large, again)
    for logs in (large, again):
        keep(logs, store, capsys)
    paths = [str(small), "--baseline", store, "--margin", "0.05", "--task", "demo_copying"]
    assert main(["gate", *paths]) == 3
    text = capsys.readouterr().out
    assert "several-runs" in text


def test_a_store_that_the_new_runs_are_in_too_gives_the_older_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, new = str(tmp_path / "kept"), table(tmp_path / "new.csv", {"m": {"reading": 10, "sums": 10}})
    paths = [str(new), "--baseline", store, "--store", store, "--margin", "0.05"]
    keep(new, store, capsys)
    assert "contains no runs besides the new ones" in printed(capsys, *paths, code=4)
    keep(table(tmp_path / "old.csv", {"m": OLD}), store, capsys)
    assert printed(capsys, *paths, code=1).startswith("FAIL")


def test_a_store_can_be_tested_against_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, store = table(tmp_path / "old.csv", {"a": OLD, "b": OLD}), str(tmp_path / "kept")
    keep(old, store, capsys)
    rest = ("--self-test", "--n-simulations", "5", "--margin", "0.05", "--model", "a")
    assert printed(capsys, store, *rest) == printed(capsys, str(old), *rest)


def test_a_damaged_store_is_no_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, new = tmp_path / "kept", table(tmp_path / "new.csv", {"new": OLD})
    keep(table(tmp_path / "old.csv", {"old": OLD}), str(store), capsys)
    (file,) = (store / "logs").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    assert "kept cannot be read" in printed(capsys, str(new), "--baseline", str(store), "--margin", "0.05", code=4)
    file.unlink()
    assert is_store(str(store))
    with pytest.raises(
        HarnessUqError, match=r"contains no task logs\. Fill the store with `harness-uq estimate LOGS --store"
    ):
        stored_logs(str(store))


def test_a_folder_of_tables_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "scores.parquet").touch()
    assert not is_store(str(tmp_path))
    assert not is_store(str(tmp_path / "nowhere"))
    assert not is_store("memory://nowhere")


def test_what_a_store_holds_is_what_was_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness_uq import read_logs

    old, store = table(tmp_path / "old.csv", {"b": OLD, "a": OLD}), str(tmp_path / "kept")
    keep(old, store, capsys)
    held, read = stored_logs(store), read_logs([old]).logs
    assert [(log.system, log.task) for log in held] == [(log.system, log.task) for log in read]
    assert [log.source for log in held] == [log.source for log in read]
    assert all((a.data[0].values == b.data[0].values).all() for a, b in zip(held, read, strict=True))


def test_flaky_questions_are_learned_from_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def night(k: int, n_right: int = 90) -> Path:
        right = [int(i < n_right and (i >= 10 or (i + k) % 2 == 0)) for i in range(120)]
        path = tmp_path / f"night-{k}.csv"
        path.write_text("system,task,id,correct\n" + "".join(f"old,t,q{i},{value}\n" for i, value in enumerate(right)))
        return path

    store = str(tmp_path / "kept")
    for k in range(8):
        keep(night(k), store, capsys)
    new = tmp_path / "new.csv"
    new.write_text(night(9, 60).read_text().replace("old,", "new,"))
    options = ["--margin", "0.02", "--format", "json"]
    assert main(["gate", str(new), "--baseline", str(night(8)), "--history", store, *options]) == 1
    (flipped,) = json.loads(capsys.readouterr().out)["gates"][0]["flipped"]
    assert {one["question"] for one in flipped["flaky"]} == {f"q{i}" for i in range(10)}
    assert flipped["n_worse"] == 30
    assert main(["gate", str(new), "--at-least", "0.5", "--history", store]) == 2
    assert "--history requires --baseline" in capsys.readouterr().err
    assert main(["history", f"nightly={store}", "--format", "json"]) == 0
    (history,) = json.loads(capsys.readouterr().out)["histories"]
    assert (history["system"], len(history["runs"])) == ("nightly", 8)
