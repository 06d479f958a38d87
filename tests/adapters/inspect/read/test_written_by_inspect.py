"""Logs that the installed Inspect AI writes, compared with what Inspect itself reads from them."""

import json
import shutil
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.adapters.inspect.environment import run_with_uq
from tests.adapters.inspect.logs import entry, read
from tests.message_checks import has

pytestmark = pytest.mark.harness

REDUCERS = ["mean", "median", "mode", "max", "majority", "at_least_2", "pass_at_2", "pass_k_2"]


@pytest.fixture(scope="session")
def written(inspect_log, tmp_path_factory):
    """A folder of logs, each with the content that Inspect reads from it."""
    folder = tmp_path_factory.mktemp("written")
    run_with_uq(sys.executable, Path(__file__).with_name("write_logs.py"), folder, cwd=folder, HARNESS_UQ=None)
    return folder


def theirs(written, case):
    return json.loads((written / f"{case}.json").read_text())


@pytest.mark.parametrize("metric", ["letters", "gaps", "tone", "fact"])
def test_matrices_and_printed_values_agree_with_inspect(written, metric):
    log, reference = read(written / "mixed.eval"), theirs(written, "mixed")
    found = entry(log, metric, "mean")
    np.testing.assert_array_equal(found.values, np.array(reference["matrices"][metric], dtype=float))
    (printed,) = [score for score in reference["scores"] if score["name"] == metric]
    values = {name: one["value"] for name, one in printed["metrics"].items()}
    reported = log.reported[metric, "mean"]
    assert reported.value == values.get("accuracy", values.get("mean"))
    assert (reported.std_error, reported.n) == (values["stderr"], printed["scored_samples"])
    assert mean_of_questions(found) == pytest.approx(reported.value, abs=1e-9)


def mean_of_questions(scores):
    return np.mean([np.nanmean(row) for row in scores.values[scores.is_scored]])


def test_missing_cells_are_explained_and_nothing_is_contradicted(written):
    log = read(written / "mixed.eval")
    assert log.warnings == ()
    assert has(
        log, "trials-without-score", scorer="gaps", n_missing=6, n_trials=36, reasons="2 errors, 4 scored None or NaN"
    )


def test_declaration_fields_and_identity_reach_the_core(written):
    log = read(written / "mixed.eval")
    assert (log.declared.cluster, log.declared.origin) == ("passage", "metadata.uq.cluster")
    assert log.questions.fields["passage"].n_distinct == 4
    assert list(log.questions.fields["deep.i"].codes) == list(range(12))
    assert len(set(log.questions.hashes)) == 12
    assert log.questions.ids[:2] == ("0_en", "1_en")


def test_the_labels_of_a_classifier_are_not_averaged(written):
    assert "categories, not numbers (A, B, C, D)" in entry(read(written / "mixed.eval"), "labels", "mean").reason


def test_a_json_log_gives_the_same_task_as_an_eval_log(written):
    as_eval, as_json = read(written / "mixed.eval"), read(written / "mixed_as_json.json")
    assert as_json.questions.hashes == as_eval.questions.hashes
    assert (as_json.notes, as_json.warnings, as_json.reported) == (as_eval.notes, as_eval.warnings, as_eval.reported)
    for ours, other in zip(as_eval.data, as_json.data, strict=True):
        if hasattr(ours, "values"):
            np.testing.assert_array_equal(ours.values, other.values)
        else:
            assert ours == other


@pytest.mark.parametrize("drop_reductions", [False, True])
def test_each_reducer_has_inspects_values(written, drop_reductions, tmp_path):
    path = written / "reducers.eval"
    log = read(without_member(path, tmp_path / "log.eval", "reductions.json") if drop_reductions else path)
    assert [data.filter for data in log.data] == REDUCERS
    for printed in theirs(written, "reducers")["scores"]:
        found = entry(log, "right", printed["reducer"])
        assert found.logged_trials == 5
        assert mean_of_questions(found) == pytest.approx(printed["metrics"]["accuracy"]["value"], abs=1e-9)
        assert log.reported["right", printed["reducer"]].n == printed["scored_samples"]
    assert log.warnings == ()


def without_member(path, copy, name):
    if not hasattr(zipfile, "ZIP_ZSTANDARD"):
        import zipfile_zstd  # noqa: F401
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(copy, "w", zipfile.ZIP_ZSTANDARD) as target:
        for member in source.namelist():
            if member != name:
                target.writestr(member, source.read(member))
    return copy


def test_a_run_without_logged_samples_still_has_its_questions(written):
    log = read(written / "no_samples.eval")
    found = entry(log, "right", "mean")
    assert (found.values.shape, found.logged_trials) == ((12, 1), 4)
    assert mean_of_questions(found) == pytest.approx(log.reported["right", "mean"].value, abs=1e-9)


def test_without_reduction_inspects_value_is_that_of_the_cells(written):
    log, reference = read(written / "unreduced.eval"), theirs(written, "unreduced")
    found = entry(log, "letters", "mean")
    np.testing.assert_array_equal(found.values, np.array(reference["matrices"]["letters"], dtype=float))
    printed = reference["scores"][0]["metrics"]["accuracy"]["value"]
    assert np.nanmean(found.values) == pytest.approx(printed, abs=1e-9)
    assert abs(mean_of_questions(found) - printed) > 1e-3
    assert log.warnings == ()


def test_a_run_that_failed_is_read_as_far_as_it_went(written):
    assert theirs(written, "failed")["status"] == "error"
    log = read(written / "failed.eval")
    assert log.warnings[0].name in ("run-incomplete", "run-incomplete-part")
    assert log.warnings[0].params["status"] == "error"
    assert entry(log, "right", "mean").is_scored.any()


def test_long_metadata_are_read_completely(written):
    """Passages of 2,000 characters that differ in their last one: a summary cannot tell them apart."""
    field = read(written / "long_metadata.eval").questions.fields["passage"]
    assert field.n_distinct == 4
    assert field.is_text


def test_an_invalidated_sample_does_not_count(written):
    assert list(np.flatnonzero(~entry(read(written / "invalidated.eval"), "right").is_scored)) == [4]


def test_an_edited_score_counts_as_edited(written):
    values = [entry(read(written / f"{case}.eval"), "right").values[3, 0] for case in ("plain", "edited")]
    assert values == [0, 1]


def test_reading_needs_no_inspect_ai(written, run_python, tmp_path):
    path = shutil.copy(written / "mixed.eval", tmp_path / "log.eval")
    (tmp_path / "read.py").write_text(
        "import sys\n"
        "import harness_uq_inspect\n"
        "assert not {'numpy', 'scipy', 'msgspec'} & set(sys.modules)\n"
        "from harness_uq.plugin_api import Run\n"
        "(harness,) = harness_uq_inspect.harness_uq_harnesses()\n"
        "(log,) = harness.read(Run('log', (sys.argv[1],)))\n"
        "assert 'inspect_ai' not in sys.modules\n"
        "print(len(log.questions))\n"
    )
    assert find_spec("inspect_ai") is not None
    assert run_python(tmp_path / "read.py", path, cwd=tmp_path).strip() == "12"
