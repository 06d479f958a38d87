"""What the user asked of a live run, from the environment or from `--uq` options."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

if TYPE_CHECKING:
    from harness_uq import Options

VARIABLE: Final = "HARNESS_UQ"
OPTIONS: Final = {
    "--uq": VARIABLE,
    "--uq-level": "HARNESS_UQ_LEVEL",
    "--uq-scope": "HARNESS_UQ_SCOPE",
    "--uq-cluster": "HARNESS_UQ_CLUSTER",
    "--uq-compare": "HARNESS_UQ_COMPARE",
}
Scope = Literal["population", "benchmark", "full"]
_SWAP: Final = "HARNESS_UQ_SWAP"
_OFF: Final = frozenset({"", "0", "off"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to estimate, and what to do with the result.

    Attributes
    ----------
    method, level, scope : as in `harness_uq.Options`
    cluster : `FIELD`, `TASK=FIELD`, `auto` or `none`
    compare : path of a logged run to compare with, None for no comparison
    swaps_stderr : whether Inspect's `stderr` is replaced and kept beside ours
    """

    method: str = "bayes"
    level: float = 0.95
    scope: str = "population"
    cluster: tuple[str, ...] = ()
    compare: str | None = None
    swaps_stderr: bool = True

    @property
    def options(self) -> "Options":
        """The options of the estimation. Raises DataError where a value is none that exists."""
        from harness_uq import DataError, Options, StructureOptions

        if self.scope not in get_args(Scope):
            raise DataError(f"scope must be one of {', '.join(get_args(Scope))}; got {self.scope!r}")
        structure = StructureOptions.parse(self.cluster)
        return Options(method=self.method, level=self.level, scope=cast(Scope, self.scope), structure=structure)

    @property
    def settings(self) -> dict[str, str | float]:
        """What is recorded beside the estimates."""
        recorded: dict[str, str | float] = {"method": self.method, "level": self.level, "scope": self.scope}
        recorded["estimand"] = self.options.estimand
        return recorded | ({"cluster": ",".join(self.cluster)} if self.cluster else {})


def is_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment asks for intervals."""
    return environment.get(VARIABLE, "").lower() not in _OFF


def keeps_stderr(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether Inspect's `stderr` is to stay as it is."""
    return environment.get(_SWAP) == "0"


def from_environment(environment: Mapping[str, str] = os.environ) -> Wanted:
    """What the environment asks for.

    Raises
    ------
    DataError : if a variable has a value that cannot be used
    """
    from harness_uq import DataError

    level = environment.get("HARNESS_UQ_LEVEL") or "0.95"
    try:
        number = float(level)
    except ValueError:
        raise DataError(f"the level must be a number such as 0.95; got {level!r}") from None
    method = environment.get(VARIABLE, "")
    wanted = Wanted(
        method="bayes" if method.lower() in ("1", "true") else method,
        level=number,
        scope=environment.get("HARNESS_UQ_SCOPE") or "population",
        cluster=tuple(filter(None, environment.get("HARNESS_UQ_CLUSTER", "").split(","))),
        compare=environment.get("HARNESS_UQ_COMPARE") or None,
        swaps_stderr=not keeps_stderr(environment),
    )
    check(wanted)
    return wanted


def check(wanted: Wanted) -> None:
    """Raise DataError where something was asked for that does not exist."""
    from harness_uq import DataError, load_plugins, method_names

    known = method_names(load_plugins().estimators)
    if wanted.method not in known:
        raise DataError(f"no method is called {wanted.method!r}; there are {', '.join(known)}")
    if wanted.compare is not None and not Path(wanted.compare).exists():
        raise DataError(f"there is no logged run at {wanted.compare} to compare with")
    _ = wanted.options


def split(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Arguments for Inspect, and variables that stand for the `--uq` options among them.

    Raises
    ------
    DataError : if an option has no value

    >>> split(["eval", "task.py", "--uq", "bayes", "--uq-level=0.9"])
    (['eval', 'task.py'], {'HARNESS_UQ': 'bayes', 'HARNESS_UQ_LEVEL': '0.9'})
    """
    from harness_uq import DataError

    rest: list[str] = []
    variables: dict[str, str] = {}
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        name, equals, value = argument.partition("=")
        if name not in OPTIONS:
            rest.append(argument)
            continue
        if not equals:
            if not queue or queue[0].startswith("--"):
                raise DataError(f"{name} needs a value, such as {name} {_EXAMPLES[name]}")
            value = queue.pop(0)
        variable = OPTIONS[name]
        is_repeatable = name == "--uq-cluster" and variable in variables
        variables[variable] = f"{variables[variable]},{value}" if is_repeatable else value
    return rest, variables


_EXAMPLES: Final = {
    "--uq": "bayes",
    "--uq-level": "0.95",
    "--uq-scope": "population",
    "--uq-cluster": "passage",
    "--uq-compare": "logs/earlier.eval",
}
