"""How samples ended, compared with the samples that Inspect AI itself reads from a run."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from harness_uq import estimate, read_logs
from tests.adapters.inspect.environment import run_with_uq
from tests.adapters.inspect.logs import header, read, sample, write_eval
from tests.message_checks import has

LIMITED_RUN = str(Path(__file__).with_name("limited_run.py"))


@pytest.fixture
def log_of(tmp_path):
    """`log_of(header, samples)` reads a `.eval` log with these."""

    def make(head, samples, **options):
        return read(write_eval(tmp_path / "log.eval", head, samples, **options))

    return make


def test_endings_do_not_depend_on_scores(log_of):
    samples = [
        sample(1, match="C"),
        sample(2, match=None) | {"error": {"message": "boom"}},
        sample(3, match="C") | {"error": "later"},
        sample(4, match="I") | {"limit": {"type": "token", "limit": 10}},
        sample(5, match=None) | {"limit": "message"},
        sample(6, match="I") | {"limit": {"type": "patience", "limit": 1}},
    ]
    ended = log_of(header(), samples, with_summaries=False).ended_by
    assert ended.counts() == {"completed": 1, "error": 2, "token limit": 1, "message limit": 1, "limit": 1}


def test_epochs_that_were_not_logged_are_unknown(log_of):
    log = log_of(header(epochs=2), [sample(1, 1, match="C"), sample(1, 2, match="C"), sample(2, 1, match="I")])
    assert log.ended_by.codes.tolist() == [[0, 0], [0, -1]]


def test_counts_agree_with_those_of_inspect(tmp_path):
    log_module = pytest.importorskip("inspect_ai.log")
    run_with_uq(sys.executable, LIMITED_RUN, tmp_path, cwd=tmp_path, HARNESS_UQ=None)
    (path,) = tmp_path.glob("*.eval")
    own = log_module.read_eval_log(str(path))
    expected = Counter(
        "error" if one.error else f"{one.limit.type} limit" if one.limit else "completed" for one in own.samples
    )
    # questions 0 to 11 end in five ways in turn
    assert expected == {"completed": 3, "error": 3, "token limit": 2, "message limit": 2, "time limit": 2}
    (log,) = read_logs([path], strict=True).logs
    assert log.ended_by.counts() == expected
    n_scored = own.results.scores[0].scored_samples
    assert log.data[0].is_trial_scored.sum() == n_scored == 9
    assert log.reported["exact", "none"].value == log.data[0].values[log.data[0].is_trial_scored].mean()
    (row,) = estimate([path])
    assert has(row, "missing-scores-matter", n_missing=3, n_trials=12, causes=" (3 errors)")
