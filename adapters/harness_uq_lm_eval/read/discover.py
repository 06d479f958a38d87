"""Assign files to runs.

A run is a results file and the samples files of its tasks. Since lm-eval 0.4.3 they share a folder and a time in their
names; before, samples files are named after the arguments of the model. The folder alone does not identify a run:
lm-eval names it after the model, and uses the same folder for all models without a name.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from harness_uq.plugin_api import FILE_EMPTY, FILE_UNREADABLE, Discovery, LogError, Message, Run
from harness_uq.plugin_api import paths as io_paths
from harness_uq_lm_eval.messages import SAMPLES_FORMAT_UNKNOWN, SAMPLES_NOT_JSON, SAMPLES_UNREADABLE, SPARE_SAMPLES
from harness_uq_lm_eval.read.compression import open_decompressed, without_compression

if TYPE_CHECKING:
    from harness_uq_lm_eval.read.results import Results

_TIME = r"(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)"
_SAMPLES_NAME = re.compile(rf"samples_(?P<task>.+?)(?:_{_TIME})?\.jsonl?")
_SAMPLES_OF_UNKNOWN_FORMAT = re.compile(rf"samples_(?P<task>.+?)_{_TIME}\.jsonl?(?P<suffix>\.(?!(?:gz|bz2|zst)$)\w+)")
_RESULTS_NAME = re.compile(rf"(?P<stem>.+)_{_TIME}\.json")
_SAMPLES_START = re.compile(rb'\s*(?:\[\s*)?\{\s*"doc_id"\s*:')
_JSON_START = re.compile(rb"\s*[\[{]")
_FIRST_KEY = re.compile(rb'\s*\{\s*"([^"]*)"')
_RESULTS_KEYS = frozenset(
    b"results groups group_subtasks configs config versions n-shot n-samples higher_is_better date git_hash "
    b"chat_template chat_template_sha eot_token_id fewshot_as_multiturn end_time lm_eval_version max_length".split()
)
_STARTS_WITH_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d")
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class LmEvalRun(Run):
    """A run with the role of each of its files.

    `results`: the results file; None if there are only samples. `samples`: (task, file) pairs. `unread`: (task,
    message) for each samples file of the run that is not read. `only_sampled`: whether only the tasks of `samples` were
    requested. `why_no_results`: the reason if there is no results file.
    """

    results: str | None = None
    samples: tuple[tuple[str, str], ...] = ()
    unread: tuple[tuple[str, Message], ...] = ()
    only_sampled: bool = False
    why_no_results: str = ""


@dataclass(frozen=True, slots=True)
class _ResultsFile:
    path: str
    time: str | None
    content: "Results"


@dataclass(frozen=True, slots=True)
class _SamplesFile:
    path: str
    time: str | None
    task: str | None  # None if the name contains the arguments of the run
    problem: Message | None = None  # the reason if the file is not read


@dataclass(slots=True)
class _Group:
    results: _ResultsFile | None = None
    samples: list[tuple[str, _SamplesFile]] = field(default_factory=list)

    def read(self) -> dict[str, str]:
        """The file that is read for each task; of several files, the first, which is not compressed."""
        files = sorted((task, file.path) for task, file in self.samples if file.problem is None)
        return dict(reversed(files))

    def spare_files(self) -> list[str]:
        """Further files of a task whose samples are read from another file."""
        read = self.read()
        return [file.path for task, file in self.samples if task in read and file.path != read[task]]

    def unread(self) -> Iterator[tuple[str, Message]]:
        """Task and message for each samples file that is not read."""
        read = self.read()
        for task, file in self.samples:
            name = io_paths.name_of(file.path)
            if task in read and file.path != read[task]:
                yield task, SPARE_SAMPLES(file=name, used=io_paths.name_of(read[task]))
            elif file.problem is not None:
                yield task, SAMPLES_UNREADABLE(file=name, reason=file.problem.text)


def find(paths: Sequence[str]) -> Discovery:
    """Runs that the files belong to; the other files of a run are searched in the folders of the given files."""
    unrecognised: list[str] = []
    problems: list[tuple[str, Message]] = []
    folders: dict[str, list[_ResultsFile | _SamplesFile]] = defaultdict(list)
    for path in dict.fromkeys(paths):
        try:
            file = _recognise(path)
        except LogError as error:
            problems.append((path, error.message))
            continue
        if file is None:
            unrecognised.append(path)
        else:
            folders[io_paths.folder_of(path)].append(file)
    named = {file.path: file for files in folders.values() for file in files}
    groups = [group for folder, files in folders.items() for group in _grouped([*files, *_partners(folder, files)])]
    spare = {path for group in groups for path in group.spare_files()}
    for path, file in named.items():
        if isinstance(file, _SamplesFile) and path in spare:
            unrecognised.append(path)
        elif isinstance(file, _SamplesFile) and file.problem is not None:
            problems.append((path, file.problem))
    runs = [run for group in groups if (run := _run(group, set(named))) is not None]
    return Discovery(tuple(runs), tuple(unrecognised), tuple(problems))


def parts(paths: Sequence[str]) -> list[list[str]]:
    """Groups of paths that may belong to one run according to their names.

    Files that are not JSON, and Inspect's logs, whose names start with a time, are groups of their own.
    """
    names = {path: name for path in paths if _is_json_name(name := io_paths.name_of(path))}
    times = {path: _time_in(name) for path, name in names.items() if not _STARTS_WITH_TIME.match(name)}
    untimed = {io_paths.folder_of(path) for path, time in times.items() if time is None}
    groups: dict[object, list[str]] = defaultdict(list)
    for path in paths:
        folder = io_paths.folder_of(path)
        groups[(folder, None if folder in untimed else times[path]) if path in times else path].append(path)
    return list(groups.values())


def _is_json_name(name: str) -> bool:
    return without_compression(name).endswith((".json", ".jsonl")) or bool(_SAMPLES_OF_UNKNOWN_FORMAT.fullmatch(name))


def _time_in(name: str) -> str | None:
    plain_name = without_compression(name)
    match = (
        _SAMPLES_NAME.fullmatch(plain_name)
        or _RESULTS_NAME.fullmatch(plain_name)
        or _SAMPLES_OF_UNKNOWN_FORMAT.fullmatch(name)
    )
    return match["time"] if match else None


def _recognise(path: str) -> _ResultsFile | _SamplesFile | None:
    name = io_paths.name_of(path)
    if match := _SAMPLES_OF_UNKNOWN_FORMAT.fullmatch(name):
        return _SamplesFile(path, match["time"], match["task"], SAMPLES_FORMAT_UNKNOWN(suffix=match["suffix"]))
    if not _is_json_name(name):
        return None
    plain_name = without_compression(name)
    match = _SAMPLES_NAME.fullmatch(plain_name)
    time, task = (match["time"], match["task"]) if match else (None, None)
    try:
        head = _head(path)
    except LogError as error:
        if time is None and name != plain_name:
            return None
        if time is None:
            raise
        return _SamplesFile(path, time, task, error.message)
    if _SAMPLES_START.match(head):
        return _SamplesFile(path, time, task)
    if time is not None:
        is_empty, is_json = not head.strip(), _JSON_START.match(head) is not None
        return _SamplesFile(path, time, task, FILE_EMPTY() if is_empty else None if is_json else SAMPLES_NOT_JSON())
    return _as_results(path, name, head) if name == plain_name else None


def _as_results(path: str, name: str, head: bytes) -> _ResultsFile | None:
    match = _RESULTS_NAME.fullmatch(name)
    first = _FIRST_KEY.match(head)
    is_named = name == "results.json" or (match is not None and match["stem"] == "results")
    if not is_named and not (first and first[1] in _RESULTS_KEYS):
        return None
    if not head.strip():
        raise LogError(FILE_EMPTY())
    from harness_uq_lm_eval.read.results import NoResultsError, Results

    try:
        return _ResultsFile(path, match["time"] if match else None, Results(path))
    except NoResultsError:
        return None


def _head(path: str) -> bytes:
    try:
        with open_decompressed(path) as file:
            return file.read(_HEAD)
    except OSError as error:
        raise LogError(FILE_UNREADABLE(reason=str(error.strerror))) from None


def _partners(folder: str, files: Sequence[_ResultsFile | _SamplesFile]) -> list[_ResultsFile | _SamplesFile]:
    """Other recognised files in the folder that may belong to the same runs."""
    named = {io_paths.name_of(file.path) for file in files}
    times = {file.time for file in files if file.time is not None}
    has_untimed = len(times) == 0 or any(file.time is None for file in files)
    partners = []
    for path in io_paths.files_in(folder):
        name = io_paths.name_of(path)
        time = _time_in(name)
        if name in named or not (time in times or has_untimed):
            continue
        try:
            file = _recognise(path)
        except LogError:
            continue
        if file is not None:
            partners.append(file)
    return partners


def _grouped(files: Sequence[_ResultsFile | _SamplesFile]) -> list[_Group]:
    """Assign samples to the results with the same time that contain their task; the others are runs of their own."""
    groups = [_Group(file) for file in files if isinstance(file, _ResultsFile)]
    orphans: dict[str, _Group] = {}
    for file in files:
        if isinstance(file, _SamplesFile):
            task, group = _group_of(file, groups)
            if group is None and file.problem is not None:
                continue
            if group is None:
                group = orphans.setdefault(file.time or file.path, _Group())
            group.samples.append((task, file))
    return [*groups, *_assign_orphans(groups, orphans)]


def _group_of(file: _SamplesFile, groups: Sequence[_Group]) -> tuple[str, _Group | None]:
    stem = PurePath(without_compression(io_paths.name_of(file.path))).stem
    for group in groups:
        if group.results is None or group.results.time != file.time:
            continue
        task = file.task or group.results.content.task_of_file(stem)
        if task is not None and task in group.results.content.rows:
            return task, group
    return file.task or stem, None


def _assign_orphans(groups: Sequence[_Group], orphans: dict[str, _Group]) -> list[_Group]:
    """Assign the only samples without results to the only results file without a time, if it contains their tasks."""
    untimed = [group for group in groups if group.results and group.results.time is None and not group.samples]
    if len(untimed) == len(orphans) == 1 and untimed[0].results is not None:
        orphan = next(iter(orphans.values()))
        if {task for task, _ in orphan.samples} <= set(untimed[0].results.content.rows):
            untimed[0].samples = orphan.samples
            return []
    return list(orphans.values())


def _run(group: _Group, named: set[str]) -> LmEvalRun | None:
    """The run; None if no file of it was given, and only the given tasks if only samples files were given."""
    results = group.results.path if group.results else None
    samples = sorted(group.read().items())
    if results not in named:
        samples = [(task, path) for task, path in samples if path in named]
        if not samples:
            return None
    files = tuple(path for path in (results, *(path for _, path in samples)) if path is not None)
    return LmEvalRun(
        name=files[0],
        files=files,
        time=_time(group),
        results=results,
        samples=tuple(samples),
        unread=tuple(group.unread()),
        only_sampled=results is not None and results not in named,
        why_no_results=_why_no_results(group.samples[0][1]) if results is None else "",
    )


def _why_no_results(samples: _SamplesFile) -> str:
    name = f"results_{samples.time}.json" if samples.time else "results.json"
    try:
        if io_paths.exists(beside := io_paths.join(io_paths.folder_of(samples.path), name)):
            _recognise(beside)
    except (LogError, OSError) as error:
        return f"{name} cannot be read: {error}"
    return "There is no results file"


def _time(group: _Group) -> str | None:
    """Time in the names of the files (local time of the end of the run), else the start time in the results file."""
    stamps = [group.results.time] if group.results else [file.time for _, file in group.samples]
    if stamps[0] is not None:
        date, clock = stamps[0].split("T")
        return f"{date}T{clock.replace('-', ':')}"
    return group.results.content.start() if group.results else None
