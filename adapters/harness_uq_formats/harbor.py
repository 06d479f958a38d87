"""Harbor (Terminal-Bench 2): job folders with a `result.json` of the job and one in the folder of each trial.

A question is a task, and its trials are counted, because they have no number. Each reward is a metric. A trial without
a reward scores 0, as in the mean that Harbor computes.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq
from harness_uq_formats.json_files import decoded_files, finite_number, heads_of
from harness_uq_formats.log_parts import (
    TrialGrid,
    counted_as_zero,
    differences,
    known_amounts,
    seconds_between,
    system_name,
)
from harness_uq_formats.messages import PART_UNREADABLE, REWARDS_AFTER_ERRORS

NAME: Final = "harbor"
TOOL: Final = "Harbor"
AD_HOC: Final = "adhoc"
"""Name that Harbor gives to tasks without a dataset."""
ENDINGS_OF_AGENT: Final = {
    "AgentTimeoutError": "time limit",
    "ContextWindowExceededError": "context limit",
    "ContextLengthExceededError": "context limit",
    "OutputTokenExceededError": "token limit",
    "OutputLengthExceededError": "token limit",
    "AgentSafetyRefusalError": "refused",
    "ContentPolicyViolationError": "refused",
}
"""How a trial ended, by exceptions that are results of the system: after any other, a reward does not measure it."""
_RESULT: Final = "result.json"


class ModelInfo(msgspec.Struct, gc=False):
    """`agent_info.model_info`."""

    name: str
    provider: str | None = None


class AgentInfo(msgspec.Struct, gc=False):
    """`agent_info`."""

    name: str
    version: str | None = None
    model_info: ModelInfo | None = None


class AgentConfig(msgspec.Struct):
    """`config.agent`."""

    model_name: str | None = None
    kwargs: dict[str, object] | None = None


class Config(msgspec.Struct):
    """`config`."""

    agent: AgentConfig | None = None
    job_id: str | None = None


class Usage(msgspec.Struct, gc=False):
    """`agent_result` of a trial or of a step; the input tokens include those of the cache."""

    n_input_tokens: float | None = None
    n_cache_tokens: float | None = None
    n_output_tokens: float | None = None
    cost_usd: float | None = None


class VerifierResult(msgspec.Struct):
    """`verifier_result`."""

    rewards: dict[str, float | None] | None = None


class ExceptionInfo(msgspec.Struct, gc=False):
    """`exception_info` of a trial or of a step."""

    exception_type: str


class Step(msgspec.Struct):
    """One of `step_results`."""

    agent_result: Usage | None = None
    exception_info: ExceptionInfo | None = None


class Trial(msgspec.Struct):
    """The result file of a trial."""

    task_name: str
    trial_name: str
    agent_info: AgentInfo
    task_checksum: str | None = None
    source: str | None = None
    config: Config | None = None
    agent_result: Usage | None = None
    verifier_result: VerifierResult | None = None
    exception_info: ExceptionInfo | None = None
    step_results: list[Step] | None = None
    started_at: str | None = None
    finished_at: str | None = None

    @property
    def model(self) -> str | None:
        """Provider and name of the model; None if the agent has none."""
        info = self.agent_info.model_info
        if info is not None:
            return f"{info.provider}/{info.name}" if info.provider else info.name
        return self.config.agent.model_name if self.config and self.config.agent else None

    @property
    def kwargs(self) -> Mapping[str, object]:
        """Settings of the agent."""
        return (self.config.agent.kwargs if self.config and self.config.agent else None) or {}

    @property
    def rewards(self) -> Mapping[str, float | None]:
        """Rewards by name; empty if the trial has none."""
        return (self.verifier_result.rewards if self.verifier_result else None) or {}

    @property
    def errors(self) -> list[str]:
        """Types of the exceptions of the trial and of its steps."""
        infos = [self.exception_info, *(step.exception_info for step in self.step_results or ())]
        return [info.exception_type for info in infos if info is not None]

    @property
    def has_foreign_error(self) -> bool:
        """Whether any error is not the agent's own."""
        return any(error not in ENDINGS_OF_AGENT for error in self.errors)

    @property
    def ending(self) -> str:
        """How the trial ended; errors that are not the agent's own count before limits and refusals."""
        if self.has_foreign_error:
            return "error"
        return ENDINGS_OF_AGENT[self.errors[0]] if self.errors else "completed"

    def amount(self, part_of: Callable[[Usage], float | None]) -> float | None:
        """Tokens or cost, summed over the steps; None if unknown."""
        usages = [self.agent_result] if self.agent_result else [step.agent_result for step in self.step_results or ()]
        amounts = [amount for usage in usages if usage and (amount := part_of(usage)) is not None]
        return sum(amounts) if amounts else None


class EvalStats(msgspec.Struct):
    """The aggregates of one agent, model and dataset."""

    metrics: list[dict[str, object]] = []


class Stats(msgspec.Struct):
    """`stats` of a job."""

    evals: dict[str, EvalStats] = {}


class Job(msgspec.Struct):
    """The result file of a job."""

    n_total_trials: int
    stats: Stats = msgspec.field(default_factory=Stats)


@dataclass(frozen=True, slots=True)
class JobRun(uq.Run):
    """The files of a job.

    `job_file`: result file of the job; None if it is not among the files.
    """

    job_file: str | None = None
    trial_files: tuple[str, ...] = ()


@dataclass(slots=True)
class _JobContent:
    """What was read of a job, and the path and reason of each file that was not."""

    trials: list[Trial] = field(default_factory=list)
    job: Job | None = None
    unread: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_finished(self) -> bool:
        return not self.unread and len(self.trials) >= (self.job.n_total_trials if self.job else 0)

    @property
    def messages(self) -> tuple[uq.Message, ...]:
        if not self.unread:
            return ()
        file, reason = self.unread[0]
        return (PART_UNREADABLE(n_parts=len(self.unread), file=file, reason=reason),)


SystemKey = tuple[str, str, str]  # base name, version and settings of an agent


# ---------------------------------------------------------------- files


def parts(files: Sequence[str]) -> Iterable[Sequence[str]]:
    """The result files of a job, every other file by itself."""
    folders = {uq.paths.folder_of(file) for file in files if uq.paths.name_of(file) == _RESULT}
    jobs = {uq.paths.folder_of(folder) for folder in folders}
    groups = defaultdict[str, list[str]](list)
    for file in files:
        folder = uq.paths.folder_of(file)
        if uq.paths.name_of(file) != _RESULT:
            groups[file].append(file)
        else:
            groups[folder if folder in jobs else uq.paths.folder_of(folder)].append(file)
    return groups.values()


def find(files: Sequence[str]) -> uq.Discovery:
    """A run for each job. Every `result.json` in a subfolder of a job belongs to a trial, also if it is damaged."""
    job_files, trial_files = dict[str, str](), defaultdict[str, list[str]](list)
    others, problems = list[str](), list[tuple[str, uq.Message | str]]()
    for file, head in heads_of((file for file in files if uq.paths.name_of(file) == _RESULT), problems):
        folder = uq.paths.folder_of(file)
        if b'"n_total_trials"' in head and b'"stats"' in head:
            job_files[folder] = file
        elif b'"trial_name"' in head and b'"task_name"' in head:
            trial_files[uq.paths.folder_of(folder)].append(file)
        else:
            others.append(file)
    for file in others:
        if (folder := uq.paths.folder_of(uq.paths.folder_of(file))) in job_files or folder in trial_files:
            trial_files[folder].append(file)
    runs = tuple(
        JobRun(
            folder, tuple(filter(None, (job_files.get(folder), *trials))), None, job_files.get(folder), tuple(trials)
        )
        for folder, trials in sorted(trial_files.items())
    )
    claimed = {file for run in runs for file in run.files}
    known = claimed | {file for file, _ in problems}
    return uq.Discovery(runs, tuple(file for file in files if file not in known), tuple(problems))


# ---------------------------------------------------------------- task logs


def read(run: uq.Run, *, with_resources: bool) -> Iterator[uq.TaskLog]:
    """The tasks of a job, one for each agent, model and dataset. Raises LogError if no file of a trial can be read."""
    content = _read_files(run)
    groups = defaultdict[tuple[SystemKey, str], list[Trial]](list)
    for trial in sorted(content.trials, key=lambda one: (one.started_at or "", one.trial_name)):
        groups[_system_key(trial), trial.source or AD_HOC].append(trial)
    names = _names({key: trials[0] for (key, _), trials in groups.items()})
    # Harbor's aggregates do not separate versions and settings of an agent
    n_groups = Counter(_key_in_job(trials[0]) for trials in groups.values())
    for (key, _), trials in groups.items():
        stats = content.job.stats.evals.get(_key_in_job(trials[0])) if content.job else None
        is_separate = n_groups[_key_in_job(trials[0])] == 1
        log = _task_log(names[key], trials, stats if is_separate else None, with_resources=with_resources)
        yield replace(
            log,
            source=replace(log.source, path=run.name),
            facts=replace(log.facts, is_finished=content.is_finished),
            messages=(*log.messages, *content.messages),
        )


def _read_files(run: uq.Run) -> _JobContent:
    job_file, trial_files = (run.job_file, run.trial_files) if isinstance(run, JobRun) else (None, run.files)
    content = _JobContent()
    content.trials = decoded_files(trial_files, Trial, content.unread)
    content.job = next(iter(decoded_files(filter(None, [job_file]), Job, content.unread)), None)
    if not content.trials:
        file, reason = content.unread[0]
        raise uq.LogError(f"{file}: {reason}")
    return content


def _task_log(name: str, trials: Sequence[Trial], stats: EvalStats | None, *, with_resources: bool) -> uq.TaskLog:
    """The trials of one agent, model and dataset."""
    grid = TrialGrid()
    for trial in trials:
        grid.add(trial.task_name)
    data, messages = _rewards(trials, grid)
    reported = _reported(stats, [item.metric for item in data]) if stats else {}
    for item in data:
        if (result := reported.get((item.metric, item.filter))) is not None:
            messages += differences(item.metric, item.values[np.isfinite(item.values)], result.value, TOOL)
    first = trials[0]
    dataset = first.source or AD_HOC
    return uq.TaskLog(
        system=name,
        task=dataset,
        source=uq.Source("", NAME, time=first.started_at, attempt=_attempt(name, dataset, trials, data)),
        questions=uq.Questions(grid.questions, hashes=_checksums(trials)),
        data=tuple(data),
        reported=reported,
        facts=uq.RunMetadata(settings={"agent_version": first.agent_info.version, "agent_kwargs": dict(first.kwargs)}),
        messages=tuple(messages),
        resources=_resources(trials, grid) if with_resources else None,
        ended_by=grid.endings(trial.ending for trial in trials),
    )


def _system_key(trial: Trial) -> SystemKey:
    settings = msgspec.json.encode(trial.kwargs, order="sorted").decode()
    return f"{trial.agent_info.name}\n{trial.model or ''}", trial.agent_info.version or "", settings


def _names(examples: Mapping[SystemKey, Trial]) -> dict[SystemKey, str]:
    """Name of each system: agent and model, with the version and settings in which systems of one name differ."""
    names = dict[SystemKey, str]()
    for key, trial in examples.items():
        alike = [other for other_key, other in examples.items() if other_key[0] == key[0]]
        settings: dict[str, object] = {"model": trial.model}
        if len({other.agent_info.version for other in alike}) > 1:
            settings["version"] = trial.agent_info.version
        for name in sorted({name for other in alike for name in other.kwargs}):
            if len({repr(other.kwargs.get(name)) for other in alike}) > 1:
                settings[name] = trial.kwargs.get(name)
        names[key] = system_name(trial.agent_info.name, settings)
    return names


def _key_in_job(trial: Trial) -> str:
    """Key of the aggregates in the file of the job."""
    info = trial.agent_info.model_info
    return "__".join(filter(None, (trial.agent_info.name, info.name if info else None, trial.source or AD_HOC)))


def _rewards(trials: Sequence[Trial], grid: TrialGrid) -> tuple[list[uq.Scores], list[uq.Message]]:
    """Scores of each reward, with 0 for trials without it, and notes about these and about invalid rewards."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.rewards)) or ["reward"]
    uq.check_cells(len(trials), len(names), uq.MAX_SCORES)
    data, messages = list[uq.Scores](), list[uq.Message]()
    for name in names:
        values = [finite_number(trial.rewards.get(name)) for trial in trials]
        scoreless = [trial for trial, value in zip(trials, values, strict=True) if value is None]
        missing = [trial.errors[0] if trial.errors else "no reward" for trial in scoreless]
        if len(missing) == len(trials) and len(names) > 1:
            continue
        messages += counted_as_zero(missing, len(trials), tool=TOOL, metric=name)
        data.append(uq.Scores(name, "none", grid.matrix(value or 0.0 for value in values), is_complete=True))
    foreign = [trial.errors[0] for trial in trials if trial.rewards and trial.has_foreign_error]
    if foreign:
        listed = ", ".join(f"{n} × {error}" for error, n in Counter(foreign).most_common(5))
        messages.append(REWARDS_AFTER_ERRORS(n_errors=len(foreign), n_trials=len(trials), reasons=listed, tool=TOOL))
    return data, messages


def _reported(stats: EvalStats, names: Sequence[str]) -> dict[tuple[str, str], uq.HarnessResult]:
    """The means in the file of the job: `mean` if there is one reward, else the names of the rewards."""
    reported = dict[tuple[str, str], uq.HarnessResult]()
    for metric in stats.metrics:
        for name in names:
            value = metric.get("mean" if len(names) == 1 else name)
            if (number := finite_number(value)) is not None:
                reported.setdefault((name, "none"), uq.HarnessResult(number))
    return reported


def _checksums(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Checksum of each task; empty if a task has none or several."""
    checksums = defaultdict[str, set[str]](set)
    for trial in trials:
        checksums[trial.task_name].add(trial.task_checksum or "")
    if any(len(found) > 1 or "" in found for found in checksums.values()):
        return ()
    return tuple(next(iter(found)) for found in checksums.values())


def _attempt(system: str, dataset: str, trials: Sequence[Trial], data: Sequence[uq.Scores]) -> uq.Attempt | None:
    """Identity of the job, by which copies of its folder are recognized; None if it is unknown."""
    job = trials[0].config.job_id if trials[0].config else None
    if not job:
        return None
    content = hashlib.blake2b(repr([trial.task_name for trial in trials]).encode(), digest_size=16)
    for item in data:
        content.update(item.values.tobytes())
    name = f"{job} {system} {dataset}"
    return uq.Attempt(name, name, is_finished=True, n_trials=len(trials), content=content.hexdigest())


def _resources(trials: Sequence[Trial], grid: TrialGrid) -> uq.Resources:
    """Tokens, cost and time of the trials."""

    def amounts(part_of: Callable[[Usage], float | None]) -> NDArray[np.float64] | None:
        return known_amounts(grid.matrix(trial.amount(part_of) for trial in trials))

    return uq.Resources(
        usage=(
            uq.TokenUsage(
                trials[0].model or trials[0].agent_info.name,
                input_tokens=amounts(lambda usage: usage.n_input_tokens),
                output_tokens=amounts(lambda usage: usage.n_output_tokens),
                cache_read_tokens=amounts(lambda usage: usage.n_cache_tokens),
                cost=amounts(lambda usage: usage.cost_usd),
            ),
        ),
        total_time=known_amounts(grid.matrix(seconds_between(trial.started_at, trial.finished_at) for trial in trials)),
    )
