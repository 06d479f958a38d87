"""Whatever a part raises, it costs its own result, is named with its place, and the exit code is 1."""

from collections.abc import Callable

import pytest

from harness_uq import Options, compare, estimate, rank
from harness_uq.commands.main import main
from harness_uq.inference import marginals
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.readers import read_logs
from harness_uq.plugin_api import Discovery, MethodInfo, Run, hookimpl
from tests.data.toy import task_log
from tests.message_checks import find, params_of

ERRORS = [KeyError("x"), RecursionError("deep"), ValueError("bad"), MemoryError(), AssertionError(), UnicodeError("u")]


def logs_of_tasks(*tasks: str, system: str = "m") -> list:
    return [task_log([1, 0, 1, 1] * 5, task=task, system=system) for task in tasks]


def failing(original: Callable, task: str, error: Exception) -> Callable:
    def wrapped(log, *rest, **named):
        if log.task == task:
            raise error
        return original(log, *rest, **named)

    return wrapped


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_in_one_task_costs_that_task_alone(monkeypatch, error) -> None:
    monkeypatch.setattr(marginals, "clusters_of", failing(marginals.clusters_of, "b", error))
    rows = estimate(logs_of_tasks("a", "b", "c"))
    assert [row.interval is None for row in rows] == [False, True, False]
    assert [row.status for row in rows] == ["ok", "failed", "ok"]
    described = params_of(rows[1], "estimation-failed")["error"]
    assert described.startswith(type(error).__name__)
    assert "test_isolation.py, line" in described


def test_an_error_in_one_task_of_a_comparison_costs_that_row_alone(monkeypatch) -> None:
    from harness_uq.analyses.comparison import compare_sides as comparing

    def broken(a, b, *rest):
        if a.log.task == "b":
            raise KeyError("x")
        return original(a, b, *rest)

    original = comparing.pair_panel
    monkeypatch.setattr(comparing, "pair_panel", broken)
    rows = compare(logs_of_tasks("a", "b"), logs_of_tasks("a", "b", system="n"))
    assert [row.status for row in rows if row.task != "overall"] == ["ok", "failed"]


def test_an_error_in_one_task_of_a_ranking_leaves_the_others(monkeypatch) -> None:
    from harness_uq.analyses import joint_tasks as ranking

    def broken(entries, *rest, **named):
        if entries[0].log.task == "b":
            raise KeyError("x")
        return original(entries, *rest, **named)

    original = ranking.joint_posterior
    monkeypatch.setattr(ranking, "joint_posterior", broken)
    rankings = rank([*logs_of_tasks("a", "b"), *logs_of_tasks("a", "b", system="n")])
    assert [found.task for found in rankings] == ["a"]


class Raising:
    """A harness and an estimator, each of whose methods raises."""

    name = "raising"
    info = MethodInfo("A method that raises")

    @hookimpl
    def harness_uq_harnesses(self):
        return [self]

    @hookimpl
    def harness_uq_estimators(self):
        return [self]

    def find(self, paths):
        return Discovery(tuple(Run(path, (path,)) for path in paths))

    def read(self, run):
        yield from ()
        raise RuntimeError("half way")

    def catalogue(self):
        raise RuntimeError("no catalogue")

    def why_unsupported(self, problem):
        return None

    def estimate(self, problem):
        raise ZeroDivisionError("division by zero")


def test_a_plugin_that_raises_everywhere_is_named_each_time(tmp_path) -> None:
    plugins = load_plugins([Raising()])
    assert any(
        "the catalogue of reader 'raising' raised RuntimeError: no catalogue" in warning.params["reason"]
        for warning in find(plugins.warnings, "plugin-skipped")
    )
    (tmp_path / "a.log").touch()
    ((_, message),) = read_logs(tmp_path, harnesses=plugins.harnesses).failures
    assert params_of(message, "reader-failed")["error"].startswith("RuntimeError: half way")
    (row,) = estimate(task_log([1, 0, 1]), Options(method="raising"), plugins=plugins)
    assert row.status == "failed"
    assert params_of(row, "method-failed")["error"].startswith("ZeroDivisionError: division by zero")


def test_a_bug_of_ours_is_a_line_and_exit_code_1_and_debug_shows_where(monkeypatch, capsys, caplog, tmp_path) -> None:
    monkeypatch.setattr("harness_uq.inference.load_plugins.load_plugins", lambda: {}["x"])
    assert main(["estimate", str(tmp_path)]) == 1
    assert "Internal error: KeyError: 'x' (test_isolation.py, line" in capsys.readouterr().err
    with caplog.at_level("DEBUG", logger="harness_uq"):
        assert main(["--debug", "estimate", str(tmp_path)]) == 1
    assert "Traceback" in caplog.text
