"""Logs of real runs whose printed value is not the mean, and logs that are scored or edited after the run."""

import sys
from pathlib import Path

import pytest

from harness_uq import estimate
from harness_uq.commands.main import main
from harness_uq_inspect.read.samples import read_log
from tests.adapters.inspect.environment import run_with_uq
from tests.message_checks import has

pytestmark = [pytest.mark.harness, pytest.mark.slow]


@pytest.fixture(scope="module")
def runs(inspect_log, tmp_path_factory):
    folder = tmp_path_factory.mktemp("later")
    run_with_uq(sys.executable, Path(__file__).with_name("later_scores_runs.py"), folder, cwd=folder)
    return folder


def metrics(folder):
    (path,) = folder.rglob("*.eval")
    return {score.name: dict(score.metrics) for score in read_log(str(path)).header.results.scores}


def test_a_live_run_and_rescore_add_no_interval_beside_a_mean_with_parameters(runs, tmp_path):
    live = metrics(runs / "parameters")
    assert main(["rescore", str(runs / "parameters"), "--output-dir", str(tmp_path)]) == 0
    for printed in (live, metrics(tmp_path)):
        assert {"uq_lower", "uq_upper"} <= set(printed["plain"])
        assert set(printed["inverted"]) == {"accuracy", "stderr"}
        assert printed["inverted"]["accuracy"].value == pytest.approx(0.1)
        assert printed["inverted"]["stderr"].metadata is None  # the value is that of Inspect


def test_estimate_shows_the_value_of_a_mean_with_parameters_and_no_interval(runs):
    rows = {row.metric: row for row in estimate(runs / "parameters")}
    assert rows["inverted"].value == pytest.approx(0.1)
    assert rows["inverted"].interval is None
    assert rows["plain"].value == pytest.approx(0.9)
    assert rows["plain"].interval is not None


@pytest.mark.parametrize(("case", "is_edited"), [("scored", False), ("rescored", False), ("edited", True)])
def test_only_an_edit_after_intervals_were_stored_is_reported(runs, case, is_edited):
    [row] = [row for row in estimate(runs / case) if row.interval is not None]
    assert has(row.messages, "stale-intervals") == is_edited
