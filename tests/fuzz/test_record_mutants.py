"""Mutants of runs of agents and of records of scores: read, or named, and without effect on other records."""

import json
import os
import random
import signal
import traceback
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from harness_uq import read_logs
from harness_uq.data.task_log import Scores
from harness_uq.inference.load_plugins import load_plugins
from tests.adapters.formats.files import (
    eee_line,
    eee_record,
    eee_result,
    error,
    harbor_trial,
    resolved,
    terminal_trial,
    write_eee,
    write_job,
    write_lines,
    write_terminal_run,
)
from tests.fuzz.mutate import mutant
from tests.fuzz.test_mutants import limited, outcome

__all__ = ["limited"]

N = int(os.environ.get("HARNESS_UQ_FUZZ", "200"))
N_QUICK = 20


def write_terminal_bench(folder: Path) -> None:
    for at in range(2):
        trials = resolved(f"r{at}", {"a": True, "b": False, "c": None})
        write_terminal_run(folder / f"r{at}", [*trials, terminal_trial("d", at == 1, run=f"r{at}")])


def write_harbor(folder: Path) -> None:
    trials = [
        harbor_trial("a", {"reward": 1.0, "style": 1}),
        harbor_trial("a", 0.0, k=2),
        harbor_trial("b", None, exception_info=error("ApiRateLimitError")),
        harbor_trial("c", {"reward": 0.5, "style": 2}),
    ]
    write_job(folder / "job", trials, means={"reward": 0.375, "style": 0.75})


def write_every_eval_ever(folder: Path) -> None:
    lines = [eee_line(f"q{at}", float(at % 2), metadata={"epoch": str(k)}) for at in range(5) for k in (1, 2)]
    write_eee(folder, eee_record([eee_result("acc", 0.4, min_score=0, max_score=1), eee_result("f1", 0.5)]), lines)


def write_openai_evals(folder: Path) -> None:
    spec = {"spec": {"completion_fns": ["m"], "eval_name": "toy", "created_at": "2026-01-01 00:00:00"}}
    events = [{"sample_id": f"s{at}", "type": "match", "data": {"correct": at % 2 == 0}} for at in range(5)]
    write_lines(folder / "run.jsonl", [spec, *events, {"final_report": {"accuracy": 0.6}}])


WRITERS = {
    "terminal-bench": write_terminal_bench,
    "harbor": write_harbor,
    "every-eval-ever": write_every_eval_ever,
    "openai-evals": write_openai_evals,
}


@pytest.fixture(scope="module")
def plugins():
    return load_plugins()


def scores_of(folder: Path, plugins) -> tuple[dict[str, list[float]], set[object]]:
    """The scores of each question, whichever system, task and metric they belong to, and all messages."""
    reading = read_logs(folder, harnesses=plugins.harnesses)
    scores = defaultdict(list)
    for log in reading.logs:
        for item in log.data:
            if isinstance(item, Scores):
                for question, row in zip(log.questions.ids, item.values, strict=True):
                    scores[question] += [float(value) for value in row if np.isfinite(value)]
    messages = {message for log in reading.logs for message in log.messages}
    unread = {message for _, message in (*reading.failures, *reading.warnings)}
    return {question: sorted(values) for question, values in scores.items()}, messages | unread


def mutate_a_file(folder: Path, seed: int) -> str:
    """Replace a file by a mutant, and return what was changed."""
    path = random.Random(seed).choice(sorted(folder.rglob("*.json*")))
    what, content = mutant(path.read_bytes(), path.name, seed)
    path.write_bytes(content)
    return f"{what} of {path.relative_to(folder)}"


def chunks():
    starts = [(0, N_QUICK), *((start, min(start + 125, N)) for start in range(N_QUICK, N, 125))]
    return [pytest.param(*chunk, marks=[pytest.mark.slow] if chunk[0] else []) for chunk in starts]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(("start", "end"), chunks())
def test_a_mutant_is_read_or_named_and_changes_no_other_record(name, start, end, plugins, limited, tmp_path):
    write = WRITERS[name]
    write(tmp_path / "original")
    before, known = scores_of(tmp_path / "original", plugins)
    assert sum(map(len, before.values())) >= 5
    failures = []
    for seed in range(start, end):
        folder = tmp_path / str(seed)
        write(folder)
        what = mutate_a_file(folder, seed)
        limited()
        try:
            outcome(folder, plugins)
            after, messages = scores_of(folder, plugins)
        except Exception as failure:
            where = [one for one in traceback.extract_tb(failure.__traceback__) if "harness_uq" in one.filename][-1]
            failures.append(f"seed {seed}, {what}: {failure!r:.200} at {where.filename}:{where.lineno}")
            continue
        finally:
            signal.alarm(0)
        names = [message.name for message in messages - known if hasattr(message, "name")]
        if "reader-failed" in names:
            failures.append(f"seed {seed}, {what}: a reader failed")
        changed = {question for question in before.keys() | after.keys() if before.get(question) != after.get(question)}
        # a renamed question is two: the old one and the new one
        if what.startswith("json") and len(changed) > 2 and not messages - known:
            failures.append(f"seed {seed}, {what}: {sorted(changed)} changed without a message")
    assert not failures, "\n".join(failures)


def test_files_of_other_readers_are_read_when_one_is_damaged(plugins, tmp_path):
    for name, write in WRITERS.items():
        write(tmp_path / name)
    before = read_logs(tmp_path, harnesses=plugins.harnesses)
    path = tmp_path / "every-eval-ever" / "record.json"
    path.write_text(json.dumps({"schema_version": "0.3.0", "model_info": 5}))
    after = read_logs(tmp_path, harnesses=plugins.harnesses)
    assert len(before.logs) == 4
    assert [log.source.harness for log in after.logs] == [
        log.source.harness for log in before.logs if log.source.harness != "every-eval-ever"
    ]
    assert [named for named, _ in after.warnings] == [str(path)]
