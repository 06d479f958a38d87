import subprocess
import sys

import pytest

import harness_uq
from harness_uq import hookspecs


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


def test_every_hook_is_documented():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs/hooks.md").read_text()
    hooks = [name for name in vars(hookspecs.Hooks) if name.startswith("harness_uq_")]
    assert hooks
    assert all(f"`{name}(" in page for name in hooks)


def test_the_plugin_of_the_documentation_works():
    import re
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs/hooks.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    namespace = {"__name__": "documented_plugin"}
    exec("\n".join(blocks), namespace)
    module = type(sys)("documented_plugin")
    vars(module).update(namespace)
    from harness_uq.plugins import load_plugins

    plugins = load_plugins([module])
    log = __import__("tests.core.logs", fromlist=["task_log"]).task_log([1, 0, 1])
    (row,) = harness_uq.estimate(log, harness_uq.Options(method="worst-case"), plugins=plugins)
    assert (row.interval.low, row.interval.high) == (0.0, 1.0)
