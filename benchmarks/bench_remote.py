"""Logs on S3 (moto's server on the loopback): what is fetched of a `.eval` file of 40 MB, and requests of many logs.

    python benchmarks/bench_remote.py [--megabytes 40] [--logs 200]

Bytes and requests are counted by the server. The first file's summaries hold all that is needed, as Inspect writes
them; those of the second have metadata cut short, so that one sample of each question is read. Beside them what finding
the file of one lm-eval task costs. Everything goes to results/remote.json; 1 where a share misses its target.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness_uq.io import paths as io_paths
from harness_uq.io.readers import read_logs

ROOT = Path(__file__).resolve().parent.parent
EPOCHS, QUESTIONS = 4, 500
TARGET = 0.15


def main() -> int:
    """Measure, print, write the results; 1 where the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=40)
    parser.add_argument("--logs", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as (bucket, log):
        folder = Path(name)
        found = {
            route: one_large(folder, bucket, log, options.megabytes, cut)
            for route, cut in (("summaries", False), ("metadata cut short", True))
        }
        found["many"] = many(folder, bucket, log, options.logs)
    found["task files"] = task_files()
    print(json.dumps(found, indent=2))
    (ROOT / "benchmarks" / "results" / "remote.json").write_text(json.dumps(found, indent=2) + "\n")
    return int(found["summaries"]["share_fetched"] > TARGET)


def one_large(folder: Path, bucket: str, log: Path, megabytes: float, cut: bool) -> dict[str, float]:
    """Share of the file that is fetched, requests, and the time against that of the same file on the disk."""
    path = folder / f"large-{cut}.eval"
    write(path, QUESTIONS, EPOCHS, round(megabytes * 1e6 / QUESTIONS / EPOCHS), cut)
    place = f"{bucket}/2026-01-02T03-04-05+00-00_{path.name}"
    io_paths.write_bytes(place, path.read_bytes())
    timed(str(path))  # imports
    here = timed(str(path))
    log.write_text("")
    there = timed(place)
    rows = asked(log)
    n_bytes = sum(n for _, n in rows)
    return {
        "megabytes": path.stat().st_size / 1e6,
        "share_fetched": n_bytes / path.stat().st_size,
        "requests": len(rows),
        "seconds_over_local": there / here,
    }


def many(folder: Path, bucket: str, log: Path, n: int) -> dict[str, float]:
    """Requests and bytes a log for small ones, and the time against that of the same logs on the disk."""
    (folder / "many").mkdir()
    for i in range(n):
        write(folder / "many" / f"2026-01-02T03-04-{i % 60:02}+00-00_toy_{i}.eval", 50, 1, 2_000, False)
    for file in (folder / "many").iterdir():
        io_paths.write_bytes(f"{bucket}/many/{file.name}", file.read_bytes())
    log.write_text("")
    there = timed(f"{bucket}/many")
    rows = asked(log)
    here = timed(str(folder / "many"))
    size = sum(path.stat().st_size for path in (folder / "many").iterdir())
    return {
        "logs": n,
        "requests_a_log": len(rows) / n,
        "share_fetched": sum(k for _, k in rows) / size,
        "seconds_over_local": there / here,
    }


def task_files() -> dict[str, float]:
    """Seconds to find the file of a task by its name, and to know that a name has none, which opens every file."""
    code = (
        "import sys, time; from harness_uq_lm_eval.read.task_files import task_file; start = time.perf_counter();"
        "found = task_file(sys.argv[1]); print(time.perf_counter() - start)"
    )
    run = [sys.executable, "-c", code]
    return {
        name: min(float(subprocess.run([*run, task], capture_output=True, check=True).stdout) for _ in range(3))
        for name, task in (("known_seconds", "gsm8k"), ("unknown_seconds", "no_such_task"))
    }


def timed(place: str) -> float:
    """Seconds of reading."""
    start = time.perf_counter()
    reading = read_logs(place)
    assert reading.logs
    assert not reading.failures
    return time.perf_counter() - start


def asked(log: Path) -> list[tuple[str, int]]:
    """Method and bytes of each request."""
    return [(row.split()[0], int(row.split()[-1])) for row in log.read_text().splitlines()]


def write(path: Path, questions: int, epochs: int, size: int, cut: bool) -> None:
    """A log whose samples take about `size` bytes each when compressed."""
    rng = random.Random(1)
    spec = {"created": "2026-01-02T03:04:05+00:00", "task": "toy", "model": "org/model", "dataset": {"name": "toy"}}
    head = {"version": 2, "status": "success", "eval": spec | {"config": {"epochs": epochs}}, "plan": {}}
    head["results"] = {"total_samples": questions * epochs, "completed_samples": questions * epochs, "scores": []}
    summaries = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(head))
        for question in range(questions):
            for epoch in range(1, epochs + 1):
                scores = {"match": {"value": rng.choice("CI"), "answer": "a"}}
                metadata = {"subject": f"s{question % 30}", "text": "x" * 100 + ("..." if cut else "")}
                summary = {"id": question, "epoch": epoch, "input": f"Question {question}?", "target": "t"}
                summary |= {"metadata": metadata, "scores": scores}
                text = rng.randbytes(size // 2).hex() + rng.randbytes(size // 2).hex()  # half of a hex digit is news
                whole = summary | {"messages": [{"role": "assistant", "content": text}]}
                archive.writestr(f"samples/{question}_epoch_{epoch}.json", json.dumps(whole))
                summaries.append(summary)
        archive.writestr("summaries.json", json.dumps(summaries))
        archive.writestr("header.json", json.dumps(head))


@contextmanager
def server(folder: Path) -> Iterator[tuple[str, Path]]:
    """A bucket on a server of its own, and the file in which that writes down what it is asked."""
    from fsspec.core import url_to_fs

    log = folder / "requests"
    log.touch()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    command = [sys.executable, str(ROOT / "tests" / "s3_server.py"), str(port), str(log)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", port)):
                        break
                time.sleep(0.1)
            files, _ = url_to_fs("s3://bench", use_listings_cache=False)
            files.mkdir("bench")
            yield "s3://bench", log
        finally:
            process.kill()


if __name__ == "__main__":
    raise SystemExit(main())
