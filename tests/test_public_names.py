import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from uuid import uuid4

import pytest

import harness_uq
from harness_uq.logs.places import write_whole
from harness_uq.plugins import hookspecs
from harness_uq.plugins.manager import load_plugins
from tests.conftest import ROOT
from tests.logs.toy import task_log


@pytest.mark.parametrize("name", harness_uq.__all__)
def test_every_public_name_resolves_and_is_documented(name):
    thing = getattr(harness_uq, name)
    assert getattr(thing, "__doc__", None) or name == "hookimpl"


def test_the_lazy_table_and_all_agree():
    assert sorted([*harness_uq._HOME_OF, "stats"]) == sorted(harness_uq.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'estimat'"):
        _ = harness_uq.estimat


def test_import_loads_neither_numpy_nor_scipy():
    script = "import sys, harness_uq; print([m for m in ('numpy', 'scipy', 'pluggy', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


PAGES = sorted((ROOT / "docs/howto").glob("*.md"))


def plugin_of(page: Path) -> ModuleType:
    """What the page's Python makes."""
    module = ModuleType(page.stem)
    exec("\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)), vars(module))
    return module


def test_every_hook_is_documented():
    text = "".join(page.read_text() for page in PAGES)
    hooks = [name for name in vars(hookspecs.Hooks) if name.startswith("harness_uq_")]
    assert hooks
    assert all(f"`{name}(" in text for name in hooks)


def test_the_estimator_of_the_documentation_works():
    plugins = load_plugins([plugin_of(ROOT / "docs/howto/add-an-estimator.md")])
    log = replace(task_log([1, 0, 1]), reported={("acc", "none"): harness_uq.Reported(0.66, 0.3, 3)})
    (row,) = harness_uq.estimate(log, harness_uq.Options(method="worst-case"), plugins=plugins)
    assert (row.interval.low, row.interval.high) == (0.0, 1.0)
    assert (row.harness.std_error, row.n_questions, row.about.title) == (0.3, 3, "Range of the scores")


def test_the_harness_of_the_documentation_works(tmp_path):
    plugins = load_plugins([plugin_of(ROOT / "docs/howto/add-a-harness.md")])
    (tmp_path / "a.uqtxt").write_text("".join(f"{i // 4} {i % 3 > 0:d}\n" for i in range(80)))
    (tmp_path / "b.uqtxt").write_text("no number\n")
    found = harness_uq.read_logs(tmp_path, harnesses=plugins.harnesses)
    (row,) = harness_uq.estimate(found.logs, plugins=plugins)
    assert (row.task, row.cluster_key, row.n_clusters) == ("a", "passage", 20)
    assert "the reader of plain-text failed: ValueError" in found.warnings[0][1]


def test_the_harness_of_the_documentation_reads_stores_and_one_that_does_not_say_so_gets_paths_alone():
    pytest.importorskip("fsspec")
    reader = load_plugins([plugin_of(ROOT / "docs/howto/add-a-harness.md")]).harnesses["plain-text"]
    place = f"memory://{uuid4().hex}/a.uqtxt"
    write_whole(place, b"".join(b"%d %d\n" % (i // 4, i % 3 > 0) for i in range(80)))
    (log,) = harness_uq.read_logs(place, harnesses={reader.name: reader}).logs
    assert (log.task, log.source.path, len(log.questions)) == ("a", place, 80)
    reader.reads_stores = False
    ((path, message),) = harness_uq.read_logs(place, harnesses={reader.name: reader}).failures
    assert (path, message) == (place, "its content is not that of a log of a harness that reads stores ()")
