"""Logs that Inspect itself writes when it retries evals: each run counts once."""

import sys
from pathlib import Path

import pytest

from harness_uq import read_logs
from harness_uq.analyses.effects import effects
from harness_uq.analyses.scan.scan_logs import scan
from harness_uq.messages.catalogue.reading import COPIED_LOG, EARLIER_ATTEMPT
from harness_uq.options import Options
from tests.adapters.inspect.environment import run_with_uq

pytestmark = [pytest.mark.harness, pytest.mark.slow]

SCORES = [0, 1, 0, 1, 0, 1, 0, 1]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    pytest.importorskip("inspect_ai")
    folder = tmp_path_factory.mktemp("retried")
    run_with_uq(sys.executable, Path(__file__).with_name("retried_runs.py"), folder, cwd=folder, HARNESS_UQ=None)
    return folder


@pytest.mark.parametrize("read", [read_logs, lambda folder: scan(folder, Options(), full_logs=True).reading])
@pytest.mark.parametrize(
    ("case", "n_runs", "left_out"),
    [("retry", 2, [EARLIER_ATTEMPT, COPIED_LOG]), ("set", 1, [EARLIER_ATTEMPT, EARLIER_ATTEMPT])],
)
def test_each_run_counts_once_with_all_its_questions(runs, read, case, n_runs, left_out):
    reading = read(runs / case)
    assert [log.data[0].values[:, 0].tolist() for log in reading.logs] == [SCORES] * n_runs
    assert [message.code for _, message in reading.warnings] == [kind.code for kind in left_out]
    kept = {log.source.path for log in reading.logs}
    for path, message in reading.warnings:
        assert path not in kept
        assert {message.params.get("continued_in"), message.params.get("kept")} & kept


def test_effects_count_each_run_once(runs):
    [row] = effects(runs / "retry")
    assert {part.name: part.n_levels for part in row.components}["run"] == 2
