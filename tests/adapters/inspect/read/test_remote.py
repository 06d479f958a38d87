"""Logs of Inspect AI on remote storage are read in ranges, with the same result as local files."""

import random
from uuid import uuid4

import pytest

from harness_uq import LogError
from harness_uq.io import paths as io_paths
from harness_uq.plugin_api import Run
from harness_uq_inspect.harness import InspectHarness
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.samples import read_log
from tests.adapters.inspect.logs import grid, header, read, sample, score_totals, write_eval

pytest.importorskip("fsspec")

HEAD = header(scores=[score_totals("match", 0.5, n=40, stderr=0.08)], total=40)


@pytest.fixture(params=["memory", pytest.param("s3", marks=pytest.mark.slow)])
def folder(request):
    return f"memory://{uuid4().hex}" if request.param == "memory" else request.getfixturevalue("s3").url


def put(path, folder, name="run.eval"):
    io_paths.write_bytes(place := f"{folder}/{name}", path.read_bytes())
    return place


def wide(n_questions, n_epochs, size):
    """Samples with texts that cannot be compressed, and summaries without these texts."""
    rng = random.Random(1)
    samples = grid([[rng.choice("CI") for _ in range(n_epochs)] for _ in range(n_questions)])
    for one in samples:
        one["metadata"] = {"subject": f"subject {one['id'] % 7}", "text": "a question"}
    return [one | {"messages": [rng.randbytes(size // 2).hex()]} for one in samples], samples


def cut(summaries):
    return [one | {"metadata": {"subject": "subj...", "text": "a question"}} for one in summaries]


@pytest.mark.parametrize("summaries", [list, cut, lambda summaries: summaries[:-1]], ids=["whole", "cut", "missing"])
def test_a_remote_log_is_read_like_a_local_one(folder, tmp_path, summaries):
    samples, found = wide(40, 2, 20_000)
    path = write_eval(tmp_path / "run.eval", HEAD, samples, summaries=summaries(found), compression=0)
    place = put(path, folder)
    local, remote = read_log(str(path)), read_log(place)
    assert (remote.cells, remote.documents, remote.damaged) == (local.cells, local.documents, [])


def test_a_damaged_sample_does_not_affect_the_others(folder, tmp_path):
    samples, found = wide(40, 1, 20_000)
    path = write_eval(tmp_path / "run.eval", HEAD, samples, summaries=cut(found), compression=0)
    content = path.read_bytes().replace(b'"id": 3, ', b'"id": 4, ', 1)
    path.write_bytes(content)
    assert read_log(put(path, folder)).damaged == read_log(str(path)).damaged == ["samples/3_epoch_1.json"]


def test_a_log_is_recognised_by_the_name_that_inspect_assigns(folder, tmp_path):
    path = write_eval(tmp_path / "run.eval", HEAD, grid([["C"]] * 40))
    place = put(path, folder, "2026-01-02T03-04-05-04-00_toy_x.eval")
    (run,) = InspectHarness().find([place]).runs
    assert run.time == "2026-01-02T03:04:05-04:00"
    (log,) = InspectHarness().read(run)
    assert log.questions.ids == read(path).questions.ids
    io_paths.write_bytes(place, b"no zip")
    (run,) = InspectHarness().find([place]).runs
    with pytest.raises(LogError, match=r"an \.eval file is a zip file, but this file is not"):
        list(InspectHarness().read(run))


def test_shards_on_remote_storage_are_one_log(folder, tmp_path):
    for shard in (1, 2):
        ids = range(20 * shard - 19, 20 * shard + 1)
        samples = [sample(i, match="C" if i % 2 else "I") for i in ids]
        path = write_eval(tmp_path / "shard.eval", header(status="started", results=False), samples, finished=False)
        put(path, folder, f"run.shards/{shard}/part.eval")
    (run,) = InspectHarness().find([file.url for file in io_paths.listing(folder)]).runs
    assert [place.removeprefix(folder) for place in run.files] == [f"/run.shards/{i}/part.eval" for i in (1, 2)]
    (log,) = InspectHarness().read(run)
    assert len(log.questions) == 40
    merged = write_eval(tmp_path / "run.eval", HEAD, grid([["C"]] * 40))
    put(merged, folder)
    (run,) = InspectHarness().find([file.url for file in io_paths.listing(folder)]).runs
    assert f"{folder}/run.eval" in run.files


@pytest.mark.slow
class TestS3:
    def test_at_most_15_percent_of_40_megabytes_are_fetched_if_summaries_have_the_scores(self, s3, tmp_path):
        samples, summaries = wide(1_000, 2, 20_000)
        path = write_eval(tmp_path / "run.eval", HEAD, samples, summaries=summaries, compression=0)
        size = path.stat().st_size
        assert size >= 40e6
        place = put(path, s3.url)
        s3.forget()
        (run,) = InspectHarness().find([place]).runs
        (log,) = InspectHarness().read(run)
        assert len(log.questions) == 1_000
        assert sum(n for _, _, _, n in s3.asked()) <= 0.15 * size

    def test_only_needed_samples_are_fetched(self, s3, tmp_path):
        samples, summaries = wide(100, 4, 20_000)
        path = write_eval(tmp_path / "run.eval", HEAD, samples, summaries=cut(summaries), compression=0)
        place = put(path, s3.url)
        s3.forget()
        assert read_log(place).documents["5"].metadata["subject"] == "subject 5"
        assert sum(n for _, _, _, n in s3.asked()) <= 0.3 * path.stat().st_size

    def test_a_log_deleted_while_it_is_read_is_not_reported_as_damaged(self, s3, tmp_path):
        samples, summaries = wide(100, 1, 20_000)
        place = put(write_eval(tmp_path / "run.eval", HEAD, samples, summaries=summaries, compression=0), s3.url)
        with Archive(place) as archive:
            io_paths.remove(place)
            with pytest.raises(FileNotFoundError, match="no such object"):
                archive.read("samples/1_epoch_1.json")
        with pytest.raises(LogError, match="cannot be read: no such object"):
            list(InspectHarness().read(Run(place, (place,))))
