"""Real logs of Inspect AI 0.3.41 to 0.3.136, compared with independently computed values."""

from pathlib import Path

import numpy as np
import pytest

from harness_uq.data.task_log import AggregateScore
from harness_uq_inspect.harness import InspectHarness
from tests.adapters.inspect.logs import entry, read
from tests.reference_values import reference_values

SIDE_FILES = {"eval-set.json", "logs.json"}


@pytest.fixture(scope="module")
def expected(shared):
    references = reference_values("expected_from_logs.json")
    return {shared / path: reference for path, reference in references.items() if path.startswith("data/inspect/")}


def test_all_logs_are_found_and_other_files_are_not(shared, expected):
    files = sorted(str(path) for path in (shared / "data" / "inspect").rglob("*") if path.is_file())
    found = InspectHarness().find(files)
    assert {Path(run.files[0]) for run in found.runs} == set(expected)
    assert {Path(path).name for path in found.unrecognised} == SIDE_FILES
    assert found.problems == ()


def test_means_standard_errors_and_identity_agree_with_the_reference(expected):
    for path, reference in expected.items():
        log = read(path)
        assert (log.task, log.system.split(" ")[0]) == (reference["task"], reference["model"])
        assert (log.source.version, log.facts.settings["status"]) == (reference["pkg"], reference["status"])
        for name, score in reference["scores"].items():
            means = entry(log, name, "mean" if (reference["epochs"] or 1) > 1 else "none").values.mean(axis=1)
            assert means.mean() == pytest.approx(score["mean"], abs=1e-9)
            assert len(means) == score["items"]
            if score["se_items"] is not None:
                assert means.std(ddof=1) / np.sqrt(len(means)) == pytest.approx(score["se_items"], abs=1e-9)


def test_inspects_printed_values_are_unchanged(expected):
    for path, reference in expected.items():
        log = read(path)
        assert len(log.reported) == len(reference["logged"])
        for printed, found in zip(reference["logged"], log.reported.values(), strict=True):
            assert (found.value, found.std_error) == (printed["accuracy"], printed["stderr"])


def test_only_unfinished_or_unscored_runs_warn(expected):
    for path, reference in expected.items():
        is_plain = reference["status"] == "success" and reference["logged"]
        assert (read(path).warnings == ()) == bool(is_plain), path


def test_five_epochs_make_five_trials(shared):
    for path in sorted((shared / "data/inspect/popularity_5epochs_3models").glob("*.eval")):
        log = read(path)
        assert entry(log, "match", "mean").values.shape == (10, 5)
        assert (log.facts.n_all, log.facts.settings["limit"]) == (100, 10)


def test_the_same_questions_have_the_same_hashes_in_every_run(shared):
    folder = shared / "data/inspect"
    runs = [read(path) for path in sorted((folder / "popularity_100_two_models").glob("*.eval"))]
    short = [read(path) for path in sorted((folder / "popularity_5epochs_3models").glob("*.eval"))]
    old = read(folder / "old_formats/2025-05-12T20-28-13-04-00_popularity.json")
    assert runs[0].questions.hashes == runs[1].questions.hashes
    assert len(set(runs[0].questions.hashes)) == 100
    assert all(log.questions.hashes == runs[0].questions.hashes[:10] for log in short)
    assert old.questions.hashes == runs[0].questions.hashes[:3]


def test_summaries_without_metadata_are_completed_from_samples(shared):
    """The summaries of 0.3.42 have no metadata."""
    log = read(shared / "data/inspect/old_formats/log_streaming.eval")
    assert log.questions.fields["label_confidence"].n_distinct == 2
    np.testing.assert_array_equal(np.sort(entry(log, "match", "mean").values, axis=1), [[0, 1], [1, 1]])


def test_a_log_of_totals_keeps_its_number_of_questions(shared):
    log = read(shared / "data/inspect/old_formats/2024-08-29T15-11-17+00-00_popularity_5EAmX6wjMFqea6WY7XHzZp.json")
    (found,) = log.data
    assert isinstance(found, AggregateScore)
    assert (found.value, found.n) == (0.0, 1)
