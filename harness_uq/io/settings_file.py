"""The settings file of a project: `harness-uq.toml`, or the table `[tool.harness_uq]` of `pyproject.toml`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.messages.errors import LogError, UsageError, unknown_name
from harness_uq.options import LIVE_OPTIONS, OPTIONS, Rule, one_of, table_of, text, texts

if TYPE_CHECKING:
    from harness_uq.io.prices import PriceTable

OWN_FILE = "harness-uq.toml"
_SHARED_FILE = "pyproject.toml"
_GATE = "gate."
_PRICES = "token_prices"
_ONLY_ARGUMENTS = {
    "scheduler": "the process at this address can run code in this process",
    "store": "results would be read from and written to a place that you did not choose",
}


class SettingsError(UsageError):
    """A setting that does not exist or has an invalid value; the message names its origin."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings file of a project.

    Attributes
    ----------
    path : path of the file; None if there is none
    values : converted values of the keys in the file; keys of the table `[gate]` begin with `gate.`
    """

    path: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def ignore(self) -> tuple[str, ...]:
        """Codes or names of notes and warnings that are not printed."""
        return self.values.get("ignore", ())  # type: ignore[return-value]

    @property
    def tables(self) -> Mapping[str, Mapping[str, object]]:
        """Mappings of files to scores by name, see `harness_uq.io.tables.mapping`."""
        return self.values.get("tables", {})  # type: ignore[return-value]

    @property
    def prices(self) -> "PriceTable | None":
        """Prices of tokens by model."""
        return self.values.get(_PRICES)  # type: ignore[return-value]

    def descriptions(self) -> list[str]:
        """Each setting as `name value`."""
        return [line for key, value in self.values.items() for line in _lines(key.removeprefix(_GATE), value)]


def _lines(key: str, value: object) -> Iterator[str]:
    if key == _PRICES:
        value = value.by_model  # type: ignore[attr-defined]
    name = key.removesuffix("s") if isinstance(value, Mapping | tuple) else key
    if key in ("tables", _PRICES) or not isinstance(value, Mapping):
        yield from (f"{name} {one}" for one in (value if isinstance(value, Mapping | tuple) else [value]))
        return
    for item, one in value.items():
        shown = ",".join(f"{end:g}" for end in one) if isinstance(one, tuple) else one
        yield f"{name} {item}={shown}" if item else f"{name} {shown}"


def find_settings(folder: Path) -> Settings:
    """The settings of the nearest `harness-uq.toml` or `pyproject.toml` in this folder or a parent.

    A `pyproject.toml` counts if it contains the table `[tool.harness_uq]`. Raises SettingsError if the file cannot be
    read, a setting does not exist, or a value is invalid.
    """
    for path in (parent / name for parent in (folder, *folder.parents) for name in (OWN_FILE, _SHARED_FILE)):
        if path.is_file() and (table := _read_table(path)) is not None:
            return _checked(path, table)
    return Settings()


def read_settings(path: Path) -> Settings:
    """The settings of one file, with the errors of `find_settings`. A file called `pyproject.toml` must contain them in
    the table `[tool.harness_uq]`, any other file at its top.
    """
    table = _read_table(path)
    if table is None:
        raise SettingsError(f"{path}: The file contains no table [tool.harness_uq].")
    return _checked(path, table)


def _checked(path: Path, table: Mapping[str, object]) -> Settings:
    values = check_settings(table, FILE_SETTINGS, origin=str(path))
    if _PRICES in values:
        values[_PRICES] = _price_table(f"{path}, [{_PRICES}]", values[_PRICES])  # type: ignore[arg-type]
    gate = check_settings(values.pop("gate", {}), GATE_SETTINGS, origin=f"{path}, [gate]")  # type: ignore[arg-type]
    return Settings(str(path), {**values, **{f"{_GATE}{name}": value for name, value in gate.items()}})


def _price_table(origin: str, tables: Mapping[str, object]) -> "PriceTable":
    from harness_uq.io.prices import price_table  # loads numpy

    try:
        return price_table(origin, tables)
    except LogError as error:
        raise SettingsError(error.message) from None


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
    """The converted values; raises SettingsError, which begins with `origin`, for an unknown name or an invalid value.

    >>> check_settings({"level": "0.9"}, LIVE_SETTINGS, origin="HARNESS_UQ_LEVEL")
    {'level': 0.9}
    """
    converted = {}
    for name, value in values.items():
        if name not in rules and name in _ONLY_ARGUMENTS:
            raise SettingsError(
                f"{origin}: A settings file cannot set {name}, because {_ONLY_ARGUMENTS[name]}. Use --{name}."
            )
        if name not in rules:
            raise SettingsError(f"{origin}: {unknown_name('setting', name, rules)}")
        try:
            converted[name] = rules[name].convert(value)
        except (TypeError, ValueError, AttributeError):
            raise SettingsError(f"{origin}: Invalid {name}: {value!r}. Give {rules[name].valid}.") from None
    return converted


def _label(value: object) -> str:
    """A label of LaTeX, which contains no command."""
    if re.fullmatch(r"[\w:.-]+", text(value)) is None:
        raise ValueError
    return str(value)


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError
    return value


OUTPUT_SETTINGS: Mapping[str, Rule] = {
    "latex_caption": Rule(text, "a caption"),
    "latex_label": Rule(_label, "letters, digits, ':', '.', '_' and '-', such as tab:scores"),
    "engine": one_of("joblib", "dask"),
}
"""Settings that change no number."""

_OF_OPTIONS = {
    key: rule
    for one in OPTIONS.values()
    for declared in (one, one.of("gate"))
    for key, rule in declared.settings.items()
}
GATE_SETTINGS = {key.removeprefix(_GATE): rule for key, rule in _OF_OPTIONS.items() if key.startswith(_GATE)}
"""Settings of the table `[gate]`."""

FILE_SETTINGS: Mapping[str, Rule] = {
    **{key: rule for key, rule in _OF_OPTIONS.items() if not key.startswith(_GATE)},
    "gate": Rule(_table, "a table with improve_by and by"),
    "ignore": Rule(texts, 'a list of codes or names of notes and warnings, such as ["few-clusters"]'),
    "tables": Rule(
        table_of(_table), 'tables of expressions by role, such as {runs = {files = "*.json", question = "id", …}}'
    ),
    **OUTPUT_SETTINGS,
}
"""Settings of a settings file."""

LIVE_SETTINGS: Mapping[str, Rule] = {one.name: one.rule for one in LIVE_OPTIONS}
"""Settings of a harness run with `--uq`."""
