"""The dictionary that `simple_evaluate` returns is read as its files are."""

import numpy as np
import pytest

import harness_uq
from harness_uq_lm_eval.read import replay

pytest.importorskip("lm_eval")

from tests.adapters.lm_eval.live import live_runs

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_every_kind_of_metric_and_repeated_trials_are_read_as_from_the_files(
    stock_results, live_folder, tmp_path, monkeypatch
):
    monkeypatch.setenv(replay.TASK_FOLDERS, str(live_folder))
    live_runs.save(stock_results, live_folder, tmp_path)
    expected, found = (harness_uq.read_logs(source).logs for source in (tmp_path, stock_results))
    assert len(found) == len(expected) > 10
    assert any(data.filter == replay.TRIALS for log in found for data in log.data)
    for log, other in zip(found, expected, strict=True):
        assert (log.task, log.reported, log.higher_is_better) == (other.task, other.reported, other.higher_is_better)
        assert (log.questions.ids, log.questions.hashes) == (other.questions.ids, other.questions.hashes)
        for data, other_data in zip(log.data, other.data, strict=True):
            for name in data.__dataclass_fields__:
                np.testing.assert_array_equal(getattr(data, name), getattr(other_data, name))
    pairs = zip(harness_uq.estimate(stock_results), harness_uq.estimate(tmp_path), strict=True)
    for row, other_row in pairs:
        assert (row.value, row.std_error, row.interval) == (other_row.value, other_row.std_error, other_row.interval)
