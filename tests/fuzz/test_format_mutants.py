"""Mutants of files of other tools: read or named, and no value outside the changed record changes silently.

HARNESS_UQ_FUZZ is the number of mutants of each format; a failure names its seed.
"""

import io
import json
import os
import random
import traceback
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from harness_uq import Scores, TaskLog, read_logs
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Reading
from tests.adapters.formats import test_helm, test_lighteval, test_promptfoo
from tests.fuzz.mutate import mutant
from tests.fuzz.test_mutants import outcome

N = int(os.environ.get("HARNESS_UQ_FUZZ", "200"))
QUICK = 25
VALUES = (None, -1, 1e308, float("nan"), float("inf"), "", "x" * 3000, "\x00", "2", [], {}, True)

Files = dict[str, bytes]


def of_promptfoo(folder: Path) -> list[Files]:
    """An evaluation with repeats, errors and named scores; the same results as JSON Lines; version 2."""
    rows = [
        test_promptfoo.result(question, score, column=column, test=test, namedScores={"tone": score / 2})
        for column in range(2)
        for test, (question, score) in enumerate(zip("abcabc", (1, 0, 1, 0.5, 0, 1), strict=True))
    ]
    rows[4] |= {"failureReason": 2, "error": "timeout", "gradingResult": None}
    metrics = {"score": 3.5, "testPassCount": 3, "testFailCount": 3, "testErrorCount": 0}
    document = test_promptfoo.evaluation(*rows, runtimeOptions={"repeat": 2}, metadata={"promptfooVersion": "0.1"})
    document["results"]["prompts"] = [{"metrics": metrics}] * 2
    old = test_promptfoo.evaluation(*rows, version=2)
    lines = "\n".join(map(json.dumps, rows)).encode()
    return [{"a.json": json.dumps(document).encode()}, {"a.jsonl": lines}, {"a.json": json.dumps(old).encode()}]


def of_helm(folder: Path) -> list[Files]:
    """A run with two trials, perturbed copies, totals and requests; totals alone."""
    stat, entry, typos = test_helm.stat, test_helm.entry, test_helm.TYPOS
    entries = [
        entry(f"id{at}", stat("exact_match", (at + trial) % 2), stat("num_references", 4), train_trial_index=trial)
        for at in range(4)
        for trial in range(2)
    ]
    entries += [entry("id0", stat("exact_match", 1, perturbation=typos), perturbation=typos)]
    totals = [stat("exact_match", 0.5), stat("num_instances", 4), stat("toxic_frac", None)]
    states = [
        {"instance": {"id": f"id{at}", "input": {"text": f"q{at}"}}, "result": {"success": True}} for at in range(4)
    ]
    run = test_helm.written(folder / "run", *entries, stats=totals, scenario_state={"request_states": states})
    whole = {path.name: path.read_bytes() for path in run.iterdir()}
    return [whole, {name: content for name, content in whole.items() if name in ("run_spec.json", "stats.json")}]


def of_lighteval(folder: Path) -> list[Files]:
    """Details of two metrics with the results of the run; results alone; details in the former layout."""
    pytest.importorskip("pyarrow")
    rows = [test_lighteval.row(at, f"q{at}", em=at % 2, f1=at / 8) for at in range(8)]
    config = {"toy|0": {"metrics": [{"metric_name": "em", "higher_is_better": True}], "effective_num_docs": 8}}
    totals = {"toy|0": {"em": 0.5, "em_stderr": 0.2, "f1": 0.4375}, "all": {"em": 0.5}}
    files = [test_lighteval.details(folder, *rows), test_lighteval.results(folder, totals, config_tasks=config)]
    former = [{"example": f"q{at}", "metrics": {"em": at % 2}} for at in range(8)]
    flat = test_lighteval.details(folder / "former", *former)
    groups = (files, files[1:], [flat])
    return [{path.name: path.read_bytes() for path in group} for group in groups]


FORMATS = {"promptfoo": of_promptfoo, "helm": of_helm, "lighteval": of_lighteval}


def trial_values(logs: Iterable[TaskLog]) -> Counter[tuple[str, str, str, float]]:
    """Every score with its question, metric and filter."""
    return Counter(
        (question, data.metric, data.filter, float(value))
        for log in logs
        for data in log.data
        if isinstance(data, Scores)
        for question, row in zip(log.questions.ids, data.values, strict=True)
        for value in row[np.isfinite(row)]
    )


def changed(content: bytes, name: str, seed: int) -> tuple[str, bytes]:
    """The file with one change; half of the changes of Parquet files are of one record."""
    if name.endswith(".parquet") and seed % 2:
        return _with_another_record(content, random.Random(seed))
    return mutant(content, name, seed)


def _with_another_record(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    rows = table.to_pylist()
    owner = rows[rng.randrange(len(rows))]
    while isinstance(inner := owner[key := rng.choice(sorted(owner))], dict) and rng.random() < 0.9:
        owner = inner
    owner[key] = rng.choice(VALUES)
    output = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_pylist(rows), output)
    except (pa.ArrowException, OverflowError):  # a column cannot have both types
        return mutant(content, "", rng.randrange(10**6))
    return "record", output.getvalue()


def read(files: Files, folder: Path, plugins: Plugins, **replaced: bytes) -> Reading:
    folder.mkdir()
    for name, content in (files | replaced).items():
        (folder / name).write_bytes(content)
    return read_logs(folder, harnesses=plugins.harnesses)


def seeds(name: str) -> list[object]:
    return [
        pytest.param(name, range(QUICK), id=f"{name}-quick"),
        pytest.param(name, range(QUICK, N), id=name, marks=pytest.mark.slow),
    ]


@pytest.mark.parametrize(("name", "numbers"), [case for name in FORMATS for case in seeds(name)])
def test_a_mutant_of_a_format_is_read_or_named(name: str, numbers: range, tmp_path: Path) -> None:
    plugins = load_plugins()
    originals = FORMATS[name](tmp_path / "originals") if (tmp_path / "originals").mkdir() is None else []
    known = [trial_values(read(files, tmp_path / f"original {at}", plugins).logs) for at, files in enumerate(originals)]
    failures = list[str]()
    for seed in numbers:
        at = seed % len(originals)
        file = random.Random(seed).choice(sorted(originals[at]))
        what, content = changed(originals[at][file], file, seed)
        label = f"seed {seed}, {what} of {file}"
        folder = tmp_path / str(seed)
        try:
            reading = read(originals[at], folder, plugins, **{file: content})
            _, said = outcome(folder, plugins)
        except Exception as error:
            place = [step for step in traceback.extract_tb(error.__traceback__) if "harness_uq" in step.filename][-1]
            failures.append(f"{label}: {error!r:.200} at {place.filename}:{place.lineno}")
            continue
        failures += [f"{label}: {message.text:.300}" for message in said if message.name == "reader-failed"]
        if what.startswith(("json", "record")) and not (reading.failures or reading.warnings):
            values = trial_values(reading.logs)
            n_metrics = len({key[1] for key in known[at]}) + 1
            gone, new = known[at] - values, values - known[at]
            if gone.total() > n_metrics or new.total() > n_metrics:
                failures.append(f"{label}: {gone} became {new}")
    assert not failures, "\n".join(failures)
