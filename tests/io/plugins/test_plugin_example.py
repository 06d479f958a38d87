"""The example of `plugin_api` as a package, and what methods of plugins may do wrong."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import harness_uq
from harness_uq import plugin_api
from harness_uq.commands.main import main
from harness_uq.data.estimands import MethodInfo
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.method import MethodResult, scores_of
from harness_uq.io.plugins.hookspecs import hookimpl
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages.errors import DataError
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.overall import overall_answer, overall_title
from tests.data.toy import task_log
from tests.io.plugins.test_broken_plugins import install
from tests.message_checks import has, params_of


@dataclass(frozen=True)
class Method:
    """Returns these limits, or raises what `limits` holds."""

    limits: tuple[float, float] | Exception = (0.25, 0.75)
    info: MethodInfo = MethodInfo("A method")
    name: str = "mine"

    def why_unsupported(self, problem: Problem) -> None:
        return None

    def estimate(self, problem: Problem) -> Estimate:
        if isinstance(self.limits, Exception):
            raise self.limits
        interval = Interval(*self.limits, problem.level, "confidence")
        return MethodResult(0.5, interval, 0.1).estimate(problem, self.name)


class ZeroWidthIfAllRight(Method):
    def estimate(self, problem: Problem) -> Estimate:
        is_right = bool(scores_of(problem).values.all())
        return Method.estimate(replace(self, limits=(1.0, 1.0)) if is_right else self, problem)


def plugins_with(method: Method) -> Plugins:
    installed = load_plugins()
    return replace(installed, estimators={**installed.estimators, method.name: method})


def estimate(method: Method, scores: Sequence[object], estimand: str = "mean") -> Estimate:
    (row,) = harness_uq.estimate(task_log(scores), method=method.name, plugins=plugins_with(method), estimand=estimand)
    return row


# ---------------------------------------------------------------- results that are not accepted


def test_an_interval_of_zero_width_is_a_refusal_that_names_the_method() -> None:
    row = estimate(Method((1.0, 1.0)), [1, 0, 1])
    assert row.interval is None
    assert has(row, "method-interval-without-width", method="mine", limit=1.0)


@pytest.mark.parametrize("limits", [(0.8, 0.2), (float("nan"), 0.5), (0.5, float("inf"))])
def test_other_invalid_limits_are_an_error_of_the_plugin(limits: tuple[float, float]) -> None:
    row = estimate(Method(limits), [1, 0, 1])
    assert row.status == "failed"
    assert "the limits of the interval are" in params_of(row, "method-failed")["error"]


def test_something_other_than_an_estimate_is_an_error_of_the_plugin() -> None:
    class NoEstimate(Method):
        def estimate(self, problem: Problem) -> Estimate:
            return MethodResult(0.5, Interval(0.2, 0.8, 0.95, "confidence"), 0.1)  # type: ignore[return-value]

    row = estimate(NoEstimate(), [1, 0, 1])
    assert "must return an Estimate, not MethodResult" in params_of(row, "method-failed")["error"]


def test_an_exception_names_the_module_of_the_plugin_and_not_harness_uq() -> None:
    row = estimate(Method(ZeroDivisionError("division by zero")), [1, 0, 1])
    assert params_of(row, "method-failed")["provider"] == f"module {__name__}"
    assert "report this error" not in str(row.reason)


def test_the_overall_result_leaves_out_a_task_without_interval_and_its_headline_counts_the_tasks() -> None:
    logs = [task_log([1, 1, 1, 1] if task == "a" else [1, 0, 1, 1], task=task) for task in "abcd"]
    rows = harness_uq.estimate(logs, method="mine", overall=True, plugins=plugins_with(ZeroWidthIfAllRight()))
    assert [row.interval is None for row in rows] == [True, False, False, False]
    assert rows.overall is not None
    assert [task.task for task in rows.overall.tasks] == ["b", "c", "d"]
    assert "of 3 of 4 tasks" in overall_title(rows.overall)
    assert "of 3 of 4 tasks)." in overall_answer(rows.overall)


# ---------------------------------------------------------------- what a method declares


def test_a_method_is_refused_for_estimands_that_it_does_not_declare() -> None:
    trials = [[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    both = Method(info=MethodInfo("Both", estimands=("mean", "pass@k")))
    events = Method(info=MethodInfo("Events", estimands=("pass@k",)))
    assert has(estimate(Method(), trials, estimand="pass@2"), "not-a-mean", method="mine", estimand="pass@2")
    assert estimate(both, trials, estimand="pass@2").interval is not None
    assert estimate(both, trials).interval is not None
    assert has(estimate(events, trials), "pass-k-required", method="mine")
    with pytest.raises(DataError, match=r"Unknown estimand: 'pass@2'"):
        MethodInfo("Wrong", estimands=("pass@2",))  # type: ignore[arg-type]


def test_a_method_that_does_not_use_clusters_is_warned_about_and_its_row_has_none() -> None:
    log = task_log([1, 0, 1, 1, 0, 0] * 10, fields={"passage": [i // 4 for i in range(60)]})
    (row,) = harness_uq.estimate(log, method="mine", cluster="passage", plugins=plugins_with(Method()))
    assert has(row, "method-without-clusters", method="mine", clusters="15 by passage")
    assert (row.n_clusters, row.cluster_key, row.icc, row.design_effect) == (None, None, None, None)


def test_the_standard_error_of_a_confidence_interval_is_no_posterior_standard_deviation() -> None:
    rows = harness_uq.estimate(task_log([1, 0, 1, 1]), method="clopper-pearson")
    assert "SE: standard error." in rows.render(columns=("all",))
    assert "posterior" not in rows.render(columns=("all",))
    assert "posterior standard deviation" in harness_uq.estimate(task_log([1, 0, 1, 1])).render(columns=("all",))


# ---------------------------------------------------------------- how a plugin is written


def example_module() -> str:
    """The module in the documentation of `plugin_api`."""
    code = plugin_api.__doc__.partition("::\n\n")[2].partition("    # pyproject.toml")[0]
    return "\n".join(line.removeprefix("    ") for line in code.splitlines())


def test_the_example_of_plugin_api_is_a_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = install(tmp_path, "my-plugin", example_module())
    monkeypatch.syspath_prepend(tmp_path)
    lines = [f"m,t,{k},{int(k % 3 > 0)}" for k in range(60)]
    table = tmp_path / "scores.csv"
    table.write_text("\n".join(["model,task,question,score", *lines]))
    try:
        assert main(["estimate", str(table), "--uq", "my-bootstrap", "--format", "json"]) == 0
    finally:
        sys.modules.pop(module, None)
    (row,) = json.loads(capsys.readouterr().out)["estimates"]
    assert row["method"] == "my-bootstrap"
    half = 1.96 * np.sqrt(2 / 9 / 60)
    assert [row["interval"]["low"], row["interval"]["high"]] == pytest.approx([2 / 3 - half, 2 / 3 + half], abs=0.02)


def test_the_help_of_plugins_shows_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "--help"]) == 0
    shown = capsys.readouterr().out
    assert [line for line in example_module().split("\n") if line.strip() and line not in shown] == []
    assert "[project.entry-points.harness_uq]" in shown


def test_plugin_api_has_the_protocols_of_what_plugins_provide_and_receive() -> None:
    names = ("Estimator", "Reader", "Format", "Problem", "ProblemData", "TaskGroup")
    assert [name for name in names if name not in dir(plugin_api)] == []


def test_an_unknown_hook_lists_the_hooks_and_suggests_one() -> None:
    class Mistyped:
        @hookimpl
        def harness_uq_estimator(self) -> list[object]:
            return []

    (warning,) = load_plugins([Mistyped()]).warnings
    reason = str(warning.params["reason"])
    assert "Did you mean 'harness_uq_estimators'?" in reason
    assert all(f"harness_uq_{name}" in reason for name in ("harnesses", "formats", "cluster_keys"))


def test_a_plugin_without_a_marked_hook_is_reported() -> None:
    class Unmarked:
        def harness_uq_estimators(self) -> list[object]:
            return []

    (warning,) = load_plugins([Unmarked()]).warnings
    assert "no function is marked with @hookimpl" in str(warning.params["reason"])
