"""Whatever a part raises, it costs its own result, is named with its place, and the exit code is 1."""

from collections.abc import Callable

import pytest

from harness_uq import Found, Run, compare, estimate, hookimpl, rank
from harness_uq.cli import main
from harness_uq.estimating import analysis
from harness_uq.plugins.manager import load_plugins
from harness_uq.plugins.reading import read_logs
from tests.logs.toy import task_log

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
    monkeypatch.setattr(analysis, "clusters_of", failing(analysis.clusters_of, "b", error))
    rows = estimate(logs_of_tasks("a", "b", "c"))
    assert [row.interval is None for row in rows] == [False, True, False]
    assert rows[1].failure.startswith(type(error).__name__)
    assert "test_isolation.py, line" in rows[1].failure
    assert rows[1].failure in rows[1].warnings[0]


def test_an_error_in_one_task_of_a_comparison_costs_that_row_alone(monkeypatch) -> None:
    from harness_uq.comparing import analysis as comparing

    def broken(a, b, *rest):
        if a.log.task == "b":
            raise KeyError("x")
        return original(a, b, *rest)

    original = comparing.pair_scores
    monkeypatch.setattr(comparing, "pair_scores", broken)
    rows = compare(logs_of_tasks("a", "b"), logs_of_tasks("a", "b", system="n"))
    assert [row.failure is None for row in rows if row.task != "overall"] == [True, False]


def test_an_error_in_one_task_of_a_ranking_leaves_the_others(monkeypatch) -> None:
    from harness_uq.ranking import analysis as ranking

    def broken(entries, *rest, **named):
        if entries[0].log.task == "b":
            raise KeyError("x")
        return original(entries, *rest, **named)

    original = ranking.joint_scores
    monkeypatch.setattr(ranking, "joint_scores", broken)
    rankings = rank([*logs_of_tasks("a", "b"), *logs_of_tasks("a", "b", system="n")])
    assert [found.task for found in rankings] == ["a"]


class Raising:
    """A harness and an estimator, each of whose methods raises."""

    name = "raising"

    @hookimpl
    def harness_uq_harnesses(self):
        return [self]

    @hookimpl
    def harness_uq_estimators(self):
        return [self]

    def find(self, paths):
        return Found(tuple(Run(path, (path,)) for path in paths))

    def read(self, run):
        yield from ()
        raise RuntimeError("half way")

    def catalogue(self):
        raise RuntimeError("no catalogue")

    def unsuitable(self, problem):
        return None

    def estimate(self, problem):
        raise ZeroDivisionError("division by zero")


def test_a_plugin_that_raises_everywhere_is_named_each_time(tmp_path) -> None:
    plugins = load_plugins([Raising()])
    assert any("'raising': catalogue failed: RuntimeError: no catalogue" in text for text in plugins.warnings)
    (tmp_path / "a.log").touch()
    ((_, message),) = read_logs(tmp_path, harnesses=plugins.harnesses).failures
    assert message.startswith("the reader of raising failed: RuntimeError: half way")
    (row,) = estimate(task_log([1, 0, 1]), analysis.Options(method="raising"), plugins=plugins)
    assert row.failure.startswith("raising failed: ZeroDivisionError: division by zero")


def test_a_bug_of_ours_is_a_line_and_exit_code_1_and_debug_shows_where(monkeypatch, capsys, caplog, tmp_path) -> None:
    monkeypatch.setattr("harness_uq.plugins.manager.load_plugins", lambda: {}["x"])
    assert main(["estimate", str(tmp_path)]) == 1
    assert "error that should not happen: KeyError: 'x' (test_isolation.py, line" in capsys.readouterr().err
    with caplog.at_level("DEBUG", logger="harness_uq"):
        assert main(["--debug", "estimate", str(tmp_path)]) == 1
    assert "Traceback" in caplog.text
