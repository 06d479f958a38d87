"""Run both harnesses in many situations, plain and with `--uq bayes`, and compare what they write.

Compared are values, samples, the number of files and exit codes. Each run is a process forked from one that has
imported the harness, but nothing of harness_uq.

`python tools/live_matrix.py run HARNESS FILE` writes what it finds with the version of the harness that is installed;
`check HARNESS` fails if a difference is not expected; `table FILE…` writes the page docs/reference/live-runs.md.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "live-runs.md"
FOLDERS = {"lm-eval": "lm_eval", "inspect-ai": "inspect"}
NAMES = {"lm-eval": "lm-eval", "inspect-ai": "Inspect"}
# what all runs import, done once
IMPORTED = {
    "lm-eval": ("lm_eval.__main__", "lm_eval.evaluator", "live_tasks"),
    "inspect-ai": ("inspect_ai._cli.main", "inspect_ai.model._providers.mockllm", "fastapi", "live_tasks"),
}
TIME_LIMIT = 240
NEVER_THE_SAME = {"date", "total_evaluation_time_seconds", "start_time", "end_time", "pretty_env_info", "uq", "config"}
# situations in which the run with harness_uq ends otherwise, on purpose
EXPECTED = {
    ("lm-eval", "Full disk"): "exit code 1 and no incomplete file with harness_uq",
}
# exit codes of plain runs, 0 in all other situations
CODES = {("lm-eval", "Interrupt"): 130, ("lm-eval", "Model fails"): 1}
CODES |= {(harness, f"Unknown {what}"): 1 for harness in FOLDERS for what in ("task", "model")}
INTRODUCTION = """\
# Live runs

This page compares runs of both harnesses without and with `--uq bayes`. "Equal" means that the values, the samples, the
number of files and the exit code are the same. Standard errors are not compared, because harness_uq replaces them. This
command runs these situations and writes this page:

    nox -s live

Models are scripts or a server on the same machine.

The last two columns show how much more CPU time and memory the run with `--uq bayes` needs, for each version in order.
For the first two situations, they are differences of medians of five runs of each kind, which alternate. For other
situations, they are from one run of each kind, and vary on a busy machine.
"""
NOTHING = "no values and samples"  # of a plain run that ends with exit code 0
FAILED = "the plain run fails"
REPEATS = {"One task": 5, "One task with clusters": 5}  # of which CPU time and memory are the medians


def main(arguments: list[str]) -> int:
    """Run the situations of a harness, or write the page. Returns 1 if `check` finds what is not expected."""
    if arguments[0] == "table":
        PAGE.write_text(page([json.loads(Path(file).read_text(encoding="utf-8")) for file in arguments[1:]]))
        return 0
    harness = arguments[1]
    found = {"harness": harness, "version": version(harness), "situations": run_all(harness)}
    if arguments[0] == "run":
        Path(arguments[2]).write_text(json.dumps(found, indent=1), encoding="utf-8")
        return 0
    differing = unexpected(harness, found["situations"])
    print(f"{harness} {found['version']}: differs in {', '.join(differing) or 'no situation'}")
    return int(bool(differing))


def unexpected(harness: str, situations: dict[str, dict[str, object]]) -> list[str]:
    """Situations that differ and should not."""
    return [name for name, seen in situations.items() if seen["differs"] and (harness, name) not in EXPECTED]


def run_all(harness: str, only: Collection[str] = ()) -> dict[str, dict[str, object]]:
    """What was seen in each situation, or in some of them."""
    live = ROOT / "tests" / "adapters" / FOLDERS[harness] / "live"
    names = re.findall(r'^    "(.+?)": ', (live / "matrix_runs.py").read_text().partition("SITUATIONS = {")[2], re.M)
    names = [name for name in names if not only or name in only]
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_of(Path(folder), live)
        servers = [start_s3(environment, Path(folder))] if any("S3" in name for name in names) else []
        line = [sys.executable, str(ROOT / "tests" / "fork_server.py"), *IMPORTED[harness]]
        forks = subprocess.Popen(line, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        servers.append(forks)
        try:
            found = {}
            for name in names:
                found[name] = compare(harness, name, Path(folder), live, environment, forks)
                print(harness, version(harness), name, found[name], flush=True)
            return found
        finally:
            for server in servers:
                with server:
                    server.terminate()


def environment_of(folder: Path, live: Path) -> dict[str, str]:
    """Variables of every run: no network, one cache of data sets, credentials for a store on this machine."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "adapters", live)))
    environment = {**os.environ, "PYTHONPATH": path, "MATRIX_TASKS": str(folder / "tasks"), "HF_HOME": str(folder)}
    environment |= {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1", "OMP_NUM_THREADS": "1", "XDG_DATA_HOME": str(folder)}
    environment |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "MATRIX_PORT": str(free_port())}
    if "lm_eval" in str(live):
        write = f"import live_tasks, pathlib; live_tasks.write(pathlib.Path({str(folder / 'tasks')!r}))"
        subprocess.run([sys.executable, "-c", write], env=environment, check=True)
    return environment


def free_port() -> int:
    """A port that nothing uses."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def start_s3(environment: dict[str, str], folder: Path) -> subprocess.Popen[bytes]:
    """The S3 server of the tests with a bucket, whose address is added to the environment."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment |= {"AWS_ENDPOINT_URL": url, "MATRIX_BUCKET": "logs"}
    line = [sys.executable, str(ROOT / "tests" / "s3_server.py"), str(port), str(folder / "asked")]
    server = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    make = "import s3fs; s3fs.S3FileSystem().mkdir('logs')"
    for _ in range(40):
        time.sleep(0.5)
        if subprocess.run([sys.executable, "-c", make], env=environment, capture_output=True).returncode == 0:
            return server
    server.terminate()
    raise RuntimeError("the S3 server does not answer")


def compare(
    harness: str, name: str, folder: Path, live: Path, environment: dict[str, str], forks: subprocess.Popen[str]
) -> dict[str, object]:
    """What differs between plain runs and those with intervals, and what these cost more."""
    n = REPEATS.get(name, 1)
    ways = ("plain", "uq")
    pairs = [{way: run(way, name, folder / str(k), live, environment, forks) for way in ways} for k in range(n)]
    runs = {way: [pair[way] for pair in pairs] for way in ways}
    plain, ours = runs["plain"][-1], runs["uq"][-1]
    outcomes = {way: outcome(harness, runs[way][-1]["folder"], live, environment) for way in ways}
    costs = {
        key: median(one[key] for one in runs["uq"]) - median(one[key] for one in runs["plain"])
        for key in ("cpu", "memory")
    }
    differs = [key for key in outcomes["plain"] if outcomes["plain"][key] != outcomes["uq"][key]]
    if plain["code"] != ours["code"]:
        differs.append("exit code")
    if plain["code"] != CODES.get((harness, name), 0):
        differs.append(FAILED)
    elif plain["code"] == 0 and not (outcomes["plain"]["values"] or outcomes["plain"]["samples"]):
        differs.append(NOTHING)
    return {"codes": [plain["code"], ours["code"]], "differs": differs, **costs}


def run(
    way: str, name: str, folder: Path, live: Path, environment: dict[str, str], forks: subprocess.Popen[str]
) -> dict[str, object]:
    """Exit code as a shell says it, CPU seconds and largest memory in MB of a run."""
    place = folder / re.sub(r"\W+", "-", f"{name} {way}")
    place.mkdir(parents=True)
    request = {"arguments": [str(live / "matrix_runs.py"), name, way], "environment": environment, "cwd": str(place)}
    # a process that runs in the background ignores interrupts
    limit = f"import signal; signal.alarm({TIME_LIMIT}); signal.signal(signal.SIGINT, signal.default_int_handler)"
    print(json.dumps(request | {"before": limit, "out": os.devnull, "err": os.devnull}), file=forks.stdin, flush=True)
    code, cpu, memory = map(float, forks.stdout.readline().split())
    return {"code": int(code if code >= 0 else 128 - code), "cpu": cpu, "memory": memory / 1024, "folder": place}


def outcome(harness: str, folder: Path, live: Path, environment: dict[str, str]) -> dict[str, object]:
    """Values, samples and number of files of each kind in a folder."""
    variable_part = r"\d[\dT:.+-]*\d|\d|_[A-Za-z0-9]{22}"  # times and identifiers
    files = [re.sub(variable_part, "", path.name) for path in folder.rglob("*.*") if path.is_file()]
    others = lm_eval_outcome(folder) if harness == "lm-eval" else inspect_outcome(folder, live, environment)
    return {"files": sorted(files), **others}


def lm_eval_outcome(folder: Path) -> dict[str, object]:
    """Of results files, of samples, and of what was returned."""
    returned = folder / "returned.json"
    results = [parsed(path.read_text()) for path in sorted(folder.rglob("results_*.json"))]
    results += json.loads(returned.read_text()) if returned.is_file() else []
    samples = [one.pop("samples", None) for one in results if isinstance(one, dict)]
    files = sorted(folder.rglob("samples_*.jsonl"))
    samples += [[parsed(line) for line in path.read_text().splitlines()] for path in files]
    return {"values": [without_errors(one) if isinstance(one, dict) else one for one in results], "samples": samples}


def parsed(text: str) -> object:
    """JSON, or a word for a part of a file."""
    try:
        return json.loads(text)
    except ValueError:
        return "incomplete"


def without_errors(results: dict[str, object]) -> dict[str, object]:
    """All parts of results except standard errors, which ours replace."""
    parts = {key: part for key, part in results.items() if key not in NEVER_THE_SAME}
    for part in ("results", "groups"):
        rows = parts.get(part) or {}
        parts[part] = {task: {k: v for k, v in row.items() if "_stderr" not in k} for task, row in rows.items()}
    return parts


def inspect_outcome(folder: Path, live: Path, environment: dict[str, str]) -> dict[str, object]:
    """Of all logs, as Inspect reads them."""
    place = f"s3://logs/{folder.name}" if folder.name.startswith("Object-store") else str(folder)
    sys.path[:0], variables = [str(ROOT), str(live)], dict(os.environ)
    os.environ |= environment
    try:
        logs = import_module("matrix_runs").read(place)
    finally:
        os.environ |= variables
        del sys.path[:2]
    keys = ("values", "samples")
    return {key: [log if isinstance(log, str) else log[key] for log in logs] for key in keys} | {
        "status": [log if isinstance(log, str) else (log["task"], log["model"], log["status"]) for log in logs]
    }


def page(found: list[dict[str, object]]) -> str:
    """The page with a table for each harness."""
    parts = [INTRODUCTION]
    for harness in FOLDERS:
        versions = [one for one in found if one["harness"] == harness]
        if not versions:
            continue
        titles = [f"{NAMES[harness]} {one['version']}" for one in versions]
        parts.append(f"## {NAMES[harness]}\n")
        rows = [["Situation", "Expected", *titles, "CPU seconds more", "Memory more (MB)"]]
        for name in versions[-1]["situations"]:
            seen = [one["situations"].get(name) for one in versions]
            expected = EXPECTED.get((harness, name), f"equal, exit code {CODES.get((harness, name), 0)}")
            cost = [
                ", ".join(f"{one[key]:.{digits}f}" for one in seen if one)
                for key, digits in (("cpu", 1), ("memory", 0))
            ]
            rows.append([name, expected, *map(told, seen), *cost])
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        parts.append("\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n")
    return "\n".join(parts)


def told(seen: dict[str, object] | None) -> str:
    """What was seen, in words."""
    if seen is None:
        return "-"
    plain, ours = seen["codes"]
    codes = f"exit code {plain}" if plain == ours else f"exit code {plain} without, {ours} with"
    for failure in (FAILED, NOTHING):
        if failure in seen["differs"]:
            return f"{failure}, {codes}"
    others = [what for what in seen["differs"] if what != "exit code"]
    return f"{', '.join(others)} differ, {codes}" if others else f"equal, {codes}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
