"""A limit of memory for all tests of this folder and for the programs that they start."""

import resource
from collections.abc import Iterator

import pytest

from tests.security.limited import GIGABYTE

MOST_MEMORY = 6 * GIGABYTE  # of a process that has already run other tests


@pytest.fixture(autouse=True)
def limited_memory() -> Iterator[None]:
    """No test, and no program that it starts, may allocate more than this."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
