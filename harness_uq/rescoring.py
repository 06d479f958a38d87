"""Estimates written into logged runs by the harness that logged them, and taken out again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_uq.errors import LogError, StructureError, told
from harness_uq.estimating.analysis import Options, estimate
from harness_uq.logs import places
from harness_uq.logs.selection import Selection
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.protocols import Reader, Run, Writer
from harness_uq.plugins.reading import expand, find_runs, read_run, why_no_run
from harness_uq.results.estimate import Estimate
from harness_uq.structure.clusters import missing_field


@dataclass(frozen=True, slots=True)
class Rescored:
    """One run with the estimates written into it.

    Attributes
    ----------
    run : as it was found
    estimates : of its tasks
    files : paths written
    """

    run: Run
    estimates: tuple[Estimate, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rescoring:
    """What was rescored, and what was not.

    Attributes
    ----------
    runs : those written
    failures : (path, message) of paths without a run and of runs that could not be read or written
    """

    runs: tuple[Rescored, ...]
    failures: tuple[tuple[str, str], ...] = ()


Progress = Callable[[Sequence[tuple[Reader, Run]]], Iterable[tuple[Reader, Run]]]


def rescore(
    paths: str | Path | Iterable[str | Path],
    options: Options | None = None,
    *,
    output: str | Path | None = None,
    plugins: Plugins | None = None,
    progress: Progress = iter,
    selection: Selection | None = None,
) -> Rescoring:
    """Estimate every run under `paths` and write the estimates into its logs.

    Parameters
    ----------
    paths : files, directories (walked) or glob patterns
    options : how to estimate
    output : folder for copies of the runs, laid out as under `paths`; None writes in place, reversibly by `restore`
    plugins : what to choose from; the installed ones by default
    progress : wraps the list of runs, for a progress bar
    selection : tasks, metrics and systems to write intervals for; a run without any is passed over

    Returns
    -------
    The runs written and the failures; one run that fails leaves the others, and is itself as it was.

    Raises
    ------
    StructureError : if the options name a task, metric or field that no run has, or nothing is selected; then nothing
        is written
    """
    offered, chosen = plugins or load_plugins(), options or Options()
    found, unread = _estimated(_named(paths), chosen, output, offered, progress, selection or Selection())
    if selection and not (found or unread):
        raise StructureError("no task, metric, filter and model of these runs is asked for")
    if rows := [row for item in found for row in item.rows]:
        chosen.structure.check_names((row.task for row in rows), (row.metric for row in rows))
    if found and all(item.missing_field for item in found):
        raise StructureError(found[0].missing_field)
    done, unwritten = _written(found, chosen)
    return Rescoring(tuple(done), (*unread, *unwritten))


@dataclass(frozen=True, slots=True)
class _Estimated:
    """A run that waits to be written to `destination`."""

    harness: Writer
    run: Run
    rows: tuple[Estimate, ...]
    destination: str | None
    missing_field: str


def _estimated(
    names: Sequence[str],
    options: Options,
    output: str | Path | None,
    plugins: Plugins,
    progress: Progress,
    selection: Selection,
) -> tuple[list[_Estimated], list[tuple[str, str]]]:
    found: list[_Estimated] = []
    failures: list[tuple[str, str]] = []
    for name in names:
        runs, problems = find_runs(name, plugins.harnesses)
        if not runs:
            problems = problems or [(name, why_no_run(name, expand(name), plugins.harnesses))]
        failures += problems
        for harness, run in progress(runs):
            try:
                writer = _writer(harness, plugins)
                destination = _folder(name, run, output)
                if logs := selection.of(read_run(harness, run, need_scores=True)):
                    rows = tuple(estimate(logs, options, plugins=plugins))
                    wrong = missing_field(options.structure, logs)
                    found.append(_Estimated(writer, run, rows, destination, wrong))
            except Exception as error:
                failures.append((run.files[0], told(error)))
    return found, failures


def _writer(harness: Reader, plugins: Plugins) -> Writer:
    if isinstance(harness, Writer):
        return harness
    able = sorted(name for name, other in plugins.harnesses.items() if isinstance(other, Writer))
    raise LogError(f"{harness.name} logs can be read, not written; of the installed harnesses {', '.join(able)} can")


def _written(found: Sequence[_Estimated], options: Options) -> tuple[list[Rescored], list[tuple[str, str]]]:
    settings: dict[str, str | float] = {
        "method": options.method,
        "level": options.level,
        "scope": options.scope,
        "estimand": options.estimand,
    }
    done: list[Rescored] = []
    failures: list[tuple[str, str]] = []
    for item in found:
        try:
            files = item.harness.write(item.run, item.rows, item.destination, settings=settings)
            done.append(Rescored(item.run, item.rows, tuple(files)))
        except Exception as error:
            failures.append((item.run.files[0], told(error)))
    return done, failures


def _folder(named: str, run: Run, output: str | Path | None) -> str | None:
    """Where copies of the run go: beneath `output` as it lies beneath the path that was named."""
    if output is None:
        if places.is_remote(run.files[0]):
            raise LogError("on a store nothing is written in place: name a folder for copies (--output)")
        return None
    folder = places.folder_of(run.files[0])
    target = places.join(_absolute(str(output)), *_beneath(_absolute(folder), _absolute(named)))
    if _resolved(target) == _resolved(folder):
        raise LogError("the output folder is the run's own; to write there, ask for it in place")
    return target


def _beneath(folder: str, root: str) -> tuple[str, ...]:
    """The way from a folder that was named to the run's own; none where a file or a pattern was named."""
    if places.is_remote(folder):
        return tuple(folder.removeprefix(f"{root}/").split("/")) if folder.startswith(f"{root}/") else ()
    return Path(folder).relative_to(root).parts if Path(root).is_dir() and Path(folder).is_relative_to(root) else ()


def _absolute(place: str) -> str:
    return place.rstrip("/") if places.is_remote(place) else str(places.local_path(place).absolute())


def _resolved(place: str) -> str:
    return place.rstrip("/") if places.is_remote(place) else str(places.local_path(place).resolve())


@dataclass(frozen=True, slots=True)
class Restoring:
    """What came of `restore`.

    Attributes
    ----------
    restored : paths brought back
    failures : (path, message) of files that could not be brought back, which are as they were
    """

    restored: tuple[str, ...]
    failures: tuple[tuple[str, str], ...] = ()


def restore(paths: str | Path | Iterable[str | Path], *, plugins: Plugins | None = None) -> Restoring:
    """Undo what `rescore` wrote in place under `paths`, byte for byte.

    Raises
    ------
    LogError : if there is no such path; nothing is brought back then
    """
    harnesses = (plugins or load_plugins()).harnesses.values()
    found = {name: expand(name) for name in _named(paths)}
    for name, files in found.items():
        if not files and not Path(name).is_dir():
            raise LogError(f"{name}: {why_no_run(name, files, {})}")
    restored: dict[str, None] = {}
    failures: list[tuple[str, str]] = []
    for file in dict.fromkeys(file for of_name in found.values() for file in of_name):
        for harness in harnesses:
            if not isinstance(harness, Writer):
                continue
            try:
                restored |= dict.fromkeys(harness.restore(file))
            except Exception as error:
                failures.append((file, told(error)))
    return Restoring(tuple(restored), tuple(failures))


def _named(paths: str | Path | Iterable[str | Path]) -> list[str]:
    return [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths]
