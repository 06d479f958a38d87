"""lm-eval's plugins: aggregations by entry points, and a module named in LM_EVAL_PLUGINS; with stand-ins of both."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


class Registry:
    """As lm-eval after 0.4.13: a name comes once, or again with the same object."""

    def __init__(self):
        self.found = {}

    def register(self, name, target):
        if self.found.setdefault(name, target) is not target:
            raise ValueError(f"{name!r} is taken by another object")


@pytest.mark.parametrize("order", [1, -1])
def test_aggregations_by_entry_points_and_by_us_are_the_same_objects(order):
    from harness_uq_lm_eval.named import AGGREGATIONS

    offered = [entry for entry in entry_points(group="lm_eval.aggregations") if entry.name.startswith("uq_")]
    assert {entry.name for entry in offered} == set(AGGREGATIONS)
    registry = Registry()
    for road in [[(e.name, e.load()) for e in offered], list(AGGREGATIONS.items())][::order]:
        for name, target in road:
            registry.register(name, target)
    assert registry.found == AGGREGATIONS


def test_they_are_found_by_name():
    from lm_eval.api.registry import get_aggregation

    from harness_uq_lm_eval.named import AGGREGATIONS

    assert {name: get_aggregation(name) for name in AGGREGATIONS} == AGGREGATIONS


RUN = """
import importlib, json, os, sys
from pathlib import Path
from lm_eval import evaluator
from lm_eval.tasks import TaskManager
from tests.adapters.lm_eval import live_tasks

stock = evaluator.simple_evaluate

def simple_evaluate(*args, **kwargs):  # as lm-eval after 0.4.13
    for name in filter(None, os.environ.get("LM_EVAL_PLUGINS", "").split(",")):
        importlib.import_module(name)
    return stock(*args, **kwargs)

manager = TaskManager(include_path=sys.argv[1], include_defaults=False)
results = simple_evaluate(model=live_tasks.HashLM(), tasks=["live_perfect"], task_manager=manager, bootstrap_iters=10)
print(json.dumps(results.get("uq", {}).get("estimates", []), default=str))
"""


@pytest.mark.parametrize(("asked", "method"), [("bayes", '"method": "beta"'), ("", None)])
def test_a_plugin_gives_the_stock_command_uncertainty_where_that_is_asked_for(live_folder, asked, method):
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    plugin = {"LM_EVAL_PLUGINS": "harness_uq_lm_eval.plugin", "HARNESS_UQ": asked, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", RUN, live_folder], capture_output=True, text=True, check=True, env=os.environ | plugin
    )
    printed = done.stdout.splitlines()[-1]
    assert method in printed if method else printed == "[]"
