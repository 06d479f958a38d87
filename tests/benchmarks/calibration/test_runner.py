"""Calibration: exact coverage, the smoke size, and broken estimators that it must catch."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import harness_uq.inference.methods.binary
import harness_uq.inference.methods.repeated_trials
from benchmarks.calibration import runner, sbc
from benchmarks.calibration.results import CalibrationReport, read_lines, read_report, write_report
from benchmarks.calibration.runner import SimulationPlan, run_simulations, simulate
from benchmarks.calibration.scenarios import SETTINGS, exact
from benchmarks.calibration.scenarios.types import Cell
from benchmarks.calibration.verdicts import alarms, coverage_of, default_of, is_warned, judge_method, warns_often
from harness_uq import stats
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.clusters.clustered_proportion import clustered_score_posterior
from harness_uq.stats.proportion.binomial import beta_posterior
from harness_uq.stats.proportion.coverage import coverage_at

# Prior-averaged coverage of nominal 95 %, sum_k 1/(n+1) P(Beta(k+1, n-k+1) in CI_k): reference F.1
AVERAGED = {
    3: (0.49574, 0.50000, 0.95596, 0.99458, 0.96259, 0.95000),
    10: (0.76926, 0.79399, 0.95408, 0.98375, 0.95315, 0.95000),
    30: (0.87491, 0.88605, 0.95240, 0.97339, 0.95051, 0.95000),
    100: (0.92225, 0.92596, 0.95114, 0.96457, 0.94994, 0.95000),
    300: (0.93910, 0.94038, 0.95052, 0.95909, 0.94991, 0.95000),
    1000: (0.94618, 0.94657, 0.95020, 0.95527, 0.94995, 0.95000),
}
QUICK = SimulationPlan(settings=("unbounded",), methods=())  # two cells of 200 data sets
METHODS = ("clt", "t", "wilson", "clopper-pearson", "jeffreys", "beta, equal tails")


@pytest.mark.parametrize("n", AVERAGED)
def test_prior_averaged_coverage_is_the_closed_form_to_1e_5(n):
    found = [exact.coverage_averaged((1, 1), exact.cached_table(method, n, 0.95)) for method in METHODS]
    np.testing.assert_allclose(found, AVERAGED[n], atol=1e-5)


def test_mean_widths_are_those_of_the_reference():
    # F.1: CLT, Wilson, Bayes, Clopper-Pearson at n = 3, 10, 30, 100
    expected = {
        "clt": (0.5334, 0.4278, 0.2702, 0.1522),
        "wilson": (0.6462, 0.4354, 0.2708, 0.1523),
        "beta, equal tails": (0.6672, 0.4403, 0.2714, 0.1523),
        "clopper-pearson": (0.8024, 0.5085, 0.2990, 0.1614),
    }
    for method, widths in expected.items():
        tables = {n: exact.cached_table(method, n, 0.95) for n in (3, 10, 30, 100)}
        found = [exact.chances((1, 1), n) @ (high - low) for n, (low, high) in tables.items()]
        np.testing.assert_allclose(found, widths, atol=1e-4)


def test_mismatched_priors_and_fixed_theta_give_the_papers_coverage():
    # F.1: Bowyer et al. (2025), appendix I, exact
    def averaged(method, prior):
        return [exact.coverage_averaged(prior, exact.cached_table(method, n, 0.95)) for n in (3, 10, 30, 100)]

    np.testing.assert_allclose(averaged("clt", (100, 20)), (0.4072, 0.8149, 0.9098, 0.9378), atol=1e-4)
    np.testing.assert_allclose(averaged("beta, equal tails", (100, 20)), (0.9460, 0.9618, 0.9529, 0.9508), atol=1e-4)
    np.testing.assert_allclose(averaged("clt", (10, 10)), (0.7143, 0.8987, 0.9336, 0.9452), atol=1e-4)
    np.testing.assert_allclose(averaged("bootstrap", (1, 1)), (0.5000, 0.7798, 0.8790, 0.9259), atol=1e-4)
    at = {m: [coverage_at(0.95, exact.cached_table(m, n, 0.95)) for n in (3, 10, 30, 100)] for m in METHODS}
    np.testing.assert_allclose(at["clt"], (0.1354, 0.4002, 0.7821, 0.8775), atol=1e-4)
    np.testing.assert_allclose(at["wilson"], (0.8574, 0.9139, 0.9392, 0.9659), atol=1e-4)
    np.testing.assert_allclose(at["beta, equal tails"], (0.8574, 0.9139, 0.9392, 0.9659), atol=1e-4)
    np.testing.assert_allclose(at["clopper-pearson"], (0.9928, 0.9885, 0.9844, 0.9826), atol=1e-4)


@pytest.mark.slow
def test_the_printed_interval_of_a_proportion_covers_its_level_averaged_over_the_prior():
    exact.cached_table.cache_clear()
    results = run_simulations(SimulationPlan(settings=("iid",)))
    averaged = [coverage_of(cell) for cell in results if cell.averaged]
    np.testing.assert_allclose(averaged, 0.95, atol=1e-6)
    assert alarms(results) == []


def _alarms(setting: str, part: str = "") -> Iterator[str]:
    """Alarms of one cell after the other, so that a test of a broken estimator ends with the first that it needs.

    Only cells whose key contains `part` are simulated.
    """
    exact.cached_table.cache_clear()
    plan = SimulationPlan(settings=(setting,), methods=())
    for cell in plan.cells():
        if part in cell.key:
            yield from alarms([simulate(cell, plan)])


@pytest.fixture(autouse=True)
def _fresh_tables():
    exact.cached_table.cache_clear()
    yield
    exact.cached_table.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["bounded", "clustered", "paired", "f1", "groups", "benchmark", "crossed"])
def test_sound_defaults_raise_no_alarm_at_smoke_size(setting):
    assert list(_alarms(setting)) == []


@pytest.mark.slow
def test_a_wrong_prior_of_a_proportion_is_caught(monkeypatch):
    wrong = lambda s, n, prior=(1.0, 1.0): beta_posterior(s, n, prior=(2.0, 2.0))  # noqa: E731
    monkeypatch.setattr(harness_uq.inference.methods.binary, "beta_posterior", wrong)
    assert any("iid/prior" in text for text in _alarms("iid"))


@pytest.mark.slow
@pytest.mark.parametrize(("ds", "dn"), [(1, 1), (0, 1), (0, -1)])
def test_an_off_by_one_in_the_counts_of_a_proportion_is_caught(monkeypatch, ds, dn):
    def shifted(s, n, prior=(1.0, 1.0)):
        trials = max(n + dn, 1)
        return beta_posterior(min(s + ds, trials), trials, prior=prior)

    monkeypatch.setattr(harness_uq.inference.methods.binary, "beta_posterior", shifted)
    assert any("iid/prior" in text for text in _alarms("iid"))


@pytest.fixture
def _no_more_data_sets(monkeypatch):
    """A broken estimator need not be simulated with sixteen times as many data sets to be caught."""
    monkeypatch.setattr(runner, "EXTENSION", 1)
    monkeypatch.setattr(runner, "MAX_EXTENSION", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("_no_more_data_sets")
def test_ignored_clusters_are_caught(monkeypatch):
    def pooled(successes, sizes, weights=None):
        answers = np.repeat([1.0, 0.0], [int(np.sum(successes)), int(np.sum(sizes) - np.sum(successes))])
        return clustered_score_posterior(answers, np.ones_like(answers))

    monkeypatch.setattr(stats, "clustered_score_posterior", pooled)
    assert any("clustered/" in text for text in _alarms("clustered"))


@pytest.mark.slow
@pytest.mark.usefixtures("_no_more_data_sets")
def test_the_papers_posterior_where_ours_is_promised_is_caught(monkeypatch):
    monkeypatch.setattr(
        stats,
        "clustered_score_posterior",
        lambda s, n, weights=None: clustered_posterior(s, n, "gamma"),
    )
    assert any("theta 0.99" in text for text in _alarms("clustered", "theta 0.99"))


def test_a_shifted_posterior_is_caught_by_its_ranks():
    def shifted(rng):
        theta = rng.random()
        return beta_posterior(min(rng.binomial(20, theta) + 1, 20), 20), theta

    broken = sbc.uniformity(sbc.Experiment("beta", "20 questions", shifted), 300, 0)
    assert alarms([], [broken])
    assert not alarms([], sbc.run_sbc("smoke", names=["beta", "paired dirichlet"]))


@pytest.fixture(scope="module")
def a_run(tmp_path_factory):
    """Results of a quick run, and the lines that it kept."""
    kept = tmp_path_factory.mktemp("run") / "kept.jsonl"
    return run_simulations(QUICK, kept=kept), kept.read_bytes()


@pytest.mark.slow
def test_a_run_resumes_from_its_lines_and_gives_the_same_numbers(a_run, tmp_path):
    first, content = a_run
    kept, lines = tmp_path / "kept.jsonl", content.splitlines(keepends=True)
    kept.write_bytes(lines[0] + lines[1][:40])  # interrupted while writing the second
    assert len(read_lines(kept)) == 1
    again = run_simulations(QUICK, kept=kept)
    assert [cell.methods for cell in again] == [cell.methods for cell in first]


@pytest.mark.slow
def test_processes_do_not_change_the_numbers(a_run):
    pytest.importorskip("joblib")
    alone, _ = a_run
    together = run_simulations(replace(QUICK, jobs=2))
    assert [cell.methods for cell in together] == [cell.methods for cell in alone]


@pytest.mark.slow
def test_a_report_reads_back_to_six_digits(a_run, tmp_path):
    cells = tuple(a_run[0])
    report = CalibrationReport("smoke", 0, {"numpy": "2"}, "2026-01-01", 1.0, cells, ())
    write_report(tmp_path / "results.json", report)
    back = read_report(tmp_path / "results.json")
    assert [c.key for c in back.cells] == [c.key for c in cells]
    for cell, copy in zip(cells, back.cells, strict=True):
        np.testing.assert_allclose(coverage_of(copy), coverage_of(cell), rtol=1e-5)


def test_random_numbers_do_not_depend_on_leading_zeros_of_text_parameters():
    cell = Cell("judge", "clusters 200×5, ICC 0.3", {"truth": 0.95, "clusters": "200×5, ICC 0.3"}, 1)
    assert cell.seed_key == "judge/clusters 200×5, ICC .3/truth 0.95, clusters 200×5, ICC .3"


def test_every_setting_has_distinct_cells_and_a_verdict():
    for name, setting in SETTINGS.items():
        for size in ("smoke", "standard"):
            keys = [cell.key for cell in setting.cells(size)]
            assert len(keys) == len(set(keys)) > 0
        assert judge_method(name, []).n_scores == 0


def test_a_cell_is_warned_of_where_the_samples_that_miss_say_so():
    """A quarter of all data sets have a warning, but most of those whose interval misses the true value."""
    kinds = {"kinds": "95 % at 0.97, 5 % at 0", "trials": "30×8"}
    cell = simulate(Cell("clustered", "mixtures", kinds, 5), SimulationPlan(methods=("bayes",), seed=3))
    default = replace(default_of(cell), warned=0.25, warned_of_missed=0.8)
    found = replace(cell, methods={**cell.methods, SETTINGS["clustered"].default: default})
    assert is_warned(found)
    assert not warns_often(found)
    assert not is_warned(replace(cell, methods={SETTINGS["clustered"].default: replace(default, warned_of_missed=0.2)}))
