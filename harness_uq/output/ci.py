"""The formats `junit` and `github`: the decisions of gates as CI systems show them.

A decision `fail` is a failure. An undecided test that the gate needs counts as skipped, because nothing was shown. The
exit code of the gate decides what follows from it.
"""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.messages.control_characters import escape_control
from harness_uq.output.document import GateCase, GateCases

_DIGITS = 4


def render_junit(results: ResultSet, options: RenderOptions) -> str:
    """The test suites of all gates in the XML of JUnit."""
    suites = ET.Element("testsuites")
    suites.extend(map(_suite, _gates(results, options)))
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True)


def render_github(results: ResultSet, options: RenderOptions) -> str:
    """Commands that annotate a run of GitHub Actions, one per line."""
    return "\n".join(line for gate in _gates(results, options) for line in _annotations(gate))


def _gates(results: ResultSet, options: RenderOptions) -> Iterator[GateCases]:
    for name, rows in results.lists.items():
        if (cases := results.kinds[name].tests) is not None:
            yield from (cases(row, options.digits_or(_DIGITS)) for row in rows)


def _suite(gate: GateCases) -> ET.Element:
    n_failed = sum(case.decision == "fail" for case in gate.cases)
    n_skipped = sum(case.decision == "undecided" and case.is_needed for case in gate.cases)
    counts = {"tests": len(gate.cases), "failures": n_failed, "errors": 0, "skipped": n_skipped}
    suite = ET.Element("testsuite", {"name": "harness-uq gate"} | {name: str(n) for name, n in counts.items()})
    suite.extend(map(_element, gate.cases))
    ET.SubElement(suite, "system-out").text = escape_control(gate.answer)
    return suite


def _element(case: GateCase) -> ET.Element:
    test = ET.Element("testcase", {"classname": escape_control(case.group), "name": escape_control(case.name)})
    text = escape_control(case.text)
    if case.decision == "fail":
        ET.SubElement(test, "failure", {"message": text, "type": "gate"}).text = text
    elif case.decision == "undecided" and case.is_needed:
        ET.SubElement(test, "skipped", {"message": f"undecided: {text}"})
    else:
        ET.SubElement(test, "system-out").text = text
    return test


def _annotations(gate: GateCases) -> Iterator[str]:
    """Errors, warnings about undecided tests that the gate needs, and the decision as a notice."""
    for case in gate.cases:
        if case.decision == "fail":
            yield _annotation("error", f"{case.group}: {case.name}", case.text)
        elif case.decision == "undecided" and case.is_needed:
            yield _annotation("warning", f"{case.group}: {case.name}", f"undecided: {case.text}")
    yield _annotation("notice", "Evaluation gate", gate.answer)


def _annotation(severity: str, title: str, text: str) -> str:
    return f"::{severity} title={_escaped(title, in_property=True)}::{_escaped(text)}"


def _escaped(text: str, *, in_property: bool = False) -> str:
    """Escape a message or a property as the toolkit of GitHub does (actions/toolkit, core/src/command.ts)."""
    safe = escape_control(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return safe.replace(":", "%3A").replace(",", "%2C") if in_property else safe
