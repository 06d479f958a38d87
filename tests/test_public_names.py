import re
import subprocess
import sys
from dataclasses import replace
from inspect import isclass, ismodule, isroutine
from pathlib import Path
from types import ModuleType
from uuid import uuid4

import numpy as np
import pytest

import harness_uq
from harness_uq import plugin_api
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import HarnessResult
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.paths import write_bytes
from harness_uq.io.plugins import hookspecs
from tests.conftest import ROOT
from tests.data.toy import task_log


@pytest.mark.parametrize("module", [harness_uq, plugin_api], ids=lambda module: module.__name__)
def test_every_public_name_resolves_and_is_documented(module):
    assert len(set(module.__all__)) == len(module.__all__)
    things = {name: getattr(module, name) for name in module.__all__}
    documented = {
        name: thing for name, thing in things.items() if isclass(thing) or isroutine(thing) or ismodule(thing)
    }
    assert len(documented) > 40
    assert [name for name, thing in documented.items() if not thing.__doc__] == []


def test_no_public_function_has_the_name_of_a_package():
    packages = {path.name for path in (ROOT / "harness_uq").iterdir() if path.is_dir()}
    modules = {path.stem for path in (ROOT / "harness_uq").glob("*.py")}
    assert (packages | modules) & {*harness_uq.__all__} == {"plots", "stats"}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No harness_uq attribute estimat"):
        _ = harness_uq.estimat


@pytest.mark.parametrize("module", ["harness_uq", "harness_uq.plugin_api"])
def test_import_loads_neither_numpy_nor_scipy(module):
    script = f"import sys, {module}; print([m for m in ('numpy', 'scipy', 'pluggy', 'rich') if m in sys.modules])"
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


def test_every_function_for_files_on_the_page_exists():
    text = (ROOT / "docs/howto/support-another-harness.md").read_text()
    names = set(re.findall(r"paths\.(\w+)\(", text))
    assert len(names) > 6
    assert [name for name in names if not hasattr(plugin_api.paths, name)] == []


def test_the_estimator_of_the_documentation_works():
    plugins = load_plugins([plugin_of(ROOT / "docs/howto/write-an-interval-method.md")])
    log = replace(task_log([1, 0, 1]), reported={("acc", "none"): HarnessResult(0.66, 0.3, 3)})
    (row,) = harness_uq.estimate(log, harness_uq.Options(method="worst-case"), plugins=plugins)
    assert (row.interval.low, row.interval.high) == (0.0, 1.0)
    assert (row.harness.std_error, row.n_questions, row.info.title) == (0.3, 3, "Range of the scores")


def test_the_estimator_with_clusters_of_the_documentation_draws_whole_clusters():
    page = plugin_of(ROOT / "docs/howto/write-an-interval-method.md")
    made = vars(page)["ClusterPercentiles"]()
    plugins = replace(load_plugins([]), estimators={made.name: made})
    log = task_log([1, 1, 0, 0] * 3, fields={"passage": list("aabbccddeeff")})
    options = harness_uq.Options(method=made.name, structure=StructureOptions(cluster="passage"))
    (clustered,) = harness_uq.estimate(log, options, plugins=plugins)
    assert clustered.std_error == pytest.approx(
        np.sqrt(0.25 / 6), rel=0.03
    )  # six independent clusters, not 12 questions
    (again,) = harness_uq.estimate(log, options, plugins=plugins)
    assert again.interval == clustered.interval
    (alone,) = harness_uq.estimate(
        replace(log, questions=replace(log.questions, fields={})), harness_uq.Options(method=made.name), plugins=plugins
    )
    assert alone.interval is None


def test_the_harness_of_the_documentation_works(tmp_path):
    plugins = load_plugins([plugin_of(ROOT / "docs/howto/support-another-harness.md")])
    (tmp_path / "a.uqtxt").write_text("".join(f"{i // 4} {i % 3 > 0:d}\n" for i in range(80)))
    (tmp_path / "b.uqtxt").write_text("no number\n")
    found = harness_uq.read_logs(tmp_path, harnesses=plugins.harnesses)
    (row,) = harness_uq.estimate(found.logs, plugins=plugins)
    assert (row.task, row.cluster_key, row.n_clusters) == ("a", "passage", 20)
    ((_, message),) = found.warnings
    assert (message.name, message.params["harness"]) == ("reader-failed", "plain-text")
    assert str(message.params["error"]).startswith("ValueError")


def test_the_harness_of_the_documentation_reads_stores_and_one_that_does_not_say_so_gets_paths_alone():
    pytest.importorskip("fsspec")
    reader = load_plugins([plugin_of(ROOT / "docs/howto/support-another-harness.md")]).harnesses["plain-text"]
    place = f"memory://{uuid4().hex}/a.uqtxt"
    write_bytes(place, b"".join(b"%d %d\n" % (i // 4, i % 3 > 0) for i in range(80)))
    (log,) = harness_uq.read_logs(place, harnesses={reader.name: reader}).logs
    assert (log.task, log.source.path, len(log.questions)) == ("a", place, 80)
    reader.reads_stores = False
    ((path, message),) = harness_uq.read_logs(place, harnesses={reader.name: reader}).failures
    assert (path, message.name) == (place, "not-a-log")
