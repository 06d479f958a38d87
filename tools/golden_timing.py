"""CPU time of commands on many tasks and on many systems, for `golden.py time`."""

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import exp
from pathlib import Path

from golden_data import write_run

ROOT = Path(__file__).resolve().parent.parent
N_TASKS = (40, 200)
N_SYSTEMS = 3
MANY = (400, 200)  # systems and questions of the table with many systems
COMMANDS = {
    "estimate": "estimate {tasks}/s0",
    "compare": "compare {tasks}/s0 {tasks}/s1",
    "rank": "rank {tasks}/s0 {tasks}/s1 {tasks}/s2",
    "gate": "gate {tasks}/s0 --baseline {tasks}/s1 --margin 0.05",
    "compare --scope benchmark": "compare {tasks}/s0 {tasks}/s1 --scope benchmark",
}


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    seconds: float
    megabytes: float


def print_times(stored: Path, *, record: bool) -> int:
    """Measure the commands, print a table, and compare with the stored times or store the new ones."""
    before = {name: Cost(**cost) for name, cost in json.loads(stored.read_text()).items()} if stored.exists() else {}
    costs = {}
    print(f"{'command':44}{'CPU (s)':>9}{'MB':>7}{'stored (s)':>12}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as name:
        for label, line in _commands(Path(name)):
            cost = costs[label] = _measure(line)
            old = before.get(label)
            than = f"{old.seconds:12.2f}{cost.seconds / old.seconds:7.2f}" if old else ""
            print(f"{label:44}{cost.seconds:9.2f}{cost.megabytes:7.0f}{than}", flush=True)
    for command in COMMANDS:
        few, many = (costs[_label(command, n)].seconds for n in N_TASKS)
        print(f"{command}: {many / few:.1f} times the CPU time for {N_TASKS[1] / N_TASKS[0]:.0f} times the tasks")
    if record:
        stored.write_text(json.dumps({label: asdict(cost) for label, cost in costs.items()}, indent=1) + "\n")
    return 0


def _label(command: str, n: int) -> str:
    return f"{command}, {n} tasks"


def _commands(folder: Path) -> Iterator[tuple[str, str]]:
    """Names of commands and their arguments; the logs are written first."""
    for n in N_TASKS:
        for k in range(N_SYSTEMS):
            write_run(folder / f"{n}" / f"s{k}", k, n)
        for command, line in COMMANDS.items():
            yield _label(command, n), line.format(tasks=folder / f"{n}")
    _write_table(folder / "many.csv")
    yield f"rank, {MANY[0]} systems, {MANY[1]} questions", f"rank {folder / 'many.csv'}"


def _measure(line: str) -> Cost:
    """CPU time and peak memory of a command in a new process."""
    command = [sys.executable, "-m", "harness_uq", *line.split(), "--isolated", "--format", "json", "--seed", "0"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'adapters'}", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3, 4):
        print(f"failed with exit code {os.waitstatus_to_exitcode(status)}: harness-uq {line}", file=sys.stderr)
    process.returncode = 0  # which wait4 collected
    return Cost(round(usage.ru_utime + usage.ru_stime, 2), round(usage.ru_maxrss / 1024))


def _write_table(path: Path) -> None:
    """A table of many systems on the same questions."""
    rng = random.Random(1)
    n_systems, n_questions = MANY
    difficulties = [rng.gauss(0, 1) for _ in range(n_questions)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "system", "score"])
        for k in range(n_systems):
            ability = rng.gauss(0.5, 0.7)
            for i, difficulty in enumerate(difficulties):
                writer.writerow([f"q{i}", f"s{k:03}", int(rng.random() < 1 / (1 + exp(difficulty - ability)))])
