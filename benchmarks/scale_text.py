"""What docs/scale.md says of results/scale.json, written into the page: `python benchmarks/scale_text.py`."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "scale.json"
PAGE = ROOT / "docs" / "scale.md"
START, END = "<!-- from benchmarks/results/scale.json -->\n", "<!-- to here -->\n"
CORES = 16


def write_page() -> None:
    """Put the text between the marks of the page."""
    before, _, after = parts_of(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(f"{before}{START}{text(json.loads(RESULTS.read_text()))}{END}{after}", encoding="utf-8")


def parts_of(page: str) -> tuple[str, str, str]:
    """What stands before, between and after the marks."""
    before, rest = page.split(START)
    return before, *rest.split(END)


def text(found: dict) -> str:
    """A table of what was measured, and what that makes for a million logs."""
    return f"{_measured(found)}\n{_million(found)}\n"


def _measured(found: dict) -> str:
    engines, store, memory, n = found["engines"], found["store"], found["memory"], found["logs"]
    one, few, many = engines["one process"], memory["logs, few"], memory["logs, many"]
    path = one["critical path, s of processor"]
    rows = {
        "one process": f"{path} s of processor, {1000 * path / n:.0f} ms a log",
        "`--jobs 2`, start of the processes included": _times(engines["two processes"]),
        "dask, two workers of this machine that were there": _times(engines["dask, two workers that were there"]),
        "the same, started for this and ended": _times(engines["dask, two workers started and ended"]),
        "first run with a store": f"{store['cold, s of processor']} s of processor",
        "the next, no log opened": f"{store['cold over warm, processor']:.0f} times as fast by processor time, "
        f"{store['cold over warm, clock']:.0f} by the clock; {_warm_ms(found):.1f} ms a log",
        "both as a command, start and table of JSON included": f"{found['command']['cold, s of processor']} s of "
        f"processor, then {found['command']['warm, s of processor']} s",
        "other options on kept logs": f"{store['cold over other options, processor']} times as fast, no log opened",
        "memory of the main process": f"{memory['main process at few, MB']} MB at {few:,} logs, "
        f"{memory['main process at many, MB']} MB at {many:,}: {memory['main process, many over few']:.2f} times",
        "memory of a worker": f"{memory['worker, MB']} MB; {memory['largest log alone, MB']} MB for the largest log "
        "alone",
        "the store": f"{store['bytes a log'] / 1000:.1f} kB a log where logs are of the same questions",
    }
    head = (
        f"Measured with `benchmarks/bench_scale.py` on a machine of two cores: {n:,} logs, {one['megabytes']} MB,\n"
        "half `.eval` files of 100 questions, half runs of lm-eval of two tasks and a group. Rows were the same to the "
        "last byte from\none process, two, dask, S3 and a store. Where others use the machine, too (load "
        f"{found['load']:g} as this began), the clock tells less than\nprocessor time, of the main process and the "
        "busiest worker.\n"
    )
    return "\n".join([head, "| | |", "| :-- | --: |", *(f"| {what} | {said} |" for what, said in rows.items()), ""])


def _million(found: dict) -> str:
    n, one = found["logs"], found["engines"]["one process"]
    seconds, size = one["critical path, s of processor"] / n, one["megabytes"] / n
    row = found["memory"]["kB a row"]
    return (
        f"**To a million logs, on paper.** At {1000 * seconds:.0f} ms a log one core needs {1e6 * seconds / 3600:.1f} "
        f"hours, {CORES} cores {1e6 * seconds / CORES / 60:.0f} minutes, if\nthe disk gives {1000 * size:.0f} kB × "
        f"{CORES / seconds:,.0f} a second ({CORES / seconds * size / 1000:.1f} GB/s). 10,000 batches cost a dask "
        "scheduler about 10 s at 1 ms\neach. Listing S3 takes 1,000 calls for each million names. What does not scale "
        f"is the main process: two million rows of\n{row} kB are {2 * row:.0f} GB, so run folder by folder into "
        "one store, and query the store rather than print a table. The next run\nlooks every log up in the store, "
        f"{_warm_ms(found):.1f} ms each: {_warm_ms(found) * 1e3:.0f} seconds by one core.\n"
    )


def _warm_ms(found: dict) -> float:
    return 1000 * found["store"]["warm, s of processor"] / found["logs"]


def _times(engine: dict) -> str:
    clock, path = engine["times one process, clock"], engine["times one process, critical path"]
    return f"{clock:.2f} times as fast by the clock, {path:.2f} by processor time"


if __name__ == "__main__":
    write_page()
