"""Gates as test cases of JUnit, checked against the elements and attributes of the format."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness_uq import TaskLog, gate
from harness_uq.commands.main import main
from harness_uq.results.documents import render_results
from tests.data.toy import task_log

IDS = [str(i) for i in range(400)]
# The JUnit format of Surefire and Jenkins, as far as their readers agree: the children of each element in order, with
# the largest number of each (None: any), and the type of each attribute, all of which are required.
CHILDREN: dict[str, dict[str, int | None]] = {
    "testsuites": {"testsuite": None},
    "testsuite": {"testcase": None, "system-out": 1},
    "testcase": {"skipped": 1, "error": 1, "failure": 1, "system-out": 1},
    "error": {},
    "failure": {},
    "skipped": {},
    "system-out": {},
}
ATTRIBUTES = {
    "testsuite": {"name": str, "tests": int, "failures": int, "errors": int, "skipped": int},
    "testcase": {"name": str, "classname": str},
    "error": {"message": str, "type": str},
    "failure": {"message": str, "type": str},
    "skipped": {"message": str},
}


def log(n_right: int, **other: object) -> TaskLog:
    return task_log([1] * n_right + [0] * (400 - n_right), ids=IDS, **other)


def check_element(element: ET.Element) -> None:
    """Check the children, their order and the attributes of an element and of everything in it."""
    allowed, tags = CHILDREN[element.tag], [child.tag for child in element]
    assert sorted(tags, key=list(allowed).index) == tags
    assert all(limit is None or tags.count(tag) <= limit for tag, limit in allowed.items())
    types = ATTRIBUTES.get(element.tag, {})
    assert set(element.keys()) == set(types)
    assert all(kind is str or int(element.get(name)) >= 0 for name, kind in types.items())
    for child in element:
        check_element(child)


def suite_of(text: str) -> ET.Element:
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    check_element(root)
    (suite,) = root
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests"))
    for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert sum(case.find(tag) is not None for case in cases) == int(suite.get(count))
    return suite


@pytest.mark.parametrize(("bound", "tags"), [(0.5, ["system-out"]), (0.9, ["failure"]), (0.75, ["error"])])
def test_each_decision_has_its_element(bound: float, tags: list[str]) -> None:
    suite = suite_of(render_results([gate(log(300), at_least=bound)], "junit"))
    (case,) = suite.findall("testcase")
    assert [child.tag for child in case] == tags
    assert (case.get("classname"), case.get("name")) == ("toy", f"acc at least {bound:g}")
    counts = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 1, "failures": tags.count("failure"), "errors": tags.count("error"), "skipped": 0}


def test_comparisons_and_missing_tasks_are_cases() -> None:
    new = [log(300, system="new", task="a")]
    old = [log(300, system="old", task="a"), log(300, system="old", task="b")]
    suite = suite_of(render_results([gate(new, old, margin=0.05)], "junit"))
    names = [(case.get("classname"), case.get("name"), case[0].tag) for case in suite.findall("testcase")]
    assert names == [("a", "acc not worse by more than 0.05", "system-out"), ("b", "acc present", "error")]


@pytest.mark.parametrize(
    "damage",
    [
        lambda suite: suite.set("failures", "-1"),
        lambda suite: suite.set("tests", "2"),
        lambda suite: suite.attrib.pop("errors"),
        lambda suite: suite.insert(0, suite[-1]),
        lambda suite: ET.SubElement(suite[0], "error"),
        lambda suite: suite[0].append(suite[0][0]),
    ],
)
def test_the_check_of_the_format_finds_a_damaged_file(damage: Callable[[ET.Element], object]) -> None:
    root = ET.fromstring(render_results([gate(log(300), at_least=0.9)], "junit"))
    damage(root[0])
    with pytest.raises((AssertionError, KeyError, ValueError)):
        suite_of(ET.tostring(root, encoding="unicode"))


def test_names_of_logs_are_text_of_valid_xml() -> None:
    hostile = "t\x1b]8;;\n<failure>&\ud800".encode("utf-8", "replace").decode()
    suite = suite_of(render_results([gate(log(300, task=hostile), at_least=0.5)], "junit"))
    assert "<failure>&" in suite.find("testcase").get("classname")


def test_the_suffix_of_the_file_chooses_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "a.csv"
    table.write_text("id,correct\n" + "".join(f"q{i},{int(i < 300)}\n" for i in range(400)))
    assert main(["gate", str(table), "--at-least", "0.9", "--output", str(tmp_path / "gate.xml")]) == 1
    assert suite_of((tmp_path / "gate.xml").read_text()).get("failures") == "1"
    capsys.readouterr()
    assert main(["estimate", str(table), "--format", "junit"]) == 2
    assert "does not support" in capsys.readouterr().err
