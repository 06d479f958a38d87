"""The commands of `harness-uq`: name, group, summary and the module that implements each."""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

ANALYZE, COMPARE, PLAN, RUN, MAINTAIN = GROUPS = (
    "Analyze",
    "Compare and decide",
    "Plan",
    "Run a harness",
    "Maintain",
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command; its module is imported only if the command is used.

    The module defines `add_arguments(parser)`, `run(args)`, `USAGE` (the arguments after the name), `EXAMPLES` (pairs
    of an explanation and a command line) and optionally `DETAILS`, a text for the end of the help.
    """

    name: str
    group: str
    summary: str

    @property
    def module(self) -> ModuleType:
        """The module of the command."""
        return import_module(f"harness_uq.commands.{self.name}")


COMMANDS = {
    command.name: command
    for command in (
        Command("demo", ANALYZE, "Write example logs and tables to try the commands"),
        Command("estimate", ANALYZE, "Estimate scores with intervals"),
        Command("structure", ANALYZE, "Show detected clusters, trials and score types"),
        Command("effects", ANALYZE, "Measure variance due to seeds, prompts and graders"),
        Command("grader", ANALYZE, "Compare graders with people and with each other"),
        Command("report", ANALYZE, "Summarize scores and comparisons on one page"),
        Command("history", ANALYZE, "Detect changes in the scores of repeated runs"),
        Command("watch", ANALYZE, "Monitor a run with anytime-valid intervals"),
        Command("cite", ANALYZE, "Print BibTeX and a methods paragraph for a paper"),
        Command("compare", COMPARE, "Test whether one system is better than another"),
        Command("gate", COMPARE, "Check a new system against a baseline"),
        Command("rank", COMPARE, "Rank systems and show how certain the ranks are"),
        Command("plan", PLAN, "Calculate how many questions and trials to run"),
        Command("subset", PLAN, "Select a subset of questions to run"),
        Command("rescore", MAINTAIN, "Write intervals into logged runs"),
        Command("restore", MAINTAIN, "Undo rescore --in-place"),
        Command("store", MAINTAIN, "List, verify or clean up a result store"),
        Command("plugins", MAINTAIN, "List installed and skipped plugins"),
        Command("completion", MAINTAIN, "Print a completion script for your shell"),
    )
}
