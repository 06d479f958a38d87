import pluggy
import pytest

from harness_uq.errors import PluginError
from harness_uq.estimating.analysis import estimate
from harness_uq.plugins.hookspecs import hookimpl
from harness_uq.plugins.manager import load_plugins, runners
from harness_uq.plugins.protocols import Problem
from tests.logs.toy import task_log


class Constant:
    name = "constant"

    def unsuitable(self, problem: Problem) -> str | None:
        return None


class Offers:
    def __init__(self, *estimators):
        self.estimators = estimators

    @hookimpl
    def harness_uq_estimators(self):
        return self.estimators


def test_a_plugins_estimator_stands_beside_the_built_in_ones():
    offered = load_plugins([Offers(Constant())])
    assert {"beta", "constant"} <= set(offered.estimators)


def test_two_plugins_of_one_name_are_an_error_that_names_both():
    with pytest.raises(PluginError, match=r"both offer 'constant'"):
        load_plugins([Offers(Constant()), Offers(Constant())])


def test_a_plugin_cannot_shadow_a_built_in_method():
    impostor = Constant()
    impostor.name = "beta"
    with pytest.raises(PluginError, match="'beta'"):
        load_plugins([Offers(impostor)])


def test_a_plugin_whose_hook_fails_is_left_out_with_a_warning():
    class Broken:
        @hookimpl
        def harness_uq_estimators(self):
            raise RuntimeError("no luck")

    offered = load_plugins([Broken()])
    assert "beta" in offered.estimators
    assert "RuntimeError: no luck" in offered.warnings[0]


def test_a_failing_suggestion_of_clusters_is_a_warning_and_the_estimate_stands():
    class Broken:
        @hookimpl
        def harness_uq_cluster_keys(self, task, metadata):
            raise KeyError(task)

    class Right:
        @hookimpl
        def harness_uq_cluster_keys(self, task):
            return "passage"

    log = task_log([1, 0] * 40, fields={"passage": [f"p{i // 4}" for i in range(80)]})
    (row,) = estimate(log, plugins=load_plugins([Right(), Broken()]))
    assert row.cluster_key == "passage"
    assert any("harness_uq_cluster_keys failed: KeyError" in warning for warning in row.warnings)


def test_a_hook_of_unknown_name_is_reported_not_ignored():
    class Misspelt:
        @pluggy.HookimplMarker("harness_uq")
        def harness_uq_estimater(self):
            return []

    assert "harness_uq_estimater" in load_plugins([Misspelt()]).warnings[0]


def test_both_harnesses_can_be_run():
    assert {"inspect", "lm-eval"} <= set(runners())
