"""Settings of a harness run with `--uq`, the same for every harness."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from harness_uq.data.clusters import PROMPT_PREFIX
from harness_uq.data.estimands import Scope, parse_estimand
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.defaults import method_names
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io import paths
from harness_uq.io.settings_file import LIVE_SETTINGS, check_settings
from harness_uq.messages.catalogue.estimation import UNKNOWN_METHOD
from harness_uq.messages.errors import HarnessUqError, NotEstimableError, UsageError, refusal_of, unknown_name
from harness_uq.options import Options, Rule, live_flag, method_and_scope
from harness_uq.results.comparison import Comparison

_OFF = ("", "0", "off", "false")
_ON = ("1", "true")
_WITHOUT_FIELD = {"none", "auto", PROMPT_PREFIX}
_THIS_RUN = "this run"


def live_method(value: str | None) -> str | None:
    """The method that an option or a variable names: `bayes` for 1 and true; None if it switches the intervals off."""
    lowered = (value or "").lower()
    return None if lowered in _OFF else "bayes" if lowered in _ON else value


def with_run_names(rows: Sequence[Comparison], compared_with: str) -> list[Comparison]:
    """Comparisons of a run with a logged run, with the names of the runs in place of those of the systems."""
    return [replace(row, system_a=_THIS_RUN, system_b=compared_with) for row in rows]


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
    questions : number of questions of each task to run, chosen in rounds; None to run all
    reference_runs : paths of runs of other systems on all questions, with `questions`
    rounds : number of rounds, with `questions`
    keep_stderr : whether the standard errors that the harness computes stay in its tables
    """

    rules: ClassVar[Mapping[str, Rule]] = LIVE_SETTINGS

    method: str = "bayes"
    level: float = 0.95
    scope: Scope = "population"
    cluster: tuple[str, ...] = ()
    compare: str | None = None
    estimand: str = "mean"
    questions: int | None = None
    reference_runs: tuple[str, ...] = ()
    rounds: int = 5
    keep_stderr: bool = False

    @classmethod
    def parse(cls, values: Mapping[str, object]) -> Self:
        """Settings from the values of options, environment variables or a config file.

        Raises
        ------
        SettingsError : if a setting does not exist or its value is invalid
        UsageError : if `rounds` is given without `questions`
        DataError : if the method does not support the scope
        """
        checked: dict[str, object] = {}
        for name, value in values.items():
            checked |= check_settings({name: value}, cls.rules, origin=live_flag(name))
        if "questions" in checked:
            checked.setdefault("scope", "full")
        elif "rounds" in checked:
            raise UsageError("--uq-rounds can only be used together with --uq-questions.")
        method, scope = method_and_scope(checked.get("method", "bayes"), checked.get("scope"))  # type: ignore[arg-type]
        checked |= {"method": method} if scope is None else {"method": method, "scope": scope}
        return cls(**checked)  # type: ignore[arg-type]

    def check(self) -> None:
        """Check before a run that the method and the logged runs exist, and that the settings agree with each other.

        Raises
        ------
        UsageError : if the method or a run does not exist, or settings exclude each other, such as the method and the
            estimand
        DataError : if the estimand is invalid
        """
        from harness_uq.inference.marginals import require_estimand  # imported here, with what estimates need

        estimators = load_plugins().estimators
        if self.method not in (methods := method_names(estimators)):
            raise UsageError(UNKNOWN_METHOD(method=self.method, known=methods))
        if self.compare is not None and not Path(self.compare).exists():
            raise UsageError(f"Run to compare with not found: {self.compare}. Give the path of a logged run.")
        estimand = parse_estimand(self.estimand, self.scope)
        # without a chosen estimand, single scores can have one of their own
        if self.method in estimators and self.estimand != "mean":
            try:
                require_estimand(estimators[self.method], estimand)
            except NotEstimableError as error:
                raise UsageError(refusal_of(error)) from None
        if self.questions is not None or self.reference_runs:
            self._check_active()

    def _check_active(self) -> None:
        if self.questions is None or not self.reference_runs:
            raise UsageError("--uq-questions and --uq-reference-runs can only be used together.")
        if self.scope != "full" or self.estimand != "mean" or self.compare is not None:
            raise UsageError(
                "--uq-questions estimates the mean score on all questions. Remove --uq-estimand and --uq-compare, and "
                "use --uq-scope full or omit it."
            )
        for path in self.reference_runs:
            if not (paths.is_remote(path) or Path(path).exists()):
                raise UsageError(f"Reference run not found: {path}. Give the path of a logged run.")

    def check_cluster_fields(self, fields: Mapping[str, Sequence[str]]) -> None:
        """Check that the questions have the cluster fields that are named.

        As for logs, a field for one task must exist in this task, and a field for all tasks in at least one of them.

        Parameters
        ----------
        fields : names of the fields of each task's questions

        Raises
        ------
        UsageError : if a field does not exist
        """
        structure = StructureOptions.parse(self.cluster)
        named = [(name, fields[task]) for task, name in structure.cluster_by_task.items() if task in fields]
        if structure.cluster is not None:
            named.append((structure.cluster, [name for names in fields.values() for name in names]))
        for name, available in named:
            for part in {part.strip() for part in name.split("+")} - _WITHOUT_FIELD:
                bare = part.removeprefix("doc.").removeprefix("metadata.").partition(".")[0]
                if available and bare not in available:
                    raise UsageError(unknown_name("field in --uq-cluster", part, available, plural="fields"))

    def options(self) -> Options:
        """Return the options of the estimates of mean scores.

        Raises
        ------
        HarnessUqError : if a setting is invalid
        """
        structure = StructureOptions.parse(self.cluster)
        return Options(method=self.method, level=self.level, scope=self.scope, structure=structure)

    def compared(self, logs: Sequence[TaskLog]) -> list[Comparison]:
        """Compare the logs of this run, A, with the run at `compare`, B. The sentences name the runs, not the systems.

        Raises
        ------
        HarnessUqError : if the runs cannot be compared
        """
        from harness_uq.analyses.compare import compare  # imported here, because few runs are compared
        from harness_uq.io.readers import read_logs

        path = str(self.compare)
        found = read_logs(path, strict=True).logs
        own = {(log.source.run or log.source.path, log.task) for log in logs}  # a folder may contain this run
        others = [log for log in found if (log.source.run or log.source.path, log.task) not in own]
        others = others if Path(path).is_dir() else list(found)
        if not others:
            raise HarnessUqError(f"The folder {path} contains no other run.")
        is_one = len({log.system for log in others}) == 1
        named = [replace(log, system=path) for log in others] if is_one else list(others)  # an error lists the systems
        scope: Scope = "benchmark" if self.scope == "benchmark" else "population"
        options = Options(level=self.level, scope=scope, structure=self.options().structure)
        rows = compare([replace(log, system=_THIS_RUN) for log in logs], named, options)
        return [replace(row, system_a=logs[0].system, system_b=others[0].system) for row in rows]

    def recorded(self) -> dict[str, str | float]:
        """The settings that are recorded with the estimates."""
        settings: dict[str, str | float] = {"method": self.method, "level": self.level, "scope": self.scope}
        settings["estimand"] = self.estimand
        if self.cluster:
            settings["cluster"] = ",".join(self.cluster)
        if self.questions is not None:
            settings |= {"questions": self.questions, "rounds": self.rounds}
        return settings

    @classmethod
    def with_live_options(cls, text: str) -> str:
        """The text of a message with the options of a live run, such as `--uq-scope`, in place of those of commands."""
        known = {name.replace("_", "-") for name in cls.rules} - {"method"}
        names = dict.fromkeys(name for _, name in _OPTION.findall(text) if name and name not in known)
        text = _OPTION.sub(lambda one: f"--uq-{one[2]}" if one[2] in known else one[0], text)
        return text + "".join(f" (--{name} is an option of harness-uq estimate, not of this run.)" for name in names)
