"""Mutants of logs: read, or named with the reason. HARNESS_UQ_FUZZ says how many; a failure names its seed."""

import json
import os
import random
import re
import signal
import traceback
from collections import Counter
from pathlib import Path

import pytest

from harness_uq import Options, estimate, read_logs
from harness_uq.inference.load_plugins import load_plugins
from tests.fuzz.corpus import originals
from tests.fuzz.mutate import mutant, unzipped, zipped
from tests.output.rendering import render

N = int(os.environ.get("HARNESS_UQ_FUZZ", "500"))
CHUNK = 250
SECONDS, KILOBYTES = 60, 300_000
HARNESSES = ("inspect", "lm-eval")


class HangError(Exception):
    """A mutant took too long."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    found = originals(tmp_path_factory.mktemp("originals"))
    return {name: [one for one in found if one.harness == name] for name in HARNESSES}


@pytest.fixture(scope="module")
def plugins():
    return load_plugins()


@pytest.fixture(scope="module")
def counts():
    """What came of the mutants, by kind; printed at the end (pytest -s)."""
    found = Counter()
    yield found
    print(f"\n{found.total()} mutants")
    for what, n in sorted(found.items()):
        print(f"  {n:6} {what}")


@pytest.fixture
def limited():
    """A minute for each mutant of a test, and 300 MB more than before for all of them."""

    def stop(*_):
        raise HangError(f"more than {SECONDS} seconds")

    before, peak = signal.signal(signal.SIGALRM, stop), peak_memory()
    yield lambda: signal.alarm(SECONDS)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    assert peak_memory() - peak < KILOBYTES


def peak_memory():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def outcome(folder, plugins):
    """Numbers of each row, and the warnings: what `harness-uq estimate` prints, in every format."""
    reading = read_logs(folder, harnesses=plugins.harnesses, need_scores=True)
    rows = estimate(reading.logs, Options(), plugins=plugins) if reading.logs else []
    for name in ("table", "markdown", "csv"):
        render(rows, name)
    json.loads(render(rows, "json"))
    numbers = [(row.task, row.metric, row.filter, row.value, row.interval) for row in rows]
    warnings = [warning for row in rows for warning in row.warnings]
    return numbers, [*warnings, *(message for _, message in (*reading.failures, *reading.warnings))]


def written(original, folder, **changed):
    folder.mkdir()
    for name, content in (original.files | changed).items():
        (folder / name).write_bytes(content)
    return folder


def chunks():
    starts = range(0, N // len(HARNESSES), CHUNK)
    return [pytest.param(start, marks=[pytest.mark.slow] if start else []) for start in starts]


@pytest.mark.slow
@pytest.mark.parametrize("harness", HARNESSES)
@pytest.mark.parametrize("start", chunks())
def test_a_mutant_is_read_or_named(start, harness, corpus, plugins, counts, limited, tmp_path):
    failures = []
    for seed in range(start, min(start + CHUNK, N // len(HARNESSES))):
        original = random.Random(seed).choice(corpus[harness])
        name = random.Random(seed).choice(sorted(original.files))
        what, content = mutant(original.files[name], name, seed)
        folder = written(original, tmp_path / str(seed), **{name: content})
        limited()
        try:
            _, warnings = outcome(folder, plugins)
            counts[f"{harness}, {what}: {'warned of' if warnings else 'read'}"] += 1
        except Exception as error:
            where = [frame for frame in traceback.extract_tb(error.__traceback__) if "harness_uq" in frame.filename][-1]
            failures.append(f"seed {seed}, {what} of {name}: {error!r:.200} at {where.filename}:{where.lineno}")
            counts[f"{harness}, {what}: FAILED"] += 1
        finally:
            signal.alarm(0)
    assert not failures, "\n".join(failures)


# ---------------------------------------------------------------- what can be seen

VALUE = re.compile(rb'"value": "[CI]"|"acc": [01]\.0')
OTHER = {
    b'"value": "C"': b'"value": "I"',
    b'"value": "I"': b'"value": "C"',
    b'"acc": 1.0': b'"acc": 0.0',
    b'"acc": 0.0': b'"acc": 1.0',
}


def with_one_score_changed(content):
    """The content again and again, each time with another of its scores changed."""
    for match in VALUE.finditer(content):
        yield content[: match.start()] + OTHER[match[0]] + content[match.end() :]


def variants(original):
    """The files with one score changed where the readers look for it: in summaries, else in samples."""
    for name, content in original.files.items():
        if not name.endswith(".eval"):
            yield from ({name: changed} for changed in with_one_score_changed(content))
            continue
        members = unzipped(content)
        looked_at = [member for member in members if member[0] == "summaries.json"] or members
        for place, (member, text, method) in enumerate(members):
            if (member, text, method) in looked_at:
                for changed in with_one_score_changed(text):
                    yield {name: zipped([*members[:place], (member, changed, method), *members[place + 1 :]])}


def test_a_score_that_is_not_that_of_the_results_is_warned_of(corpus, plugins, tmp_path):
    number = 0
    for original in (one for of_harness in corpus.values() for one in of_harness if one.is_checkable):
        before, known = outcome(written(original, tmp_path / original.name), plugins)
        for files in variants(original):
            number += 1
            after, said = outcome(written(original, tmp_path / str(number), **files), plugins)
            assert after != before
            assert set(said) - set(known), original.name
    assert number >= 30
