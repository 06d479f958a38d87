"""The formats `junit` and `github`: the decisions of gates as CI systems show them.

Both show what the exit code of the gate means. An undecided test that the gate needs is an error, because the exit code
3 stops the job. It is skipped or a failure if `--on-undecided` lets undecided gates pass or fail. If the gate does not
need it, it is skipped, without an annotation.
"""

from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.messages.control_characters import escape_control
from harness_uq.output.document import GateCase, GateCases

_DIGITS = 4
_PLURALS = {"fail": "failures", "error": "errors", "skipped": "skipped"}


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
    outcomes: Counter[str] = Counter(case.outcome for case in gate.cases)
    counts = {"tests": len(gate.cases)} | {plural: outcomes[outcome] for outcome, plural in _PLURALS.items()}
    suite = ET.Element("testsuite", {"name": "harness-uq gate"} | {name: str(n) for name, n in counts.items()})
    suite.extend(map(_element, gate.cases))
    ET.SubElement(suite, "system-out").text = escape_control(gate.answer)
    return suite


def _element(case: GateCase) -> ET.Element:
    test = ET.Element("testcase", {"classname": escape_control(case.group), "name": escape_control(case.name)})
    text = escape_control(case.text)
    if case.outcome == "pass":
        ET.SubElement(test, "system-out").text = text
    elif case.outcome == "skipped":
        ET.SubElement(test, "skipped", {"message": text})
    else:
        tag = "failure" if case.outcome == "fail" else "error"
        ET.SubElement(test, tag, {"message": text, "type": "gate"}).text = text
    return test


def _annotations(gate: GateCases) -> Iterator[str]:
    """Errors for tests that stop the job, warnings for needed ones that do not, and the decision as a notice."""
    for case in gate.cases:
        if case.outcome != "pass" and (case.is_needed or case.outcome != "skipped"):
            severity = "warning" if case.outcome == "skipped" else "error"
            yield _annotation(severity, f"{case.group}: {case.name}", case.text)
    yield _annotation("notice", "Evaluation gate", gate.answer)


def _annotation(severity: str, title: str, text: str) -> str:
    return f"::{severity} title={_escaped(title, in_property=True)}::{_escaped(text)}"


def _escaped(text: str, *, in_property: bool = False) -> str:
    """Escape a message or a property as the toolkit of GitHub does (actions/toolkit, core/src/command.ts)."""
    safe = escape_control(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return safe.replace(":", "%3A").replace(",", "%2C") if in_property else safe
