from harness_uq.analyses.store.file_batches import MAX_BYTES, FileGroup, group_files, make_batches
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.listing_cache import Fingerprint


def files(*urls, size=1):
    return [Fingerprint(url, size, "mtime 1") for url in urls]


def parts(*urls):
    return [part.urls for part in group_files(files(*urls), load_plugins().harnesses)]


def test_what_one_run_of_lm_eval_wrote_stays_together_and_runs_of_one_folder_come_apart():
    first, second = "2026-01-01T10-00-00.000001", "2026-01-02T10-00-00.000001"
    names = [
        f"m/{kind}_{time}.{end}"
        for time in (first, second)
        for kind, end in (("results", "json"), ("samples_t", "jsonl"))
    ]
    assert parts(*names) == [tuple(names[:2]), tuple(names[2:])]


def test_a_results_file_without_a_time_keeps_its_folder_together():
    names = ("m/results.json", "m/samples_t_2026-01-01T10-00-00.000001.jsonl", "m/samples_u.jsonl")
    assert parts(*names) == [names]


def test_logs_of_inspect_are_alone_also_beside_lm_evals():
    names = ("a/2026-01-01T10-00-00+00-00_task_id.json", "a/results.json", "a/x.eval", "a/y.eval")
    assert parts(*names) == [(name,) for name in names]


def test_shards_stay_with_what_they_become():
    shards = ("s3://b/x.shards/1/a.eval", "s3://b/x.shards/2/b.eval")
    assert parts("s3://b/x.eval", *shards, "s3://b/y.eval") == [("s3://b/x.eval", *shards), ("s3://b/y.eval",)]


class Old:
    """A harness that cannot say which files belong together."""

    name = "old"


def test_of_a_harness_that_does_not_say_the_files_of_a_folder_stay_together():
    found = group_files(files("a/1", "b/1", "a/2"), {"old": Old()})
    assert [part.urls for part in found] == [("a/1", "a/2"), ("b/1",)]


def test_batches_hold_a_hundred_parts_or_32_megabytes_and_leave_some_for_every_worker():
    def sizes(n, size, workers):
        return [
            len(batch)
            for batch in make_batches([FileGroup((file,)) for file in files(*map(str, range(n)), size=size)], workers)
        ]

    assert set(sizes(10_000, 1, 2)) == {100}
    assert set(sizes(1_600, MAX_BYTES // 4, 2)) == {4}
    assert set(sizes(6, MAX_BYTES + 1, 1)) == {1}
    assert len(sizes(160, 1, 2)) >= 16


def test_batches_shrink_to_a_sixteenth_of_a_workers_share_and_the_greatest_come_first():
    sizes = [len(batch) for batch in make_batches([FileGroup((file,)) for file in files(*map(str, range(640)))], 4)]
    assert sizes == sorted(sizes, reverse=True)
    assert (round(sizes[0], -1), sizes[-2], sum(sizes)) == (40, 10, 640)


def test_a_large_log_is_begun_first_by_several_workers_and_in_its_turn_by_one():
    small, large = (
        [FileGroup((file,)) for file in files(*map(str, range(100)))],
        FileGroup(files("large", size=MAX_BYTES)),
    )
    assert make_batches([*small, large], 2)[0] == (large,)
    assert [part for batch in make_batches([*small, large], 1) for part in batch] == [*small, large]
