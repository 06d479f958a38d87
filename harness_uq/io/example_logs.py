"""Logs and tables that ship with the package, for a first try without a model."""

import zipfile
from collections.abc import Set
from importlib.resources import files
from pathlib import Path, PurePosixPath

from harness_uq.io.paths import local_path, make_folder, write_bytes
from harness_uq.messages.errors import HarnessUqError

_TABLES = PurePosixPath("tables")  # folder of the archive
_LOGS = ("lm-eval", "inspect")  # folders of the logs


def demo(folder: str | Path | None = None, *, tables: bool = False) -> Path:
    """Write example logs of lm-eval and Inspect AI, or example tables, to a folder, and return its path.

    In the logs, two scripted systems answered the same questions. The folder `lm-eval` contains eight tasks of each
    system, and the folder `inspect` four. The folder `tasks` and the file `inspect_tasks.py` contain the tasks. The
    tables contain simulated scores: with missing scores (`answers.csv`), with costs (`agents.csv`, `tokens.csv`), of a
    model grader (`grades.csv`) with human labels (`labels.csv`), and of 20 nightly runs (`nightly`). A second call
    writes the same files again.

    Parameters
    ----------
    folder : folder to write to, which is created if it does not exist; None for `demo-output`, or for `demo-tables`
    tables : whether to write the tables instead of the logs

    Raises
    ------
    HarnessUqError : if `folder` already contains other logs, because commands would mix them with the example logs
    OSError : if a file cannot be written

    Examples
    --------
    >>> import tempfile
    >>> import harness_uq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     logs = harness_uq.demo(folder) / "lm-eval"
    ...     (row,) = harness_uq.compare(logs / "scripted-large", logs / "scripted-small", task="demo_passages")
    >>> row.verdict
    'better'
    """
    target = local_path(str(folder or ("demo-tables" if tables else "demo-output")))
    with files("harness_uq.io").joinpath("example_logs.zip").open("rb") as file, zipfile.ZipFile(file) as archive:
        names = map(PurePosixPath, archive.namelist())
        wanted = {name for name in names if name.is_relative_to(_TABLES) == tables}
        contents = {
            target / (name.relative_to(_TABLES) if tables else name): archive.read(str(name)) for name in wanted
        }
    if not tables:
        _check_no_other_logs({path for path in contents if path.relative_to(target).parts[0] in _LOGS})
    for path, content in contents.items():
        make_folder(str(path.parent))
        write_bytes(str(path), content)
    return target


def _check_no_other_logs(paths: Set[Path]) -> None:
    """Raise HarnessUqError if the folders of the example logs contain anything else."""
    systems = {path.parent for path in paths}
    others = sorted({other for system in systems for other in system.glob("*")} - paths)
    if others:
        raise HarnessUqError(f"The folder already contains other logs: {others[0]}. Give the name of a new folder.")
