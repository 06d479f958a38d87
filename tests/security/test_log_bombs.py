"""Logs with a new score or field in every sample, and compressed samples files, have bounded costs."""

import gzip
import json
from pathlib import Path

import pytest

from harness_uq import read_logs
from tests.adapters.inspect.logs import header, sample, write_eval
from tests.adapters.lm_eval.logs import Folder, row

N = 1200


def write_scorers(folder: Path) -> None:
    write_eval(folder / "log.eval", header(total=N), [sample(i, **{f"scorer {i}": "C"}) for i in range(N)])


def write_keys(folder: Path) -> None:
    write_eval(folder / "log.eval", header(total=N), [sample(i, parts={f"key {i}": 1.0}) for i in range(N)])


def write_metrics(folder: Path) -> None:
    run = Folder(folder)
    run.samples("toy", [json.dumps(row(i, **{f"metric {i}": 1.0})) for i in range(N)])
    run.results({"toy": {"metric 0,none": 1.0}}, n=N)


def test_totals_replace_the_samples_of_lm_eval_with_too_many_metrics(tmp_path: Path) -> None:
    write_metrics(tmp_path)
    (log,) = read_logs(tmp_path).logs
    assert "HARNESS_UQ_MAX_CELLS" in " ".join(message.text for message in log.messages)
    assert len(log.data) == 1


@pytest.mark.parametrize("write", [write_scorers, write_keys])
def test_the_number_of_scores_of_a_log_is_limited(tmp_path: Path, write) -> None:
    write(tmp_path)
    ((_, message),) = read_logs(tmp_path).failures
    assert message.code == "UQ336"
    assert message.params["n_columns"] == N


def write_metadata(folder: Path) -> None:
    samples = [sample(i, match="C") | {"metadata": {f"k{i}": i // 2}} for i in range(N)]
    write_eval(folder / "log.eval", header(total=N), samples)


def write_documents(folder: Path) -> None:
    run = Folder(folder)
    run.samples("toy", [json.dumps(row(i, doc={f"k{i}": "a text with spaces"}, acc=1.0)) for i in range(N)])
    run.results({"toy": {"acc,none": 1.0}}, n=N)


@pytest.mark.parametrize("write", [write_metadata, write_documents])
def test_the_number_of_fields_of_a_log_is_limited(tmp_path: Path, write) -> None:
    write(tmp_path)
    (log,) = read_logs(tmp_path).logs
    assert len(log.questions.fields) <= 201


def test_a_compressed_samples_file_is_not_expanded_without_limit(tmp_path: Path, monkeypatch) -> None:
    run = Folder(tmp_path)
    run.results({"toy": {"acc,none": 1.0}}, n=1)
    run.samples("toy", [json.dumps(row(0, acc=1.0))])
    (path,) = tmp_path.glob("samples*")
    content = path.read_bytes() + json.dumps(row(1, acc=1.0, doc={"text": "a" * (65 << 20)})).encode()
    path.unlink()
    compressed = path.with_name(path.name + ".gz")
    compressed.write_bytes(gzip.compress(content, 1))
    (log,) = read_logs(tmp_path).logs
    assert "HARNESS_UQ_MAX_EXPANSION" in " ".join(message.text for message in log.messages)
    assert len(log.questions) == 1
    monkeypatch.setenv("HARNESS_UQ_MAX_EXPANSION", "1e6")
    (log,) = read_logs(tmp_path).logs
    assert len(log.questions) == 2
