"""One run of Inspect in a situation of `tools/live_matrix.py`: `matrix_runs.py SITUATION plain|uq`, in an empty folder.

The exit code is that of the run.
"""

import json
import os
import re
import resource
import sys
from pathlib import Path

import live_tasks
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, solver

from tests.model_server import serve

HERE, LIVE_TASKS = str(Path(__file__)), str(Path(live_tasks.__file__))
NOT_COMPARED = {"stderr"}  # ours replaces it


@task
def asking():
    """A task that calls the model."""
    samples = [Sample(id=i, input=f"Question {i}?", target=f"ANSWER: {i}") for i in range(20)]
    return Task(dataset=samples, solver=generate(), scorer=includes())


@task
def full():
    """A task during which the disk gets full: no file can grow beyond 2 kB."""

    @solver
    def filling():
        async def solve(state, generate):
            sys.dont_write_bytecode = True  # else Python leaves incomplete byte code of what is imported from now on
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
            state.output.completion = "done " * 2000
            return state

        return solve

    samples = [Sample(id=i, input=f"Question {i}?", target="done") for i in range(20)]
    return Task(dataset=samples, solver=filling(), scorer=includes())


def command(uq, *arguments, program="eval", model="mockllm/model", logs="logs"):
    """`inspect eval` or `harness-uq inspect eval --uq bayes`."""
    line = [program, *arguments, "--display", "none", "--log-dir", logs]
    if program != "eval-retry":
        line += ["--model", model, "--no-log-realtime"]
    if uq:
        from harness_uq.commands.main import main

        return main(["inspect", *line, "--uq", "bayes"])
    from inspect_ai._cli.main import main as inspect

    sys.argv = ["inspect", *line]
    try:
        inspect()
    except SystemExit as stop:
        return stop.code or 0
    return 0


def run(name, *arguments, **options):
    """A run of a task of the tests."""
    return lambda uq: command(uq, f"{LIVE_TASKS}@{name}", *arguments, **options)


def api(n_failures):
    """A run whose model is a server on this machine, which fails at first."""

    def call(uq):
        with serve(int(os.environ["MATRIX_PORT"]), n_failures) as url:
            os.environ["TINY_API_KEY"] = "none"
            return command(uq, f"{HERE}@asking", "--model-base-url", f"{url}/v1", model="openai-api/tiny/tiny")

    return call


def retry(uq):
    """A run with a failing question, and its retry."""
    first = command(uq, f"{LIVE_TASKS}@plain", "-T", "once=once")
    (log,) = Path("logs").iterdir()
    return first or command(uq, str(log), program="eval-retry")


def on_s3(uq):
    """A run whose log is in an object store."""
    return command(uq, f"{LIVE_TASKS}@clustered", logs=f"s3://{os.environ['MATRIX_BUCKET']}/{Path.cwd().name}")


def in_python(uq):
    """`eval()`; with HARNESS_UQ if intervals are wanted."""
    from inspect_ai import eval as inspect_eval

    os.environ |= {"HARNESS_UQ": "bayes"} if uq else {}
    inspect_eval(live_tasks.clustered(), model="mockllm/model", display="none", log_dir="logs")
    return 0


SITUATIONS = {
    "One task": run("plain"),
    "One task with clusters": run("clustered"),
    "Log as .json": run("clustered", "--log-format", "json"),
    "Four scorers, three reducers": run("everything"),
    "Several tasks and models": run(
        "plain", f"{LIVE_TASKS}@clustered", "--max-tasks", "2", model="mockllm/one,mockllm/two"
    ),
    "Limit of questions": run("clustered", "--limit", "7"),
    "Chosen questions": run("clustered", "--sample-id", "3_en,4_en,8_en"),
    "Model behind an API": api(0),
    "API with failures and retries": api(2),
    "eval() in Python": in_python,
    "Eval set with a retried task": run(
        "plain", "-T", "once=once", "--retry-wait", "1", "--retry-attempts", "3", program="eval-set"
    ),
    "Failed run and eval-retry": retry,
    "Object store (S3)": on_s3,
    "Interrupt": run("cancelled"),
    "Full disk": lambda uq: command(uq, f"{HERE}@full"),
    "Task fails": run("plain", "-T", "once=once"),
    "Failing question is allowed": run("plain", "-T", "once=once", "--no-fail-on-error"),
    "Unknown task": lambda uq: command(uq, "no_such_file.py"),
    "Unknown model": run("plain", model="nosuch/model"),
}


def read(folder):
    """Values and samples of the logs in a folder, in the order of task, model and time."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    found = []
    for info in list_eval_logs(folder, descending=False):
        try:
            log = read_eval_log(info.name)
        except Exception as error:  # a part of a file
            found.append(type(error).__name__)
            continue
        values = {
            f"{score.name} {score.reducer} {name}": str(metric.value)
            for score in (log.results.scores if log.results else [])
            for name, metric in score.metrics.items()
            if name not in NOT_COMPARED and not name.startswith("uq_")
        }
        samples = [
            {
                "sample": f"{sample.id} {sample.epoch} {sample.input} {sample.output.completion}",
                "error": re.sub(r"[0-9a-f]{8,}", "", sample.error.message) if sample.error else None,  # addresses
                "scores": {name: str(score.value) for name, score in (sample.scores or {}).items()},
            }
            for sample in sorted(log.samples or [], key=lambda sample: (str(sample.id), sample.epoch))
        ]
        about = {"task": log.eval.task, "model": log.eval.model, "status": log.status}
        found.append({**about, "values": values, "samples": samples})
    return sorted(found, key=lambda log: json.dumps(log, sort_keys=True))


if __name__ == "__main__":
    sys.exit(SITUATIONS[sys.argv[1]](sys.argv[2] == "uq"))
