"""Environment variables and `--uq` options that enable intervals; importing this module loads no other."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

VARIABLE: Final = "HARNESS_UQ"
OPTIONS: Final = {
    "--uq": VARIABLE,
    "--uq-level": "HARNESS_UQ_LEVEL",
    "--uq-scope": "HARNESS_UQ_SCOPE",
    "--uq-cluster": "HARNESS_UQ_CLUSTER",
    "--uq-compare": "HARNESS_UQ_COMPARE",
    "--uq-questions": "HARNESS_UQ_QUESTIONS",
    "--uq-reference-runs": "HARNESS_UQ_REFERENCE_RUNS",
}
_REPEATABLE: Final = frozenset({"--uq-cluster", "--uq-reference-runs"})
_SWAP: Final = "HARNESS_UQ_SWAP"
_OFF: Final = frozenset({"", "0", "off"})
_EXAMPLES: Final = {
    "--uq": "bayes",
    "--uq-level": "0.95",
    "--uq-scope": "population",
    "--uq-cluster": "passage",
    "--uq-compare": "logs/earlier.eval",
    "--uq-questions": "300",
    "--uq-reference-runs": "logs/earlier",
}


def is_enabled(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment enables intervals."""
    return environment.get(VARIABLE, "").lower() not in _OFF


def keeps_native_stderr(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment asks to leave the value of Inspect's `stderr` unchanged."""
    return environment.get(_SWAP) == "0"


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Separate the arguments for Inspect from the `--uq` options, which become environment variables. Raises UsageError
    if an option has no value.

    >>> split_arguments(["eval", "task.py", "--uq", "bayes", "--uq-level=0.9"])
    (['eval', 'task.py'], {'HARNESS_UQ': 'bayes', 'HARNESS_UQ_LEVEL': '0.9'})
    >>> split_arguments(["eval", "task.py", "--method", "bayes", "--uq_level=0.9"])
    (['eval', 'task.py'], {'HARNESS_UQ': 'bayes', 'HARNESS_UQ_LEVEL': '0.9'})
    """
    from harness_uq.plugin_api import UsageError

    rest: list[str] = []
    variables: dict[str, str] = {}
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        name, equals, value = argument.partition("=")
        if name.startswith("--uq_"):
            name = name.replace("_", "-")
        elif name == "--method":
            name = "--uq"
        if name.startswith("--uq-") and name not in OPTIONS:
            raise UsageError(f"Unknown option: {name!r}. Available options: {', '.join(OPTIONS)}.")
        if name not in OPTIONS:
            rest.append(argument)
            continue
        if not equals:
            if not queue or queue[0].startswith("--"):
                raise UsageError(f"{name} requires a value, such as {name} {_EXAMPLES[name]}.")
            value = queue.pop(0)
        variable = OPTIONS[name]
        is_repeatable = name in _REPEATABLE and variable in variables
        variables[variable] = f"{variables[variable]},{value}" if is_repeatable else value
    return rest, variables
