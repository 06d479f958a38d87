"""What a user asks of a live run: on the command line, in a config file, in the environment or in Python."""

import argparse
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from harness_uq import CompareOptions, HarnessUqError, Options, StructureOptions, estimate_scores
from harness_uq.estimands import parse_estimand
from harness_uq_lm_eval.read.replay import Trials

Scope: TypeAlias = Literal["population", "benchmark", "full"]

ENVIRONMENT = "HARNESS_UQ"
PREFIX = "uq"
TRIALS: tuple[Trials, ...] = get_args(Trials)
SCOPES: tuple[Scope, ...] = get_args(Scope)

_logger = logging.getLogger("harness_uq")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a live run is to be estimated.

    Attributes
    ----------
    method : `bayes`, `wilson`, `t`, `clt` or the name of an estimator
    level : coverage aimed at, in (0, 1)
    scope : `population`, `benchmark` or `full`
    cluster : `FIELD`, `TASK=FIELD`, `none` or `auto`, any number of them
    compare : a logged run to compare with, None for no comparison
    keep_bootstrap : let lm-eval compute its own standard errors as well, bootstrap included
    estimand : of repeated trials, one by one: `mean`, `pass@K`, `pass^K`, `G-pass@K:TAU`, `mG-pass@K` or `maj@K`
    trials : `auto` scores repeated trials one by one where that takes a minute at most and asks no other service,
        `on` whatever it takes, `off` never
    """

    method: str
    level: float = 0.95
    scope: Scope = "population"
    cluster: tuple[str, ...] = ()
    compare: str | None = None
    keep_bootstrap: bool = False
    estimand: str = "mean"
    trials: Trials = "auto"

    def options(self) -> Options:
        """The same for the core.

        Raises
        ------
        HarnessUqError : if one of them makes no sense
        """
        structure = StructureOptions.parse(self.cluster)
        return Options(method=self.method, level=self.level, scope=self.scope, structure=structure)

    def compare_options(self) -> CompareOptions:
        """The same for the comparison, which knows no `full`."""
        options = self.options()
        scope: Scope = "benchmark" if self.scope == "benchmark" else "population"
        return CompareOptions(level=options.level, scope=scope, structure=options.structure)

    def recorded(self) -> dict[str, str | float]:
        """What the block in the results says of them."""
        return {"method": self.method, "level": self.level, "scope": self.scope, "estimand": self.estimand}


@dataclass(slots=True)
class Asked:
    """Settings as they come in, by name without the prefix `uq_`; the first source that names one counts.

    Where no source names a method, the environment variable HARNESS_UQ may.
    """

    values: dict[str, object] = field(default_factory=dict)

    def take(self, source: Mapping[str, object]) -> dict[str, object]:
        """Keep the entries that are ours and return the others."""
        ours = {key: name for key in source if (name := _name(key)) is not None}
        for key, name in ours.items():
            if source[key] is not None:
                self.values.setdefault(name, source[key])
        return {key: value for key, value in source.items() if key not in ours}

    def settings(self) -> Settings | None:
        """The settings, None where nobody named a method.

        Raises
        ------
        HarnessUqError : if one of them makes no sense
        """
        method = self.values.get("method") or _method_in(os.environ.get(ENVIRONMENT, ""))
        if not method:
            return None
        cluster = tuple(_clusters(self.values.get("cluster")))
        try:
            return Settings(**{**self.values, "method": method, "cluster": cluster})  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise HarnessUqError(f"uq settings: {error}") from None

    def check(self) -> None:
        """Make sure before a long run that the method exists and the settings make sense.

        Raises
        ------
        HarnessUqError : if they do not
        """
        settings = self.settings()
        if settings is None:
            self._check_nothing_asked()
            return
        if not isinstance(settings.method, str):
            raise HarnessUqError(f"uq must be the name of a method, such as bayes; got {settings.method!r}")
        if isinstance(settings.level, bool) or not isinstance(settings.level, int | float):
            raise HarnessUqError(f"uq_level must be a number such as 0.95; got {settings.level!r}")
        if settings.scope not in SCOPES:
            raise HarnessUqError(f"uq_scope must be one of {', '.join(SCOPES)}; got {settings.scope!r}")
        if settings.trials not in TRIALS:
            raise HarnessUqError(f"uq_trials must be one of {', '.join(TRIALS)}; got {settings.trials!r}")
        parse_estimand(str(settings.estimand), settings.scope)
        if settings.estimand != "mean" and settings.trials == "off":
            raise HarnessUqError(f"uq_estimand {settings.estimand} is of single trials, which uq_trials off leaves out")
        if settings.compare is not None and not Path(settings.compare).exists():
            raise HarnessUqError(f"there is no logged run at {settings.compare} to compare with")
        options = settings.options()
        try:
            estimate_scores([0.0, 1.0, 1.0], options=options)
        except HarnessUqError:
            raise
        except Exception as error:  # ours, not the user's: the run goes on
            _logger.warning("the uq settings could not be tried: %s: %s", type(error).__name__, error)

    def _check_nothing_asked(self) -> None:
        idle = sorted(f"{PREFIX}_{name}" for name in self.values.keys() & _NAMES)
        if idle:
            raise HarnessUqError(f"{', '.join(idle)} without {PREFIX}: add --{PREFIX} bayes")


def _method_in(variable: str) -> str | None:
    """What HARNESS_UQ asks for: nothing where it is empty, 0 or off; `bayes` where it is 1 or true."""
    switch = variable.lower()
    if switch in ("", "0", "off"):
        return None
    return "bayes" if switch in ("1", "true") else variable


def _name(key: str) -> str | None:
    """Name of the setting behind a key such as `uq` or `uq_level`, None where it is no key of ours."""
    if key == PREFIX:
        return "method"
    name = key.removeprefix(f"{PREFIX}_")
    return name if name != key and name in _NAMES else None


_NAMES = frozenset(item.name for item in fields(Settings)) - {"method"}


def _clusters(value: object) -> list[str]:
    """`a`, `[a, t=b]` or `{t: b}`."""
    if isinstance(value, Mapping):
        return [f"{task}={name}" for task, name in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [str(item) for item in value]
    return [] if value is None else [str(value)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `--uq` and its companions."""
    group = parser.add_argument_group("uncertainty (harness-uq)")
    group.add_argument("--uq", metavar="METHOD", help="intervals and standard errors: bayes, wilson, t, clt or a name")
    group.add_argument("--uq_level", type=float, metavar="LEVEL", help="coverage of the intervals (default: 0.95)")
    group.add_argument(
        "--uq_scope",
        choices=SCOPES,
        help="new questions, exactly these, or the whole benchmark of a run with --limit (default: population)",
    )
    group.add_argument(
        "--uq_cluster",
        action="append",
        metavar="[TASK=]FIELD",
        help="field of the documents that groups the questions, auto or none; may be repeated (default: auto)",
    )
    group.add_argument("--uq_compare", metavar="RUN", help="logged run to compare this one with, question by question")
    group.add_argument(
        "--uq_estimand",
        metavar="ESTIMAND",
        help="of repeated trials, one by one: mean, pass@K, pass^K, G-pass@K:TAU, mG-pass@K or maj@K (default: mean)",
    )
    group.add_argument(
        "--uq_trials",
        choices=TRIALS,
        help="score repeated trials one by one: where that takes a minute at most and asks no other service (auto), "
        "whatever it takes (on), or never (off) (default: auto)",
    )
    group.add_argument(
        "--uq_keep_bootstrap",
        action="store_true",
        default=None,
        help="also compute lm-eval's own bootstrap standard errors, which may take minutes",
    )
