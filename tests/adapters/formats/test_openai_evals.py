"""Runs of OpenAI evals."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pluggy
import pytest

from harness_uq import TaskLog
from harness_uq.io.plugins import hookspecs
from harness_uq.io.readers import read_logs
from harness_uq_formats import openai_evals

READERS = {reader.name: reader for reader in openai_evals.harness_uq_harnesses()}

ROOT = Path(__file__).resolve().parents[3]
SPEC = {"completion_fns": ["gpt-4"], "eval_name": "toy.dev.v0", "created_at": "2026-01-01 00:00:00"}


def match(sample: str, correct: object) -> dict[str, object]:
    return {"run_id": "r", "sample_id": sample, "type": "match", "data": {"correct": correct, "picked": "x"}}


def written(folder: Path, *lines: dict[str, object]) -> Path:
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def only_log(path: Path) -> TaskLog:
    reading = read_logs([str(path)], harnesses=READERS)
    assert reading.failures == ()
    (log,) = reading.logs
    return log


def test_samples_are_questions_and_repeated_matches_are_trials(tmp_path: Path) -> None:
    events = [match("s1", True), match("s0", False), {"sample_id": "s0", "type": "sampling", "data": {}}]
    report = {"final_report": {"accuracy": 2 / 3, "boostrap_std": 0.1}}
    log = only_log(written(tmp_path, {"spec": SPEC}, *events, match("s1", True), report))
    assert (log.system, log.task, log.questions.ids) == ("gpt-4", "toy.dev.v0", ("s1", "s0"))
    (scores,) = log.data
    np.testing.assert_array_equal(scores.values, [[1, 1], [0, np.nan]])
    assert log.reported["accuracy", "none"].value == 2 / 3


def test_other_json_lines_are_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"id": 1, "spec": {}}\n')
    assert READERS["openai-evals"].find([str(path)]).unrecognised == (str(path),)


@pytest.mark.parametrize(
    "damage", ['{"sample_id": "s0", "type": "ma', '{"sample_id": "s", "type": "match", "data": {"correct": "yes"}}']
)
def test_the_line_of_a_damage_is_named(tmp_path: Path, damage: str) -> None:
    path = written(tmp_path, {"spec": SPEC}, match("s0", True))
    path.write_text(path.read_text() + damage)
    ((named, message),) = read_logs([str(path)], harnesses=READERS).failures
    assert named == str(path)
    assert message.params["reason"].startswith("line 3: ")


def test_the_plugin_has_at_most_80_lines_and_uses_the_plugin_api_only() -> None:
    source = Path(openai_evals.__file__).read_text()
    assert len(source.splitlines()) <= 80
    packages = re.findall(r"^\s*(?:from|import) (\S+)", source, re.MULTILINE)
    assert {name for name in packages if name.startswith("harness_uq")} == {"harness_uq.plugin_api"}


def test_the_module_is_a_plugin() -> None:
    manager = pluggy.PluginManager("harness_uq")
    manager.add_hookspecs(hookspecs.Hooks)
    manager.register(openai_evals)
    ((reader,),) = manager.hook.harness_uq_harnesses()
    assert reader.name == "openai-evals"
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["harness_uq"]
    assert entry_points["openai-evals"] == openai_evals.__name__


@pytest.mark.parametrize("spec", [{}, {"completion_fns": ["gpt-4"]}, "x", {"completion_fns": 3, "eval_name": "t"}])
def test_an_incomplete_specification_is_an_error_of_the_file(tmp_path: Path, spec: object) -> None:
    ((named, _),) = read_logs([str(written(tmp_path, {"spec": spec}, match("s0", True)))], harnesses=READERS).failures
    assert named.endswith("run.jsonl")
