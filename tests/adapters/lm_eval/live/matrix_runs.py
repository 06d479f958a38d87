"""One run of lm-eval in a situation of `tools/live_matrix.py`: `matrix_runs.py SITUATION plain|uq`, in an empty folder.

The exit code is that of the run. Results and samples that the run returns in Python are written to `returned.json`.
"""

import functools
import json
import os
import resource
import sys
import threading
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace

import datasets
import live_tasks
from lm_eval import tasks as lm_eval_tasks
from lm_eval.api.registry import register_model

from tests.model_server import serve

GROUPS = "live_mc,live_perfect,live_acc_all,live_gen,live_references,live_group,live_unweighted"
TASKS = Path(os.environ["MATRIX_TASKS"])
ACTIONS = []  # of the model


@register_model("acting")
class Acting(live_tasks.HashLM):
    """The model of the tests, which acts before it answers."""

    def loglikelihood(self, requests):
        ACTIONS[0]()
        return super().loglikelihood(requests)


def interrupt():
    """As Ctrl-C."""
    os.kill(os.getpid(), 2)


def fail():
    """An error of the model."""
    raise ValueError("no answer")


def fill_disk():
    """No file can grow beyond 4 kB."""
    sys.dont_write_bytecode = True  # else Python leaves incomplete byte code of what is imported from now on
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def command(uq, *arguments, tasks="live_mc,live_perfect", model="hash"):
    """`lm-eval run` or `harness-uq lm-eval run --uq bayes`; its own 13,000 tasks are not searched."""
    lm_eval_tasks.TaskManager = functools.partial(lm_eval_tasks.TaskManager, include_defaults=False)
    line = ["run", "--model", model, "--tasks", tasks, "--include_path", str(TASKS), "--output_path", "out"]
    line += ["--log_samples", *arguments]
    if uq:
        from harness_uq.commands.main import main

        return main(["lm-eval", *line, "--uq", "bayes"])
    from lm_eval.__main__ import cli_evaluate

    sys.argv = ["lm-eval", *line]
    try:
        cli_evaluate()
    except SystemExit as stop:
        return stop.code or 0
    return 0


def acting(action):
    """A command whose model acts."""

    def run(uq):
        ACTIONS.append(action)
        return command(uq, model="acting")

    return run


def api(n_failures):
    """A command whose model is a server on this machine, which fails at first."""

    def run(uq):
        with serve(int(os.environ["MATRIX_PORT"]), n_failures) as url:
            arguments = f"base_url={url}/v1/chat/completions,model=tiny,tokenizer_backend=None,max_retries=4"
            line = ("--model_args", arguments, "--apply_chat_template")
            return command(uq, *line, model="local-chat-completions", tasks="live_gen")

    return run


def twice(uq):
    """A run and the same again, which reads the answers of the first from the cache."""
    first = command(uq, "--use_cache", "cache")
    return first or command(uq, "--use_cache", "cache")


def evaluate(lm, tasks=("live_mc", "live_perfect"), **options):
    """`simple_evaluate` with the tasks of the tests."""
    import lm_eval

    manager = lm_eval_tasks.TaskManager(include_path=str(TASKS), include_defaults=False)
    return lm_eval.simple_evaluate(model=lm, tasks=list(tasks), task_manager=manager, bootstrap_iters=0, **options)


def in_python(run):
    """What `run()` returns, with or without a context of harness_uq."""

    def call(uq):
        from lm_eval.utils import handle_non_serializable

        import harness_uq_lm_eval

        if uq:
            with harness_uq_lm_eval.uq("bayes"):
                returned = run()
        else:
            returned = run()
        Path("returned.json").write_text(json.dumps(returned, default=handle_non_serializable))
        return 0

    return call


def models_one_after_another():
    """Two models in one process."""
    return [evaluate(live_tasks.HashLM()), evaluate(live_tasks.HashLM(), ["live_gen"])]


def on_two_ranks():
    """World size 2 in two threads, with stand-ins for torch and for what gathers."""
    meeting, shelf, found = threading.Barrier(2, timeout=100), {}, {}
    rank_of, lock, load = threading.local(), threading.Lock(), datasets.load_dataset

    def load_alone(*args, **kwargs):
        with lock:  # progress bars of data sets are not made for threads
            return load(*args, **kwargs)

    datasets.load_dataset = load_alone

    def counts(tensor):
        array = SimpleNamespace(tolist=lambda: [tensor, tensor])
        return SimpleNamespace(cpu=lambda: SimpleNamespace(detach=lambda: SimpleNamespace(numpy=lambda: array)))

    def gather(obj, object_gather_list=None, dst=0):
        meeting.wait()
        shelf[rank_of.value] = obj
        meeting.wait()
        gathered = [shelf[0], shelf[1]] if rank_of.value == dst else None
        if gathered and object_gather_list is not None:
            object_gather_list[:] = gathered
        meeting.wait()
        return gathered

    kinds = {name: type(name, (), {}) for name in ("Tensor", "Generator")}
    sys.modules["torch"] = SimpleNamespace(
        tensor=lambda value, device=None: value,
        nn=SimpleNamespace(Module=type("Module", (), {})),
        distributed=SimpleNamespace(gather_object=gather),
        __spec__=ModuleSpec("torch", None),
        **kinds,
    )

    class RankedLM(live_tasks.HashLM):
        device, all_gather, gather_object = "cpu", staticmethod(counts), staticmethod(gather)
        barrier = staticmethod(meeting.wait)
        accelerator = SimpleNamespace(gather=counts, wait_for_everyone=meeting.wait)

        def __init__(self, rank):
            super().__init__()
            self._rank, self._world_size, self._device = rank, 2, "cpu"

    def work(rank):
        rank_of.value = rank
        try:
            found[rank] = evaluate(RankedLM(rank), torch_random_seed=None)
        except BaseException:
            meeting.abort()
            raise

    threads = [threading.Thread(target=work, args=(rank,)) for rank in (0, 1)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return [found[0], found[1]]


SITUATIONS = {
    "One task": lambda uq: command(uq, tasks="live_partial"),
    "One task with clusters": lambda uq: command(uq, tasks="live_mc"),
    "Several tasks and groups": lambda uq: command(uq, tasks=GROUPS),
    "Limit of questions": lambda uq: command(uq, "--limit", "7"),
    "Chosen questions": lambda uq: command(uq, "--samples", '{"live_mc": [1, 5, 8], "live_perfect": [0, 3]}'),
    "Two processes (stand-in)": in_python(on_two_ranks),
    "Model behind an API": api(0),
    "API with failures and retries": api(2),
    "simple_evaluate": in_python(lambda: [evaluate(live_tasks.HashLM())]),
    "Several models in a process": in_python(models_one_after_another),
    "Run repeated from its cache": twice,
    "Interrupt": acting(interrupt),
    "Full disk": acting(fill_disk),
    "Model fails": acting(fail),
    "Unknown task": lambda uq: command(uq, tasks="no_such_task"),
    "Unknown model": lambda uq: command(uq, model="no_such_model"),
}

if __name__ == "__main__":
    sys.exit(SITUATIONS[sys.argv[1]](sys.argv[2] == "uq"))
