"""`harness-uq inspect …` ends as Inspect alone does."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness_uq import HarnessUqError
from harness_uq.commands.main import main
from tests.conftest import ROOT

pytest.importorskip("inspect_ai")

from harness_uq_inspect.live import cli

pytestmark = pytest.mark.harness


class Script:
    """An entry point whose program raises an error."""

    def __init__(self, error):
        self.error = error

    def load(self):
        def inspect():
            raise self.error

        return inspect


@pytest.fixture
def ends_with(monkeypatch):
    """`ends_with(error)`: exit code if Inspect's program raises the error."""

    def call(error):
        monkeypatch.setattr(cli, "entry_points", lambda **_: [Script(error)])
        return main(["inspect", "eval", "task.py", "--uq", "bayes"])

    return call


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["no_such_file.py"], "No inspect tasks were found"), (["--model", "nosuch/model", "task.py"], "nosuch")],
)
@pytest.mark.parametrize("uq", [["--uq", "bayes"], []])
def test_an_error_of_the_user_is_shown_as_inspect_shows_it(tmp_path, monkeypatch, capsys, arguments, message, uq):
    (tmp_path / "task.py").write_text(
        "from inspect_ai import Task, task\nfrom inspect_ai.dataset import Sample\n\n\n"
        "@task\ndef toy():\n    return Task(dataset=[Sample(input='1', target='1')])\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["inspect", "eval", *arguments, *uq]) == 1
    printed = capsys.readouterr()
    assert message in printed.out + printed.err
    assert "Internal error" not in printed.err
    assert "harness_uq_inspect/live/cli.py" not in printed.err.rpartition("Traceback")[2]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError()])
def test_an_interruption_ends_as_in_inspect(ends_with, capsys, monkeypatch, error):
    from inspect_ai._util.error import exception_hook

    monkeypatch.setattr("sys.excepthook", exception_hook())
    assert ends_with(error) == 130
    assert capsys.readouterr().err == ""


def test_errors_of_harness_uq_stay_its_own(ends_with, capsys):
    assert ends_with(RuntimeError("injected")) == 1
    assert "Internal error: RuntimeError: injected" in capsys.readouterr().err
    assert ends_with(HarnessUqError("no such thing")) == 2
    assert "harness-uq inspect: error: no such thing" in capsys.readouterr().err


def test_messages_name_the_options_of_the_run():
    import harness_uq
    from harness_uq.messages import Message
    from harness_uq_inspect.live.postprocess import _table

    row = harness_uq.estimate_scores([0, 1, 1])
    text = "Use --scope full, --cluster none or `harness-uq rescore --in-place`, not --range f1=0,100."
    table = _table([replace(row, messages=(Message("UQ999", "toy", "warning", text),))])
    assert "Use --uq-scope full, --uq-cluster none or harness-uq rescore --in-place, not" in " ".join(table.split())
    assert "--range is an option of harness-uq estimate" in " ".join(table.split())


@pytest.mark.slow
@pytest.mark.parametrize("first", [{}, {"HARNESS_UQ": "bayes"}])
def test_a_scorer_that_is_added_to_a_log_gets_an_interval(tmp_path, first):
    from inspect_ai.log import read_eval_log

    def inspect(*arguments, **variables):
        path = os.pathsep.join(map(str, (ROOT, ROOT / "adapters")))
        environment = {**os.environ, "PYTHONPATH": path, **variables}
        command = [sys.executable, "-m", *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    tasks = Path(__file__).with_name("live_tasks.py")
    model = ("--model", "mockllm/model", "--display", "none", "--log-dir", "logs")
    inspect("inspect_ai", "eval", f"{tasks}@plain", *model, **first)
    (log,) = (tmp_path / "logs").glob("*.eval")
    added = ("score", log, "--scorer", "includes", "--action", "append", "--overwrite")
    printed = inspect("harness_uq", "inspect", *added, "--uq", "bayes")
    scores = read_eval_log(str(log), header_only=True).results.scores
    assert [score.name for score in scores] == ["right", "includes"]
    assert all({"uq_lower", "uq_upper"} <= set(score.metrics) for score in scores)
    assert printed.count("uq_lower") == 2  # in Inspect's panel
    assert "plain  includes" in printed


def test_tables_are_printed_at_the_end_of_the_run(monkeypatch, capsys):
    from types import SimpleNamespace

    from harness_uq_inspect.live import hook as module

    hook = module.UncertaintyHooks()

    async def finish(self, log):
        self._tables.append(f"table {log}")

    monkeypatch.setattr(module.UncertaintyHooks, "_finish", finish)
    asyncio.run(hook.on_task_end(SimpleNamespace(log=1)))
    asyncio.run(hook.on_task_end(SimpleNamespace(log=2)))
    assert capsys.readouterr().out == ""
    for _ in range(2):
        asyncio.run(hook.on_run_end(SimpleNamespace(logs=[])))
    assert capsys.readouterr().out == "\ntable 1\n\n\ntable 2\n\n"
