"""Annotations in the header of a log: nothing else changes, and `restore` recovers the original byte for byte."""

import errno
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from harness_uq import LogError, estimate
from harness_uq.plugin_api import Run
from harness_uq_inspect.annotated_names import METRICS, block_of
from harness_uq_inspect.harness import InspectHarness
from harness_uq_inspect.read.harness_uq_metrics import is_stale
from harness_uq_inspect.read.samples import read_log
from harness_uq_inspect.write import writeback
from harness_uq_inspect.write.annotate import annotate_log
from harness_uq_inspect.write.json_spans import insert_at_end, members, replace_parts
from tests.adapters.inspect.logs import DEFLATE, ZSTANDARD, grid, header, metric, score_totals, write_eval

GRID = [["C", "I"], ["C", "C"], ["I", "I"], ["C", "I"], ["I", "C"]]
HEAD = header(scores=[score_totals("match", 0.5, reducer="mean", n=5, stderr=0.12)], total=10, epochs=2)
SETTINGS = {"method": "bayes", "level": 0.95, "scope": "population"}

KINDS = ["deflate", "zstandard", "json", "indented", "nan", "keys"]


@pytest.fixture(params=KINDS)
def path(request, tmp_path):
    """A log in each format that Inspect has written."""
    kind = request.param
    if kind in ("deflate", "zstandard"):
        method = DEFLATE if kind == "deflate" else ZSTANDARD
        return write_eval(tmp_path / "log.eval", HEAD, grid(GRID), compression=method)
    head = dict(HEAD) | ({"log_updates": [], "metadata": {"mine": 1}} if kind == "keys" else {})
    log = head | {"samples": grid(GRID), "tail": 'ends with "results": {'}
    if kind == "nan":
        log["samples"][0]["scores"]["other"] = {"value": float("nan")}
    file = tmp_path / "2026-01-02T03-04-05+00-00_toy_abc.json"
    file.write_text(json.dumps(log, indent=2 if kind == "indented" else None, ensure_ascii=False) + "\n")
    return file


def write(path, destination=None, **settings):
    (log,) = InspectHarness().read(run := Run(str(path), (str(path),)))
    return InspectHarness().write(run, estimate(log), destination, settings=SETTINGS | settings)


def write_live(path):
    """The annotations that the hook writes after a run."""
    (log,) = InspectHarness().read(Run(str(path), (str(path),)))
    annotate_log(str(path), estimate(log), SETTINGS)


def restore(path):
    return InspectHarness().restore(str(path))


def results(path):
    return read_log(str(path)).header.results


def test_annotated_logs_are_read_and_restored_byte_for_byte(path):
    before = path.read_bytes()
    assert write(path) == [str(path)]
    assert list(results(path).scores[0].metrics) == ["accuracy", "stderr", "uq_lower", "uq_upper"]
    assert block_of(results(path).metadata)["settings"] == SETTINGS
    assert not is_stale(read_log(str(path)))
    assert restore(path) == [str(path)]
    assert path.read_bytes() == before
    assert restore(path) == []


def test_estimates_are_the_same_before_and_after(path):
    rows = [row.to_dict() for row in estimate(path)]
    write(path)
    assert [row.to_dict() for row in estimate(path)] == rows


def test_writing_twice_leaves_one_set_of_annotations_and_the_same_original(path):
    before = path.read_bytes()
    write(path)
    write(path, level=0.9)
    size = path.stat().st_size
    write(path, level=0.9)
    assert abs(path.stat().st_size - size) <= 8  # a timestamp may differ
    assert block_of(results(path).metadata)["settings"]["level"] == 0.9
    restore(path)
    assert path.read_bytes() == before


def test_annotations_of_a_live_run_are_not_restored(path):
    write_live(path)
    before = path.read_bytes()
    assert restore(path) == []
    assert path.read_bytes() == before


def test_rescoring_a_live_run_is_undone_to_what_the_live_run_wrote(path):
    write_live(path)
    before = path.read_bytes()
    write(path, level=0.9)
    write(path, level=0.8)
    assert block_of(results(path).metadata)["settings"]["level"] == 0.8
    assert restore(path) == [str(path)]
    assert path.read_bytes() == before
    assert restore(path) == []


def test_a_copy_has_nothing_to_restore(path, tmp_path):
    write(path)
    (copy,) = write(path, str(tmp_path / "copies"))
    assert block_of(results(copy).metadata) is not None
    assert restore(copy) == []


def test_a_copy_leaves_the_original_alone(path, tmp_path):
    before = path.read_bytes()
    (written,) = write(path, str(tmp_path / "deep" / "copies"))
    assert path.read_bytes() == before
    assert block_of(results(written).metadata) is not None
    with pytest.raises(LogError, match="exists already"):
        write(path, str(tmp_path / "deep" / "copies"))


def test_everything_but_three_members_keeps_its_bytes(path):
    before = path.read_bytes()
    write(path)
    if path.suffix == ".eval":
        assert path.read_bytes().startswith(before)
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        assert len(names) == len(set(names))
    else:
        old, new = members(before), members(path.read_bytes())
        for name in set(old) - {"results", "log_updates", "metadata"}:
            assert path.read_bytes()[new[name]] == before[old[name]]


@pytest.mark.parametrize("step", ["write", "rename", "copymode"])
def test_a_full_disk_leaves_the_log_as_it_was(path, step, monkeypatch):
    before = path.read_bytes()

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    target = {"write": (os, "fsync"), "rename": (Path, "replace"), "copymode": (shutil, "copymode")}
    monkeypatch.setattr(*target[step], full)
    with pytest.raises(LogError, match="No space left"):
        write(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_log_that_another_program_changes_is_not_overwritten(path, monkeypatch):
    real = os.fsync

    def slow(descriptor):
        path.write_bytes(path.read_bytes() + b"\n")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    with pytest.raises(LogError, match="changed while"):
        write(path)
    assert path.read_bytes().endswith(b"\n")
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_values_of_the_tasks_own_metric_stay(tmp_path):
    own = {name: {"name": name, "group": "uq", "value": 0.25, "params": {"level": 0.5}} for name in METRICS}
    scores = [score_totals("match", 0.5, reducer="mean", n=5, stderr=0.12)]
    scores[0]["metrics"] |= own
    path = write_eval(tmp_path / "log.eval", header(scores=scores, total=10, epochs=2), grid(GRID))
    write(path)
    metrics = results(path).scores[0].metrics
    assert [metrics[name].value for name in METRICS] == [0.25] * 3
    assert metrics["stderr"].value == block_of(results(path).metadata)["estimates"][0]["std_error"]


def test_permissions_stay(path):
    path.chmod(0o640)
    write(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed(path, tmp_path):
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / path.name
    link.symlink_to(path)
    write(link)
    assert link.is_symlink()
    assert block_of(results(path).metadata) is not None


def test_a_log_without_results_is_rejected(tmp_path):
    path = write_eval(tmp_path / "a.eval", header(results=False, status="error"), grid(GRID))
    (log,) = InspectHarness().read(run := Run(str(path), (str(path),)))
    with pytest.raises(LogError, match="no results"):
        InspectHarness().write(run, estimate(log), None, settings=SETTINGS)


def test_an_unfinished_log_is_rejected(tmp_path):
    path = write_eval(tmp_path / "a.eval", HEAD, grid(GRID), finished=False)
    with pytest.raises(LogError):
        writeback.read_annotated_header(str(path))


def test_other_files_are_not_restored(tmp_path):
    for name in ("logs.json", "notes.txt", "broken.eval"):
        (tmp_path / name).write_text("{}")
        assert restore(tmp_path / name) == []


@pytest.mark.harness
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_later_edits_by_inspect_are_not_overwritten_by_restore(suffix, tmp_path, inspect_log):
    source = write_eval(tmp_path / "source.eval", _full_head(inspect_log), [])
    path = tmp_path / f"2026-01-02T03-04-05+00-00_toy_abc{suffix}"
    inspect_log.write_eval_log(inspect_log.read_eval_log(str(source)), str(path))
    write(path)
    edit = inspect_log.MetadataEdit(metadata_set={"reviewed": True})
    log = inspect_log.edit_eval_log(
        inspect_log.read_eval_log(str(path), header_only=True), [edit], inspect_log.ProvenanceData(author="a")
    )
    inspect_log.write_eval_log(log, str(path), header_only=True)
    with pytest.raises(LogError, match="written to by others"):
        restore(path)
    edited = path.read_bytes()
    write(path, level=0.9)
    again = inspect_log.read_eval_log(str(path), header_only=True)
    assert again.metadata["reviewed"] is True
    assert again.log_updates[0].provenance.author == "a"
    assert len(again.log_updates) == 2
    restore(path)
    assert path.read_bytes() == edited or suffix == ".json"
    assert inspect_log.read_eval_log(str(path), header_only=True).metadata["reviewed"] is True


def _full_head(inspect_log):
    return json.loads(json.dumps(HEAD)) | {"eval": HEAD["eval"] | {"dataset": {"name": "toy", "samples": 0}}}


# ---------------------------------------------------------------- parts of a JSON object


@pytest.mark.parametrize("bare", ["1", "NaN"])
def test_spans_are_those_of_the_values(bare):
    content = f'{{ "a" : {bare},\n "ü\\"b": {{"a": "}}"}}, "c":[]}}'.encode()
    spans = members(content)
    assert [content[span] for span in spans.values()] == [bare.encode(), b'{"a": "}"}', b"[]"]


def test_inserting_and_removing_cancel():
    content = b'{\n  "a": {"b": 1}\n}\n'
    longer = insert_at_end(content, "new", b"[1]")
    assert json.loads(longer) == {"a": {"b": 1}, "new": [1]}
    assert replace_parts(longer, members(longer), {"new": None}) == content


@pytest.mark.parametrize("content", [b"{", b'{"a": }', b'{"a": ', b'{"a": NaN, "b": "\xff"}', b"[1]", b""])
def test_content_that_is_not_an_object_is_rejected(content):
    with pytest.raises(LogError):
        members(content)


def test_no_interval_is_added_beside_a_value_that_is_not_the_mean(tmp_path):
    """`accuracy(to_float=inverted)` prints 0.1 where the mean of the scores is 0.5; its stderr stays Inspect's."""
    head = header(scores=[score_totals("match", 0.1, reducer="mean", n=5, stderr=0.12)], total=10, epochs=2)
    path = write_eval(tmp_path / "log.eval", head, grid(GRID))
    before = results(path).scores
    write_live(path)
    assert results(path).scores == before
    assert block_of(results(path).metadata)["estimates"]


def test_a_scorer_without_a_mean_gets_no_interval_even_if_its_value_equals_the_mean(tmp_path):
    """The interval of the mean says nothing about a median, which can equal the mean by chance."""
    totals = score_totals("match", 0.5, reducer="mean", n=5, stderr=0.12, metric_name="median_score")
    path = write_eval(tmp_path / "log.eval", header(scores=[totals], total=10, epochs=2), grid(GRID))
    before = results(path).scores
    write_live(path)
    assert results(path).scores == before
    assert block_of(results(path).metadata)["estimates"][0]["interval"] is not None


def test_an_interval_of_the_mean_stays_beside_the_mean_and_another_metric(tmp_path):
    totals = score_totals("match", 0.5, reducer="mean", n=5, stderr=0.12)
    totals["metrics"]["median_score"] = metric("median_score", 0.9)
    path = write_eval(tmp_path / "log.eval", header(scores=[totals], total=10, epochs=2), grid(GRID))
    write_live(path)
    assert list(results(path).scores[0].metrics) == ["accuracy", "stderr", "median_score", *METRICS[:2]]


def test_scores_that_are_added_to_an_unscored_run_are_not_an_edit(tmp_path):
    """`--no-score` with intervals requested leaves a block without estimates; scoring the log later is no edit."""
    unscored = header(scores=[], total=10, epochs=2)
    path = write_eval(tmp_path / "log.eval", unscored, grid(GRID))
    annotate_log(str(path), [], SETTINGS)
    head = json.loads(zipfile.ZipFile(path).read("header.json"))
    assert head["results"]["metadata"]["harness_uq"]["estimates"] == []
    head["results"]["scores"] = HEAD["results"]["scores"]
    head["results"]["metadata"]["harness_uq"]["scores_hash"] = "of no scores"
    scored = write_eval(tmp_path / "scored.eval", head, grid(GRID))
    assert not is_stale(read_log(str(scored)))
    head["results"]["metadata"]["harness_uq"]["estimates"] = [{"task": "toy"}]
    assert is_stale(read_log(str(write_eval(tmp_path / "edited.eval", head, grid(GRID)))))
