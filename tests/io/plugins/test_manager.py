import pluggy

from harness_uq.analyses.estimate import estimate
from harness_uq.data.estimands import MethodInfo
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.hookspecs import hookimpl
from harness_uq.io.plugins.manager import runners
from harness_uq.io.plugins.protocols import Problem
from harness_uq.results.estimate import Estimate
from tests.data.toy import task_log
from tests.message_checks import has


class Constant:
    name = "constant"
    info = MethodInfo("A constant")

    def why_unsupported(self, problem: Problem) -> str | None:
        return None

    def estimate(self, problem: Problem) -> Estimate:
        raise NotImplementedError


class Offers:
    def __init__(self, *estimators):
        self.estimators = estimators

    @hookimpl
    def harness_uq_estimators(self):
        return self.estimators


def test_a_plugins_estimator_stands_beside_the_built_in_ones():
    offered = load_plugins([Offers(Constant())])
    assert {"beta", "constant"} <= set(offered.estimators)


def test_neither_of_two_plugins_with_one_method_name_is_used():
    plugins = load_plugins([Offers(Constant()), Offers(Constant())])
    assert "constant" not in plugins.estimators
    assert len(plugins.warnings) == 2
    assert all("method 'constant' has a name that plugin" in warning.params["reason"] for warning in plugins.warnings)


def test_a_plugin_cannot_replace_a_built_in_method():
    impostor = Constant()
    impostor.name = "beta"
    plugins = load_plugins([Offers(impostor)])
    assert plugins.estimators["beta"] is not impostor
    assert "method 'beta' has the name of a built-in method" in plugins.warnings[0].params["reason"]


def test_a_plugin_whose_hook_fails_is_left_out_with_a_warning():
    class Broken:
        @hookimpl
        def harness_uq_estimators(self):
            raise RuntimeError("no luck")

    offered = load_plugins([Broken()])
    assert "beta" in offered.estimators
    assert has(offered.warnings, "plugin-skipped")


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
    assert has(row, "plugin-hook-failed", hook="harness_uq_cluster_keys")


def test_a_hook_of_unknown_name_is_reported_not_ignored():
    class Misspelt:
        @pluggy.HookimplMarker("harness_uq")
        def harness_uq_estimater(self):
            return []

    assert has(load_plugins([Misspelt()]).warnings, "plugin-skipped")


def test_both_harnesses_can_be_run():
    assert {"inspect", "lm-eval"} <= set(runners())
