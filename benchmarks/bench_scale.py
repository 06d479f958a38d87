"""Many logs: one process, two, a dask cluster, S3 and a store, against one another.

    python benchmarks/bench_scale.py [--logs 2000] [--folder DIR]

The logs are made from the stand-ins of `tests/data/logs.zip` (`scale_logs.py`). Each run is a process of its own; runs
that are compared by time take turns, three times, and the median counts. Time is given on the clock and, since other
work may share the machine, on the critical path: processor time of the main process and of the busiest worker. Rows are
compared as the bytes of the JSON that is printed. Written to benchmarks/results/scale.json; `scale_text.py` writes the
figures into docs/howto/scale.md.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench_remote import server
from scale_logs import A_FOLDER, inflate, largest, make_logs
from scale_text import RESULTS, write_page

WAYS = {
    "one process": {},
    "two processes": {"engine": "joblib", "jobs": 2},
    "dask, two workers that were there": {"engine": "dask", "jobs": 2, "is_there": True},
    "dask, two workers started and ended": {"engine": "dask", "jobs": 2},
}
ROUNDS = 3


def main() -> int:
    """Make the logs, measure, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=2000)
    parser.add_argument("--folder", type=Path, help="where the logs stay; a temporary folder by default")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(**json.loads(options.measure))))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        make_logs(folder / "logs", 2 * options.logs)
        folders = sorted((folder / "logs").iterdir())
        timed = [str(path) for path in folders[: options.logs // A_FOLDER]]
        measures = {
            "engines": lambda: engines(timed),
            "store": lambda: store(timed, folder / "store"),
            "command": lambda: command(timed, folder / "store-of-command"),
            "s3": lambda: s3(timed, Path(temporary)),
            "memory": lambda: memory(folders, options.logs),
            "failures": lambda: failures(folder / "broken", folders[0]),
            "killed": lambda: killed(timed[:1], folder / "killed"),
        }
        found = {"logs": options.logs, "load": round(os.getloadavg()[0], 1)}
        for name, each in measures.items():
            found[name] = each()
            print(name, json.dumps(found[name], indent=1), flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    write_page()
    return 0


# ---------------------------------------------------------------- measures


def engines(paths: list[str]) -> dict:
    """Each way against one process."""
    rounds = [{way: run(paths, **settings) for way, settings in WAYS.items()} for _ in range(ROUNDS)]
    return {way: against(paths, [(made["one process"], made[way]) for made in rounds]) for way in WAYS}


def against(paths: list[str], pairs: list[tuple[dict, dict]]) -> dict:
    """Runs against runs of one process that took turns with them."""
    return {
        "seconds": round(median(made["seconds"] for _, made in pairs), 1),
        "critical path, s of processor": round(median(path_of(made) for _, made in pairs), 1),
        "times one process, clock": round(median(one["seconds"] / made["seconds"] for one, made in pairs), 2),
        "times one process, critical path": round(median(path_of(one) / path_of(made) for one, made in pairs), 2),
        "rows identical": all(made["digest"] == one["digest"] for one, made in pairs),
        "rows": pairs[0][1]["rows"],
        "megabytes": round(sum(file.stat().st_size for name in paths for file in Path(name).rglob("*")) / 1e6),
    }


def store(paths: list[str], folder: Path) -> dict:
    """A store filled, and used again, and used under other options."""
    shutil.rmtree(folder, ignore_errors=True)
    cold, *again = (run(paths, store=str(folder)) for _ in range(1 + ROUNDS))
    warm = sorted(again, key=lambda made: made["cpu"])[ROUNDS // 2]
    other = run(paths, store=str(folder), level=0.9)
    return {
        "cold, s of processor": round(cold["cpu"], 1),
        "warm, s of processor": round(warm["cpu"], 2),
        "cold over warm, clock": round(cold["seconds"] / warm["seconds"], 1),
        "cold over warm, processor": round(cold["cpu"] / warm["cpu"], 1),
        "files of logs opened, cold": cold["opened"],
        "files of logs opened, warm": warm["opened"],
        "files of logs opened under other options": other["opened"],
        "cold over other options, processor": round(cold["cpu"] / other["cpu"], 1),
        "rows identical": all(made["digest"] == cold["digest"] for made in again),
        "bytes a log": round(sum(path.stat().st_size for path in folder.rglob("*.parquet")) / cold["logs"]),
    }


def command(paths: list[str], folder: Path) -> dict:
    """The command with its start and its table of JSON, with a store that is filled, and again."""
    shutil.rmtree(folder, ignore_errors=True)
    line = [sys.executable, "-m", "harness_uq", "estimate", *paths, "--format", "json", "--store", str(folder)]
    spent = []
    for _ in range(2):
        before = processor_of_children()
        subprocess.run(line, stdout=subprocess.DEVNULL, check=True)
        spent.append(processor_of_children() - before)
    return {"cold, s of processor": round(spent[0], 1), "warm, s of processor": round(spent[1], 1)}


def processor_of_children() -> float:
    """Processor time of processes that were waited for, s."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def s3(paths: list[str], folder: Path) -> dict:
    """The same logs on S3 (moto's server on the loopback), read by two processes."""
    from fsspec.core import url_to_fs

    here = run(paths)
    with server(folder) as (bucket, _):
        files, _ = url_to_fs(bucket)
        root = str(Path(paths[0]).parent)
        for path in paths:
            files.put(path, f"{bucket}/{Path(path).name}", recursive=True)
        made = run([f"{bucket}/{Path(path).name}" for path in paths], engine="joblib", jobs=2, instead=[bucket, root])
    same = made["digest"] == here["digest"]
    return {"seconds": round(made["seconds"], 1), "rows": made["rows"], "rows identical": same}


def memory(folders: list[Path], n_logs: int) -> dict:
    """Peaks of the main process at a tenth and at all of the logs, and of a worker against its largest log alone."""
    few, many = ([str(path) for path in folders[: n // A_FOLDER]] for n in (n_logs // 5, 2 * n_logs))
    small, large = (run(paths, engine="joblib", jobs=2, method="wilson") for paths in (few, many))
    alone = run([str(largest(Path(path) for path in many))], method="wilson")
    return {
        "logs, few": n_logs // 5,
        "logs, many": 2 * n_logs,
        "main process at few, MB": round(small["peak"]),
        "main process at many, MB": round(large["peak"]),
        "main process, many over few": round(large["peak"] / small["peak"], 3),
        "kB a row": round(1024 * (large["peak"] - small["peak"]) / (large["rows"] - small["rows"]), 1),
        "worker, MB": round(large["worker_peak"]),
        "largest log alone, MB": round(alone["peak"]),
        "worker over largest log alone": round(large["worker_peak"] / alone["peak"], 3),
    }


def failures(folder: Path, source: Path) -> dict:
    """Three broken logs, and one whose worker is killed each time it is opened."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    evals = sorted(folder.glob("*.eval"))
    whole = run([str(folder)], method="wilson")
    for path in evals[:3]:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    deadly = evals[3]
    inflate(deadly, 40_000)
    killing = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "harness_uq",
            "estimate",
            str(folder),
            "--jobs",
            "2",
            "--format",
            "json",
            "--uq",
            "wilson",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    is_over = threading.Event()
    watcher = threading.Thread(target=kill_readers, args=(killing.pid, deadly, is_over))
    watcher.start()
    out, err = killing.communicate()
    is_over.set()
    watcher.join()
    named = [path for path in evals[:4] if any(line.startswith(f"error: {path}") for line in err.splitlines())]
    return {
        "rows without failures": whole["rows"],
        "rows": len(json.loads(out)["estimates"]),
        "logs named on standard error": len(named),
        "exit code": killing.returncode,
    }


def killed(paths: list[str], folder: Path, times: int = 50) -> dict:
    """A run that fills a store, killed again and again; each time every file of the store is read to its end."""
    from harness_uq.analyses.store.maintenance import find_damage
    from harness_uq.analyses.store.store import Store
    from harness_uq.inference.load_plugins import load_plugins

    shutil.rmtree(folder, ignore_errors=True)
    rng, wrong, in_writing, plugins = random.Random(1), 0, 0, load_plugins()
    for _ in range(times):
        settings = json.dumps({"paths": paths, "store": str(folder), "level": rng.uniform(0.5, 0.99)})
        process = subprocess.Popen([sys.executable, __file__, "--measure", settings], stdout=subprocess.DEVNULL)
        n_files = len(list(folder.rglob("*")))
        while process.poll() is None and len(list(folder.rglob("*"))) <= n_files + rng.randrange(3):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        in_writing += any(folder.rglob(".*.harness-uq"))
        wrong += bool(list(find_damage(Store(str(folder)), plugins)))
    same = run(paths, store=str(folder))["digest"] == run(paths)["digest"]
    return {
        "times": times,
        "with an unfinished file left": in_writing,
        "stores with a problem": wrong,
        "rows identical": same,
    }


def run(paths: list[str], **settings: object) -> dict:
    """What a process of its own measures."""
    line = [sys.executable, __file__, "--measure", json.dumps({"paths": paths, **settings})]
    return json.loads(subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True).stdout)


def measure(
    paths: list[str],
    engine: str | None = None,
    jobs: int | None = None,
    is_there: bool = False,
    store: str | None = None,
    method: str = "bayes",
    level: float = 0.95,
    instead: tuple[str, str] = ("", ""),
) -> dict:
    """Rows of the logs, with time, memory and files opened; imports of this process are left out of the times.

    `is_there`: the workers of the cluster run already, and have done nothing yet. `instead`: a part of the rows' places
    and what stands for it when rows are compared.
    """
    from harness_uq import Options, ResultList
    from harness_uq.analyses.scan.engine import Engine
    from harness_uq.analyses.scan.scan_logs import scan

    scan([], Options(method=method), store=store and f"{store}.empty")
    opened, children = set(), {}
    sys.addaudithook(lambda event, what: note_open(event, what, paths, opened))

    def progress(at: object) -> None:
        children.update({pid: figures for pid in descendants(os.getpid()) if (figures := figures_of(pid))})

    with two_workers(jobs) if is_there else contextlib.nullcontext() as scheduler:
        before = {pid: figures["cpu"] for pid in descendants(os.getpid()) if (figures := figures_of(pid))}
        who = Engine() if engine is None else Engine(engine, jobs, scheduler)
        start, cpu = time.perf_counter(), time.process_time()
        found = scan(paths, Options(method=method, level=level), engine=who, store=store, progress=progress)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = figures_of(os.getpid())["peak"]  # before the rows are printed
    digest = hashlib.sha256(str(ResultList(found.rows).render("json")).replace(*instead).encode()).hexdigest()
    return {
        "seconds": seconds,
        "cpu": cpu,
        "worker_cpu": max((figures["cpu"] - before.get(pid, 0) for pid, figures in children.items()), default=0.0),
        "worker_peak": max((figures["peak"] for figures in children.values()), default=0.0),
        "peak": peak,
        "rows": len(found.rows),
        "logs": len({row.source.path for row in found.rows}),
        "opened": len(opened),
        "digest": digest,
    }


@contextlib.contextmanager
def two_workers(jobs: int | None) -> Iterator[str]:
    """A dask cluster of this machine; the address of its scheduler, which runs in this process."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def path_of(made: dict) -> float:
    """Processor time of the main process and of its busiest worker."""
    return made["cpu"] + made["worker_cpu"]


def note_open(event: str, what: tuple, paths: list[str], opened: set[str]) -> None:
    """Take in the name of a file of the logs that is opened."""
    if event == "open" and isinstance(what[0], str) and what[0].startswith(tuple(paths)):
        opened.add(what[0])


def descendants(pid: int) -> list[int]:
    """Processes that this one started, and those that they started."""
    with contextlib.suppress(OSError):
        threads = Path(f"/proc/{pid}/task").iterdir()
        children = {int(child) for thread in threads for child in (thread / "children").read_text().split()}
        return [one for child in children for one in (child, *descendants(child))]
    return []


def figures_of(pid: int) -> dict[str, float]:
    """Processor time, s, and peak memory, MB, of a process (Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    peak = next((int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")), 0.0)
    return {"cpu": (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), "peak": peak}


def kill_readers(pid: int, path: Path, is_over: threading.Event) -> None:
    """Kill -9 each process under `pid` that has the file mapped."""
    while not is_over.wait(0.001):
        for child in descendants(pid):
            with contextlib.suppress(OSError):
                if path.name in Path(f"/proc/{child}/maps").read_text():
                    os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
