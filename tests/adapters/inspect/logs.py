"""Write small Inspect AI logs, one member at a time."""

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness_uq import TaskLog
from harness_uq.plugin_api import Run
from harness_uq_inspect.harness import InspectHarness

ZSTANDARD = 93
DEFLATE = zipfile.ZIP_DEFLATED


def metric(name, value, **options):
    return {"name": name, "value": value, "params": options}


def score_totals(name, value, *, scorer=None, reducer=None, n=None, stderr=None, metric_name="accuracy"):
    metrics = {metric_name: metric(metric_name, value)}
    if stderr is not None:
        metrics["stderr"] = metric("stderr", stderr)
    entry = {"name": name, "scorer": scorer or name, "metrics": metrics}
    return entry | ({"reducer": reducer} if reducer else {}) | ({} if n is None else {"scored_samples": n})


def header(*, scores=(), total=0, status="success", version=2, epochs=1, reducer=None, results=True, **more):
    """A log without samples; `more` are entries of `eval`, or of `results` where their name starts with `results_`."""
    config = {"epochs": epochs} | ({} if reducer is None else {"epochs_reducer": reducer}) | more.pop("config", {})
    extra = {name.removeprefix("results_"): more.pop(name) for name in list(more) if name.startswith("results_")}
    spec = {
        "created": "2026-01-02T03:04:05+00:00",
        "task": "toy",
        "model": "mockllm/model",
        "dataset": {"name": "toy"},
        "config": config,
        "packages": {"inspect_ai": "0.3.285"},
    } | more
    log = {"version": version, "status": status, "eval": spec, "plan": {}}
    if results:
        log["results"] = {"total_samples": total, "completed_samples": total, "scores": list(scores)} | extra
    return log


def sample(id_, epoch=1, *, input_=None, **scores):
    """A sample; a score may be None, which leaves it out."""
    given = {name: {"value": value, "answer": "a"} for name, value in scores.items() if value is not None}
    text = f"Question {id_}?" if input_ is None else input_
    return {"id": id_, "epoch": epoch, "input": text, "target": "t", "metadata": {}, "scores": given}


def grid(values, *, scorer="match"):
    """Samples of a question × epoch list of values; question ids count from 1."""
    return [
        sample(row + 1, column + 1, **{scorer: value})
        for row, epochs in enumerate(values)
        for column, value in enumerate(epochs)
    ]


def write_eval(
    path: Path,
    head: Mapping,
    samples: Sequence[Mapping] = (),
    *,
    summaries: Sequence[Mapping] | None = None,
    reductions: Sequence[Mapping] | None = None,
    finished: bool = True,
    compression: int = DEFLATE,
    with_summaries: bool = True,
    with_samples: bool = True,
) -> Path:
    """A `.eval` log; `summaries` are the samples themselves unless given."""
    if compression == ZSTANDARD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        import zipfile_zstd  # noqa: F401
    listed = list(samples if summaries is None else summaries)
    with zipfile.ZipFile(path, "w", compression) as archive:

        def put(name, content):
            archive.writestr(name, json.dumps(content))

        put("_journal/start.json", {key: head[key] for key in ("version", "eval", "plan")})
        for one in samples if with_samples else ():
            put(f"samples/{one['id']}_epoch_{one['epoch']}.json", one)
        if with_summaries:
            half = len(listed) // 2
            put("_journal/summaries/10.json", listed[half:])
            put("_journal/summaries/9.json", listed[:half])
        if finished:
            if with_summaries:
                put("summaries.json", listed)
            if reductions is not None:
                put("reductions.json", reductions)
            put("header.json", head)
    return path


def copy_as_run(log: Path, path: Path) -> Path:
    """A copy of a `.eval` log that is a run of its own, named after the file."""
    with zipfile.ZipFile(log) as original, zipfile.ZipFile(path, "w", DEFLATE) as archive:
        for name in original.namelist():
            content = original.read(name)
            if name in ("header.json", "_journal/start.json"):
                head = json.loads(content)
                head["eval"]["task_id"] = path.stem
                content = json.dumps(head).encode()
            archive.writestr(name, content)
    return path


def write_json(path: Path, head: Mapping, samples: Sequence[Mapping] = (), *, reductions=None) -> Path:
    log = dict(head) | {"samples": list(samples)} | ({} if reductions is None else {"reductions": reductions})
    path.write_text(json.dumps(log))
    return path


def read(path: Path) -> TaskLog:
    (log,) = InspectHarness().read(Run(str(path), (str(path),)))
    return log


def entry(log: TaskLog, metric_: str, filter_: str = "none"):
    (found,) = [data for data in log.data if (data.metric, data.filter) == (metric_, filter_)]
    return found
