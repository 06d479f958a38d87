"""Write estimates into logged runs in the format of their harness, and remove them again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_uq.data.clusters import missing_field
from harness_uq.data.selection import LogFilter
from harness_uq.inference.estimates import estimate_logs
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io import paths as io_paths
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import Reader, Run, Writer
from harness_uq.io.readers import read_run, task_logs, with_system
from harness_uq.io.run_search import expand_path, find_runs, why_no_run
from harness_uq.messages.catalogue.reading import LINK_LEADS_OUTSIDE, OUTPUT_LINK_LEADS_OUTSIDE
from harness_uq.messages.errors import LogError, StructureError, message_of
from harness_uq.messages.message import Message
from harness_uq.messages.redaction import DistinctNames
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Rescored:
    """A run into which estimates were written.

    `run`: the run before the change. `files`: paths of the written files.
    """

    run: Run
    estimates: tuple[Estimate, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rescoring:
    """Rescored runs and failures.

    `runs`: runs that were written. `failures`: (path, message) of each path without a run and each run that could not
    be read or written.
    """

    runs: tuple[Rescored, ...]
    failures: tuple[tuple[str, Message], ...] = ()


Progress = Callable[[Sequence[tuple[Reader, Run]]], Iterable[tuple[Reader, Run]]]


def rescore(
    paths: str | Path | Iterable[str | Path],
    options: Options | None = None,
    *,
    output: str | Path | None = None,
    plugins: Plugins | None = None,
    progress: Progress = iter,
    selection: LogFilter | None = None,
    follow_links: bool = False,
) -> Rescoring:
    """Estimate every run under `paths` and write the estimates into its logs.

    `paths`: files, directories (walked) or glob patterns. `output`: directory for copies of the runs, with the same
    structure as under `paths`; None writes in place, and `restore` reverts the change. `selection`: tasks, metrics and
    systems for which intervals are written; runs without any of them are skipped. `follow_links`: write in place to
    logs that are links to outside the folder in `paths`, or outside the folder of a file in `paths`; otherwise they are
    failures. Returns: The written runs and the failures. A run that fails remains unchanged and does not affect the
    other runs. Raises StructureError if the options name a task, metric or field that no run has, or nothing is
    selected; no file is written in this case.
    """
    offered, chosen = plugins or load_plugins(), options or Options()
    estimated: list[_Estimated] = []
    failures: list[tuple[str, Message]] = []
    name_of = DistinctNames()
    for name in _names(paths):
        runs, problems = find_runs(name, offered.harnesses)
        failures += problems or ([] if runs else [(name, why_no_run(name, expand_path(name), offered.harnesses))])
        for harness, run in progress(runs):
            try:
                writer = _writer(harness, offered)
                destination = _folder(name, run, output)
                if destination is None and not follow_links:
                    _check_links(run.files, name)
                read = read_run(harness, run, need_scores=True)
                named = [with_system(log, name_of(log.system)) for log in read]
                if logs := (selection or LogFilter()).of(named):
                    rows = tuple(estimate_logs(task_logs(logs, offered), chosen, offered))
                    wrong = missing_field(chosen.structure, logs)
                    estimated.append(_Estimated(writer, run, rows, destination, wrong))
            except Exception as error:
                failures.append((run.files[0], message_of(error)))
    if selection and not (estimated or failures):
        raise StructureError("no task, metric, filter and model of these runs is asked for")
    if all_rows := [row for item in estimated for row in item.rows]:
        chosen.structure.check_names((row.task for row in all_rows), (row.metric for row in all_rows))
    if estimated and all(item.missing_field for item in estimated):
        raise StructureError(estimated[0].missing_field)
    done = tuple(_written(estimated, chosen, failures))
    return Rescoring(done, tuple(failures))


def _written(
    estimated: Iterable["_Estimated"], options: Options, failures: list[tuple[str, Message]]
) -> Iterator[Rescored]:
    for item in estimated:
        try:
            yield item.write(options)
        except Exception as error:
            failures.append((item.run.files[0], message_of(error)))


def _names(paths: str | Path | Iterable[str | Path]) -> list[str]:
    return [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths]


@dataclass(frozen=True, slots=True)
class _Estimated:
    """A run to write to `destination`."""

    harness: Writer
    run: Run
    rows: tuple[Estimate, ...]
    destination: str | None
    missing_field: Message | None

    def write(self, options: Options) -> Rescored:
        """Write the estimates and the options with which they were made."""
        settings: dict[str, str | float] = {
            "method": options.method,
            "level": options.level,
            "scope": options.scope,
            "estimand": options.estimand,
        }
        files = self.harness.write(self.run, self.rows, self.destination, settings=settings)
        return Rescored(self.run, self.rows, tuple(files))


def _writer(harness: Reader, plugins: Plugins) -> Writer:
    if isinstance(harness, Writer):
        return harness
    able = sorted(name for name, other in plugins.harnesses.items() if isinstance(other, Writer))
    raise LogError(f"{harness.name} logs can be read, not written; of the installed harnesses {', '.join(able)} can")


def _folder(named: str, run: Run, output: str | Path | None) -> str | None:
    """Return the directory for copies of the run: its path under `output` is its path relative to the given path."""
    if output is None:
        if io_paths.is_remote(run.files[0]):
            raise LogError("on a store nothing is written in place: name a folder for copies (--output-dir)")
        return None
    folder = io_paths.folder_of(run.files[0])
    copies, own, root = (
        place.rstrip("/") if io_paths.is_remote(place) else str(io_paths.local_path(place).absolute())
        for place in (str(output), folder, named)
    )
    target = io_paths.join(copies, *_beneath(own, root))
    resolved = {
        place.rstrip("/") if io_paths.is_remote(place) else str(io_paths.local_path(place).resolve())
        for place in (target, folder)
    }
    if len(resolved) == 1:
        raise LogError("the output folder is the run's own; to write there, ask for it in place")
    if not io_paths.is_inside(target, copies):
        raise LogError(OUTPUT_LINK_LEADS_OUTSIDE(folder=copies, target=str(io_paths.local_path(target).resolve())))
    return target


def _check_links(files: Sequence[str], named: str) -> None:
    """Make sure that no file is a link to outside the folder that was named, or that contains the named file. Raises
    LogError if one is.
    """
    for file in files:
        folder = named if io_paths.is_remote(named) or io_paths.local_path(named).is_dir() else io_paths.folder_of(file)
        if not io_paths.is_inside(file, folder):
            raise LogError(LINK_LEADS_OUTSIDE(folder=folder, target=str(io_paths.local_path(file).resolve())))


def _beneath(folder: str, root: str) -> tuple[str, ...]:
    """Return the path of the run relative to the given directory; empty if a file or a pattern was given."""
    if io_paths.is_remote(folder):
        return tuple(folder.removeprefix(f"{root}/").split("/")) if folder.startswith(f"{root}/") else ()
    return Path(folder).relative_to(root).parts if Path(root).is_dir() and Path(folder).is_relative_to(root) else ()


@dataclass(frozen=True, slots=True)
class Restoring:
    """The result of `restore`.

    `restored`: paths of the restored files. `failures`: (path, message) of files that could not be restored; these
    files are unchanged.
    """

    restored: tuple[str, ...]
    failures: tuple[tuple[str, Message], ...] = ()


def restore(
    paths: str | Path | Iterable[str | Path], *, plugins: Plugins | None = None, follow_links: bool = False
) -> Restoring:
    """Restore the files that `rescore` changed in place under `paths` to their exact original contents.

    `follow_links`: as for `rescore`. Raises LogError if a path does not exist; no file is restored in this case.
    """
    harnesses = (plugins or load_plugins()).harnesses.values()
    files_by_name = {name: expand_path(name) for name in _names(paths)}
    for name, files in files_by_name.items():
        if not files and not Path(name).is_dir():
            raise LogError(f"{name}: {why_no_run(name, files, {})}")
    restored: dict[str, None] = {}
    failures: list[tuple[str, Message]] = []
    name_of_file = {file: name for name, of_name in files_by_name.items() for file in of_name}
    for file, name in name_of_file.items():
        for harness in harnesses:
            if not isinstance(harness, Writer):
                continue
            try:
                if not follow_links and io_paths.local_path(file).is_symlink() and harness.find([file]).runs:
                    _check_links([file], name)
                restored |= dict.fromkeys(harness.restore(file))
            except Exception as error:
                failures.append((file, message_of(error)))
    return Restoring(tuple(restored), tuple(failures))
