"""Terminal-Bench 1: run folders with `run_metadata.json`, `results.json` and a `results.json` for each trial.

A question is a task. Runs of one agent and model in the same folder are trials of the same questions, because a
benchmark is repeated by running it again. The results file of a run repeats the files of its trials; these are read
only if the results file is missing or damaged. Trials that were not resolved, for whatever reason, score 0, as in the
accuracy that the tool computes.
"""

import hashlib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

import harness_uq.plugin_api as uq
from harness_uq_formats.json_files import content_of, decode, decoded_files
from harness_uq_formats.log_parts import (
    TrialGrid,
    counted_as_zero,
    differences,
    known_amounts,
    seconds_between,
    system_name,
)
from harness_uq_formats.messages import PART_UNREADABLE, REPEATED_RECORDS, RUNS_AS_TRIALS

NAME: Final = "terminal-bench"
TOOL: Final = "Terminal-Bench"
METRIC: Final = "resolved"
ENDING_OF_FAILURE: Final = {
    "unset": "completed",
    "none": "completed",
    "agent_timeout": "time limit",
    "context_length_exceeded": "context limit",
    "output_length_exceeded": "token limit",
    "fatal_llm_parse_error": "unparsed",
    "parse_error": "error",
    "test_timeout": "error",
    "agent_installation_failed": "error",
    "unknown_agent_error": "error",
    "unknown": "error",
}
"""How a trial ended, by `failure_mode`; `parse_error` and `test_timeout` are about the tests, not about the answer."""
_METADATA: Final = "run_metadata.json"
_RESULTS: Final = "results.json"


class Metadata(msgspec.Struct):
    """`run_metadata.json`."""

    run_id: str
    agent_name: str
    uuid: str | None = None
    model_name: str | None = None
    agent_kwargs: dict[str, object] | None = None
    dataset_name: str | None = None
    dataset_version: str | None = None
    dataset_path: str | None = None
    dataset_size: int = 0
    n_attempts: int = 1
    start_time: str | None = None

    @property
    def system(self) -> str:
        """Name of the agent with its model and settings."""
        return system_name(self.agent_name, {"model": self.model_name, **(self.agent_kwargs or {})})

    @property
    def task(self) -> str:
        """Name of the dataset with its version."""
        name = self.dataset_name or uq.paths.name_of(self.dataset_path or "") or NAME
        return f"{name}@{self.dataset_version}" if self.dataset_version else name


class Trial(msgspec.Struct):
    """An element of `results`, or the results file of a trial."""

    trial_name: str
    task_id: str
    is_resolved: bool | None = None
    failure_mode: str | None = None
    instruction: str = ""
    total_input_tokens: float | None = None
    total_output_tokens: float | None = None
    trial_started_at: str | None = None
    trial_ended_at: str | None = None

    @property
    def ending(self) -> str:
        """How the trial ended; unknown if it has neither a result nor a failure."""
        ending = ENDING_OF_FAILURE.get(self.failure_mode or "", "unknown")
        return "unknown" if ending == "completed" and self.is_resolved is None else ending


class Results(msgspec.Struct):
    """The results file of a run."""

    results: list[Trial]
    accuracy: float | None = None


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run of Terminal-Bench.

    `metadata`: content of `run_metadata.json`.
    """

    path: str
    metadata: Metadata
    trial_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunGroup(uq.Run):
    """Runs of one agent and model in the same folder.

    `folders`: the runs, sorted by time.
    """

    folders: tuple[RunFolder, ...] = ()


@dataclass(slots=True)
class _Part:
    """What was read of one run."""

    trials: list[Trial] = field(default_factory=list)
    accuracy: float | None = None
    unread: list[tuple[str, str]] = field(default_factory=list)


def parts(files: Sequence[str]) -> Iterable[Sequence[str]]:
    """The files of all runs in a folder, every other file by itself."""
    run_folders = {uq.paths.folder_of(file) for file in files if uq.paths.name_of(file) == _METADATA}
    groups = defaultdict[tuple[str, str], list[str]](list)
    for file in files:
        owners = _owners(file, run_folders) if uq.paths.name_of(file) in (_METADATA, _RESULTS) else []
        groups[("runs in", uq.paths.folder_of(owners[-1])) if owners else ("file", file)].append(file)
    return groups.values()


def find(files: Sequence[str]) -> uq.Discovery:
    """A run for each group of run folders with the same agent, model and dataset in one folder.

    Copies of a run, which have the same `uuid`, are left out.
    """
    metadata, problems = _read_metadata(files)
    trial_files = defaultdict[str, list[str]](list)
    for file in files:
        if uq.paths.name_of(file) == _RESULTS and (owners := _owners(file, metadata)):
            trial_files[owners[0]].append(file)
    groups = defaultdict[tuple[object, ...], list[RunFolder]](list)
    seen = set[str]()
    claimed = set[str]()
    for folder in sorted(metadata, key=lambda name: (name.count("/"), name)):
        content = metadata[folder]
        claimed |= {uq.paths.join(folder, _METADATA), *trial_files[folder]}
        if content.uuid is not None and content.uuid in seen:
            continue
        seen.add(content.uuid or folder)
        run = RunFolder(folder, content, tuple(trial_files[folder]))
        groups[uq.paths.folder_of(folder), str(content.system), content.task].append(run)
    runs = tuple(_run_group(folders) for folders in groups.values())
    return uq.Discovery(runs, tuple(file for file in files if file not in claimed), tuple(problems))


def _read_metadata(files: Sequence[str]) -> tuple[dict[str, Metadata], list[tuple[str, uq.Message]]]:
    """Metadata by run folder, also of runs of which only the results file is given."""
    candidates = dict.fromkeys(file for file in files if uq.paths.name_of(file) == _METADATA)
    for file in files:
        if uq.paths.name_of(file) == _RESULTS:
            beside = uq.paths.join(uq.paths.folder_of(file), _METADATA)
            if beside not in candidates and uq.paths.is_file(beside):
                candidates[beside] = None
    metadata, problems = dict[str, Metadata](), list[tuple[str, uq.Message]]()
    for file in candidates:
        try:
            metadata[uq.paths.folder_of(file)] = decode(content_of(file), Metadata)
        except uq.LogError as error:
            problems.append((file, error.message))
    return metadata, problems


def _owners(file: str, run_folders: Container[str]) -> list[str]:
    """The run folders that contain a file, the innermost first."""
    folder, owners = uq.paths.folder_of(file), list[str]()
    while folder:
        if folder in run_folders:
            owners.append(folder)
        parent = uq.paths.folder_of(folder)
        if parent == folder:
            break
        folder = parent
    return owners


def _run_group(folders: list[RunFolder]) -> RunGroup:
    ordered = tuple(sorted(folders, key=lambda run: (run.metadata.start_time or "", run.path)))
    files = tuple(
        file for run in ordered for file in dict.fromkeys((uq.paths.join(run.path, _METADATA), *run.trial_files))
    )
    first = ordered[0]
    return RunGroup(first.path, files, first.metadata.start_time, folders=ordered)


def read(run: uq.Run, *, with_resources: bool) -> Iterator[uq.TaskLog]:
    """The one task of the runs. Raises LogError if no file can be read."""
    folders = run.folders if isinstance(run, RunGroup) else ()
    parts = [_read_folder(folder) for folder in folders]
    trials, repeated = _distinct(folders, parts)
    unread = [entry for part in parts for entry in part.unread]
    if not trials and unread:
        file, reason = unread[0]
        raise uq.LogError(f"{file}: {reason}")
    grid = TrialGrid()
    for trial in trials:
        grid.add(trial.task_id)
    scores = [float(trial.is_resolved or False) for trial in trials]
    reported = _accuracy(parts)
    first = folders[0].metadata
    planned = sum(folder.metadata.dataset_size * folder.metadata.n_attempts for folder in folders)
    yield uq.TaskLog(
        system=first.system,
        task=first.task,
        source=uq.Source(folders[0].path, NAME, time=first.start_time, attempt=_attempt(folders, trials)),
        questions=uq.Questions(grid.questions, hashes=_content_hashes(trials)),
        data=(uq.Scores(METRIC, "none", grid.matrix(scores), levels=(0.0, 1.0), is_complete=True),) if trials else (),
        reported={(METRIC, "none"): uq.HarnessResult(reported)} if reported is not None else {},
        facts=uq.RunMetadata(
            is_finished=len(trials) >= planned,
            settings={"runs": len(folders), "attempts": first.n_attempts, "agent_kwargs": first.agent_kwargs},
        ),
        messages=(
            *_notes(folders, trials),
            *differences(METRIC, scores, reported, TOOL),
            *([REPEATED_RECORDS(n_repeated=len(repeated), examples=", ".join(repeated[:3]))] if repeated else ()),
            *([PART_UNREADABLE(n_parts=len(unread), file=unread[0][0], reason=unread[0][1])] if unread else ()),
        ),
        resources=_resources(first, trials, grid) if with_resources else None,
        ended_by=grid.endings(trial.ending for trial in trials),
    )


def _read_folder(folder: RunFolder) -> _Part:
    """The trials of the results file; of the files of the trials, if it cannot be read."""
    part = _Part()
    own_file = uq.paths.join(folder.path, _RESULTS)
    if own_file in folder.trial_files or uq.paths.is_file(own_file):
        for results in decoded_files([own_file], Results, part.unread):
            return _Part(results.results, results.accuracy)
    part.trials = decoded_files([file for file in folder.trial_files if file != own_file], Trial, part.unread)
    if part.trials and part.unread and part.unread[0][0] == own_file:
        part.unread.pop(0)  # the files of the trials contain the same
    return part


def _distinct(folders: Sequence[RunFolder], parts: Sequence[_Part]) -> tuple[list[Trial], list[str]]:
    """The trials in the order of the runs and attempts, and the names of trials that occur twice in a run."""
    trials, repeated = list[Trial](), list[str]()
    for _, part in zip(folders, parts, strict=True):
        by_name = dict[str, Trial]()
        for trial in part.trials:
            if by_name.setdefault(trial.trial_name, trial) is not trial:
                repeated.append(trial.trial_name)
        trials += sorted(by_name.values(), key=lambda trial: _trial_number(trial.trial_name))
    return trials, repeated


def _trial_number(trial_name: str) -> int:
    """The number k in `<task>.<k>-of-<n>.<run>`; 0 if the name has another form."""
    for part in trial_name.split("."):
        k, separator, n = part.partition("-of-")
        if separator and k.isdecimal() and n.isdecimal() and len(k) < 10:
            return int(k)
    return 0


def _attempt(folders: Sequence[RunFolder], trials: Sequence[Trial]) -> uq.Attempt | None:
    """Identity of the runs, by which copies in other folders are recognized; None if a run has no identifier."""
    identifiers = sorted(folder.metadata.uuid or "" for folder in folders)
    if not all(identifiers):
        return None
    content = hashlib.blake2b(repr([(trial.task_id, trial.is_resolved) for trial in trials]).encode(), digest_size=16)
    name = "+".join(identifiers)
    return uq.Attempt(name, name, is_finished=True, n_trials=len(trials), content=content.hexdigest())


def _accuracy(parts: Sequence[_Part]) -> float | None:
    """Mean accuracy that the tool reports; None if it is unknown for a run."""
    total = 0.0
    for part in parts:
        if part.accuracy is None:
            return None
        total += part.accuracy * len(part.trials)
    n_trials = sum(len(part.trials) for part in parts)
    return total / n_trials if n_trials else None


def _content_hashes(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Hash of the instruction of each task; empty if a task has none."""
    instructions = dict[str, str]()
    for trial in trials:
        instructions.setdefault(trial.task_id, trial.instruction)
    if not all(instructions.values()):
        return ()
    return tuple(hashlib.blake2b(text.encode(), digest_size=16).hexdigest() for text in instructions.values())


def _notes(folders: Sequence[RunFolder], trials: Sequence[Trial]) -> Iterator[uq.Message]:
    if len(folders) > 1:
        names = ", ".join(folder.metadata.run_id for folder in folders)
        yield RUNS_AS_TRIALS(n_runs=len(folders), runs=names)
    reasons = [trial.failure_mode or "unknown" for trial in trials if trial.is_resolved is None]
    yield from counted_as_zero(reasons, len(trials), tool=TOOL, metric="result")


def _resources(metadata: Metadata, trials: Sequence[Trial], grid: TrialGrid) -> uq.Resources:
    """Tokens and time. The tool writes 0 or null tokens if the agent does not count them."""
    usage = uq.TokenUsage(
        metadata.model_name or metadata.agent_name,
        input_tokens=known_amounts(grid.matrix(trial.total_input_tokens or None for trial in trials)),
        output_tokens=known_amounts(grid.matrix(trial.total_output_tokens or None for trial in trials)),
    )
    return uq.Resources(
        usage=(usage,) if usage.input_tokens is not None or usage.output_tokens is not None else (),
        total_time=known_amounts(
            grid.matrix(seconds_between(trial.trial_started_at, trial.trial_ended_at) for trial in trials)
        ),
    )
