"""The format `junit`: the decisions of gates as test cases, which CI systems show among the results of tests.

A decision `fail` is a failure. An undecided test that the gate needs counts as skipped, because nothing was shown. The
exit code of the gate decides what follows from it.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from harness_uq.messages.control_characters import escape_control
from harness_uq.output.columns import format_interval, format_number
from harness_uq.output.formats import RenderOptions, ResultSet
from harness_uq.output.gate import gate_answer
from harness_uq.results.gate import Decision, Gate, GateRow, RequirementRow

_DIGITS = 4
_RELATIONS = {"at_least": "at least", "at_most": "at most"}


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


@dataclass(frozen=True, slots=True)
class _Case:
    """One test case: the group of tests, its name, the decision, and the numbers behind it."""

    group: str
    name: str
    decision: Decision
    is_needed: bool
    text: str


def _suite(gate: Gate, digits: int) -> ET.Element:
    cases = [*_compared(gate.rows, digits), *_required(gate.requirements, digits), *_missing(gate)]
    n_failed = sum(case.decision == "fail" for case in cases)
    n_skipped = sum(case.decision == "undecided" and case.is_needed for case in cases)
    counts = {"tests": len(cases), "failures": n_failed, "errors": 0, "skipped": n_skipped}
    suite = ET.Element("testsuite", {"name": "harness-uq gate"} | {name: str(n) for name, n in counts.items()})
    for case in cases:
        suite.append(_element(case))
    ET.SubElement(suite, "system-out").text = escape_control(gate_answer(gate))
    return suite


def _element(case: _Case) -> ET.Element:
    test = ET.Element("testcase", {"classname": escape_control(case.group), "name": escape_control(case.name)})
    text = escape_control(case.text)
    if case.decision == "fail":
        ET.SubElement(test, "failure", {"message": text, "type": "gate"}).text = text
    elif case.decision == "undecided" and case.is_needed:
        ET.SubElement(test, "skipped", {"message": f"undecided: {text}"})
    else:
        ET.SubElement(test, "system-out").text = text
    return test


def _compared(rows: Sequence[GateRow], digits: int) -> Iterator[_Case]:
    for row in rows:
        one = row.comparison
        relation = f"not worse by more than {one.margin:g}"
        if row.improve_by is not None:
            relation = f"better by more than {row.improve_by:g}"
        name = f"{_metric(one.metric, one.filter)} {relation}"
        sides = ((one.system_a, one.value_a), (one.system_b, one.value_b))
        values = ", ".join(f"{system}: {format_number(value, digits)}" for system, value in sides)
        difference = "not estimable"
        if one.difference is not None:
            difference = (
                f"{format_number(one.difference.value, digits)} {format_interval(one.difference.interval, digits)}"
            )
        yield _Case(one.task, name, row.decision, row.is_needed, f"{values}, difference: {difference}")


def _required(rows: Sequence[RequirementRow], digits: int) -> Iterator[_Case]:
    for row in rows:
        one = row.estimate
        name = f"{_metric(one.metric, one.filter)} {_RELATIONS[row.requirement]} {row.bound:g}"
        interval = "not estimable" if one.interval is None else format_interval(one.interval, digits)
        yield _Case(one.task, name, row.decision, True, f"{one.system}: {format_number(one.value, digits)} {interval}")


def _missing(gate: Gate) -> Iterator[_Case]:
    for one in gate.missing:
        text = "The new runs have no score, but the baseline has one."
        yield _Case(one.task, f"{_metric(one.metric, one.filter)} present", "undecided", True, text)


def _metric(metric: str, filter_name: str) -> str:
    return metric if filter_name == "none" else f"{metric} ({filter_name})"
