"""Without a name of Inspect, the run continues as Inspect's own, and one line states the missing name."""

import ast
import json
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import harness_uq_inspect
from harness_uq_inspect.live.inspect_internals import PRIVATE_NAMES
from tests.adapters.inspect.environment import run_with_uq

pytestmark = [pytest.mark.harness, pytest.mark.slow]

HERE = Path(__file__).parent
LIVE = Path(harness_uq_inspect.__file__).parent / "live"
STOCK = ["accuracy", "stderr"]
OURS = ["uq_lower", "uq_upper"]


def imported(module):
    """Names that a module imports from Inspect, except those for type checkers only."""
    tree = ast.parse((LIVE / module).read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return [f"{n.module}:{name.name}" for n in found if n.module.startswith("inspect_ai") for name in n.names]


HOOK, METRICS = imported("hook.py"), imported("metrics.py")
PRIVATE = [f"{module}:{name}" for module, name in PRIVATE_NAMES]


@pytest.fixture(scope="module")
def runs(inspect_log, tmp_path_factory):
    folder = tmp_path_factory.mktemp("seams")
    run_with_uq(sys.executable, HERE / "missing_name_runs.py", folder, *HOOK, *METRICS, *PRIVATE, cwd=folder)
    return folder


def outcome(runs, seam):
    """Metrics of the run, and the lines that name harness_uq."""
    found = json.loads((runs / f"{seam}.json").read_text())
    assert found["status"] == "success"
    printed = (runs / f"{seam}.txt").read_text().splitlines()
    return list(found["metrics"]), [line for line in printed if "harness_uq:" in line]


def test_the_lists_of_names_are_not_empty():
    assert len(HOOK) >= 10
    assert len(METRICS) >= 3
    assert len(PRIVATE) == 2


@pytest.mark.parametrize("seam", HOOK)
def test_without_a_name_of_the_hook_the_run_is_unchanged_and_one_line_says_why(runs, seam):
    metrics, (line,) = outcome(runs, seam)
    assert metrics == STOCK
    assert f"no intervals with inspect-ai {version('inspect-ai')}: ImportError" in line
    assert repr(seam.partition(":")[2]) in line


@pytest.mark.parametrize("seam", METRICS)
def test_without_a_name_of_the_metrics_one_line_says_why_and_intervals_are_written(runs, seam):
    metrics, (line,) = outcome(runs, seam)
    assert metrics == [*STOCK, *OURS]
    assert f"no registered metrics with inspect-ai {version('inspect-ai')}: ImportError" in line
    assert repr(seam.partition(":")[2]) in line


@pytest.mark.parametrize("seam", PRIVATE)
def test_without_a_private_name_less_is_displayed_and_one_line_says_what(runs, seam):
    metrics, (line,) = outcome(runs, seam)
    assert metrics == [*STOCK, *OURS]
    assert f"inspect-ai {version('inspect-ai')} has no {seam.replace(':', '.')}" in line
