"""Fixtures with all members that a tool writes, in names and structure: reading them gives values and no message."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_uq import estimate
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.readers import read_logs
from tests.adapters.formats import files, test_helm, test_lighteval, test_openai_evals, test_promptfoo
from tests.conftest import ROOT, originals
from tests.data.list_members import members, paths_of, with_members

LISTED: dict[str, dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "members.json").read_text(encoding="utf-8"))


def promptfoo(folder: Path) -> Path:
    rows = [test_promptfoo.result(question, score) for question, score in zip("abcd", (1, 1, 1, 0), strict=True)]
    test_promptfoo.written(folder, test_promptfoo.evaluation(*rows), "own_run.json")
    return folder


def harbor(folder: Path) -> Path:
    return files.write_job(folder, [files.harbor_trial(f"t{at}", float(at > 0)) for at in range(4)])


def terminal_bench(folder: Path) -> Path:
    run = folder / "run"
    return files.write_terminal_run(run, files.resolved("run", {f"t{at}": at > 0 for at in range(4)}))


def helm(folder: Path) -> Path:
    entries = [test_helm.entry(f"id{at}", test_helm.stat("exact_match", float(at > 0))) for at in range(4)]
    return test_helm.written(folder / "run", *entries, scenario_state={}, stats=[], scenario={})


def every_eval_ever(folder: Path) -> Path:
    lines = [files.eee_line(f"q{at}", float(at > 0), answer_attribution=[{}]) for at in range(4)]
    files.write_eee(folder, files.eee_record([files.eee_result("acc", 0.75)]), lines, name="record0")
    return folder


def lighteval(folder: Path) -> Path:
    test_lighteval.details(folder, *(test_lighteval.row(at, f"q{at}", em=int(at > 0)) for at in range(4)))
    test_lighteval.results(folder, {"toy|0": {"em": 0.75, "em_stderr": 0.25}})
    return folder


def openai_evals(folder: Path) -> Path:
    events = [test_openai_evals.match(f"s{at}", at > 0) for at in range(4)]
    test_openai_evals.written(folder, {"spec": test_openai_evals.SPEC}, *events, {"final_report": {"accuracy": 0.75}})
    return folder


WRITERS: dict[str, Callable[[Path], Path]] = {
    "promptfoo": promptfoo,
    "harbor": harbor,
    "terminal-bench": terminal_bench,
    "helm": helm,
    "every-eval-ever": every_eval_ever,
    "lighteval": lighteval,
    "openai-evals": openai_evals,
}


def complete(folder: Path, listed: dict[str, Any]) -> None:
    """Add the members that the files of the folder lack."""
    for kind, shape in listed.items():
        pattern, _, member = kind.partition(" ")
        paths = sorted(folder.glob(pattern))
        assert paths
        for one in paths:
            text = one.read_text(encoding="utf-8")
            contents = [json.loads(line) for line in (text.splitlines() if one.suffix == ".jsonl" else [text])]
            contents = [
                with_members(content, shape) if not member or member in content else content for content in contents
            ]
            one.write_text("".join(json.dumps(content) + "\n" for content in contents), encoding="utf-8")
            meant = [content for content in contents if not member or member in content]
            expected = {name for name in paths_of(shape, shape) if "*" not in name}
            assert expected <= {name for content in meant for name in paths_of(content, shape)}


@pytest.mark.parametrize("tool", LISTED)
def test_a_fixture_with_every_member_of_its_writer_is_read_without_a_message(tmp_path: Path, tool: str) -> None:
    name = tool.rpartition(" ")[0]
    folder = WRITERS[name](tmp_path)
    complete(folder, LISTED[tool])
    reading = read_logs([str(tmp_path)], harnesses=load_plugins().harnesses)
    assert (reading.failures, reading.warnings) == ((), ())
    assert {log.source.harness for log in reading.logs} == {name}
    rows = estimate(tmp_path)
    assert (rows[0].value, rows[0].n_questions, rows[0].method) == (0.75, 4, "beta")


def test_every_format_has_a_fixture_with_the_members_of_its_writer() -> None:
    readers = set(load_plugins().harnesses) - {
        "table",
        "inspect",
        "lm-eval",
    }  # stand-ins of their logs have all members
    assert {tool.rpartition(" ")[0] for tool in LISTED} == set(WRITERS) == readers


def test_the_listed_members_are_those_of_the_real_files() -> None:
    assert members(originals() / "data") == LISTED, "run python -m tests.data.list_members"
