import bz2
import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from harness_uq_lm_eval.harness import LmEvalHarness
from harness_uq_lm_eval.read.discover import find, parts
from tests.adapters.lm_eval.logs import TIME, Folder, rows, without
from tests.message_checks import has

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LATER = "2026-01-03T00-00-00"
ACC = {"acc,none": 0.5}


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def old_samples(folder, stem):
    records = [without(record, "filter", "metrics") for record in rows("acc", [1, 0])]
    return folder.text(f"{stem}.jsonl", json.dumps(records, indent=2))


def names(run):
    return sorted(Path(path).name for path in run.files)


def test_results_and_samples_of_one_time_are_one_run(folder):
    folder.results({"t": ACC})
    folder.samples("t", rows("acc", [1, 0]))
    (run,) = find(folder.files()).runs
    assert names(run) == [f"results_{TIME}.json", f"samples_t_{TIME}.jsonl"]
    assert run.time == "2026-01-02T03:04:05.000006"
    assert run.files[0] == run.name == run.results


def test_several_runs_in_a_folder_are_runs_of_their_own_with_their_times(folder):
    for time in (TIME, LATER):
        folder.results({"t": ACC}, time=time)
        folder.samples("t", rows("acc", [1, 0]), time=time)
    runs = find(folder.files()).runs
    assert sorted(run.time for run in runs) == ["2026-01-02T03:04:05.000006", "2026-01-03T00:00:00"]
    assert all(len(run.files) == 2 for run in runs)


def test_two_models_in_folders_of_one_name_and_time_stay_apart(tmp_path):
    for parent in ("a", "b"):
        folder = Folder(tmp_path / parent / "qdpv68r5")
        folder.results({"t": ACC})
        folder.samples("t", rows("acc", [1, 0]))
    paths = [str(path) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(find(paths).runs) == 2


def test_a_results_file_of_any_name_is_matched_with_samples_of_its_time(folder):
    folder.results({"t": ACC}, name=f"my_run_{TIME}.json")
    folder.samples("t", rows("acc", [1, 0]))
    (run,) = find(folder.files()).runs
    assert len(run.files) == 2


def test_task_names_with_a_common_prefix_are_distinguished(folder):
    folder.results({"gen8": ACC, "gen8_all": ACC})
    folder.samples("gen8", rows("acc", [1, 0]))
    folder.samples("gen8_all", rows("acc", [1, 0]))
    (run,) = find(folder.files()).runs
    assert {task: Path(path).name for task, path in run.samples} == {
        "gen8": f"samples_gen8_{TIME}.jsonl",
        "gen8_all": f"samples_gen8_all_{TIME}.jsonl",
    }


def test_a_results_file_alone_includes_its_samples(folder):
    results = folder.results({"a": ACC, "b": ACC})
    folder.samples("a", rows("acc", [1, 0]))
    folder.samples("b", rows("acc", [1, 0]))
    folder.samples("a", rows("acc", [1, 0]), time=LATER)
    (run,) = find([results]).runs
    assert [task for task, _ in run.samples] == ["a", "b"]


def test_a_samples_file_alone_includes_its_results_and_no_other_task(folder):
    folder.results({"a": ACC, "b": ACC})
    named = folder.samples("a", rows("acc", [1, 0]))
    folder.samples("b", rows("acc", [1, 0]))
    (run,) = find([named]).runs
    assert names(run) == [f"results_{TIME}.json", f"samples_a_{TIME}.jsonl"]
    assert [log.task for log in LmEvalHarness().read(run)] == ["a"]


def test_a_path_stays_as_the_user_wrote_it(folder, monkeypatch):
    folder.results({"t": ACC})
    folder.samples("t", rows("acc", [1, 0]))
    monkeypatch.chdir(folder.path)
    named = f"./samples_t_{TIME}.jsonl"
    (run,) = find([named]).runs
    assert named in run.files
    assert len(run.files) == 2


def test_samples_without_results_are_a_run(folder):
    folder.samples("a", rows("acc", [1, 0]))
    folder.samples("b", rows("acc", [1, 0]))
    (run,) = find(folder.files()).runs
    assert run.results is None
    assert [task for task, _ in run.samples] == ["a", "b"]


def test_old_samples_belong_to_the_results_that_name_their_arguments(folder):
    folder.results({"t": ACC, "long_t": ACC}, name="results.json", config={"model_args": "pretrained=org/m"})
    old_samples(folder, "pretrained__org__m_t")
    old_samples(folder, "pretrained__org__m_long_t")
    old_samples(folder, "pretrained__org__other_t")
    runs = sorted(find(folder.files()).runs, key=lambda run: -len(run.files))
    assert names(runs[0]) == ["pretrained__org__m_long_t.jsonl", "pretrained__org__m_t.jsonl", "results.json"]
    assert [task for task, _ in runs[0].samples] == ["long_t", "t"]
    assert names(runs[1]) == ["pretrained__org__other_t.jsonl"]


def test_single_old_files_find_the_other_files_of_their_run(folder):
    results = folder.results({"t": ACC}, name="results.json", config={"model_args": "pretrained=org/m"}, date=0.0)
    samples = old_samples(folder, "pretrained__org__m_t")
    for named in (results, samples):
        (run,) = find([named]).runs
        assert len(run.files) == 2
        assert run.time == "1970-01-01T00:00:00"


def test_a_renamed_results_file_is_matched_with_the_only_samples(folder):
    folder.results({"t": ACC}, name="results.json")
    folder.samples("t", rows("acc", [1, 0]))
    (run,) = find(folder.files()).runs
    assert len(run.files) == 2


def test_a_renamed_results_file_has_no_samples_if_two_runs_match(folder):
    folder.results({"t": ACC}, name="results.json")
    for time in (TIME, LATER):
        folder.samples("t", rows("acc", [1, 0]), time=time)
    assert sorted(len(run.files) for run in find(folder.files()).runs) == [1, 1, 1]


def test_renamed_samples_files_are_recognised_by_their_rows(folder):
    path = folder.text("mine.jsonl", json.dumps(rows("acc", [1, 0])[0]) + "\n")
    (run,) = find([path]).runs
    assert run.samples == (("mine", path),)


def test_other_files_are_not_recognised(folder):
    others = [
        folder.text("notes.txt", "results"),
        folder.text("log.json", '{"version": 2, "status": "success", "eval": {}, "results": {}}'),
        folder.text("results.json", '{"results": [1, 2, 3]}'),
        folder.text(f"results_{TIME}.json", '{"config_general": {}, "results": {}, "versions": {}}'),
        folder.text(f"results_{LATER}.json", '{"results": {}, "versions": {}, "config": {}}'),
        folder.text("samples_of_soil.json", '{"depth": 3}'),
        folder.text("config.json", '{"config": {"a": 1}}'),
        folder.text("data.jsonl", '{"id": 1}\n'),
        folder.text("empty.json", ""),
    ]
    found = find(others)
    assert found.unrecognised == tuple(others)
    assert (found.runs, found.problems) == ((), ())


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (f"results_{TIME}.json", "", "file-empty"),
        (f"results_{TIME}.json", '{"results": {"t": {"acc', "invalid-json"),
        (f"results_{TIME}.json", '{"results": {}, "versions": {}, "config": {"model": "gpt2"}}', "predates-version-4"),
        (f"samples_t_{TIME}.jsonl", "", "file-empty"),
        (f"samples_t_{TIME}.jsonl", "not json", "samples-not-json"),
    ],
)
def test_a_broken_file_with_the_name_of_a_log_is_a_problem_with_its_reason(folder, name, content, words):
    path = folder.text(name, content)
    found = find([path])
    assert found.runs == found.unrecognised == ()
    ((where, message),) = found.problems
    assert where == path
    assert message.name == words


COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd.compress}


def compress(path, suffix):
    """Replace a file by a compressed one."""
    packed = Path(path + suffix)
    packed.write_bytes(COMPRESS[suffix](Path(path).read_bytes()))
    Path(path).unlink()
    return str(packed)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_samples_are_read_as_plain_ones(folder, suffix):
    folder.results({"t": ACC}, n=2)
    path = folder.samples("t", rows("acc", [1, 0]))
    plain = folder.logs()["t"]
    packed = compress(path, suffix)
    for given in (folder.files(), [packed], [folder.files()[0]]):
        log = folder.logs(*given)["t"]
        assert log.source.path == packed
        assert log.messages == ()
        np.testing.assert_array_equal(log.data[0].values, plain.data[0].values)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_samples_of_old_versions_are_read(folder, suffix):
    results = folder.results({"t": ACC}, name="results.json", config={"model_args": "pretrained=org/model"})
    path = compress(old_samples(folder, "pretrained=org__model_t"), suffix)
    (run,) = find([results, path]).runs
    assert run.samples == (("t", path),)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_the_rows_before_the_damage_of_a_compressed_file_are_kept(folder, suffix):
    folder.results({"t": ACC}, n=2000)
    path = Path(compress(folder.samples("t", rows("acc", np.random.default_rng(0).random(2000).tolist())), suffix))
    path.write_bytes(path.read_bytes()[: -(path.stat().st_size // 4)])
    log = folder.logs()["t"]
    if suffix == ".bz2":  # one block, which is lost as a whole
        assert has(log, "samples-unreadable", file=path.name)
        return
    assert 0 < len(log.questions) < 2000
    assert has(log, "broken-lines", file=path.name, n_kept=len(log.questions))


@pytest.mark.parametrize(
    "name", [f"samples_t_{TIME}.jsonl.xz", f"samples_t_{TIME}.jsonl.gz", f"samples_t_{TIME}.jsonl"]
)
def test_a_samples_file_that_is_not_read_is_named(folder, name):
    results = folder.results({"t": ACC}, n=2)
    path = folder.text(name, "no samples")
    for given, is_named in (([results], False), ([results, path], True)):
        found = find(given)
        assert [where for where, _ in found.problems] == [path] * is_named
        assert {message.severity for _, message in found.problems} <= {"error"}
        assert has(folder.logs(*given)["t"], "samples-unreadable", file=name)
    assert [where for where, _ in find([path]).problems] == [path]


def test_of_plain_and_compressed_samples_the_plain_ones_are_read(folder):
    folder.results({"t": ACC}, n=2)
    path = folder.samples("t", rows("acc", [1, 0]))
    folder.text(f"samples_t_{TIME}.jsonl.bak", "an older version")
    Path(path + ".gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    found = find(folder.files())
    assert [run.samples for run in found.runs] == [(("t", path),)]
    assert (found.problems, sorted(found.unrecognised)) == ((), [f"{path}.bak", f"{path}.gz"])
    messages = folder.logs()["t"].messages
    assert {message.params["file"] for message in messages} == {Path(f"{path}{end}").name for end in (".bak", ".gz")}
    assert {message.name for message in messages} == {"spare-samples"}


def test_a_compressed_file_that_is_no_log_is_not_recognised(folder):
    others = [folder.text("data.json.gz", "not compressed"), folder.text(f"results_{TIME}.json.gz", "{}")]
    found = find(others)
    assert (found.runs, found.problems, found.unrecognised) == ((), (), tuple(others))


def test_files_of_one_time_are_one_part_however_they_are_compressed(folder):
    names = [f"results_{TIME}.json", f"samples_t_{TIME}.jsonl.gz", f"samples_u_{TIME}.jsonl.xz"]
    later = [f"results_{LATER}.json", f"samples_t_{LATER}.jsonl.zst"]
    assert parts([*names, *later, "notes.txt"]) == [names, later, ["notes.txt"]]


def test_a_file_that_vanished_is_a_problem(tmp_path):
    ((_, message),) = find([str(tmp_path / "results.json")]).problems
    assert message.name == "file-unreadable"


def test_a_broken_file_of_the_same_run_does_not_hide_the_given_file(folder):
    folder.text(f"results_{TIME}.json", "{")
    named = folder.samples("t", rows("acc", [1, 0]))
    (run,) = find([named]).runs
    assert run.files == (named,)
