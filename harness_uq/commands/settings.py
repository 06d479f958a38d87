"""The settings file of a project: what holds for its logs wherever the command line says nothing else."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness_uq.errors import HarnessUqError

OWN_FILE = "harness-uq.toml"
_SHARED_FILE = "pyproject.toml"
_SCOPES = ("population", "benchmark")


class SettingsError(HarnessUqError):
    """A settings file that cannot be used; the message names it and the key."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a settings file says; None or empty where it says nothing.

    Attributes
    ----------
    path : of the file; None where there is none
    level, scope : as on the command line
    cluster, clusters : field of every task, and by task
    ranges : by metric, or TASK:METRIC
    margin, margins : of every task, and by task
    factors : settings of the logs by the name of their factor
    """

    path: str | None = None
    level: float | None = None
    scope: str | None = None
    cluster: str | None = None
    clusters: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    margin: float | None = None
    margins: Mapping[str, float] = field(default_factory=dict)
    factors: Mapping[str, str] = field(default_factory=dict)

    def told(self) -> list[str]:
        """Each setting as `name value`."""
        plain = {"level": self.level, "scope": self.scope, "cluster": self.cluster, "margin": self.margin}
        said = [f"{name} {value}" for name, value in plain.items() if value is not None]
        for name, table in (("cluster", self.clusters), ("margin", self.margins), ("factor", self.factors)):
            said += [f"{name} {key}={value}" for key, value in table.items()]
        return [*said, *(f"range {name}={low:g},{high:g}" for name, (low, high) in self.ranges.items())]


def find_settings(folder: Path) -> Settings:
    """The settings of the nearest file in this folder or one above: `harness-uq.toml`, or `pyproject.toml` with a table
    `[tool.harness_uq]`.

    Raises
    ------
    SettingsError : if that file cannot be read, or says something else than it may
    """
    for path in (here / name for here in (folder, *folder.parents) for name in (OWN_FILE, _SHARED_FILE)):
        if path.is_file() and (table := _table(path)) is not None:
            return Settings(str(path), **dict(_checked(table, path)))  # type: ignore[arg-type]
    return Settings()


def _table(path: Path) -> Mapping[str, object] | None:
    """The file's table; None where a shared file has none of ours."""
    try:
        content = path.read_text("utf-8")
        if path.name != OWN_FILE and "harness_uq" not in content:
            return None
        document = tomllib.loads(content)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    table = document if path.name == OWN_FILE else document.get("tool", {}).get("harness_uq")
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: tool.harness_uq must be a table")
    return table


def _checked(table: Mapping[str, object], path: Path) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if name not in _CHECKS:
            raise SettingsError(f"{path}: no setting is called {name!r}; there are {', '.join(sorted(_CHECKS))}")
        read, what = _CHECKS[name]
        try:
            yield name, read(value)
        except (TypeError, ValueError, AttributeError):
            raise SettingsError(f"{path}: {name} must {what}; got {value!r}") from None


def _number(value: object, holds: Callable[[float], bool]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not holds(value):
        raise ValueError
    return float(value)


def _level(value: object) -> float:
    return _number(value, lambda p: 0 < p < 1)


def _margin(value: object) -> float:
    return _number(value, lambda d: 0 <= d < float("inf"))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _scope(value: object) -> str:
    if value not in _SCOPES:
        raise ValueError
    return str(value)


def _range(value: object) -> tuple[float, float]:
    if not isinstance(value, list):
        raise TypeError
    low, high = (_number(end, lambda _: True) for end in value)
    if not low < high:
        raise ValueError
    return low, high


def _by_name(read: Callable[[object], object]) -> Callable[[object], object]:
    def read_all(value: object) -> object:
        if not isinstance(value, dict):
            raise TypeError
        return {name: read(item) for name, item in value.items()}

    return read_all


_CHECKS: Mapping[str, tuple[Callable[[object], object], str]] = {
    "level": (_level, "lie between 0 and 1, such as 0.95"),
    "scope": (_scope, "be population or benchmark"),
    "cluster": (_text, "be a field's name, none or auto"),
    "clusters": (_by_name(_text), 'be a table of fields by task, such as {drop = "section_id"}'),
    "ranges": (_by_name(_range), "be a table of [low, high] by METRIC or TASK:METRIC, such as {bleu = [0, 100]}"),
    "margin": (_margin, "be the smallest difference that matters, 0 or more"),
    "margins": (_by_name(_margin), "be a table of margins by task, such as {gsm8k = 0.02}"),
    "factors": (_by_name(_text), 'be a table of settings by factor, such as {prompt = "description"}'),
}
