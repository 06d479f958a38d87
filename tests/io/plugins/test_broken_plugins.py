"""Broken plugins of other packages: every command works as without them and names each of them once."""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import invalidate_caches
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import installed_plugins
from tests.commands.test_main import write_lm_eval

HEAD = """
from harness_uq.plugin_api import MethodInfo, hookimpl

class Method:
    name = {name!r}
    info = MethodInfo("A method")
    def why_unsupported(self, problem):
        return None
    def estimate(self, problem):
        raise ZeroDivisionError

@hookimpl
def harness_uq_estimators():
    return [Method()]
"""

BROKEN = {
    "no-info": (HEAD.format(name="no-info") + "\ndel Method.info\n", "method 'no-info': attribute 'info' is missing"),
    "wrong-type": (
        HEAD.format(name="wrong-type") + "\nMethod.info = 'a text'\n",
        "method 'wrong-type': attribute 'info' must be of type MethodInfo, not str",
    ),
    "raises": ("raise RuntimeError('no luck')\n", "RuntimeError: no luck"),
    "exits": ("raise SystemExit('bye')\n", "SystemExit: bye"),
    "impostor": (HEAD.format(name="beta"), "method 'beta' has the name of a built-in method"),
    "twin-1": (HEAD.format(name="twin"), "method 'twin' has a name that plugin 'twin-2' also uses"),
    "twin-2": (HEAD.format(name="twin"), "method 'twin' has a name that plugin 'twin-1' also uses"),
}


def install(folder: Path, name: str, source: str) -> str:
    """Write a distribution with one plugin into a folder; the name of its module."""
    module = f"plugin_{name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(source)
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[harness_uq]\n{name} = {module}\n")
    return module


@contextmanager
def installed(folder: Path, plugins: Mapping[str, str]) -> Iterator[None]:
    """Plugins, as sources by name, that are installed inside the block."""
    folder.mkdir()
    modules = [install(folder, name, source) for name, source in plugins.items()]
    sys.path.insert(0, str(folder))
    invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for module in modules:
            sys.modules.pop(module, None)


@pytest.fixture
def broken(tmp_path):
    with installed(tmp_path / "site", {name: source for name, (source, _) in BROKEN.items()}):
        yield


@pytest.fixture
def runs(tmp_path):
    """A folder with a run of each of two systems."""
    for name, right in (("a", 40), ("b", 25)):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        write_lm_eval(folder, 50, right)
        (results,) = folder.glob("results_*.json")
        results.write_text(results.read_text().replace("toy-model", f"model-{name}"))
    return tmp_path / "runs"


COMMANDS = {
    "estimate": ["RUNS/a"],
    "structure": ["RUNS/a"],
    "effects": ["RUNS"],
    "report": ["RUNS"],
    "watch": ["RUNS/a", "--once"],
    "compare": ["RUNS/a", "RUNS/b"],
    "gate": ["RUNS/a", "--baseline", "RUNS/b", "--margin", "0.05"],
    "rank": ["RUNS"],
    "plan": ["RUNS/a", "--width", "0.1"],
    "subset": ["toy", "--reference-runs", "RUNS", "--n", "20", "--ids", "OUT/ids.json"],
    "rescore": ["RUNS/a", "--output-dir", "OUT"],
    "restore": ["RUNS/a"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_works_and_names_each_broken_plugin_once(command, runs, tmp_path, capsys):
    arguments = [text.replace("RUNS", str(runs)).replace("OUT", str(tmp_path / "out")) for text in COMMANDS[command]]
    outcomes = []
    for plugins in ({}, {name: source for name, (source, _) in BROKEN.items()}):
        (tmp_path / "out").mkdir()
        with installed(tmp_path / f"site-{len(plugins)}", plugins):
            outcomes.append(run(capsys, command, *arguments))
        shutil.rmtree(tmp_path / "out")
    (code, out, err), (code_with_broken, out_with_broken, err_with_broken) = outcomes
    assert (code_with_broken, out_with_broken) == (code, out)
    assert code == (1 if command in ("restore", "effects") else 0)
    warnings = [line for line in err_with_broken.splitlines() if line not in err.splitlines()]
    assert len(warnings) == len(BROKEN)
    for name in BROKEN:
        assert sum(f"Plugin {name!r} (plugin_" in line for line in warnings) == 1, name
    assert all("(UQ702)" in line for line in warnings)


def run(capsys, *arguments):
    code = main(list(arguments))
    streams = capsys.readouterr()
    return code, streams.out, streams.err


@pytest.mark.usefixtures("broken")
def test_the_list_of_plugins_has_the_package_and_the_reason(capsys):
    code, out, err = run(capsys, "plugins", "--format", "json")
    plugins = {plugin["name"]: plugin for plugin in json.loads(out)["plugins"]}
    assert (code, err) == (0, "")
    for name, (_, reason) in BROKEN.items():
        assert plugins[name]["distribution"] == f"{name}-package 1.0"
        assert plugins[name]["is_skipped"]
        assert plugins[name]["provides"] == {"methods": [], "readers": [], "output formats": [], "hooks": []}
        assert plugins[name]["problems"][0].startswith(reason)
        assert len(plugins[name]["problems"]) == 1
    assert "beta" in plugins["methods"]["provides"]["methods"]
    assert not any(plugins[name]["problems"] for name in ("inspect", "lm-eval", "methods", "tables"))


@pytest.mark.usefixtures("broken")
def test_the_table_of_plugins_names_each_skipped_one(capsys):
    _, out, _ = run(capsys, "plugins")
    _, _, skipped = out.partition("\nSkipped:\n")
    assert [line.split()[0] for line in skipped.splitlines() if not line.startswith("    ")] == sorted(BROKEN)


@pytest.mark.usefixtures("broken")
def test_built_in_methods_are_not_replaced_and_neither_twin_is_used():
    plugins = load_plugins()
    assert type(plugins.estimators["beta"]).__module__.startswith("harness_uq.")
    assert "twin" not in plugins.estimators


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("Method.name = ''", "attribute 'name' is empty"),
        ("Method.name = 3", "method of type Method: attribute 'name' must be of type str, not int"),
        ("Method.name = property(lambda self: 1 / 0)", "attribute 'name' raised ZeroDivisionError"),
        ("Method.estimate = 'a text'", "attribute 'estimate' must be a method, not str"),
        ("Method.name = 'bayes'", "method 'bayes' has the name of the default methods"),
        ("Method.__new__ = lambda cls: cls", "Method is a class; return an instance of it"),
        ("Method = lambda: None", "method of type NoneType: attribute 'name' is missing"),
        ("Method = None", "harness_uq_estimators raised TypeError"),
    ],
)
def test_a_method_that_breaks_the_contract_is_skipped_with_the_reason(tmp_path, change, problem):
    with installed(tmp_path / "site", {"changed": HEAD.format(name="changed") + change}):
        (plugin,) = (one for one in load_plugins().installed if one.name == "changed")
    assert plugin.is_skipped
    assert problem in plugin.problems[0]


def test_the_valid_part_of_a_plugin_is_used(tmp_path):
    source = HEAD.format(name="good") + "\n@hookimpl\ndef harness_uq_harnesses():\n    return [object()]\n"
    with installed(tmp_path / "site", {"mixed": source}):
        plugins = load_plugins()
    assert "good" in plugins.estimators
    (warning,) = plugins.warnings
    assert warning.code == "UQ702"
    assert (warning.params["plugin"], warning.params["extent"]) == ("mixed", " in part")
    assert warning.params["address"] == "plugin_mixed, mixed-package 1.0"
    assert str(warning.params["reason"]).startswith("reader of type object")


def test_plugins_are_searched_for_again_only_after_an_installation(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    os.utime(tmp_path, ns=(0, 0))
    assert installed_plugins() is installed_plugins()
    install(tmp_path, "late", HEAD.format(name="late"))
    assert [plugin.distribution for plugin, _ in installed_plugins() if plugin.name == "late"] == ["late-package 1.0"]


def test_two_plugins_may_use_one_entry_point_name(tmp_path):
    with (
        installed(tmp_path / "site-1", {"first": HEAD.format(name="method-1")}),
        installed(tmp_path / "site-2", {"second": HEAD.format(name="method-2")}),
    ):
        entry_points = tmp_path / "site-2" / "plugin_second-1.0.dist-info" / "entry_points.txt"
        entry_points.write_text(entry_points.read_text().replace("second =", "first ="))
        plugins = load_plugins()
    assert {"method-1", "method-2"} <= set(plugins.estimators)
    assert plugins.warnings == ()
