"""Every number on the examples' logs is what it was: `python -m tests.all_numbers` of them, kept in tests/reference.

Where a number is meant to change, make the file anew, and say the change in CHANGELOG.md:

    python examples/demo.py --output DIR
    python -m tests.all_numbers DIR/lm-eval DIR/inspect > tests/reference/numbers.json
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.all_numbers import numbers
from tests.conftest import ROOT

_MACHINES = 1e-7  # processors round differently, and the edges of a quadrature's axes follow; seen: 2e-9

pytestmark = [pytest.mark.harness, pytest.mark.slow]

REFERENCE = json.loads((ROOT / "tests/reference/numbers.json").read_text())


def test_every_number_of_lm_evals_logs_is_what_it_was(lm_eval_runs: Path) -> None:
    assert list(differences(REFERENCE["lm-eval"], numbers(lm_eval_runs / "lm-eval"))) == []


def test_every_number_of_inspects_logs_is_what_it_was(inspect_runs: Path) -> None:
    assert list(differences(REFERENCE["inspect"], numbers(inspect_runs / "inspect"))) == []


def differences(then: object, now: object, place: str = "") -> Iterator[str]:
    """Where two results differ, and how."""
    if isinstance(then, dict) and isinstance(now, dict):
        for name in sorted({*then, *now}):
            yield from differences(then.get(name), now.get(name), f"{place}/{name}")
    elif isinstance(then, list) and isinstance(now, list | tuple) and len(then) == len(now):
        for at, pair in enumerate(zip(then, now, strict=True)):
            yield from differences(*pair, f"{place}[{at}]")
    elif isinstance(then, float) and isinstance(now, float):
        if now != pytest.approx(then, rel=_MACHINES, abs=1e-12):
            yield f"{place}: was {then}, is {now}"
    elif then != now:
        yield f"{place}: was {then}, is {now}"
