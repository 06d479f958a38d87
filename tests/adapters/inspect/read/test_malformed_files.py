"""Malicious or damaged files: each is read or reported with the reason, without an unexpected exception."""

import json
import struct
import subprocess
import sys
import zipfile
import zlib

import msgspec
import numpy as np
import pytest

from harness_uq import DataError, LogError, estimate, read_logs
from harness_uq_inspect.read.archive import Archive, zstd
from harness_uq_inspect.read.samples import read_log
from harness_uq_inspect.read.schema import Sample, may_repeat, repeated_name
from tests.adapters.inspect.environment import environment
from tests.adapters.inspect.logs import ZSTANDARD, entry, grid, header, read, score_totals, write_eval, write_json
from tests.message_checks import has
from tests.output.rendering import render

VALUES = [["C", "I"], ["I", "I"], ["C", "C"], ["I", "C"]]
RIGHT = 0.5
LONG = "1" * 5000
DEEP = "[" * 100_000 + "]" * 100_000
HALF = r'"half a pair: \ud800"'


def plain_header(**more):
    totals = score_totals("match", RIGHT, reducer="mean", n=4, stderr=0.2)
    return header(scores=[totals], total=8, epochs=2, **more)


def text_of(samples=None, **more):
    """The text of a JSON log, to be damaged; its samples are those of `VALUES`."""
    return json.dumps(plain_header(**more) | {"samples": grid(VALUES) if samples is None else samples})


def estimated(path):
    """Estimates as by `harness-uq estimate`, and the files that could not be read."""
    reading = read_logs(path)
    rows = estimate(reading.logs)
    assert render(rows) is not None
    json.loads(render(rows, "json"))
    return rows, [message for _, message in (*reading.failures, *reading.warnings)]


def warned(path):
    return read(path).warnings


def replaced(tmp_path, old, new, *, name="log.json", **more):
    content = text_of(**more)
    assert old in content
    path = tmp_path / name
    path.write_bytes(content.replace(old, new, 1).encode())
    return path


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize("value", [LONG, "-" + LONG], ids=["positive", "negative"])
def test_a_score_with_5000_digits_is_not_a_number(tmp_path, value):
    path = replaced(tmp_path, '"value": "C"', f'"value": {value}')
    (row,), messages = estimated(path)
    assert messages == []
    assert row.interval is None
    assert "categories, not numbers (" in row.reason.text
    assert len(row.reason.text) < 300


def test_an_unused_integer_with_5000_digits_is_ignored(tmp_path):
    path = replaced(tmp_path, '"target": "t"', f'"target": NaN, "attachments": {LONG}')
    np.testing.assert_array_equal(entry(read(path), "match", "mean").values, [[1, 0], [0, 0], [1, 1], [0, 1]])


def test_a_count_with_5000_digits_is_an_error(tmp_path):
    _, (message,) = estimated(replaced(tmp_path, '"total_samples": 8', f'"total_samples": {LONG}'))
    assert "the file does not have the format that Inspect AI writes: Expected `int`, got `str`" in message.text


@pytest.mark.parametrize("old", ['"target": "t"', '"answer": "a"', '"plan": {}'])
def test_too_deep_nesting_is_an_error(tmp_path, old):
    name = old.partition(":")[0]
    _, (message,) = estimated(replaced(tmp_path, old, f"{name}: {DEEP}"))
    assert has(message, "log-unreadable", reason="the file is nested too deeply to be read")


def test_lone_surrogates_become_replacement_characters(tmp_path):
    path = replaced(tmp_path, '"input": "Question 1?"', f'"input": {HALF}')
    rows, messages = estimated(path)
    assert messages == []
    assert rows[0].value == RIGHT
    assert read_log(str(path)).documents["1"].input == "half a pair: \N{REPLACEMENT CHARACTER}"


def test_lone_surrogates_in_scores_and_names_can_be_written_again(tmp_path):
    rows, _ = estimated(replaced(tmp_path, '"value": "C"', f'"value": {HALF}'))
    assert "half a pair: \N{REPLACEMENT CHARACTER}" in rows[0].reason.text
    rows, _ = estimated(replaced(tmp_path, '"task": "toy"', f'"task": {HALF}'))
    assert rows[0].task == "half a pair: \N{REPLACEMENT CHARACTER}"


def test_invalid_utf8_is_an_error(tmp_path):
    path = tmp_path / "log.json"
    path.write_bytes(text_of().encode().replace(b"Question 1?", b"Question \xff?", 1))
    _, (message,) = estimated(path)
    assert message.text.startswith(
        "the file is not valid JSON, perhaps because it is incomplete: 'utf-8' codec can't decode byte 0xff"
    )


def test_a_member_with_invalid_utf8_does_not_affect_the_others(tmp_path):
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES), with_summaries=False)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/9_epoch_1.json", b'{"id": "\xff", "epoch": 1}')
    assert has(warned(path), "damaged-members", n_members=1, first="samples/9_epoch_1.json")


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1e400", "Infinity"])
def test_a_score_near_the_float_limit_is_printed_or_rejected(tmp_path, value):
    path = replaced(tmp_path, '"value": "C"', f'"value": {value}', samples=grid([[0.5, 0.25], ["C", 0.75], [0.1, 0.2]]))
    rows, _ = estimated(path)
    assert rows


def test_names_of_journal_members_may_have_any_digits(tmp_path):
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES), finished=False)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"_journal/summaries/{LONG}.json", "[]")
        archive.writestr("_journal/summaries/²³.json", "[]")
    assert len(read_log(str(path)).cells) == 8


@pytest.mark.slow
def test_a_reducer_with_5000_digits_is_unknown(tmp_path):
    totals = score_totals("match", RIGHT, reducer=f"at_least_{LONG}", n=4)
    rows, _ = estimated(write_json(tmp_path / "log.json", header(scores=[totals], total=8, epochs=2), grid(VALUES)))
    assert any(row.reason and "how to compute them is not known" in row.reason.text for row in rows)


# ---------------------------------------------------------------- said twice


@pytest.mark.parametrize("old", ['"value": "C"', '"epoch": 1', '"scores": {"match"', '"status": "success"'])
def test_a_repeated_key_in_an_object_is_a_warning(tmp_path, old):
    name, _, value = old.partition(": ")
    twice = f"{name}: {'{}' if value.startswith('{') else value}, {old}"
    warnings = warned(replaced(tmp_path, old, twice))
    assert has(warnings, "repeated-json-key", key=name.strip(chr(34)), file="the file")


@pytest.mark.parametrize("member", ["header.json", "summaries.json", "reductions.json"])
def test_a_repeated_key_in_a_member_is_a_warning(tmp_path, member):
    reductions = [{"scorer": "match", "reducer": "mean", "samples": []}]
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES), reductions=reductions)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    old = {"header.json": b'"version": 2', "summaries.json": b'"value": "C"', "reductions.json": b'"scorer": "match"'}
    parts[member] = parts[member].replace(old[member], old[member] + b", " + old[member], 1)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert has(warned(path), "repeated-json-key", file=member)


def test_logs_without_repeats_are_not_looked_through():
    samples = msgspec.convert(grid(VALUES), list[Sample])
    content = json.dumps(grid(VALUES)).encode()
    assert not may_repeat(content, samples)
    assert may_repeat(content.replace(b'"epoch": 1', b'"epoch": 1, "epoch": 1'), samples)
    assert repeated_name(content) is None


def test_a_repeated_zip_member_is_a_warning(tmp_path):
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES))
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("summaries.json", json.dumps(grid([["C", "C"]] * 4)))
    assert has(warned(path), "repeated-members", n_members=1, first="summaries.json")


def test_a_changed_sample_score_contradicts_reductions_and_results(tmp_path):
    reductions = [
        {
            "scorer": "match",
            "reducer": "mean",
            "samples": [
                {"sample_id": i + 1, "value": (a == "C") / 2 + (b == "C") / 2} for i, (a, b) in enumerate(VALUES)
            ],
        }
    ]
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES), reductions=reductions)
    assert read(path).warnings == ()
    changed = [["C", "C"], *VALUES[1:]]
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(changed), reductions=reductions)
    assert has(warned(path), "contradictory-scores", metric="match", n_different=1, n_questions=4)
    assert has(warned(path), "mean-not-reproduced", function="accuracy", reported=0.5, mean=0.625)


def test_more_trials_than_in_the_results_are_a_warning(tmp_path):
    head = header(scores=[score_totals("match", RIGHT, reducer="mean", n=4)], total=6, epochs=2)
    path = write_json(tmp_path / "log.json", head, grid(VALUES))
    assert has(warned(path), "contradictory-trials", n_logged=8, n_planned=6)


def test_a_different_number_of_scored_questions_is_a_warning(tmp_path):
    head = header(scores=[score_totals("match", RIGHT, reducer="mean", n=3)], total=8, epochs=2)
    path = write_json(tmp_path / "log.json", head, grid(VALUES))
    assert has(warned(path), "contradictory-counts", metric="match", n_scored=4, n_reported=3)


def test_more_summaries_than_samples_are_a_warning(tmp_path):
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES)[:5], summaries=grid(VALUES))
    assert has(warned(path), "summaries-and-samples-differ", n_summaries=8, n_samples=5)


# ---------------------------------------------------------------- zips


def patched_directory(path, name, offset, content):
    """The zip with some bytes of a member's directory entry overwritten."""
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    while data[at + 46 : at + 46 + len(name)] != name.encode():
        at = data.index(b"PK\x01\x02", at + 1)
    data[at + offset : at + offset + len(content)] = content
    path.write_bytes(data)


def test_an_encrypted_member_is_an_error(tmp_path):
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES))
    patched_directory(path, "header.json", 8, struct.pack("<H", 1))
    _, (message,) = estimated(path)
    assert has(message, "log-unreadable", reason="header.json is encrypted")


@pytest.mark.parametrize("name", ["../../evil.json", "/etc/evil.json", "C:\\evil.json", "samples/../../evil.json"])
def test_members_with_paths_outside_the_zip_are_a_warning_and_not_read(tmp_path, name):
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, json.dumps(grid([["C"]])[0]))
    assert has(warned(path), "misplaced-members", n_members=1, first=name)
    with Archive(str(path)) as opened:
        assert name not in opened.names()


def test_names_of_samples_may_contain_slashes_and_dots(tmp_path):
    samples = [one | {"id": f"a/b..{one['id']}"} for one in grid(VALUES)]
    path = write_eval(tmp_path / "log.eval", plain_header(), samples, with_summaries=False)
    assert read(path).warnings == ()


def test_an_invalid_zip_directory_is_an_error(tmp_path):
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES))
    patched_directory(path, "header.json", 8, struct.pack("<H", 0x800))  # a flag states that the name is UTF-8,
    patched_directory(path, "header.json", 46, b"\xff")  # which it is not
    _, (message,) = estimated(path)
    assert "an .eval file" in message.text or "the zip" in message.text


def bomb(path, *, expands_to, said=None, method="deflate"):
    """A log whose summaries are `expands_to` bytes of spaces; `said` is what the directory says of them instead."""
    name, chunk = "summaries.json", b" " * (1 << 20)
    if method == "deflate":
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        first, again = (packer.compress(chunk) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
        content, number = first + again * ((expands_to >> 20) - 1) + packer.flush(), zipfile.ZIP_DEFLATED
    else:
        packer = zstd.ZstdCompressor()
        content = b"".join([packer.compress(chunk) for _ in range(expands_to >> 20)]) + packer.flush()
        number = ZSTANDARD
    write_eval(path, plain_header(), grid(VALUES), finished=False)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(name, content)
        archive.writestr("header.json", json.dumps(plain_header()))
    patched_directory(path, name, 10, struct.pack("<H", number))
    patched_directory(path, name, 24, struct.pack("<I", min(said or expands_to, 2**32 - 1)))
    return path


def test_a_member_that_expands_a_thousandfold_is_rejected_with_the_option(tmp_path, monkeypatch):
    path = bomb(tmp_path / "log.eval", expands_to=128 << 20)
    with Archive(str(path)) as opened, pytest.raises(LogError) as raised:
        opened.read("summaries.json")
    assert raised.value.message.code == "UQ335"
    assert raised.value.message.params["variable"] == "HARNESS_UQ_MAX_EXPANSION"
    monkeypatch.setenv("HARNESS_UQ_MAX_EXPANSION", "2000")
    with Archive(str(path)) as opened, pytest.raises(LogError, match="is damaged"):
        opened.read("summaries.json")


def test_an_expansion_limit_must_be_a_number(tmp_path, monkeypatch):
    path = write_eval(tmp_path / "log.eval", plain_header(), grid(VALUES))
    monkeypatch.setenv("HARNESS_UQ_MAX_EXPANSION", "many")
    with (
        Archive(str(path)) as opened,
        pytest.raises(DataError, match="HARNESS_UQ_MAX_EXPANSION must be a number such as 100; got 'many'"),
    ):
        opened.read("header.json")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["deflate", "zstandard"])
@pytest.mark.parametrize("said", [None, 1000, 150 << 20])
def test_a_zip_bomb_uses_less_than_300_megabytes(tmp_path, method, said):
    """10 MB of deflate, or 3 GB of Zstandard, with a correct directory and with two false ones."""
    path = bomb(tmp_path / "log.eval", expands_to=(3 if method == "zstandard" else 10) << 30, said=said, method=method)
    code = (
        "import re, sys\n"
        "from harness_uq import read_logs\n"
        "reading = read_logs(sys.argv[1])\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "print(*[w for log in reading.logs for w in log.warnings], reading.failures, reading.warnings)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], env=environment(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    peak, said_of_it = done.stdout.split("\n", 1)
    assert int(peak) < 300_000
    assert "summaries.json" in said_of_it
