"""The format `github`: the decisions of gates as annotations of a GitHub workflow.

A decision `fail` is an error, an undecided test that the gate needs is a warning, and the decision of the gate is a
notice. The text of logs is escaped, so that it cannot contain commands for the runner.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from harness_uq.messages.control_characters import escape_control
from harness_uq.output.gate import gate_answer
from harness_uq.output.gate_cases import gate_cases
from harness_uq.results.gate import Gate
from harness_uq.results.result_set import RenderOptions, ResultSet

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class _GitHub:
    name: str = "github"
    suffix: str = ".annotations"
    accepts: Set[str] | None = frozenset({"gates"})
    has_errors: bool = False
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:
        """One line per annotation."""
        digits = _DIGITS if options.digits is None else options.digits
        gates = [gate for gate in results.lists.get("gates", ()) if isinstance(gate, Gate)]
        return "\n".join(line for gate in gates for line in _annotations(gate, digits))


FORMAT = _GitHub()


def _annotations(gate: Gate, digits: int) -> Iterator[str]:
    for case in gate_cases(gate, digits):
        if case.decision == "fail":
            yield _annotation("error", f"{case.group}: {case.name}", case.text)
        elif case.decision == "undecided" and case.is_needed:
            yield _annotation("warning", f"{case.group}: {case.name}", f"undecided: {case.text}")
    yield _annotation("notice", "Evaluation gate", gate_answer(gate))


def _annotation(severity: str, title: str, text: str) -> str:
    return f"::{severity} title={_escaped(title, in_property=True)}::{_escaped(text)}"


def _escaped(text: str, *, in_property: bool = False) -> str:
    """Escape a message or a property as the toolkit of GitHub does (actions/toolkit, core/src/command.ts)."""
    safe = escape_control(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return safe.replace(":", "%3A").replace(",", "%2C") if in_property else safe
