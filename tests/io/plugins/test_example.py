"""The package in examples/plugin, installed as a stranger would, against the public names alone."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT
from tests.forked_runs import run_forked

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def harness_uq(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`harness_uq(*arguments)` runs the command line where the plugin is installed."""
    folder = tmp_path_factory.mktemp("plugin")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*pip, folder, EXAMPLES / "plugin"], check=True)
    path = os.pathsep.join(map(str, (folder, ROOT, ROOT / "adapters")))

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = ["-c", "from harness_uq.commands.main import main; raise SystemExit(main())", *arguments]
        environment = {**os.environ, "PYTHONPATH": path}
        return run_forked(
            command, cwd=folder, environment=environment, modules=("harness_uq.commands.main", "numpy", "scipy")
        )

    return run


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    lines = [f"{'' if i % 3 else 'not '}ok {i + 1} - passage {i // 4}/q{i}" for i in range(80)]
    path = tmp_path / "reading.tap"
    path.write_text("\n".join(["1..80", *lines, "# done"]))
    return path


def test_the_reader_s_clusters_count(harness_uq: Run, scores: Path) -> None:
    done = harness_uq("estimate", scores, "--format", "json")
    (row,) = json.loads(done.stdout)["estimates"]
    assert (row["task"], row["n_questions"], row["n_clusters"], row["cluster_key"]) == ("reading", 80, 20, "passage")


def test_the_estimator_runs_when_named_with_what_every_row_has(harness_uq: Run, scores: Path) -> None:
    done = harness_uq("estimate", scores, "--uq", "hoeffding", "--cluster", "none", "--format", "json")
    (row,) = json.loads(done.stdout)["estimates"]
    assert row["method"] == "hoeffding"
    assert row["interval"]["high"] - row["interval"]["low"] == pytest.approx(2 * (3.688879 / 160) ** 0.5, abs=1e-6)
    assert row["n_questions"] == 80


def test_its_formula_stands_in_the_report(harness_uq: Run, scores: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    harness_uq("report", scores, "--uq", "hoeffding", "--cluster", "none", "--output", page)
    assert "Hoeffding&#39;s interval" in page.read_text() or "Hoeffding's interval" in page.read_text()
    assert "J. Am. Stat. Assoc. 58:13-30" in page.read_text()


def test_its_logs_cannot_be_written_and_the_message_says_whose_can(harness_uq: Run, scores: Path) -> None:
    done = harness_uq("rescore", scores, "--in-place")
    assert done.returncode == 1
    assert "tap logs can be read, not written; of the installed harnesses inspect, lm-eval can" in done.stderr


def test_it_is_not_listed_as_runnable_and_a_try_says_which_are(harness_uq: Run) -> None:
    assert "Run tap " not in harness_uq("--help").stdout
    done = harness_uq("tap", "eval")
    assert done.returncode == 1
    assert "Harnesses that harness-uq can run: inspect and lm-eval" in done.stderr


def test_a_broken_file_is_named_and_the_others_are_read(harness_uq: Run, scores: Path) -> None:
    scores.with_name("broken.tap").write_text("no result\n")
    done = harness_uq("estimate", scores.parent, "--format", "json")
    assert len(json.loads(done.stdout)["estimates"]) == 1
    assert re.search(r"broken\.tap: No line begins with ok", done.stderr)
