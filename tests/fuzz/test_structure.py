"""Mutants of structure through every reader: a log is read, or named with the reason, and never an internal error.

HARNESS_UQ_FUZZ says how many for each form of log, at most 2,000; a failure names its seed and the form.
"""

import json
import os
import random
import signal
import traceback
from collections import Counter

import pytest

from harness_uq import HarnessUqError, Options, estimate, read_logs, read_table
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.messages.catalogue.command_line import INTERNAL_ERROR
from tests.fuzz.mutate_tables import table_mutant
from tests.fuzz.names import FORMS, Names
from tests.output.rendering import render

pytest.importorskip("pyarrow")

N = min(int(os.environ.get("HARNESS_UQ_FUZZ", "40")), 2000)
FIRST = int(os.environ.get("HARNESS_UQ_FUZZ_FIRST", "0"))
QUICK, CHUNK, SECONDS = 10, 250, 60


class HangError(Exception):
    """A mutant took too long."""


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """The files of each form of log, by their path in its folder."""
    found = {}
    for form, write in FORMS.items():
        folder = tmp_path_factory.mktemp("original")
        write(folder, Names())
        found[form] = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return found


@pytest.fixture(scope="module")
def plugins():
    return load_plugins()


@pytest.fixture(scope="module")
def counts():
    """What came of the mutants, by form; printed at the end (pytest -s)."""
    found = Counter()
    yield found
    print(f"\n{found.total()} mutants")
    for what, n in sorted(found.items()):
        print(f"  {n:6} {what}")


@pytest.fixture
def alarm():
    """Starts a minute, after which `HangError` is raised."""

    def stop(*_):
        raise HangError(f"more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda: signal.alarm(SECONDS)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def chunks():
    starts = [FIRST, *range(FIRST + QUICK, FIRST + N, CHUNK)]
    ends = [*starts[1:], FIRST + N]
    return [
        pytest.param(a, b, marks=[pytest.mark.slow] if a > FIRST else []) for a, b in zip(starts, ends, strict=True)
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("start", "end"), chunks())
def test_a_mutant_of_structure_is_read_or_named(start, end, form, originals, plugins, counts, alarm, tmp_path):
    failures = []
    for seed in range(start, end):
        files = originals[form]
        name = random.Random(seed).choice(sorted(files))
        what, content = table_mutant(files[name], name, seed)
        folder = tmp_path / str(seed)
        for path, original in (files | {name: content}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(original)
        alarm()
        try:
            counts[f"{form}: {outcome(folder, plugins)}"] += 1
        except Exception as error:
            where = [frame for frame in traceback.extract_tb(error.__traceback__) if "harness_uq" in frame.filename]
            place = f"{where[-1].filename}:{where[-1].lineno}" if where else "the test"
            failures.append(f"seed {seed}, {what} of {name}: {error!r:.200} at {place}")
            counts[f"{form}: FAILED"] += 1
        finally:
            signal.alarm(0)
    assert not failures, "\n".join(failures[:20])


def outcome(folder, plugins):
    """Whether the logs of a folder were read, after estimates and their outputs."""
    reading = read_logs(folder, harnesses=plugins.harnesses, need_scores=True)
    messages = [message for _, message in (*reading.failures, *reading.warnings)]
    for path in folder.glob("scores.*"):
        try:
            read_table(path)
        except HarnessUqError as error:
            messages.append(error.message)
    rows = estimate(reading.logs, Options(), plugins=plugins) if reading.logs else []
    messages += [message for row in rows for message in row.messages]
    for name in ("table", "markdown", "csv", "latex", "html"):
        render(rows, name)
    json.loads(render(rows, "json"))
    internal = [message.text for message in messages if message.code == INTERNAL_ERROR.code]
    assert not internal, internal[0]
    return "named" if reading.failures or reading.warnings or not rows else "read"
