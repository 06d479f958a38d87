"""Compare what the commands print with stored results, so that a change of the code cannot change a number unnoticed.

    python tools/golden.py check                      # run all cases; exit code 1 if a result differs
    python tools/golden.py check --fast               # leave out the slow cases (about a minute)
    python tools/golden.py check --only 'compare *'   # run only cases whose names match (repeatable)
    python tools/golden.py show 'compare m/binary'    # print the new results of cases as JSON
    python tools/golden.py list                       # print the names of the cases and their times
    python tools/golden.py record [--only PATTERN]    # store new results
    python tools/golden.py time                       # measure estimate, compare, rank and gate on many tasks

The cases run the commands of `harness-uq` over the demo, the logs of the tests and made tables, and call the functions
of arrays. Each case runs in a process of its own, with `--seed 0` and, if no other format is named, `--format json`.
The files of a case are compared, too. The stored results are in `tests/golden`.

Keys and their order, texts, codes, counts and exit codes must agree exactly, and numbers to a relative error of 1e-9.
Numbers in texts may differ by one unit of the last digit. `record` runs each case with several seeds. What differs
between seeds rests on draws, and may differ by four Monte Carlo errors. If it differs by more, `check` repeats the case
with several seeds and compares the means.

A change of results that is intended is an entry of `tests/golden/intended.toml`, which says how to write one. Paths are
printed with each difference: `0.stdout.rankings.0.prob_best` is a value in what the first command of the case printed.
"""

import argparse
import contextlib
import csv
import gc
import hashlib
import html
import importlib
import io
import json
import lzma
import math
import multiprocessing
import os
import pkgutil
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import cache, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # before numpy is imported: sums must not depend on the number of processors

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT), str(ROOT / "adapters")]

from golden_cases import SEEDED, WITH_JSON, Case, all_cases  # noqa: E402
from golden_compare import (  # noqa: E402
    Difference,
    Drawn,
    IntendedChange,
    compare,
    compare_repeated,
    find_drawn,
    is_wording,
    read_intended,
)
from golden_data import TIME, write_data  # noqa: E402

STORED = ROOT / "tests" / "golden"
# logs of others, beside the repository or beside the folder of its worktrees
SHARED = next(filter(Path.is_dir, (folder / "shared" / "data" for folder in ROOT.parents)), ROOT / "shared" / "data")
N_SEEDS = 4  # with which `record` runs a case that rests on draws
N_REPEATED = 8  # seeds with which `check` repeats such a case if a number differs
BATCH = 60  # cases that `record` stores at a time
FAST = 0.15  # seconds of a case that `--fast` runs
TIMEOUT = 300
ENVIRONMENT = ("numpy", "scipy")


@dataclass(frozen=True)
class Run:
    """What one case printed and wrote with one seed."""

    case: str
    seed: int
    result: Any
    seconds: float


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name."""
    args = _parser().parse_args(argv)
    if args.command == "time":
        from golden_timing import print_times

        return print_times(STORED / "times.json", record=args.record)
    cases = _select(args)
    if args.command == "list":
        seconds = _read("seconds")
        for case in cases:
            print(f"{seconds.get(case.name, math.nan):7.2f}  {case.name}")
        print(f"{len(cases)} cases")
        return 0
    run: Callable[..., int] = {"record": record, "check": check, "show": show}[args.command]
    return run(cases, args)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("record", "check", "show", "list"):
        command = commands.add_parser(name)
        command.add_argument("--only", action="append", metavar="PATTERN", help="cases to run (repeatable)")
        command.add_argument("--fast", action="store_true", help="leave out slow cases")
        command.add_argument("--jobs", type=int, default=2, metavar="N", help="number of processes (default: 2)")
        if name == "check":
            command.add_argument("--verbose", action="store_true", help="print every difference")
            command.add_argument("--exact", action="store_true", help="allow no differences of numbers at all")
            command.add_argument("--no-repeat", action="store_true", help="never repeat a case with other seeds")
            command.add_argument("--no-text", action="store_true", help="ignore the wording of messages")
        if name == "show":
            command.add_argument("names", nargs="+", metavar="PATTERN")
        if name == "record":
            command.add_argument("--missing", action="store_true", help="record only cases without stored results")
    timing = commands.add_parser("time")
    timing.add_argument("--record", action="store_true", help="store the times, to which later times are compared")
    return parser


def _select(args: argparse.Namespace) -> list[Case]:
    patterns = [*(args.only or []), *getattr(args, "names", [])]
    seconds = _read("seconds")
    return [
        case
        for case in all_cases()
        if (not patterns or any(fnmatchcase(case.name, pattern) for pattern in patterns))
        and not (args.fast and seconds.get(case.name, 0) > FAST)
        and (SHARED.is_dir() or not case.shared)
    ]


# running


def run_cases(cases: Iterable[Case], seeds: Sequence[int], jobs: int) -> Iterator[Run]:
    """Run each case with each seed in a process of its own; in any order."""
    by_name = {case.name: case for case in cases}
    if not by_name:
        return
    with _work_folder() as folder:
        _import_all()
        _run_in.update(folder=folder, cases=by_name)
        gc.collect()
        gc.freeze()  # so that collections in forked processes do not copy the memory of this one
        slow_first = sorted(by_name, key=lambda name: -_read("seconds").get(name, 1))
        tasks = [(name, seed) for name in slow_first for seed in seeds]
        with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
            for n, run in enumerate(pool.imap_unordered(_run_task, tasks), 1):
                if n % 20 == 0 or n == len(tasks):
                    print(f"\r{n} of {len(tasks)} runs", end="", file=sys.stderr, flush=True)
                yield run
        print(file=sys.stderr)


_run_in: dict[str, Any] = {}


def _run_task(task: tuple[str, int]) -> Run:
    name, seed = task
    folder: Path = _run_in["folder"]
    start = time.process_time()
    signal.alarm(TIMEOUT)
    result = run_case(_run_in["cases"][name], seed, folder)
    signal.alarm(0)
    # as JSON returns it: tuples are lists
    return Run(name, seed, json.loads(json.dumps(result)), time.process_time() - start)


@contextlib.contextmanager
def _work_folder() -> Iterator[Path]:
    """A folder with all data; the length of its name is fixed."""
    digest = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    folder = Path(tempfile.gettempdir()) / f"harness-uq-golden-{digest}-{os.getpid():07}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        write_data(folder / "data")
        if SHARED.is_dir():
            (folder / "data" / "s").symlink_to(SHARED)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _import_all() -> None:
    """Import what the commands need, so that each forked process need not."""
    import harness_uq.commands.main
    import harness_uq_formats

    for package in (harness_uq, harness_uq_formats):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(("__main__", "dask")):
                with contextlib.suppress(ImportError):  # of packages that are not installed
                    importlib.import_module(module.name)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        harness_uq.commands.main.main(["plugins"])
    for name in ("scipy.stats", "scipy.special", "scipy.optimize", "scipy.integrate", "rich.console"):
        importlib.import_module(name)


def run_case(case: Case, seed: int, folder: Path) -> object:
    """Run the commands of a case, or its function, and return all results; changes this process."""
    time.time = lambda: float(TIME)  # type: ignore[assignment]
    if case.call is not None:
        try:
            return case.call(seed)
        except Exception as error:
            return {"error": type(error).__name__, "text": str(error)}
    # each run has a folder of its own, in which the data and the folder `out` have the same relative paths in all runs
    own = folder / f"run-{hashlib.sha256(f'{case.name} {seed}'.encode()).hexdigest()[:12]}"
    out = own / "out"
    out.mkdir(parents=True)
    for path in (folder / "data").iterdir():
        (own / path.name).symlink_to(path)
    os.chdir(own)
    _set_environment()
    clean = partial(_normalize, folders=(own, folder / "data", folder))
    results = [_run_command([word.replace("{out}", "out") for word in words], seed, clean) for words in case.commands]
    files = {_file_name(path, out): _read_file(path, clean) for path in sorted(out.rglob("*")) if path.is_file()}
    shutil.rmtree(own)
    return {**{str(i): result for i, result in enumerate(results)}, **({"files": files} if files else {})}


def _set_environment() -> None:
    for name in list(os.environ):
        if name.startswith("HARNESS_UQ_") or name in ("FORCE_COLOR", "GITHUB_ACTIONS", "CI"):
            del os.environ[name]
    os.environ |= {"COLUMNS": "160", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    time.tzset()


def _run_command(words: Sequence[str], seed: int, clean: Callable[[str], str]) -> dict[str, object]:
    """Run one command in this process."""
    from harness_uq.commands.main import main as run

    arguments = list(words)
    if words[0] in SEEDED:
        arguments += ["--seed", str(seed)]
    if words[0] in WITH_JSON and not {"--format", "--output"} & set(words):
        arguments += ["--format", "json"]
    if "--jobs" in words:  # a pool of processes does not start in a process of a pool
        done = subprocess.run([sys.executable, "-m", "harness_uq", *arguments], capture_output=True, text=True)
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            code = run(arguments)
        out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    form = arguments[arguments.index("--format") + 1] if "--format" in arguments else "text"
    return {"exit": code, "stdout": _parse(clean(out), form), "stderr": clean(err)}


def _normalize(text: str, *, folders: Sequence[Path]) -> str:
    """The text without versions, the date of today, and names of folders."""
    import harness_uq

    for folder in folders:
        text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    text = _UUID.sub("UUID", text.replace(harness_uq.__version__, "VERSION"))
    return _TIMES.sub(lambda found: "NOW" if _is_now(found[0]) else found[0], text)


# of files of Every Eval Ever: it depends on all of their content
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=(?:_samples)?\.json)")
_TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|\+00:00)?")


def _is_now(text: str) -> bool:
    """Whether a time is in the last hour."""
    written = datetime.fromisoformat(re.sub("(?: UTC|Z|\\+00:00)$", "", text)).replace(tzinfo=UTC)
    return abs(datetime.now(UTC) - written) < timedelta(hours=1)


def _parse(text: str, form: str) -> object:
    """The content of JSON and of CSV tables; the text of pages; other texts as they are."""
    if form in ("json", "jsonl", "eee") and text.strip():
        with contextlib.suppress(json.JSONDecodeError):
            return json.loads(text)
        with contextlib.suppress(json.JSONDecodeError):
            return [json.loads(line) for line in text.splitlines()]
    if form == "csv" and text.strip():
        return [[_cell(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
    if form == "html":
        return _page_text(text)
    return text


def _cell(cell: str) -> object:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(cell)
    return cell


def _page_text(page: str) -> str:
    page = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    lines = html.unescape(re.sub(r"<[^>]*>", "\n", page)).splitlines()
    return "\n".join(line for line in map(str.strip, lines) if line)


def _file_name(path: Path, out: Path) -> str:
    """The name of a file; `*` for random names."""
    name = path.relative_to(out).as_posix()
    return _UUID.sub("UUID", re.sub(r"[0-9a-f]{32}", "*", name))


def _read_file(path: Path, clean: Callable[[str], str]) -> object:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return "binary"
    if len(text) > 200_000:
        return "large"
    return _parse(clean(text), path.suffix.removeprefix(".").lower())


# storing


@cache
def _read(name: str) -> dict[str, Any]:
    """Stored results of one command, or the times of cases."""
    if name == "seconds":
        path = STORED / "seconds.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path = STORED / f"{name}.json.xz"
    return json.loads(lzma.decompress(path.read_bytes())) if path.exists() else {}


def _write(name: str, stored: dict[str, Any]) -> None:
    """Store results of one command; the same results give the same bytes."""
    STORED.mkdir(parents=True, exist_ok=True)
    _read.cache_clear()
    if name == "seconds":
        lines = json.dumps(dict(sorted(stored.items())), indent=0)
        (STORED / "seconds.json").write_text(lines + "\n", encoding="utf-8")
        return
    content = json.dumps(dict(sorted(stored.items())), separators=(",", ":"), ensure_ascii=False)
    (STORED / f"{name}.json.xz").write_bytes(lzma.compress(content.encode(), preset=9 | lzma.PRESET_EXTREME))


def _file_of(case: Case) -> str:
    if case.shared:
        return "shared"
    first = case.name.split()[0]
    return first if first.removesuffix("_scores") in WITH_JSON else "other"


def record(cases: Sequence[Case], args: argparse.Namespace) -> int:
    """Store the results of the cases; with `--only`, keep those of all other cases."""
    if args.missing:
        cases = [case for case in cases if case.name not in _read(_file_of(case))]
    shuffled = random.Random(0).sample(cases, len(cases))
    n_drawn = 0
    for start in range(0, len(cases), BATCH):  # what is recorded is kept if a later case fails
        n_drawn += _record(shuffled[start : start + BATCH], args.jobs)
        print(f"{min(start + BATCH, len(cases))} of {len(cases)} cases stored", file=sys.stderr, flush=True)
    (STORED / "environment.json").write_text(json.dumps({name: version(name) for name in ENVIRONMENT}) + "\n")
    seconds = _read("seconds")
    total = sum(seconds[case.name] for case in cases)
    print(f"stored {len(cases)} cases ({total:.0f} s), of which {n_drawn} rest on draws")
    return 0


def _record(cases: Sequence[Case], jobs: int) -> int:
    """Store the results of these cases and return how many of them rest on draws."""
    results: dict[str, dict[int, object]] = defaultdict(dict)
    seconds = _read("seconds")
    seeded = [case for case in cases if case.call or SEEDED & {words[0] for words in case.commands}]
    rest = [case for case in cases if case not in seeded]
    for run in chain(run_cases(seeded, (0, 1), jobs), run_cases(rest, (0,), jobs)):
        results[run.case][run.seed] = run.result
        if run.seed == 0:
            seconds[run.case] = round(run.seconds, 2)
    drawn = [case for case in seeded if find_drawn(list(results[case.name].values()))]
    for run in run_cases(drawn, range(2, N_SEEDS), jobs):
        results[run.case][run.seed] = run.result
    names = {case.name for case in all_cases()}
    for file in sorted({_file_of(case) for case in cases}):
        stored = {name: entry for name, entry in _read(file).items() if name in names}
        for case in cases:
            if _file_of(case) == file:
                by_seed = results[case.name]
                stored[case.name] = {"result": by_seed[0]}
                if case in drawn:
                    stored[case.name]["drawn"] = find_drawn([by_seed[seed] for seed in sorted(by_seed)])
        _write(file, stored)
    _write("seconds", {name: value for name, value in seconds.items() if name in names})
    return len(drawn)


# checking


def check(cases: Sequence[Case], args: argparse.Namespace) -> int:
    """Compare the results of the cases with those stored; exit code 1 if a difference is not intended."""
    intended = read_intended(STORED / "intended.toml")
    found = find_differences(cases, intended, jobs=args.jobs, exact=args.exact, repeat=not args.no_repeat)
    unexpected = [one for one in found.unexpected if not (args.no_text and is_wording(one))]
    _print_differences(unexpected, None if args.verbose else 8)
    for entry in intended:
        if entry.n_matches:
            print(f"intended: {entry.n_matches} values of {entry.cases} ({entry.paths}): {entry.reason}")
    if found.not_stored:
        print(f"{len(found.not_stored)} cases have no stored results, such as {found.not_stored[0]}")
    print(
        f"{len(cases) - len(found.not_stored)} cases, {found.n_values} values: {len(unexpected)} differences in "
        f"{len({one.case for one in unexpected})} cases, {found.n_intended} intended differences"
    )
    return 1 if unexpected else 0


@dataclass(frozen=True)
class Found:
    """The outcome of running cases and comparing their results."""

    n_values: int
    unexpected: list[Difference]
    n_intended: int
    not_stored: list[str]


def find_differences(
    cases: Sequence[Case], intended: Sequence[IntendedChange], *, jobs: int, exact: bool = False, repeat: bool = True
) -> Found:
    """Run cases with seed 0 and compare.

    If values that rest on draws differ and this is not intended, repeat the case with several seeds.
    """
    stored = {name: entry for file in {_file_of(case) for case in cases} for name, entry in _read(file).items()}
    n_values = n_intended = 0
    unexpected: dict[str, list[Difference]] = {}
    for run in run_cases([case for case in cases if case.name in stored], [0], jobs):
        result, drawn = stored[run.case]["result"], stored[run.case].get("drawn", {})
        n, differing = compare(run.case, result, run.result, drawn, n_seeds=N_SEEDS, exact=exact)
        n_values += n
        left = [one for one in differing if not any(change.allows(one) for change in intended)]
        n_intended += len(differing) - len(left)
        if left:
            unexpected[run.case] = left
    if repeat and not exact:
        drawn_of = {name: stored[name].get("drawn", {}) for name in unexpected}
        unclear = [
            case for case in cases if any(one.path in drawn_of[case.name] for one in unexpected.get(case.name, ()))
        ]
        for name, again in _repeat(unclear, jobs).items():
            unexpected[name] = compare_repeated(
                unexpected[name], drawn_of[name], again, n_seeds=N_SEEDS, n_repeated=N_REPEATED
            )
    return Found(
        n_values,
        [one for name in sorted(unexpected) for one in unexpected[name]],
        n_intended,
        [case.name for case in cases if case.name not in stored],
    )


def _repeat(cases: Sequence[Case], jobs: int) -> dict[str, Drawn]:
    """The values of each case that rest on draws, from runs with several seeds."""
    results: dict[str, dict[int, object]] = defaultdict(dict)
    for run in run_cases(cases, range(N_REPEATED), jobs):
        results[run.case][run.seed] = run.result
    return {name: find_drawn([by_seed[seed] for seed in sorted(by_seed)]) for name, by_seed in results.items()}


def _print_differences(differences: Sequence[Difference], most: int | None) -> None:
    by_case: dict[str, list[Difference]] = defaultdict(list)
    for difference in differences:
        by_case[difference.case].append(difference)
    for case, group in by_case.items():
        print(f"\n{case}")
        for difference in group[:most]:
            for line in difference.lines():
                print(f"  {line}")
        if most is not None and len(group) > most:
            print(f"  … and {len(group) - most} more (--verbose prints all)")
    if differences:
        print()


def show(cases: Sequence[Case], args: argparse.Namespace) -> int:
    """Print the results of the cases."""
    for run in run_cases(cases, [0], args.jobs):
        print(f"# {run.case} ({run.seconds:.2f} s)")
        print(json.dumps(run.result, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
