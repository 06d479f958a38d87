"""What the method pages offer in code can be had from `harness_uq.stats`."""

import inspect
import pkgutil
import re
from importlib import import_module

import pytest

from harness_uq import stats
from tests.conftest import ROOT


def functions_of_stats() -> set[str]:
    """Public functions of all its modules."""
    names = [found.name for found in pkgutil.walk_packages(stats.__path__, "harness_uq.stats.")]
    modules = [import_module(name) for name in names]
    return {
        name
        for module in modules
        for name, thing in vars(module).items()
        if inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_")
    }


FUNCTIONS = functions_of_stats()
HEADS = {page.stem: page.read_text().partition("\n## ")[0] for page in (ROOT / "docs/methods").glob("*.md")}


@pytest.mark.parametrize("page", sorted(HEADS))
def test_every_function_at_the_head_of_a_method_page_is_public(page: str) -> None:
    named = set(re.findall(r"`(?:harness_uq\.stats\.)?(\w+)[(`]", HEADS[page])) & FUNCTIONS
    assert sorted(named - set(stats.__all__)) == []


def test_public_names_are_sorted_and_there() -> None:
    assert sorted(stats.__all__) == list(stats.__all__)
    assert all(hasattr(stats, name) for name in stats.__all__)
