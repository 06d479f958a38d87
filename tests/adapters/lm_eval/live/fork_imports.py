"""What every run of lm-eval imports, done once before processes are forked for the runs."""

import functools
import os
from contextlib import suppress
from importlib import import_module

RUN_IMPORTS = (
    *("tests.adapters.lm_eval.live.live_tasks", "lm_eval.__main__", "lm_eval.evaluator", "sacrebleu", "pytablewriter"),
    *("harness_uq.analyses.estimate", "harness_uq.inference.methods.binary", "harness_uq.analyses.compare"),
    *("harness_uq.commands.main", "harness_uq.plugin_api", "harness_uq.results.estimate", "harness_uq_inspect.harness"),
    *("harness_uq_formats.reader", "scipy.optimize"),
)


def prepare_forks() -> None:
    """Runs find only the tasks that they name: finding lm-eval's own 13,000 tasks takes several seconds per run."""
    os.environ |= {"HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1"}
    for module in RUN_IMPORTS:
        with suppress(ImportError):  # of another version of lm-eval
            import_module(module)
    tasks = import_module("lm_eval.tasks")
    tasks.TaskManager = functools.partial(tasks.TaskManager, include_defaults=False)
