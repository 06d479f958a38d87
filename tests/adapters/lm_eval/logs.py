"""Write small logs in the formats of lm-eval's versions, and read them."""

import json
from pathlib import Path

from harness_uq_lm_eval.harness import LmEvalHarness

TIME = "2026-01-02T03-04-05.000006"


def row(doc_id, *, doc=None, filter_name="none", prompt=None, metrics=None, **values):
    """A row as lm-eval 0.4.13 writes it."""
    return {
        "doc_id": doc_id,
        "doc": {"question": f"q{doc_id}"} if doc is None else doc,
        "target": "0",
        "arguments": {"gen_args_0": {"arg_0": prompt or f"Q: {doc_id}\nA:", "arg_1": " yes"}},
        "resps": [[["-1.0", "True"]]],
        "filtered_resps": [["-1.0", "True"]],
        "filter": filter_name,
        "metrics": list(values) if metrics is None else metrics,
        "doc_hash": f"hash of {doc_id}",
        "prompt_hash": "p",
        "target_hash": "t",
        **values,
    }


def rows(metric, values, **options):
    """One row per value, with ids from 0."""
    return [row(doc_id, **{metric: value}, **options) for doc_id, value in enumerate(values)]


def without(record, *names):
    return {name: value for name, value in record.items() if name not in names}


class Folder:
    """A folder of logs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def samples(self, task, records, *, time=TIME):
        """JSON lines, the format since lm-eval 0.4.3; a record that is a text is written unchanged."""
        lines = [record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records]
        return self.text(f"samples_{task}_{time}.jsonl", "".join(f"{line}\n" for line in lines))

    def results(self, results, *, time=TIME, n=None, configs=None, name=None, **top):
        """A results file; `n` is the number of questions of all tasks, or of each task by name."""
        sizes = n if isinstance(n, dict) else dict.fromkeys(results, n)
        tree = {
            "results": {task: {"alias": task, **values} for task, values in results.items()},
            "group_subtasks": {},
            "configs": {task: (configs or {}).get(task, {}) for task in results},
            "versions": dict.fromkeys(results, 1.0),
            "n-shot": dict.fromkeys(results, 0),
            "n-samples": {task: {"original": 100, "effective": k} for task, k in sizes.items() if k is not None},
            "config": {"model": "hf", "model_args": {"pretrained": "org/model"}, "limit": None},
            "lm_eval_version": "0.4.13",
            "model_name": "org/model",
            **top,
        }
        return self.text(name or f"results_{time}.json", json.dumps(tree, indent=2))

    def text(self, name, content):
        path = self.path / name
        path.write_text(content, encoding="utf-8")
        return str(path)

    def files(self):
        return sorted(str(path) for path in self.path.iterdir())

    def logs(self, *paths):
        """Task logs by name, from the given files or from all files."""
        harness = LmEvalHarness()
        found = harness.find(paths or self.files())
        return {log.task: log for run in found.runs for log in harness.read(run)}

    def log(self, *paths):
        """The only task log."""
        (log,) = self.logs(*paths).values()
        return log


def one_task(path, records, values, *, n=None, task="t", config=None, **top):
    """The log of a folder with one task."""
    folder = Folder(path)
    folder.samples(task, records)
    folder.results(
        {task: values}, n=len({r["doc_id"] for r in records}) if n is None else n, configs={task: config or {}}, **top
    )
    return folder.log()


def data_of(log, metric, filter_name="none"):
    (found,) = [data for data in log.data if (data.metric, data.filter) == (metric, filter_name)]
    return found
