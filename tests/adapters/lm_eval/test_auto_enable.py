"""The plugin that LM_EVAL_PLUGINS enables; a stand-in imports it as lm-eval after 0.4.13 does."""

import os
from pathlib import Path

import pytest

pytest.importorskip("lm_eval")

from tests.adapters.lm_eval.live import fork_imports
from tests.forked_runs import run_forked

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

manager = TaskManager(include_path=sys.argv[1])
results = simple_evaluate(model=live_tasks.HashLM(), tasks=["live_perfect"], task_manager=manager, bootstrap_iters=10)
print(json.dumps(results.get("uq", {}).get("estimates", []), default=str))
"""


@pytest.mark.parametrize(("asked", "method"), [("bayes", '"method": "beta"'), ("", None)])
def test_the_plugin_adds_uncertainty_if_the_environment_enables_it(live_folder, asked, method):
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    plugin = {"LM_EVAL_PLUGINS": "harness_uq_lm_eval.auto_enable", "HARNESS_UQ": asked, "PYTHONPATH": path}
    command = ["-c", RUN, live_folder]
    done = run_forked(command, cwd=root, environment=os.environ | plugin, modules=(fork_imports.__name__,))
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()[-1]
    assert method in printed if method else printed == "[]"
