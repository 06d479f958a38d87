"""Run by the wheel's own interpreter, in an environment with nothing else: import, read a log, estimate."""

import importlib
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from importlib.resources import files
from pathlib import Path

TIMESTAMP = "2026-01-01T00-00-00.000000"


def write_lm_eval_log(folder: Path) -> None:
    """A run of ten questions in two passages."""
    results = {
        "results": {"toy": {"alias": "toy", "acc,none": 0.8, "acc_stderr,none": 0.1333}},
        "configs": {"toy": {"task": "toy", "output_type": "multiple_choice", "repeats": 1}},
        "versions": {"toy": 1},
        "n-samples": {"toy": {"original": 10, "effective": 10}},
        "config": {"model": "toy-model", "model_args": {}},
        "model_name": "toy-model",
        "lm_eval_version": "0.4.13",
    }
    (folder / f"results_{TIMESTAMP}.json").write_text(json.dumps(results))
    rows = [
        {
            "doc_id": i,
            "doc": {"q": str(i)},
            "filter": "none",
            "metrics": ["acc"],
            "doc_hash": str(i),
            "acc": float(i < 8),
        }
        for i in range(10)
    ]
    (folder / f"samples_toy_{TIMESTAMP}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")


def write_inspect_log(folder: Path) -> None:
    """The same run as Inspect AI writes it today: a zip whose members are compressed with Zstandard."""
    zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": "CI"[i >= 8]}}} for i in range(10)]
    spec = {"task": "toy", "model": "toy-model", "created": "2026-01-01T00:00:00+00:00"}
    parts = {"header.json": {"version": 2, "status": "success", "eval": spec}, "summaries.json": samples}
    with zipfile.ZipFile(folder / "log.eval", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, zstd.compress(plain := json.dumps(content).encode()))
            entry = archive.getinfo(name)  # the directory, written last, says how it is compressed
            entry.compress_type, entry.file_size, entry.CRC = 93, len(plain), zlib.crc32(plain)


def write_promptfoo_log(folder: Path) -> None:
    """The same run as promptfoo exports it."""
    rows = [
        {
            "gradingResult": {"pass": i < 8},
            "latencyMs": 1,
            "namedScores": {},
            "prompt": {"raw": "Say", "label": "Say {{q}}"},
            "promptIdx": 0,
            "provider": {"id": "toy-model"},
            "score": float(i < 8),
            "success": i < 8,
            "testIdx": i,
            "vars": {"q": str(i)},
        }
        for i in range(10)
    ]
    (folder / "promptfoo.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")


def main() -> int:
    """Exit 0 where the wheel works alone."""
    for module in ("lm_eval", "inspect_ai", "pandas", "matplotlib"):
        probe = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False)
        if probe.returncode == 0:
            raise SystemExit(f"{module} is installed: this check wants the wheel's own dependencies alone")
    with tempfile.TemporaryDirectory() as name:
        write_lm_eval_log(Path(name))
        write_inspect_log(Path(name))
        write_promptfoo_log(Path(name))
        script = Path(sys.executable).with_name("harness-uq")
        command = [str(script), "estimate", name, "--format", "json"]
        output = subprocess.run(command, capture_output=True, text=True, check=False)
    if output.returncode:
        raise SystemExit(output.stderr)
    rows = json.loads(output.stdout)["estimates"]
    if {row["source"]["harness"] for row in rows} != {"lm-eval", "inspect", "promptfoo"} or len(rows) < 3:
        raise SystemExit(f"not an estimate of each harness: {rows}")
    for row in rows:
        if row["value"] != 0.8 or not row["interval"]["low"] < 0.8 < row["interval"]["high"]:
            raise SystemExit(f"unexpected estimate: {row}")
    schemas = files("harness_uq").joinpath("schemas")
    if json.loads(schemas.joinpath("estimate-v1.json").read_text(encoding="utf-8"))["$id"] != "harness-uq:estimate-v1":
        raise SystemExit("the schema of estimates is another one")
    with tempfile.TemporaryDirectory() as name:
        for arguments in (["demo"], ["report", "demo-output", "--output", "report.html"]):
            subprocess.run([str(script), *arguments], cwd=name, capture_output=True, check=True)
        page = (Path(name) / "report.html").read_text(encoding="utf-8")
    if not all(text in page for text in ("scripted-large", "demo_passages", "word_problems")):
        raise SystemExit("the report on the example logs lacks their systems or tasks")
    print("the wheel reads logs of the harnesses and of promptfoo, and reports on its example logs, by itself")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
