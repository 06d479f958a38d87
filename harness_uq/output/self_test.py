"""Self-tests of a gate for readers: the rate of false failures as sentences, and a table of counts."""

from harness_uq.output.document import ResultKind, Section, one_section_each
from harness_uq.output.phrases import join_names
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted
from harness_uq.results.gate import SelfTest

_KINDS = {
    "runs": "pairs of whole runs",
    "epochs": "trials of each question on two sides",
    "halves": "halves of the questions, or of their clusters",
}


def _section(test: SelfTest, _: int) -> Section:
    low, high, level = (f"{100 * x:.3g}" for x in (test.interval.low, test.interval.high, test.interval.level))
    columns = [
        Cells("Gates", [str(test.n)]),
        Cells("Failed", [str(test.n_failed)]),
        Cells("Passed", [str(test.n_passed)]),
        Cells("Undecided", [str(test.n - test.n_failed - test.n_passed)]),
        Cells("False failures", [f"{100 * test.n_failed / test.n:.3g} %"]),
        Cells(f"{level}% interval", [f"[{low}, {high}] %"], name="interval"),
        Cells("Nominal rate", [f"at most {100 * test.alpha:.3g} %"]),
    ]
    against = "themselves" if len(test.systems) > 1 else "itself"
    title = (
        f"Self-test of {join_names(test.systems)} against {against}: {counted(test.n, 'gate')} ({_KINDS[test.kind]})"
    )
    return Section(title, columns, answer=_answer(test))


def _answer(test: SelfTest) -> str:
    nominal = f"{100 * test.alpha:.3g} %"
    if test.is_within_alpha:
        sentences = [f"The rate of false failures is consistent with the nominal rate of at most {nominal}."]
    else:
        sentences = [f"On these logs the gate fails equal systems more often than the nominal rate of {nominal}."]
    if not test.n_passed:
        sentences.append("No equal system passed: at this margin such logs fail or remain undecided.")
    return " ".join(sentences)


KIND = ResultKind(SelfTest, one_section_each(_section, "Self-test of the gate."))
