"""The comparison of live runs with and without intervals; `nox -s live` makes the runs."""

import json

import live_matrix
import pytest

from tests.conftest import ROOT

RESULTS = {"results": {"toy": {"acc,none": 0.5, "acc_stderr,none": 0.1}}, "groups": {}, "date": 1.0}

# of all situations, which `nox -s live` runs with several versions
SOME = {
    "lm-eval": ("Several tasks and groups", "Two processes (stand-in)", "Interrupt", "Full disk", "Model fails"),
    "inspect-ai": (
        "Four scorers, three reducers",
        "Several tasks and models",
        "Failed run and eval-retry",
        "Full disk",
    ),
}


@pytest.mark.slow
@pytest.mark.harness
@pytest.mark.parametrize("harness", SOME)
def test_live_runs_are_the_same_with_intervals(harness):
    found = live_matrix.run_all(harness, SOME[harness])
    assert live_matrix.unexpected(harness, found) == []
    assert set(found) == set(SOME[harness])


def outcome(folder, **changed):
    folder.mkdir()
    (folder / "results_2026-01-01T00-00-00.000000.json").write_text(json.dumps(RESULTS | changed))
    (folder / "samples_toy_2026-01-01T00-00-00.000000.jsonl").write_text('{"doc_id": 0}\n{"doc_')
    return live_matrix.outcome("lm-eval", folder, ROOT, {})


def test_standard_errors_times_and_our_block_are_not_compared(tmp_path):
    plain = outcome(tmp_path / "plain")
    rows = {"toy": {"acc,none": 0.5, "acc_stderr,none": 0.2}}
    assert outcome(tmp_path / "uq", results=rows, date=2.0, uq={"estimates": []}) == plain
    assert plain["files"] == ["results_.json", "samples_toy_.jsonl"]
    assert plain["samples"][-1] == [{"doc_id": 0}, "incomplete"]


def test_values_are_compared(tmp_path):
    plain = outcome(tmp_path / "plain")
    assert outcome(tmp_path / "uq", results={"toy": {"acc,none": 0.6}})["values"] != plain["values"]


@pytest.mark.parametrize(
    ("code", "found"), [(0, "no values and samples, exit code 0"), (1, "the plain run fails, exit code 1")]
)
def test_runs_without_values_are_not_called_equal(tmp_path, monkeypatch, code, found):
    def run(way, name, folder, *_):
        return {"code": code, "cpu": 1.0, "memory": 100.0, "folder": tmp_path}

    monkeypatch.setattr(live_matrix, "run", run)
    seen = live_matrix.compare("lm-eval", "One task", tmp_path, tmp_path, {}, None)
    assert live_matrix.told(seen) == found


def test_the_table_says_what_differs():
    seen = {"codes": [0, 0], "differs": [], "cpu": 0.31, "memory": 12.4}
    one = {"harness": "lm-eval", "version": "0.4.11", "situations": {"One task": seen, "Full disk": seen}}
    changed = {"One task": seen | {"differs": ["values", "exit code"], "codes": [0, 1]}}
    lines = live_matrix.page(
        [one, one | {"version": "0.4.13", "situations": changed | {"Full disk": seen}}]
    ).splitlines()
    assert "| Situation | Expected | lm-eval 0.4.11 | lm-eval 0.4.13 | CPU seconds more | Memory more (MB) |" in lines
    difference = "values differ, exit code 0 without, 1 with"
    assert f"| One task | equal, exit code 0 | equal, exit code 0 | {difference} | 0.3, 0.3 | 12, 12 |" in lines
