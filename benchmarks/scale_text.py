"""Write the figures of results/scale.json into docs/howto/scale.md: `python benchmarks/scale_text.py`."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "scale.json"
PAGE = ROOT / "docs" / "howto" / "scale.md"
START, END = "<!-- from benchmarks/results/scale.json -->\n", "<!-- to here -->\n"
CORES = 16


def write_page() -> None:
    """Put the text between the marks of the page."""
    before, _, after = parts_of(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(f"{before}{START}{text(json.loads(RESULTS.read_text()))}{END}{after}", encoding="utf-8")


def parts_of(page: str) -> tuple[str, str, str]:
    """The text before, between and after the marks."""
    before, rest = page.split(START)
    return before, *rest.split(END)


def text(measured: dict) -> str:
    """A table of the measurements, and an extrapolation to a million logs."""
    return f"{_measured(measured)}\n{_million(measured)}\n"


def _measured(measured: dict) -> str:
    engines, store, memory, n = measured["engines"], measured["store"], measured["memory"], measured["logs"]
    one, few, many = engines["one process"], memory["logs, few"], memory["logs, many"]
    path = one["critical path, s of processor"]
    rows = {
        "One process": f"{path} s of processor time, {1000 * path / n:.0f} ms per log",
        "`--jobs 2`, including the start of the processes": _speedup(engines["two processes"]),
        "Dask, two running local workers": _speedup(engines["dask, two workers that were there"]),
        "Dask, including the start of two local workers": _speedup(engines["dask, two workers started and ended"]),
        "First run with a store": f"{store['cold, s of processor']} s of processor time",
        "Next run with the store (opens no log)": f"{store['cold over warm, processor']:.0f} times as fast by "
        f"processor time, {store['cold over warm, clock']:.0f} by elapsed time; {_warm_ms(measured):.1f} ms per log",
        "Both runs as a command with JSON output": f"{measured['command']['cold, s of processor']} s of "
        f"processor time, then {measured['command']['warm, s of processor']} s",
        "Other options with stored logs (opens no log)": f"{store['cold over other options, processor']} times as fast",
        "Memory of the main process": f"{memory['main process at few, MB']} MB for {few:,} logs, "
        f"{memory['main process at many, MB']} MB for {many:,} ({memory['main process, many over few']:.2f} times)",
        "Memory of a worker": f"{memory['worker, MB']} MB; {memory['largest log alone, MB']} MB for the largest log "
        "alone",
        "Size of the store": f"{store['bytes a log'] / 1000:.1f} kB per log if logs contain the same questions",
    }
    head = (
        f"`benchmarks/bench_scale.py` measured these figures on two cores with {n:,} logs of {one['megabytes']} MB in "
        "total. Half of the logs are\n`.eval` files with 100 questions, and the other half are lm-eval runs with two "
        "tasks and a group of tasks. All variants of the computation\n(one process, two processes, dask, S3 and an "
        "estimate store) resulted in identical estimates. The *processor time* is the time of the main\nprocess plus "
        "the time of the busiest worker. For these measurements, processor time is more reliable than elapsed time, "
        f"because other\nprograms were running on the same computer (load {measured['load']:g} at the start). "
        "Speed-ups in the table are relative to one process without a store.\n"
    )
    return "\n".join([head, "| | |", "| :-- | --: |", *(f"| {what} | {value} |" for what, value in rows.items()), ""])


def _million(measured: dict) -> str:
    n, one = measured["logs"], measured["engines"]["one process"]
    seconds, size = one["critical path, s of processor"] / n, one["megabytes"] / n
    row = measured["memory"]["kB a row"]
    return (
        f"**Extrapolation to a million logs.** If each log takes {1000 * seconds:.0f} ms, one core needs "
        f"{1e6 * seconds / 3600:.1f} hours for a million logs. With {CORES} cores, a million\nlogs take "
        f"{1e6 * seconds / CORES / 60:.0f} minutes if the disk delivers {CORES / seconds * size / 1000:.1f} GB/s. For "
        "a million logs, a Dask scheduler needs about 10 s to distribute\n10,000 batches, and harness_uq needs 1,000 "
        "requests to list a million objects in S3. The memory of the main process is the bottleneck,\nbecause two "
        f"million result rows of {row} kB need {2 * row:.0f} GB of memory. Therefore, run the command for one folder "
        "at a time, use the same estimate\n"
        "store for all folders, and query the estimate store instead of printing a table. The next run looks up each "
        f"log in the estimate\nstore, which takes {_warm_ms(measured):.1f} ms per log, or "
        f"{_warm_ms(measured) * 1e3:.0f} seconds for a million logs on one core.\n"
    )


def _warm_ms(measured: dict) -> float:
    return 1000 * measured["store"]["warm, s of processor"] / measured["logs"]


def _speedup(engine: dict) -> str:
    clock, path = engine["times one process, clock"], engine["times one process, critical path"]
    return f"{clock:.2f} times as fast by elapsed time, {path:.2f} by processor time"


if __name__ == "__main__":
    write_page()
