"""The format `junit`: the decisions of gates as test cases, which CI systems show among the results of tests.

A decision `fail` is a failure. An undecided test that the gate needs counts as skipped, because nothing was shown. The
exit code of the gate decides what follows from it.
"""

from collections.abc import Set
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from harness_uq.messages.control_characters import escape_control
from harness_uq.output.gate import gate_answer
from harness_uq.output.gate_cases import GateCase, gate_cases
from harness_uq.results.gate import Gate
from harness_uq.results.result_set import RenderOptions, ResultSet

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class _JUnit:
    name: str = "junit"
    suffix: str = ".xml"
    accepts: Set[str] | None = frozenset({"gates"})
    has_errors: bool = False
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:
        """The test suites of all gates."""
        digits = _DIGITS if options.digits is None else options.digits
        suites = ET.Element("testsuites")
        for gate in results.lists.get("gates", ()):
            if isinstance(gate, Gate):
                suites.append(_suite(gate, digits))
        ET.indent(suites)
        return ET.tostring(suites, encoding="unicode", xml_declaration=True)


FORMAT = _JUnit()


def _suite(gate: Gate, digits: int) -> ET.Element:
    cases = gate_cases(gate, digits)
    n_failed = sum(case.decision == "fail" for case in cases)
    n_skipped = sum(case.decision == "undecided" and case.is_needed for case in cases)
    counts = {"tests": len(cases), "failures": n_failed, "errors": 0, "skipped": n_skipped}
    suite = ET.Element("testsuite", {"name": "harness-uq gate"} | {name: str(n) for name, n in counts.items()})
    for case in cases:
        suite.append(_element(case))
    ET.SubElement(suite, "system-out").text = escape_control(gate_answer(gate))
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
