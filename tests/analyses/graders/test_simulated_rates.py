"""Error rates of the assessment of graders in `benchmarks/results/graders.json`."""

import json

from tests.conftest import ROOT

TABLE = json.loads((ROOT / "benchmarks/results/graders.json").read_text())
# two Monte Carlo standard errors above 5 %
HIGHEST = 0.05 + 2 * (0.05 * 0.95 / TABLE["replications"]) ** 0.5


def test_equal_graders_are_rarely_reported_as_different():
    nulls = [cell for cell in TABLE["drift"] if cell["drift"] == 0]
    assert len(nulls) == 6
    assert all(cell["any_reported"] <= HIGHEST for cell in nulls)


def test_fair_graders_rarely_have_a_preference():
    nulls = [cell for cell in TABLE["preference"] if cell["preference"] == 0]
    assert len(nulls) == 4
    assert all(cell["any_reported"] <= HIGHEST for cell in nulls)


def test_large_differences_are_found():
    found = {(cell["n"], cell["different"], cell["drift"]): cell["any_reported"] for cell in TABLE["drift"]}
    assert found[300, 0.15, 0.06] > 0.9
    own = {(cell["n"], cell["j"], cell["preference"]): cell["own"] for cell in TABLE["preference"]}
    assert own[200, 0.9, 0.2] > 0.95
