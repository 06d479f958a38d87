"""The conda recipe agrees with pyproject.toml. Building it with conda-build is not tested."""

import importlib
import tomllib
from pathlib import Path

import jinja2
import pytest
import yaml

import harness_uq
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# the names that differ on conda-forge
ON_CONDA = {"msgspec": "msgspec-python"}
SECTIONS = {"package", "source", "build", "requirements", "test", "about"}


@pytest.fixture(scope="module")
def recipe() -> dict:
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    rendered = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render(PYTHON="python")
    return yaml.safe_load(rendered)


def test_it_has_the_sections_of_a_recipe_and_no_others(recipe: dict) -> None:
    assert set(recipe) == SECTIONS


def test_name_version_licence_and_summary_are_the_project_s(recipe: dict) -> None:
    project = PROJECT["project"]
    assert recipe["package"] == {"name": project["name"], "version": harness_uq.__version__}
    assert (recipe["about"]["license"], recipe["about"]["summary"]) == (project["license"], project["description"])
    assert (ROOT / recipe["about"]["license_file"]).is_file()


def test_it_needs_what_the_project_needs(recipe: dict) -> None:
    wanted = [need.partition(";")[0].strip() for need in PROJECT["project"]["dependencies"]]
    named = [need.replace(">=", " >=") for need in wanted]
    expected = [" ".join((ON_CONDA.get(name, name), bound)) for name, bound in (need.split() for need in named)]
    python, *others = recipe["requirements"]["run"]
    assert others == expected
    assert python.startswith(f"python {PROJECT['project']['requires-python']}")
    (backend,) = PROJECT["build-system"]["requires"]
    assert backend.replace(">=", " >=") in recipe["requirements"]["host"]


def test_its_command_is_the_project_s(recipe: dict) -> None:
    scripts = [f"{name} = {target}" for name, target in PROJECT["project"]["scripts"].items()]
    assert recipe["build"]["entry_points"] == scripts


def test_every_module_that_it_imports_exists_and_belongs_to_the_project(recipe: dict) -> None:
    for name in recipe["test"]["imports"]:
        module = importlib.import_module(name)
        assert ROOT in Path(module.__file__ or "").parents
