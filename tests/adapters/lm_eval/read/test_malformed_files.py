"""Malformed files: each is read or reported with the reason, without an effect on other files."""

import hashlib
import json
import math
import os
import random
from contextlib import suppress

import pytest

from harness_uq import HarnessUqError, estimate
from harness_uq.commands.main import main
from harness_uq.data.task_log import AggregateScore
from harness_uq_lm_eval.harness import LmEvalHarness
from tests.adapters.lm_eval.logs import Folder, data_of, one_task, row, rows, without
from tests.message_checks import has

BIG = "1" + "0" * 5000
DEEP = "[" * 100_000 + "]" * 100_000


def with_raw(record, name, raw):
    """The record as a line of JSON, with one value replaced by a given text."""
    return json.dumps(record | {name: "RAW"}).replace('"RAW"', raw)


def folder_of(path, lines, values=None, **top):
    folder = Folder(path)
    folder.samples("t", lines)
    folder.results({"t": values or {"acc,none": 0.5}}, n=4, **top)
    return folder


GOOD = rows("acc", [1, 0, 1])


class TestSamples:
    def test_a_score_of_five_thousand_digits_is_no_finite_score(self, tmp_path):
        log = folder_of(tmp_path, [*GOOD, with_raw(row(3, acc=0), "acc", BIG)]).log()
        assert has(log, "unusable-scores", n_left_out=1, problem="an infinite score")

    @pytest.mark.parametrize("name", ["doc", "doc_id", "target_hash", "filter"])
    def test_an_integer_of_any_length_anywhere_is_read(self, tmp_path, name):
        log = folder_of(tmp_path, [*GOOD, with_raw(row(3, acc=0), name, BIG)]).log()
        assert len(log.questions) == 4

    @pytest.mark.parametrize("name", ["acc", "doc", "doc_id", "metrics", "arguments"])
    def test_a_too_deeply_nested_row_is_a_warning_and_the_others_are_read(self, tmp_path, name):
        log = folder_of(tmp_path, [*GOOD, with_raw(row(3, acc=0), name, DEEP)]).log()
        assert len(log.questions) == 3
        assert has(log, "broken-lines", lines="4", reason="nested too deeply")

    def test_lone_surrogates_become_replacement_characters(self, tmp_path):
        record = with_raw(row(3, acc=0), "doc_id", '"a\\ud800b"')
        assert folder_of(tmp_path, [*GOOD, record]).log().questions.ids[3] == "a\ufffdb"

    def test_invalid_utf8_becomes_replacement_characters(self, tmp_path):
        folder = folder_of(tmp_path, GOOD)
        (path,) = tmp_path.glob("samples_*")
        path.write_bytes(path.read_bytes().replace(b'"q0"', b'"q\xff"'))
        assert len(folder.log().questions) == 3

    def test_a_repeated_key_is_a_warning(self, tmp_path):
        line = json.dumps(row(3, acc=0))
        log = folder_of(tmp_path, [*GOOD, line[:-1] + ', "acc": 1}']).log()
        assert has(log, "repeated-keys", n_rows=1, line=4, keys="acc")
        assert data_of(log, "acc").values[3, 0] == 1

    def test_a_document_may_hold_a_key_of_the_row(self, tmp_path):
        log = folder_of(tmp_path, [*GOOD, row(3, acc=0, doc={"acc": 1, "filter": "x"})]).log()
        assert not has(log, "repeated-keys")

    def test_samples_of_another_run_are_a_warning(self, tmp_path):
        def hashed(records):
            parts = "".join(r["doc_hash"] + r["prompt_hash"] + r["target_hash"] for r in records)
            return {"t": hashlib.sha256(parts.encode()).hexdigest()}

        own = one_task(tmp_path / "own", GOOD, {"acc,none": 2 / 3}, task_hashes=hashed(GOOD))
        others = [*GOOD[:2], row(2, acc=1) | {"doc_hash": "another"}]
        foreign = one_task(tmp_path / "foreign", others, {"acc,none": 2 / 3}, task_hashes=hashed(GOOD))
        assert own.warnings == ()
        assert has(foreign, "samples-of-another-run")

    def test_documents_that_share_an_id_are_questions_of_their_own(self, tmp_path):
        records = [row(3, acc=1), row(3, acc=0) | {"doc_hash": "another"}, row(3, acc=0)]
        log = one_task(tmp_path, records, {"acc,none": 0.5}, n=2)
        assert data_of(log, "acc").values[:, 0].tolist() == [1, 0]
        assert log.questions.hashes == ("hash of 3", "another")
        assert has(log, "repeated-rows", n_rows=1)

    def test_filters_of_documents_that_share_an_id_stay_together(self, tmp_path):
        records = [
            row(3, acc=acc, filter_name=name) | {"doc_hash": doc}
            for name in ("first", "last")
            for doc, acc in (("a", 1), ("b", 0))
        ]
        config = {"filter_list": [{"name": "first"}, {"name": "last"}]}
        log = one_task(tmp_path, records, {"acc,first": 0.5, "acc,last": 0.5}, n=2, config=config)
        assert [data.values[:, 0].tolist() for data in log.data] == [[1, 0], [1, 0]]

    def test_prompts_are_known_by_their_hashes(self, tmp_path):
        assert one_task(tmp_path / "with", GOOD, {"acc,none": 2 / 3}).questions.prompt_hashes == ("p", "p", "p")
        bare = [without(record, "prompt_hash") for record in GOOD]
        assert one_task(tmp_path / "without", bare, {"acc,none": 2 / 3}).questions.prompt_hashes == ()


class TestResults:
    @pytest.mark.parametrize("raw", [DEEP, '{"a":' * 100_000])
    def test_a_too_deeply_nested_file_is_an_error(self, tmp_path, raw):
        folder_of(tmp_path, GOOD)
        (path,) = tmp_path.glob("results_*")
        path.write_text('{"results": ' + raw, encoding="utf-8")
        ((named, message),) = LmEvalHarness().find([str(path)]).problems
        assert named == str(path)
        assert has(message, "invalid-json", reason="nested too deeply")

    @pytest.mark.parametrize("raw", [BIG, "NaN", "-1e400", "1e300", '"many"', "-3"])
    def test_an_invalid_count_is_unknown(self, tmp_path, raw):
        folder = folder_of(tmp_path, [], {"acc,none": 0.5})
        (path,) = tmp_path.glob("results_*")
        path.write_text(path.read_text(encoding="utf-8").replace('"effective": 4', f'"effective": {raw}'))
        log = folder.log(str(path))
        (found,) = log.data
        assert isinstance(found, AggregateScore)
        assert found.n is None or found.n == -3
        assert estimate([log])[0].interval is None

    @pytest.mark.parametrize("raw", [BIG, "1e300", "-1e20", "NaN"])
    def test_a_date_outside_the_range_of_years_is_unknown(self, tmp_path, raw):
        folder = folder_of(tmp_path, GOOD, date=1.5)
        (path,) = tmp_path.glob("results_*")
        path.write_text(path.read_text(encoding="utf-8").replace('"date": 1.5', f'"date": {raw}'))
        path.rename(tmp_path / "mine.json")
        assert len(folder.logs()["t"].questions) == 3

    def test_a_repeated_key_is_a_warning(self, tmp_path):
        folder = folder_of(tmp_path, GOOD)
        (path,) = tmp_path.glob("results_*")
        path.write_text(path.read_text(encoding="utf-8").replace('"acc,none": 0.5', '"acc,none": 0.1, "acc,none": 0.5'))
        assert has(folder.log(), "results-keys-repeated", keys="acc,none")

    def test_names_may_contain_commas_and_bars(self, tmp_path):
        config = {"filter_list": [{"name": "a,b"}]}
        records = rows("x,y|z", [1, 0], filter_name="a,b")
        log = one_task(tmp_path, records, {"x,y|z,a,b": 0.5, "x,y|z_stderr,a,b": 0.3}, config=config)
        assert list(log.reported) == [("x,y|z", "a,b")]
        assert log.reported["x,y|z", "a,b"].std_error == 0.3
        assert data_of(log, "x,y|z", "a,b").values[:, 0].tolist() == [1, 0]

    def test_a_metric_named_filter_does_not_affect_the_others(self, tmp_path):
        records = [record | {"filter": 0.5, "metrics": ["acc", "filter"]} for record in GOOD]
        log = one_task(tmp_path, records, {"acc,none": 2 / 3, "filter,none": 0.5})
        assert data_of(log, "acc").values[:, 0].tolist() == [1, 0, 1]
        assert data_of(log, "filter").reason == "The samples contain no metric 'filter'"

    def test_lone_surrogates_survive_rescoring(self, tmp_path, capsys):
        folder_of(tmp_path / "run", GOOD, note="HALF")
        (path,) = (tmp_path / "run").glob("results_*")
        path.write_text(path.read_text(encoding="utf-8").replace("HALF", "\\ud800"), encoding="utf-8")
        assert main(["rescore", str(tmp_path / "run"), "--output-dir", str(tmp_path / "out")]) == 0
        (written,) = (tmp_path / "out").glob("results_*")
        assert json.loads(written.read_bytes())["note"] == "\ud800"

    def test_an_integer_that_cannot_be_written_again_is_not_rescored(self, tmp_path, capsys):
        folder_of(tmp_path / "run", GOOD, note="BIG")
        (path,) = (tmp_path / "run").glob("results_*")
        path.write_text(path.read_text(encoding="utf-8").replace('"BIG"', BIG), encoding="utf-8")
        before = path.read_bytes()
        assert main(["estimate", str(tmp_path / "run")]) == 0
        assert main(["rescore", str(tmp_path / "run"), "--in-place"]) == 1
        assert "4300 digits" in capsys.readouterr().err
        assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("name", ["results.json", "samples_t_2026-01-02T03-04-05.000006.jsonl"])
def test_a_pipe_is_an_error_and_never_opened(tmp_path, name):
    os.mkfifo(tmp_path / name)
    ((path, message),) = LmEvalHarness().find([str(tmp_path / name)]).problems
    assert path == str(tmp_path / name)
    assert has(message, "file-unreadable", reason="no regular file")


RAW = [
    BIG,
    DEEP,
    "NaN",
    "1e308",
    "-1",
    "null",
    "[]",
    "{}",
    '""',
    '"\\ud800"',
    '"\\u0000"',
    "true",
    "1e999",
    '"a\\nb|c"',
]


@pytest.mark.slow
def test_damaged_runs_never_raise_unexpected_errors(tmp_path):
    """Seeded damage to either file: values replaced, bytes flipped, parts removed or duplicated."""
    rng = random.Random(0)
    folder = folder_of(tmp_path / "stock", [*GOOD, *rows("f1", [[1, 0], [0, 0], [1, 1]])])
    stock = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    for number in range(300):
        mutant = tmp_path / str(number)
        mutant.mkdir()
        for name, content in stock.items():
            (mutant / name).write_bytes(mutated(content, rng) if rng.random() < 0.7 else content)
        harness = LmEvalHarness()
        found = harness.find([str(path) for path in mutant.iterdir()])
        for run in found.runs:
            with suppress(HarnessUqError):
                estimated = estimate(harness.read(run))
                assert all(row.interval is None or not math.isnan(row.interval.low) for row in estimated)


def mutated(content, rng):
    at = rng.randrange(len(content))
    match rng.randrange(4):
        case 0:
            values = [place for place in range(len(content)) if content[place : place + 2] == b": "]
            start = rng.choice(values) + 2
            end = min(place for place in (content.find(sign, start) for sign in (b",", b"}", b"\n")) if place >= 0)
            return content[:start] + rng.choice(RAW).encode() + content[end:]
        case 1:
            return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        case 2:
            return content[:at]
    return content[:at] + content[max(0, at - 40) :]
