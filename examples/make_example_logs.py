"""Make the files that `harness-uq demo` writes: `python examples/make_example_logs.py harness_uq/io/example_logs.zip`.

The script runs both harnesses on the example tasks and leaves out what the logs do not need to be read: prompts that
repeat the question, events, random identifiers and the paths of this machine. The tables are those of the folder
`tables`. The tasks, and the simulated model of Inspect AI, are added as they are.
"""

import argparse
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import run_inspect
import run_lm_eval

DATE = (2026, 1, 15, 0, 0, 0)  # of the members, so that the archive is the same if the logs are
LM_EVAL_FIELDS = ("doc_id", "doc", "target", "resps", "filtered_resps", "filter", "metrics", "doc_hash")
SAMPLE_FIELDS = ("id", "epoch", "input", "choices", "target", "output", "scores", "metadata", "error", "limit")


def main(argv: list[str] | None = None) -> int:
    """Run both harnesses and write the archive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", type=Path, help="file to write")
    archive = parser.parse_args(argv).archive
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_lm_eval.run(folder)
        run_inspect.run(folder)
        files = dict(sorted([*lm_eval_files(folder), *inspect_files(folder), *tables(), *tasks()]))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as written:
        for path, text in files.items():
            if leak := re.search(rf"{re.escape(name)}|/(home|root|work)/", text):
                raise SystemExit(f"{path} contains a path of this machine: {text[leak.start() - 60 :][:120]}")
            written.writestr(zipfile.ZipInfo(path, DATE), text, zipfile.ZIP_DEFLATED)
    print(f"{archive}: {len(files)} files, {archive.stat().st_size / 1000:.0f} kB")
    return 0


def tables() -> Iterator[tuple[str, str]]:
    """Path and text of each table."""
    root = Path(__file__).parent
    for path in (root / "tables").rglob("*.*"):
        yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def tasks() -> Iterator[tuple[str, str]]:
    """Path and text of each file that the harnesses need to run the tasks."""
    root = Path(__file__).parent
    systems = (root / "systems").glob("*.py")
    for path in (root / "inspect_tasks.py", *systems, *(root / "tasks").rglob("*.*")):
        if path.suffix != ".pyc" and path.name != "lm_eval_model.py":
            yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def lm_eval_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Path and text of each file of lm-eval."""
    for path in (folder / "lm-eval").rglob("*_*.json*"):
        name = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        yield name, _results(text) if path.suffix == ".json" else "".join(map(_sample, text.splitlines()))


def _results(text: str) -> str:
    results = json.loads(text)
    for config in results["configs"].values():
        config.pop("dataset_kwargs")
        config["metadata"].pop("config_source")
    _forget_paths(results["uq"])
    return json.dumps(results, indent=1)


def _sample(line: str) -> str:
    sample = json.loads(line)
    kept = {name: value for name, value in sample.items() if name in (*LM_EVAL_FIELDS, *sample["metrics"])}
    return json.dumps(kept) + "\n"


def inspect_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Path and text of each log of Inspect AI, as JSON."""
    from inspect_ai.log import read_eval_log

    for path in (folder / "inspect").rglob("*.eval"):
        log = json.loads(read_eval_log(str(path)).model_dump_json(exclude_none=True))
        log["eval"] |= {"task_file": "examples/inspect_tasks.py"}
        log["eval"].pop("revision", None)
        log["stats"].pop("connection_limit_history", None)
        _forget_paths(log["results"]["metadata"]["harness_uq"])
        log["samples"] = [_inspect_sample(sample) for sample in log["samples"]]
        yield path.relative_to(folder).with_suffix(".json").as_posix(), json.dumps(log, indent=1)


def _inspect_sample(sample: dict) -> dict:
    kept = {name: value for name, value in sample.items() if name in SAMPLE_FIELDS}
    for choice in kept["output"]["choices"]:
        choice["message"].pop("id", None)
    kept["output"].pop("time", None)
    return kept | {"messages": []}


def _forget_paths(results: dict) -> None:
    for estimate in results["estimates"]:
        estimate["source"].pop("path")


if __name__ == "__main__":
    sys.exit(main())
