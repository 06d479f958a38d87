"""Settings of a harness run with `--uq`, the same for every harness."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from harness_uq.data.estimands import Scope, parse_estimand
from harness_uq.data.structure import StructureOptions
from harness_uq.inference.defaults import method_names
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.settings_file import LIVE_SETTINGS, check_settings
from harness_uq.messages.catalogue.estimation import UNKNOWN_METHOD
from harness_uq.messages.errors import UsageError
from harness_uq.options import Options, Rule, method_and_scope

_OPTION = re.compile(r"(`(?:harness-uq|inspect) [^`]*`)|(?<![\w-])--(?!uq\b)([a-z][a-z-]*)")


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """Settings of the estimates of a harness run; adapters add settings of their harness in a subclass.

    Attributes
    ----------
    method : `bayes`, `wilson`, `t`, `clt` or the name of another method
    level : nominal coverage, in (0, 1)
    scope : `population`, `benchmark` or `full`
    cluster : any number of `FIELD`, `TASK=FIELD`, `none` or `auto`
    compare : path of a logged run to compare with, or None
    estimand : `mean`, or the estimand of repeated trials: `pass@K`, `pass^K`, `G-pass@K:TAU`, `mG-pass@K` or `maj@K`
    """

    rules: ClassVar[Mapping[str, Rule]] = LIVE_SETTINGS
    live_options: ClassVar[Collection[str]] = ("level", "scope", "cluster", "compare")

    method: str = "bayes"
    level: float = 0.95
    scope: Scope = "population"
    cluster: tuple[str, ...] = ()
    compare: str | None = None
    estimand: str = "mean"

    @classmethod
    def parse(cls, values: Mapping[str, object]) -> Self:
        """Settings from the values of options, environment variables or a config file.

        Raises
        ------
        SettingsError : if a setting does not exist or its value is invalid
        DataError : if the method does not support the scope
        """
        checked: dict[str, object] = {}
        for name, value in values.items():
            option = "--uq" if name == "method" else f"--uq-{name.replace('_', '-')}"
            checked |= check_settings({name: value}, cls.rules, origin=option)
        method, scope = method_and_scope(checked.get("method", "bayes"), checked.get("scope"))  # type: ignore[arg-type]
        checked |= {"method": method} if scope is None else {"method": method, "scope": scope}
        return cls(**checked)  # type: ignore[arg-type]

    def check(self) -> None:
        """Check before a run that the method and the run to compare with exist, and that the estimand is valid.

        Raises
        ------
        UsageError : if the method or the run does not exist
        DataError : if the estimand is invalid
        """
        methods = method_names(load_plugins().estimators)
        if self.method not in methods:
            raise UsageError(UNKNOWN_METHOD(method=self.method, known=methods))
        if self.compare is not None and not Path(self.compare).exists():
            raise UsageError(f"Run to compare with not found: {self.compare}. Give the path of a logged run.")
        parse_estimand(self.estimand, self.scope)

    def options(self) -> Options:
        """Return the options of the estimates.

        Raises
        ------
        HarnessUqError : if a setting is invalid
        """
        structure = StructureOptions.parse(self.cluster)
        return Options(method=self.method, level=self.level, scope=self.scope, structure=structure)

    def recorded(self) -> dict[str, str | float]:
        """The settings that are recorded with the estimates."""
        return {"method": self.method, "level": self.level, "scope": self.scope, "estimand": self.estimand}

    @classmethod
    def with_live_options(cls, text: str) -> str:
        """The text of a message with the options of a live run, such as `--uq-scope`, in place of those of commands."""
        names = dict.fromkeys(name for _, name in _OPTION.findall(text) if name and name not in cls.live_options)
        text = _OPTION.sub(lambda one: f"--uq-{one[2]}" if one[2] in cls.live_options else one[0], text)
        return text + "".join(f" (--{name} is an option of harness-uq estimate, not of this run.)" for name in names)
