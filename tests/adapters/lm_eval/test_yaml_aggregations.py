"""Aggregations that lm-eval finds by entry points; a stand-in imitates the registry of lm-eval after 0.4.13."""

from importlib.metadata import entry_points

import pytest

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


class Registry:
    """As in lm-eval after 0.4.13, a name can be registered again only with the same object."""

    def __init__(self):
        self.found = {}

    def register(self, name, target):
        if self.found.setdefault(name, target) is not target:
            raise ValueError(f"{name!r} is taken by another object")


@pytest.mark.parametrize("order", [1, -1])
def test_aggregations_from_entry_points_and_from_the_module_are_the_same_objects(order):
    from harness_uq_lm_eval.yaml_aggregations import AGGREGATIONS

    offered = [entry for entry in entry_points(group="lm_eval.aggregations") if entry.name.startswith("uq_")]
    assert {entry.name for entry in offered} == set(AGGREGATIONS)
    registry = Registry()
    for road in [[(e.name, e.load()) for e in offered], list(AGGREGATIONS.items())][::order]:
        for name, target in road:
            registry.register(name, target)
    assert registry.found == AGGREGATIONS


def test_aggregations_are_found_by_name():
    from lm_eval.api.registry import get_aggregation

    from harness_uq_lm_eval.yaml_aggregations import AGGREGATIONS

    assert {name: get_aggregation(name) for name in AGGREGATIONS} == AGGREGATIONS
