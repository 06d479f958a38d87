"""Many logs: one process, two, a dask cluster and a store, against one another.

    python benchmarks/bench_scale.py [--logs 2000] [--folder DIR]

The logs are made from the stand-ins of `tests/data/logs.zip`: half are `.eval` files of 100 questions, half runs of
lm-eval of two tasks and their group; scores are drawn again, and so differ. Each run is a process of its own. Its time
is given on the clock and, since other work may share the machine, on the critical path: processor time of the main
process and of the busiest worker. Rows are compared as the bytes of the JSON that is printed. Written to
benchmarks/results/scale.json.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "scale.json"
WAYS = {
    "one process": {},
    "two processes": {"engine": "joblib", "jobs": 2},
    "dask, two workers": {"engine": "dask", "jobs": 2},
}
A_FOLDER = 200


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
            "memory": lambda: memory(folders, options.logs),
            "failures": lambda: failures(folder / "broken", folders[0]),
            "killed": lambda: killed(timed[:1], folder / "killed"),
        }
        found = {"logs": options.logs, "load": round(os.getloadavg()[0], 1)}
        for name, each in measures.items():
            found[name] = each()
            print(name, json.dumps(found[name], indent=1), flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    return 0


# ---------------------------------------------------------------- measures


def engines(paths: list[str]) -> dict:
    """Each way against one process."""
    runs = {way: run(paths, **settings) for way, settings in WAYS.items()}
    one = runs["one process"]
    return {
        way: {
            "seconds": round(made["seconds"], 1),
            "critical path, s of processor": round(path_of(made), 1),
            "times one process, clock": round(one["seconds"] / made["seconds"], 2),
            "times one process, critical path": round(path_of(one) / path_of(made), 2),
            "rows identical": made["digest"] == one["digest"],
            "rows": made["rows"],
            "megabytes": round(made["bytes"] / 1e6),
        }
        for way, made in runs.items()
    }


def store(paths: list[str], folder: Path) -> dict:
    """A store filled, and used again, and used under other options."""
    shutil.rmtree(folder, ignore_errors=True)
    cold, warm = (run(paths, store=str(folder)) for _ in range(2))
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
        "rows identical": cold["digest"] == warm["digest"],
        "bytes a log": round(sum(path.stat().st_size for path in folder.rglob("*.parquet")) / cold["logs"]),
    }


def memory(folders: list[Path], n_logs: int) -> dict:
    """Peaks of the main process at a tenth and at all of the logs, and of a worker against its largest log alone."""
    few, many = ([str(path) for path in folders[: n // A_FOLDER]] for n in (n_logs // 5, 2 * n_logs))
    small, large = (run(paths, engine="joblib", jobs=2, method="wilson") for paths in (few, many))
    alone = run([str(largest(Path(path) for path in many))], method="wilson")
    return {
        f"main process, MB at {n_logs // 5} logs": round(small["peak"]),
        f"main process, MB at {2 * n_logs} logs": round(large["peak"]),
        "main process, many over few": round(large["peak"] / small["peak"], 3),
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
    from harness_uq.plugins.manager import load_plugins
    from harness_uq.scaling.store import Store
    from harness_uq.scaling.upkeep import problems

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
        wrong += bool(list(problems(Store(str(folder)), plugins)))
    same = run(paths, store=str(folder))["digest"] == run(paths)["digest"]
    return {
        "times": times,
        "with an unfinished file left": in_writing,
        "stores with a problem": wrong,
        "rows identical": same,
    }


def run(paths: list[str], **settings: object) -> dict:
    """What a process of its own measures."""
    command = [sys.executable, __file__, "--measure", json.dumps({"paths": paths, **settings})]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(
    paths: list[str],
    engine: str | None = None,
    jobs: int | None = None,
    store: str | None = None,
    method: str = "bayes",
    level: float = 0.95,
) -> dict:
    """Rows of the logs, with time, memory and files opened; imports are left out of the times."""
    from harness_uq import Options
    from harness_uq.report.tabular import estimates_json
    from harness_uq.scaling.engine import Engine
    from harness_uq.scaling.scan import scan

    scan([], Options(method=method), store=store and f"{store}.empty")
    opened, children = set(), {}
    sys.addaudithook(lambda event, what: note_open(event, what, paths, opened))

    def progress(at: object) -> None:
        children.update({pid: figures for pid in descendants(os.getpid()) if (figures := figures_of(pid))})

    who = Engine() if engine is None else Engine(engine, jobs)
    start, cpu = time.perf_counter(), time.process_time()
    found = scan(paths, Options(method=method, level=level), engine=who, store=store, progress=progress)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = figures_of(os.getpid())["peak"]  # before the rows are printed
    digest = hashlib.sha256(estimates_json(found.rows).encode()).hexdigest()
    return {
        "seconds": seconds,
        "cpu": cpu,
        "worker_cpu": max((figures["cpu"] for figures in children.values()), default=0.0),
        "worker_peak": max((figures["peak"] for figures in children.values()), default=0.0),
        "peak": peak,
        "rows": len(found.rows),
        "logs": len({row.source.path for row in found.rows}),
        "bytes": sum(
            path.stat().st_size for name in paths for path in [*Path(name).rglob("*"), Path(name)] if path.is_file()
        ),
        "opened": len(opened),
        "digest": digest,
    }


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


# ---------------------------------------------------------------- logs


def make_logs(folder: Path, n: int) -> None:
    """`n` logs in folders of 200, half of each harness; those that are there stay."""
    if folder.exists() and len(list(folder.iterdir())) == n // A_FOLDER:
        return
    shutil.rmtree(folder, ignore_errors=True)
    templates = Templates()
    for i in range(n):
        target = folder / f"{i // A_FOLDER:03}"
        target.mkdir(parents=True, exist_ok=True)
        (templates.inspect if i % 2 else templates.lm_eval)(target, i)


class Templates:
    """Logs of the stand-ins, of which others are made."""

    def __init__(self) -> None:
        self._rng = random.Random(7)
        with zipfile.ZipFile(ROOT / "tests" / "data" / "logs.zip") as archive:
            names = archive.namelist()
            run = next(n for n in names if "negotiationtom" in n and "run_a" in n and "results_" in n)
            log = next(n for n in names if "popularity_100" in n and n.endswith(".eval"))
            self._results = json.loads(archive.read(run))
            self._rows = {
                task: [
                    json.loads(line)
                    for line in archive.read(
                        next(n for n in names if f"samples_{task}_" in n and "run_a" in n)
                    ).splitlines()
                ]
                for task in ("negotiationtom_belief", "negotiationtom_desire")
            }
            self._members = _members(archive.read(log))

    def inspect(self, folder: Path, i: int) -> None:
        """A log of 100 questions."""
        members = dict(self._members)
        header, summaries = json.loads(members["header.json"]), json.loads(members["summaries.json"])
        chance = self._rng.uniform(0.2, 0.9)
        right = [self._rng.random() < chance for _ in summaries]
        for summary, is_right in zip(summaries, right, strict=True):
            summary["scores"]["match"]["value"] = "C" if is_right else "I"
        header["eval"] |= {
            "model": f"maker/model-{i}",
            "created": f"2026-01-01T00:00:{i % 60:02}+00:00",
            "eval_id": f"e{i}",
        }
        value, n = sum(right) / len(right), len(right)
        metrics = header["results"]["scores"][0]["metrics"]
        metrics["accuracy"]["value"], metrics["stderr"]["value"] = value, (value * (1 - value) / (n - 1)) ** 0.5
        members |= {"header.json": json.dumps(header), "summaries.json": json.dumps(summaries)}
        with zipfile.ZipFile(folder / f"{i:06}.eval", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, content in members.items():
                archive.writestr(name, content)

    def lm_eval(self, folder: Path, i: int) -> None:
        """A run of two tasks of 20 questions in clusters, and of their group."""
        target, time_of = folder / f"model-{i}", f"2026-01-01T00-00-{i % 60:02}.{i:06}"
        target.mkdir()
        values = {}
        for task, rows in self._rows.items():
            chance = self._rng.uniform(0.2, 0.9)
            drawn = [row | {"acc": float(self._rng.random() < chance)} for row in rows]
            values[task] = sum(row["acc"] for row in drawn) / len(drawn)
            lines = "".join(json.dumps(row) + "\n" for row in drawn)
            (target / f"samples_{task}_{time_of}.jsonl").write_text(lines)
        (target / f"results_{time_of}.json").write_text(json.dumps(self._with(values, i)))

    def _with(self, values: dict[str, float], i: int) -> dict:
        group, results = "negotiationtom", self._results
        named = {task: results["results"][task] | {"acc,none": value} for task, value in values.items()}
        mean = {"acc,none": sum(values.values()) / len(values), "acc_stderr,none": 0.08, "alias": group, "name": group}
        return results | {
            "results": named | {group: mean},
            "groups": {group: mean},
            "group_subtasks": {group: list(values)},
            "configs": {task: results["configs"][task] for task in values},
            "n-samples": {task: results["n-samples"][task] for task in values},
            "model_name": f"maker/model-{i}",
        }


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in ("header.json", "summaries.json", "_journal/start.json")}


def inflate(path: Path, n: int) -> None:
    """Make a log of many more questions of it, which takes long to read."""
    members = _members(path.read_bytes())
    summaries = json.loads(members["summaries.json"])
    many = [summary | {"id": f"{k}-{i}"} for k in range(n // len(summaries)) for i, summary in enumerate(summaries)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in (members | {"summaries.json": json.dumps(many).encode()}).items():
            archive.writestr(name, part)


def largest(folders: object) -> Path:
    """The largest log."""
    return max((path for folder in folders for path in folder.iterdir()), key=size_of)


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    return sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size


if __name__ == "__main__":
    sys.exit(main())
