"""All settings by name, in the order of the report."""

from itertools import product

import numpy as np

from benchmarks.calibration.scenarios.clusters import CLUSTERED, NESTED
from benchmarks.calibration.scenarios.confusion import F1
from benchmarks.calibration.scenarios.crossed import CROSSED
from benchmarks.calibration.scenarios.exact import CLOSED
from benchmarks.calibration.scenarios.finite_population import FULL
from benchmarks.calibration.scenarios.groups import GROUPS
from benchmarks.calibration.scenarios.labels import JUDGE
from benchmarks.calibration.scenarios.new_tasks import NEW_TASKS
from benchmarks.calibration.scenarios.numeric_scores import BOUNDED, UNBOUNDED
from benchmarks.calibration.scenarios.pairs import INDEPENDENT, PAIRED, PAIRED_CLUSTERED
from benchmarks.calibration.scenarios.subsets import SUBSET
from benchmarks.calibration.scenarios.trials import BENCHMARK, PASS_K
from benchmarks.calibration.scenarios.types import LEVELS, NOMINAL, Cell, DataSet, Scenario, Size

PRIORS = {"Beta(1, 1)": (1.0, 1.0), "Beta(10, 10)": (10.0, 10.0), "Beta(100, 20)": (100.0, 20.0)}
PRIORS["Beta(20, 100)"] = (20.0, 100.0)


def _iid_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    sizes = (3, 10, 30, 100) if smoke else (3, 10, 30, 100, 300, 1000)
    levels = (NOMINAL,) if smoke else LEVELS
    thetas = (0.5, 0.8, 0.95) if smoke else (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
    averaged = [
        Cell("iid", "prior" if name == "Beta(1, 1)" else "mismatched", {"theta": name, "N": n}, 0, averaged=False)
        for name, n in product(PRIORS, sizes)
    ]
    fixed = [Cell("iid", "fixed", {"theta": theta, "N": n}, 0) for theta, n in product(thetas, sizes)]
    return [
        Cell(c.setting, c.family, c.parameters, 0, averaged=c.family == "prior", levels=levels)
        for c in (*averaged, *fixed)
    ]


def _not_drawn(cell: Cell, rng: np.random.Generator) -> DataSet:
    raise NotImplementedError(f"the coverage of {cell.key} is exact and needs no simulation")


IID = Scenario("iid", "Independent right-or-wrong questions", ("bayes", *CLOSED, "bootstrap"), _iid_cells, _not_drawn)

SETTINGS: dict[str, Scenario] = {
    setting.name: setting
    for setting in (
        IID,
        BOUNDED,
        UNBOUNDED,
        FULL,
        CLUSTERED,
        NESTED,
        INDEPENDENT,
        PAIRED,
        PAIRED_CLUSTERED,
        F1,
        BENCHMARK,
        PASS_K,
        GROUPS,
        NEW_TASKS,
        JUDGE,
        SUBSET,
        CROSSED,
    )
}
