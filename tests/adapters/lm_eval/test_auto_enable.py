"""The plugin that LM_EVAL_PLUGINS enables; a stand-in imports it as lm-eval after 0.4.13 does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


RUN = """
import importlib, json, os, sys
from pathlib import Path
from lm_eval import evaluator
from lm_eval.tasks import TaskManager
from tests.adapters.lm_eval.live import live_tasks

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
def test_the_plugin_adds_uncertainty_if_the_environment_enables_it(live_folder, asked, method):
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    plugin = {"LM_EVAL_PLUGINS": "harness_uq_lm_eval.auto_enable", "HARNESS_UQ": asked, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", RUN, live_folder], capture_output=True, text=True, check=True, env=os.environ | plugin
    )
    printed = done.stdout.splitlines()[-1]
    assert method in printed if method else printed == "[]"
