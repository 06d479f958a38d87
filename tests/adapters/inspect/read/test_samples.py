"""Which members are read; all of them give the same scores."""

import zipfile

import numpy as np
import pytest

from harness_uq import LogError, estimate
from harness_uq_inspect.read.samples import read_log
from tests.adapters.inspect.logs import (
    DEFLATE,
    ZSTANDARD,
    entry,
    grid,
    header,
    read,
    sample,
    score_totals,
    write_eval,
    write_json,
)
from tests.message_checks import has, names_of, raises_message

VALUES = [["C", "I"], ["I", "I"], ["C", "P"]]
MATRIX = [[1, 0], [0, 0], [1, 0.5]]
REMOVED = "Key removed from summary (> 1k)"


def drop_member(path, *names):
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if not name.startswith(names)}
    with zipfile.ZipFile(path, "w", DEFLATE) as archive:
        for name, content in kept.items():
            archive.writestr(name, content)


def routes(tmp_path, head, samples):
    yield write_eval(tmp_path / "deflate.eval", head, samples)
    yield write_eval(tmp_path / "zstandard.eval", head, samples, compression=ZSTANDARD)
    yield write_eval(tmp_path / "samples_only.eval", head, samples, with_summaries=False)
    yield write_eval(tmp_path / "summaries_only.eval", head, samples, with_samples=False)
    yield write_eval(tmp_path / "journal.eval", head, samples, finished=False)
    yield write_eval(tmp_path / "invalidated.eval", head | {"invalidated": True}, samples)
    yield write_json(tmp_path / "log.json", head, samples)


@pytest.mark.parametrize("version", [2, 3])
def test_every_route_gives_the_same_matrix_and_questions(tmp_path, version):
    head = header(epochs=2, version=version)
    samples = grid(VALUES)
    for one in samples:
        one["metadata"] = {"passage": f"p{one['id'] // 2}"}
        one["messages"], one["messages_pool"] = [{"ref": 0}], {"0": {"role": "user", "content": "x"}}
    for path in routes(tmp_path, head, samples):
        log = read(path)
        np.testing.assert_array_equal(entry(log, "match", "mean").values, MATRIX, err_msg=path.name)
        assert log.questions.ids == ("1", "2", "3")
        assert len(set(log.questions.hashes)) == 3
        assert list(log.questions.fields["passage"].codes) == [0, 1, 1]


def test_summaries_are_preferred_to_samples(tmp_path):
    samples = grid(VALUES)
    other = [one | {"scores": {"match": {"value": "C"}}} for one in samples]
    path = write_eval(tmp_path / "log.eval", header(epochs=2), other, summaries=samples)
    np.testing.assert_array_equal(entry(read(path), "match", "mean").values, MATRIX)


def test_samples_are_read_where_there_are_more_of_them_than_summaries(tmp_path):
    samples = grid(VALUES)
    path = write_eval(tmp_path / "log.eval", header(epochs=2), samples, summaries=samples[:2])
    np.testing.assert_array_equal(entry(read(path), "match", "mean").values, MATRIX)


@pytest.mark.parametrize("thinned", [None, REMOVED, "the passage, cut at a word...", "..."])
def test_metadata_that_summaries_lack_come_from_the_samples(tmp_path, thinned):
    """Old summaries have no metadata; newer ones truncate texts at 1,024 characters and drop other values above 1k."""
    samples = grid(VALUES)
    for one in samples:
        one["metadata"] = {"passage": f"p{one['id'] // 2} " * 300}
    metadata = {} if thinned is None else {"metadata": {"passage": thinned}}
    summaries = [{k: v for k, v in one.items() if k != "metadata"} | metadata for one in samples]
    log = read(write_eval(tmp_path / "log.eval", header(epochs=2), samples, summaries=summaries))
    field = log.questions.fields["passage"]
    assert list(field.codes) == [0, 1, 1]
    assert field.is_text
    np.testing.assert_array_equal(entry(log, "match", "mean").values, MATRIX)


def test_complete_metadata_are_taken_from_the_summaries(tmp_path):
    samples = grid(VALUES)
    summaries = [one | {"metadata": {"passage": 1}} for one in samples]
    log = read(write_eval(tmp_path / "log.eval", header(epochs=2), samples, summaries=summaries))
    assert list(log.questions.fields) == ["passage"]


def test_nan_in_one_score_does_not_affect_the_others(tmp_path):
    """Inspect writes NaN, the value of a sample without a score, as a bare constant."""
    samples = grid([[0.5], [float("nan")], [float("inf")], [1.0]])
    for path in routes(tmp_path, header(), samples):
        np.testing.assert_array_equal(entry(read(path), "match").values[:, 0], [0.5, np.nan, np.nan, 1.0])


def test_journalled_summaries_are_read_in_the_order_they_were_written(tmp_path):
    """The later of two entries for one trial counts, and member 10 is later than member 9."""
    samples = [sample(1, match="I"), sample(1, match="C")]
    path = write_eval(tmp_path / "log.eval", header(), samples, finished=False, with_samples=False)
    log = read(path)
    assert entry(log, "match").values == [[1.0]]
    assert has(log, "repeated-trials")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_records_of_one_question_and_epoch_are_one_sample(tmp_path):
    """7 questions, each logged twice, and Inspect computed its results from all 14 records."""
    earlier = [sample(number, match="C") for number in range(1, 8)]
    later = [sample(number, match="C" if number % 2 else "I") for number in range(1, 8)]
    totals = score_totals("match", 4 / 7, n=14, stderr=0.137)
    head = header(scores=[totals], total=14, dataset={"name": "toy", "samples": 7, "sample_ids": list(range(1, 8))})
    records = [*earlier, *later]
    for path in (
        write_eval(tmp_path / "log.eval", head, records),
        write_eval(tmp_path / "summaries_only.eval", head, records, with_samples=False),
        write_json(tmp_path / "log.json", head, records),
    ):
        log = read(path)
        assert entry(log, "match").values[:, 0].tolist() == [1, 0, 1, 0, 1, 0, 1]
        assert (log.reported["match", "none"].n, log.facts.n_all) == (7, 7)
        assert names_of(log.warnings) == ["repeated-trials"]
        (row,) = estimate(log)
        assert (row.n_questions, row.method) == (7, "beta")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_records_of_one_epoch_are_trials_if_the_run_had_several_epochs(tmp_path):
    samples = [sample(number, match=value) for value in "CI" for number in (1, 2, 3)]
    head = header(epochs=2, total=6)
    for path in (write_eval(tmp_path / "log.eval", head, samples), write_json(tmp_path / "log.json", head, samples)):
        log = read(path)
        assert entry(log, "match", "mean").values.tolist() == [[1, 0]] * 3
        assert names_of(log.warnings) == []


def test_a_sample_that_is_missing_beside_a_repeated_one_is_missing(tmp_path):
    head = header(total=3, dataset={"name": "toy", "sample_ids": [1, 2, 3]})
    log = read(write_json(tmp_path / "log.json", head, [sample(1, match="C"), sample(1, match="C"), sample(2)]))
    assert names_of(log.warnings) == ["repeated-trials", "log-trimmed"]


def test_damaged_summaries_are_replaced_by_samples(tmp_path):
    path = write_eval(tmp_path / "log.eval", header(epochs=2), grid(VALUES))
    drop_member(path, "summaries.json", "_journal/summaries")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("summaries.json", '[{"id": 1, "epoch"')
    log = read(path)
    np.testing.assert_array_equal(entry(log, "match", "mean").values, MATRIX)
    assert has(log, "damaged-members", first="summaries.json")


def test_a_damaged_sample_is_omitted_with_a_warning(tmp_path):
    path = write_eval(tmp_path / "log.eval", header(total=3), grid([["C"], ["I"], ["C"]]), with_summaries=False)
    drop_member(path, "samples/2_epoch_1.json")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/2_epoch_1.json", "{")
    log = read(path)
    assert log.questions.ids == ("1", "3")
    assert has(log, "damaged-members", first="samples/2_epoch_1.json")


def test_documents_of_later_epochs_are_dropped(tmp_path):
    samples = [one | {"metadata": {"epoch": one["epoch"]}} for one in grid(VALUES)]
    log = read_log(str(write_json(tmp_path / "log.json", header(epochs=2), samples)))
    assert [one.metadata is None for one in log.cells.values()] == [False, True] * 3


def test_reductions_are_decoded_only_where_they_are_needed(tmp_path):
    path = write_eval(tmp_path / "log.eval", header(epochs=2), grid(VALUES), reductions=[{"no": "reduction"}])
    assert read_log(str(path)).reductions == []


def test_a_truncated_json_log_is_an_error(tmp_path):
    path = write_json(tmp_path / "log.json", header(), grid(VALUES))
    path.write_text(path.read_text()[:-5])
    with pytest.raises(LogError, match="not valid JSON, perhaps because it is incomplete"):
        read(path)


def test_the_oldest_format_is_rejected_with_the_command_that_converts_it(tmp_path):
    path = write_json(tmp_path / "log.json", header(version=1), [])
    with raises_message(LogError, "format-too-old", version=1):
        read(path)


def test_a_format_newer_than_known_is_read_with_a_warning(tmp_path):
    log = read(write_json(tmp_path / "log.json", header(version=4), grid(VALUES)))
    assert names_of(log.warnings) == ["newer-log-format"]
    assert has(log, "newer-log-format", version=4, supported=3)
