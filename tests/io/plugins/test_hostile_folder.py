"""A folder of 200 logs of which 20 do harm: those are named, and every other is estimated."""

import json
import struct
import zipfile
from pathlib import Path

import pytest

from harness_uq import estimate
from harness_uq.commands.main import main
from harness_uq_lm_eval.read import tasks
from tests.adapters.inspect import logs as inspect
from tests.adapters.inspect.read.test_malformed_files import patched_directory
from tests.adapters.lm_eval.logs import TIME, Folder, rows

N_GOOD = 180
DEEP = "[" * 100_000
SCORES = [1.0, 0.0, 1.0, 1.0]
VALUES = [["C"], ["I"], ["C"], ["C"]]
BUG = "a-bug-of-ours"


def head():
    return inspect.header(scores=[inspect.score_totals("match", 0.75, n=4)], total=4)


def good_eval(path: Path, **how) -> Path:
    return inspect.write_eval(path, head(), inspect.grid(VALUES), **how)


def good_json() -> str:
    return json.dumps(head() | {"samples": inspect.grid(VALUES)})


def results_named(folder: Path) -> Path:
    return folder / f"results_{TIME}.json"


def samples_named(folder: Path) -> Path:
    return folder / f"samples_toy_{TIME}.jsonl"


def encrypted(folder: Path) -> None:
    patched_directory(good_eval(folder / "log.eval"), "header.json", 8, struct.pack("<H", 1))


def wrong_sum(folder: Path) -> None:
    patched_directory(good_eval(folder / "log.eval"), "header.json", 16, struct.pack("<I", 7))


def unknown_method(folder: Path) -> None:
    patched_directory(good_eval(folder / "log.eval"), "header.json", 10, struct.pack("<H", 77))


def cut_off(folder: Path) -> None:
    path = good_eval(folder / "log.eval")
    path.write_bytes(path.read_bytes()[:300])


def other_zip(folder: Path) -> None:
    with zipfile.ZipFile(folder / "log.eval", "w") as archive:
        archive.writestr("hello.txt", "hello")


def expanding_header(folder: Path) -> None:
    path = good_eval(folder / "log.eval")
    with zipfile.ZipFile(path, "w", inspect.DEFLATE) as archive:
        archive.writestr("header.json", " " * (64 << 20))


HOSTILE = {
    "an empty results file": lambda folder: results_named(folder).touch(),
    "results cut off": lambda folder: results_named(folder).write_text('{"results": {"toy": {"acc,n'),
    "results nested too deeply": lambda folder: results_named(folder).write_text('{"results": ' + DEEP),
    "results of lm-eval before 0.4": lambda folder: results_named(folder).write_text(
        '{"results": {}, "versions": {}, "config": {"model": "hf-causal"}}'
    ),
    "results of text that is no JSON": lambda folder: results_named(folder).write_text("\x1b[2J\x00\u202e"),
    "an empty samples file": lambda folder: samples_named(folder).touch(),
    "samples that are no JSON": lambda folder: samples_named(folder).write_text("doc_id,acc\n0,1\n"),
    "samples of which no row is whole": lambda folder: samples_named(folder).write_text('{"doc_id": 0, "do'),
    "samples that are an array of nothing": lambda folder: samples_named(folder).write_text("[]"),
    "an empty archive": lambda folder: (folder / "log.eval").touch(),
    "an archive cut off": cut_off,
    "an archive of something else": other_zip,
    "an encrypted header": encrypted,
    "a header with a wrong checksum": wrong_sum,
    "a header packed in an unknown way": unknown_method,
    "a header that expands a thousandfold": expanding_header,
    "a header of numbers": lambda folder: (folder / "log.json").write_text(good_json().replace('"mockllm/model"', "7")),
    "a log nested too deeply": lambda folder: (folder / "log.json").write_text(
        good_json().replace('"plan": {}', f'"plan": {DEEP}')
    ),
    "a log that is no UTF-8": lambda folder: (folder / "log.json").write_bytes(
        good_json().encode().replace(b"Question 1?", b"Question \xff?")
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Half of the good logs of each harness, the hostile ones, and one that meets a bug of ours."""
    root = tmp_path_factory.mktemp("logs")
    for at in range(N_GOOD // 2):
        one_of_lm_eval(root / f"lm-eval-{at}")
        (root / f"inspect-{at}").mkdir()
        good_eval(root / f"inspect-{at}" / "log.eval")
    for name, make in HOSTILE.items():
        (root / name).mkdir()
        make(root / name)
    one_of_lm_eval(root / BUG)
    return root


def one_of_lm_eval(path):
    made = Folder(path)
    made.samples("toy", rows("acc", SCORES))
    made.results({"toy": {"acc,none": 0.75}}, n=4)


@pytest.fixture
def _bug(monkeypatch):
    original = tasks.read_run

    def broken(run):
        if BUG in run.name:
            raise KeyError("injected")
        return original(run)

    monkeypatch.setattr(tasks, "read_run", broken)


@pytest.mark.usefixtures("_bug")
def test_180_are_estimated_20_are_named_and_the_exit_code_is_1(folder, capsys):
    assert main(["estimate", str(folder), "--format", "json"]) == 1
    printed = capsys.readouterr()
    rows = json.loads(printed.out)["estimates"]
    assert len(rows) == N_GOOD
    assert {row["value"] for row in rows} == {0.75}
    assert all(row["interval"] for row in rows)
    said = [line for line in printed.err.splitlines() if line.startswith("error: ")]
    assert len(said) == len(HOSTILE) + 1 == 20
    for name in (*HOSTILE, BUG):
        assert [line for line in said if f"/{name}/" in line], name
    assert (
        "The reader for lm-eval failed with an unexpected error: KeyError: 'injected' (test_hostile_folder.py, line "
        in printed.err
    )
    assert "Traceback" not in printed.err


@pytest.mark.usefixtures("_bug")
def test_debug_shows_where_the_bug_is(folder, caplog):
    with caplog.at_level("DEBUG", logger="harness_uq"):
        assert main(["--debug", "estimate", str(folder / BUG), str(folder / "lm-eval-0")]) == 1
    assert "Traceback" in caplog.text
    assert "KeyError: 'injected'" in caplog.text


def test_in_python_what_was_not_read_is_logged_and_the_others_are_estimated(folder, caplog):
    rows = estimate(folder)
    assert len(rows) == N_GOOD + 1
    assert len(caplog.records) == len(HOSTILE)
