"""The code of the README works, and the first page of the site has the same examples.

Blocks of commands with their output are compared in test_printed.py.
"""

import doctest
import json
import re
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(text: str) -> list[tuple[str, str]]:
    """Language and content of each block of code."""
    found: list[tuple[str, str]] = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for block in found if "{toctree}" not in block[0]]


BLOCKS = _blocks(README)


def test_every_block_is_checked_by_a_test() -> None:
    kinds = [kind or block.split()[0] for kind, block in BLOCKS]
    assert set(kinds) <= {"console", "pip", "python", "pycon"}


def test_the_package_to_install_and_its_extras_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = re.findall(r'pip install "?([\w-]+)(?:\[([\w-]+)\])?', README)
    assert len(packages) == 3
    assert {name for name, _ in packages} == {project["name"]}
    assert {extra for _, extra in packages if extra} <= set(project["optional-dependencies"])


def test_it_has_at_most_150_lines() -> None:
    assert README.count("\n") <= 150


def test_the_first_page_of_the_site_has_the_same_examples() -> None:
    assert _blocks((ROOT / "docs" / "index.md").read_text(encoding="utf-8")) == BLOCKS


def test_the_description_of_the_picture_has_its_numbers() -> None:
    (description,) = re.findall(r"!\[([^\]]+(?:\[[^\]]+\][^\]]*)*)\]\(docs/images/before-after.svg\)", README)
    drawn = (ROOT / "docs" / "images" / "before-after.svg").read_text(encoding="utf-8")
    numbers = re.findall(r"\d\.\d{4}", description)
    assert len(numbers) == 15
    assert sorted(numbers) == sorted(re.findall(r"\d\.\d{4}", drawn))


def test_the_python_examples_print_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = (block for kind, block in BLOCKS if kind == "pycon")
    test = doctest.DocTestParser().get_doctest(example, {}, "README.md", None, None)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test) == (0, 6)


@pytest.mark.harness
def test_the_python_runs_with_results_of_the_harnesses(
    lm_eval_runs: Path, inspect_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import inspect_ai
    import lm_eval
    from inspect_ai.log import list_eval_logs, read_eval_log

    monkeypatch.chdir(tmp_path)
    logs = [read_eval_log(info) for info in list_eval_logs(str(inspect_runs))]
    monkeypatch.setattr(lm_eval, "simple_evaluate", lambda **_: _returned(lm_eval_runs / "lm-eval/scripted-large"))
    monkeypatch.setattr(inspect_ai, "eval", lambda *_, **__: logs)
    (program,) = (block for kind, block in BLOCKS if kind == "python")
    names: dict[str, object] = {}
    exec(program, names)
    assert (tmp_path / "ranking.svg").stat().st_size > 1000


def _returned(folder: Path) -> dict[str, object]:
    """What `simple_evaluate` returned to the run that wrote these files."""
    (path,) = folder.rglob("results_*.json")
    samples = {
        match[1]: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in sorted(folder.rglob("samples_*.jsonl"))
        if (match := re.match(r"samples_(.+)_\d{4}-", file.name))
    }
    return json.loads(path.read_text(encoding="utf-8")) | {"samples": samples}


def test_pictures_exist_and_are_small() -> None:
    pictures = re.findall(r"\]\(([^)]+\.(?:svg|png))\)", README)
    assert pictures
    assert all((ROOT / picture).stat().st_size < 200_000 for picture in pictures)
