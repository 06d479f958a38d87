"""Settings of an analysis: names and valid values, the same in the settings file of a project and in live runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness_uq.errors import UsageError, unknown_name
from harness_uq.options import OPTIONS, Rule, table_of, text, texts

OWN_FILE = "harness-uq.toml"
_SHARED_FILE = "pyproject.toml"


class SettingsError(UsageError):
    """A setting that does not exist or has an invalid value; the message names its origin."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The table `[gate]` of a settings file.

    Attributes
    ----------
    improve_by : required improvements, by task or metric, or under None for all scores
    by : fields of the questions whose groups are tested, too
    """

    improve_by: Mapping[str | None, float] = field(default_factory=dict)
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings file of a project; None or empty for what it does not set.

    Attributes
    ----------
    path : path of the file; None if there is none
    level, scope : as on the command line
    cluster, clusters : cluster field of all tasks, and by task
    ranges : range of the scores by metric, or by TASK:METRIC
    margin, margins : smallest difference that matters, for all tasks and by task
    at_least, at_most : required bounds of scores, by TASK or TASK:METRIC, which `gate` tests
    gate : further settings of `gate`
    factors : logged settings by the name of their factor
    ignore : codes or names of notes and warnings that are not printed
    tables : mappings of files to scores by name, see `harness_uq.tabular.mapping`
    """

    path: str | None = None
    level: float | None = None
    scope: str | None = None
    cluster: str | None = None
    clusters: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    margin: float | None = None
    margins: Mapping[str, float] = field(default_factory=dict)
    at_least: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)
    gate: GateSettings = GateSettings()
    factors: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    tables: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def descriptions(self) -> list[str]:
        """Each setting as `name value`."""
        values = {"level": self.level, "scope": self.scope, "cluster": self.cluster, "margin": self.margin}
        lines = [f"{name} {value}" for name, value in values.items() if value is not None]
        tables: tuple[tuple[str, Mapping[str, object]], ...] = (
            ("cluster", self.clusters),
            ("margin", self.margins),
            ("at_least", self.at_least),
            ("at_most", self.at_most),
            ("factor", self.factors),
        )
        for name, table in tables:
            lines += [f"{name} {key}={value}" for key, value in table.items()]
        lines += [
            f"improve_by {name}={value}" if name else f"improve_by {value}"
            for name, value in self.gate.improve_by.items()
        ]
        lines += [f"by {name}" for name in self.gate.by]
        lines += [f"ignore {label}" for label in self.ignore]
        lines += [f"table {name}" for name in self.tables]
        return [*lines, *(f"range {name}={low:g},{high:g}" for name, (low, high) in self.ranges.items())]


def find_settings(folder: Path) -> Settings:
    """The settings of the nearest file in this folder or a parent.

    The file is `harness-uq.toml`, or `pyproject.toml` with the table `[tool.harness_uq]`.

    Raises
    ------
    SettingsError : if the file cannot be read, a setting does not exist, or a value is invalid
    """
    for path in (parent / name for parent in (folder, *folder.parents) for name in (OWN_FILE, _SHARED_FILE)):
        if path.is_file() and (table := _read_table(path)) is not None:
            return _checked(path, table)
    return Settings()


def read_settings(path: Path) -> Settings:
    """The settings of one file.

    A file called `pyproject.toml` contains them in the table `[tool.harness_uq]`, any other file at its top.

    Raises
    ------
    SettingsError : as `find_settings`, and if a `pyproject.toml` contains no settings
    """
    table = _read_table(path)
    if table is None:
        raise SettingsError(f"{path}: The file contains no table [tool.harness_uq].")
    return _checked(path, table)


def _checked(path: Path, table: Mapping[str, object]) -> Settings:
    values = check_settings(table, FILE_SETTINGS, origin=str(path))
    gate = check_settings(values.pop("gate", {}), GATE_SETTINGS, origin=f"{path}, [gate]")  # type: ignore[arg-type]
    return Settings(str(path), **values, gate=GateSettings(**gate))  # type: ignore[arg-type]


def _read_table(path: Path) -> Mapping[str, object] | None:
    """The settings in the file; None if a shared file contains none."""
    import tomllib

    try:
        content = path.read_text("utf-8")
        if path.name == _SHARED_FILE and "harness_uq" not in content:
            return None
        document = tomllib.loads(content)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: The settings cannot be read: {error}.") from None
    except RecursionError:
        raise SettingsError(f"{path}: The settings cannot be read: they are nested too deeply.") from None
    table = document.get("tool", {}).get("harness_uq") if path.name == _SHARED_FILE else document
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: Invalid tool.harness_uq: {table!r}. Give a table.")
    return table


def check_settings(values: Mapping[str, object], rules: Mapping[str, Rule], *, origin: str) -> dict[str, object]:
    """The converted values.

    Raises
    ------
    SettingsError : if a name is not in `rules`, or a value is invalid; the message begins with `origin`

    >>> check_settings({"level": "0.9"}, LIVE_SETTINGS, origin="HARNESS_UQ_LEVEL")
    {'level': 0.9}
    """
    converted = {}
    for name, value in values.items():
        if name not in rules:
            raise SettingsError(f"{origin}: {unknown_name('setting', name, rules)}")
        try:
            converted[name] = rules[name].convert(value)
        except (TypeError, ValueError, AttributeError):
            raise SettingsError(f"{origin}: Invalid {name}: {value!r}. Give {rules[name].valid}.") from None
    return converted


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError
    return value


_OF_OPTIONS = {
    name: rule
    for one in OPTIONS.values()
    for declared in (one, one.of("gate"))
    for name, rule in declared.settings.items()
}
GATE_SETTINGS: Mapping[str, Rule] = {
    name.removeprefix("gate."): rule for name, rule in _OF_OPTIONS.items() if name.startswith("gate.")
}
"""Settings of the table `[gate]`."""

FILE_SETTINGS: Mapping[str, Rule] = {
    **{name: rule for name, rule in _OF_OPTIONS.items() if not name.startswith("gate.")},
    "gate": Rule(_table, "a table with improve_by and by"),
    "ignore": Rule(texts, 'a list of codes or names of notes and warnings, such as ["few-clusters"]'),
    "tables": Rule(
        table_of(_table), 'tables of expressions by role, such as {runs = {files = "*.json", question = "id", …}}'
    ),
}
"""Settings of a settings file."""

LIVE_SETTINGS: Mapping[str, Rule] = {
    **{one.name: one.live for one in OPTIONS.values() if one.live is not None},
    "compare": Rule(text, "the path of a logged run"),
}
"""Settings of a harness run with `--uq`."""
