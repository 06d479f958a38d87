"""What happens where a part of ours breaks: docs/faults.md holds the table, and these runs make it.

`python -m tests.test_faults` runs everything and prints the rows.
"""

import contextlib
import functools
import io
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from tests.adapters.inspect import environment
from tests.adapters.inspect import logs as inspect
from tests.adapters.lm_eval.logs import Folder, rows
from tests.conftest import ROOT

FAULTS = {
    "KeyError": KeyError("injected"),
    "MemoryError": MemoryError("injected"),
    "OSError": OSError(28, "injected"),
    "Ctrl-C": KeyboardInterrupt(),
}
BROKEN = "broken"  # in the name of the task and folder of the log that meets the fault
SCORES = [1.0, 0.0, 1.0, 1.0, 0.0] * 4

ON_LOGS = {
    "read, lm-eval": "harness_uq_lm_eval.read.tasks:read_run",
    "read, Inspect": "harness_uq_inspect.read.task_log:read_task_log",
    "structure": "harness_uq.inference.marginals:clusters_of",
    "estimate": "harness_uq.inference.methods.binary:credible",
    "report": "harness_uq.output.data:result_document",
    "write, lm-eval": "harness_uq_lm_eval.write.writeback:write",
    "write, Inspect": "harness_uq_inspect.write.annotate:annotate_log",
}
IN_LM_EVAL = {
    "live lm-eval: structure": "harness_uq.inference.marginals:clusters_of",
    "live lm-eval: estimate": "harness_uq.plugin_api:estimate",
    "live lm-eval: trials": "harness_uq_lm_eval.live.runtime:record_trials",
    "live lm-eval: write": "harness_uq_lm_eval.live.runtime:add_block",
    "live lm-eval: table": "harness_uq_lm_eval.live.results_table:_add_interval_column",
}
IN_INSPECT = {
    "live Inspect: read": "harness_uq_inspect.live.postprocess:read_log",
    "live Inspect: structure": "harness_uq.inference.marginals:clusters_of",
    "live Inspect: estimate": "harness_uq.plugin_api:estimate",
    "live Inspect: table": "harness_uq.plugin_api:render_results",
    "live Inspect: write": "harness_uq_inspect.live.postprocess:write_annotations",
}


@dataclass(frozen=True)
class Seen:
    """What a user sees: what became of what met the fault and of all others, what was said, and how it ended."""

    own: str
    others: str
    said: str
    end: str


def rows_of(step: str, seen: dict[str, Seen]) -> list[str]:
    """Rows of the table: faults that end alike share one."""
    alike: dict[Seen, list[str]] = {}
    for fault, found in seen.items():
        alike.setdefault(found, []).append(fault)
    return [
        f"| {step} | {', '.join(faults)} | {found.own} | {found.others} | {found.said} | {found.end} |"
        for found, faults in alike.items()
    ]


def expected(step: str) -> list[str]:
    """The rows of the page."""
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    return [line for line in page.splitlines() if line.startswith(f"| {step} |")]


# ---------------------------------------------------------------- commands on logs


def on_logs(step: str) -> dict[str, Seen]:
    """Four logs, two of each harness, of which one meets the fault."""
    return {name: _on_logs(step, error) for name, error in FAULTS.items()}


def _on_logs(step: str, error: BaseException) -> Seen:
    is_writing, out, err = step.startswith("write"), io.StringIO(), io.StringIO()
    arguments = ["rescore", "--in-place"] if is_writing else ["estimate", "--format", "json"]
    with tempfile.TemporaryDirectory() as name:
        _write_logs(Path(name), "inspect" if "Inspect" in step else "lm_eval")
        before = _contents(Path(name))
        with _fault(ON_LOGS[step], error), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([*arguments, name])
        after = _contents(Path(name))
    assert "Traceback" not in err.getvalue()
    found = _written(before, after) if is_writing else _printed(out.getvalue())
    return Seen(*found, _said(err.getvalue()), f"exit code {code}")


def _write_logs(folder: Path, broken: str) -> None:
    for harness in ("lm_eval", "inspect"):
        for task in ("whole", BROKEN if harness == broken else "whole too"):
            path = folder / f"{harness} {task}"
            if harness == "lm_eval":
                made = Folder(path)
                made.samples(task, rows("acc", SCORES))
                made.results({task: {"acc,none": 0.6}}, n=20)
                continue
            path.mkdir()
            head = inspect.header(scores=[inspect.score_totals("match", 0.6, n=20)], total=20, task=task)
            inspect.write_eval(path / "log.eval", head, inspect.grid([["C" if score else "I"] for score in SCORES]))


@contextlib.contextmanager
def _fault(address: str, error: BaseException) -> Iterator[None]:
    """The function fails where its first argument is of the broken log, or of all."""
    module, _, name = address.partition(":")
    original: Callable[..., object] = getattr(import_module(module), name)

    @functools.wraps(original)
    def fails(*args: object, **named: object) -> object:
        if BROKEN in repr(args[0]):
            raise error
        return original(*args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module(module), name, fails)
        yield


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _written(before: dict[Path, bytes], after: dict[Path, bytes]) -> tuple[str, str]:
    changed = {path.parent.name for path in after if after[path] != before.get(path)}
    own = {name for name in changed if BROKEN in name}
    return "written" if own else "file as it was", f"{len(changed - own)} of 3 written"


def _printed(text: str) -> tuple[str, str]:
    found = json.loads(text)["estimates"] if text else []
    assert {row["value"] for row in found} <= {0.6}
    own, others = ([row for row in found if (BROKEN in row["task"]) is is_own] for is_own in (True, False))
    n = sum(row["interval"] is not None for row in others)
    mine = "interval" if own and own[0]["interval"] else "value as logged, no interval" if own else "no row"
    return mine, f"{n} of 3 intervals"


def _said(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith(("error:", "harness-uq: "))]
    if lines[-1].startswith("harness-uq: interrupted"):
        return lines[-1].removeprefix("harness-uq: ")
    assert "injected" in text or "MemoryError" in text
    return "what, and of which log or task" if BROKEN in text else "what"


@pytest.mark.parametrize("step", ON_LOGS)
def test_a_fault_in_a_command_is_as_the_page_says(step: str) -> None:
    assert rows_of(step, on_logs(step)) == expected(step)


# ---------------------------------------------------------------- live runs


def in_lm_eval(step: str, folder: Path) -> dict[str, Seen]:
    """`harness-uq lm-eval run` of two tasks, beside `lm-eval run` of the same."""
    return {name: _in_lm_eval(step, error, folder, _lm_evals_own(folder)) for name, error in FAULTS.items()}


@functools.cache
def _lm_evals_own(folder: Path) -> dict:
    return _lm_eval_run(folder, "--uq", "off")[0]


def _in_lm_eval(step: str, error: BaseException, folder: Path, stock: dict) -> Seen:
    module, _, name = IN_LM_EVAL[step].partition(":")
    original = getattr(import_module(module), name)

    def fails(*args: object, **named: object) -> object:
        if getattr(args[0], "task", None) == "array":  # the settings, tried before the run
            return original(*args, **named)
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module(module), name, fails)
        results, printed, heard, code = _lm_eval_run(folder, "--uq", "bayes")
    assert _values(results) == _values(stock)
    found = results["uq"]["estimates"]
    n, n_intervals = len(found), sum(entry.get("interval") is not None for entry in found)
    own = f"{n_intervals} of {n} intervals in the results" if n_intervals else "lm-eval's own numbers"
    assert n_intervals or results["results"] == stock["results"]
    column = "with intervals" if "% interval" in printed.partition("Single trials")[0] else "as lm-eval's"
    is_said = type(error).__name__ in heard or "injected" in heard
    told = "what" if is_said else "interrupted" if "harness-uq: interrupted" in heard else "-"
    return Seen(f"{own}; table {column}", "values as lm-eval's", told, f"exit code {code}")


def _values(results: dict) -> dict:
    return {task: {k: v for k, v in row.items() if "_stderr" not in k} for task, row in results["results"].items()}


def _lm_eval_run(folder: Path, *arguments: str) -> tuple[dict, str, str, int]:
    """The results file, what was printed, what was logged, and the exit code."""
    import_module("tests.adapters.lm_eval.live.live_tasks")  # registers the model
    tasks = import_module("lm_eval.tasks")
    own_tasks_only = functools.partial(tasks.TaskManager, include_defaults=False)
    out, heard, logger = io.StringIO(), io.StringIO(), logging.getLogger("harness_uq")
    handler = logging.StreamHandler(heard)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as output:
        patch.setattr(tasks, "TaskManager", own_tasks_only)
        logger.addHandler(handler)
        where = ["--include_path", str(folder), "--output_path", output, "--tasks", "live_mc,live_gen"]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(heard):
            code = main(["lm-eval", "run", "--model", "hash", *where, *arguments])
        logger.removeHandler(handler)
        (path,) = Path(output).rglob("results_*.json")
        return json.loads(path.read_text(encoding="utf-8")), out.getvalue(), heard.getvalue(), code


def in_inspect(folder: Path) -> dict[str, dict[str, Seen]]:
    """Every step and fault, each in a process of its own beside one where nothing is broken."""
    faults = [name for name in FAULTS if name != "Ctrl-C"]  # Inspect's to handle: it cancels the run
    places = [f"{address}={fault}" for address in IN_INSPECT.values() for fault in faults]
    script = environment.LIVE / "fault_runs.py"
    environment.run_with_uq(sys.executable, script, folder, *places, "none", cwd=folder)
    stock = json.loads((folder / "none.json").read_text())
    return {
        step: {fault: _in_inspect(folder / f"{address}={fault}", stock) for fault in faults}
        for step, address in IN_INSPECT.items()
    }


def _in_inspect(place: Path, stock: dict) -> Seen:
    found = json.loads(place.with_name(f"{place.name}.json").read_text())
    text = place.with_name(f"{place.name}.txt").read_text()
    assert found["metrics"]["accuracy"] == stock["metrics"]["accuracy"]
    more = found["metrics"].keys() - stock["metrics"].keys()
    assert more or found["metrics"] == stock["metrics"]
    own = f"{len(more)} metrics of ours" if more else "Inspect's own numbers"
    is_said = "injected" in text or "MemoryError" in text
    return Seen(own, "values as Inspect's", "what" if is_said else "-", f"status {found['status']}")


@pytest.mark.harness
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", IN_LM_EVAL)
def test_a_fault_in_a_live_run_of_lm_eval_is_as_the_page_says(step: str, live_tasks_folder: Path) -> None:
    assert rows_of(step, in_lm_eval(step, live_tasks_folder)) == expected(step)


@pytest.fixture(scope="module")
def live_tasks_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("lm_eval")
    return import_module("tests.adapters.lm_eval.live.live_tasks").write(tmp_path_factory.mktemp("tasks"))


@pytest.fixture(scope="module")
def seen_in_inspect(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Seen]]:
    pytest.importorskip("inspect_ai")
    return in_inspect(tmp_path_factory.mktemp("inspect"))


@pytest.mark.harness
@pytest.mark.slow
@pytest.mark.parametrize("step", IN_INSPECT)
def test_a_fault_in_a_live_run_of_inspect_is_as_the_page_says(
    step: str, seen_in_inspect: dict[str, dict[str, Seen]]
) -> None:
    assert rows_of(step, seen_in_inspect[step]) == expected(step)


def _print_all() -> None:
    with tempfile.TemporaryDirectory() as name:
        tasks = import_module("tests.adapters.lm_eval.live.live_tasks").write(Path(name) / "tasks")
        live = {step: in_lm_eval(step, tasks) for step in IN_LM_EVAL} | in_inspect(Path(name))
        for step, seen in ({step: on_logs(step) for step in ON_LOGS} | live).items():
            print("\n".join(rows_of(step, seen)))


if __name__ == "__main__":
    _print_all()
