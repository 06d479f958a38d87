"""The built site is looked at where there is one; the examples are run once for all pages that show what is printed."""

import os
from pathlib import Path

import pytest

from tests.docs import printed

# `nox -s docs` builds the site and says where it is
collect_ignore = [] if "HARNESS_UQ_SITE" in os.environ else ["test_site.py"]


@pytest.fixture(scope="session")
def ready(lm_eval_runs: Path, inspect_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the pages that show commands take it."""
    folder = tmp_path_factory.mktemp("pages") / "here"
    return printed.prepare(folder, [lm_eval_runs, inspect_runs])
