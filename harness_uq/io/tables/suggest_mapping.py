"""Suggest a mapping for a JSON, JSON Lines or CSV file, inferred from its first records."""

import csv
import glob
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import PurePath

from harness_uq.io.paths import name_of, open_binary
from harness_uq.io.tables.column_roles import RESOURCES, ROLES, find_column
from harness_uq.io.tables.files import json_lines
from harness_uq.io.tables.mapping import LINES, load_json
from harness_uq.io.tables.table import append_cell, is_plain, score_of
from harness_uq.messages.catalogue.reading import FILE_EMPTY, MAPPING_NOT_SUGGESTED
from harness_uq.messages.errors import LogError

_MOST_RECORDS = 1000
_MOST_PATHS = 500
_MOST_DEPTH = 5
_MOST_BYTES = 16 << 20  # of the beginning of a CSV file
_MOST_LISTED = 8
_SCORE_GROUP = re.compile(r"(named_?)?(scores?|metrics?|rewards?|grades?|evaluations?)", re.IGNORECASE)
_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sample:
    """The first records of a file."""

    rows: _Path | None  # path of the list of records in the document; None if they are the lines or items of the file
    values: Mapping[_Path, Sequence[object]]  # plain values of the records, by path
    document: Mapping[_Path, object]  # plain values around the records, by path
    n_records: int


def suggest_mapping(path: str) -> str:
    """Infer a mapping from the first 1000 records of a file, as text for `harness-uq.toml`.

    Members are recognized by their names, like columns of tables. Roles without a recognized member are comments that
    list candidates, so the text must be checked and completed. Raises LogError if the file contains no list of objects.
    """
    sample = _sample(path)
    roles = _roles(sample)
    file_name = PurePath(name_of(path)).name
    table = re.sub(r"[^A-Za-z0-9_-]+", "-", PurePath(file_name).stem).strip("-") or "table"
    lines = [
        f"# Inferred from {sample.n_records} records by the names of their members. Check each line.",
        f"[tables.{table}]",
        f"files = {_toml(glob.escape(file_name))}",
    ]
    if sample.rows is not None:
        lines.append(f"rows = {_toml(_expression(sample.rows))}")
    for role in ROLES:
        if role in roles:
            lines.append(f"{role} = {_toml(roles[role])}{_evidence(roles[role], sample)}")
        elif role in ("question", "score", "trial", "system", "task", "cluster"):
            lines.append(f"# {role}: no member was recognized{_candidates(role, roles, sample)}")
    return "\n".join(lines) + "\n"


def _sample(path: str) -> _Sample:
    suffix = PurePath(name_of(path)).suffix.lower()
    rows: _Path | None = None
    document: object = None
    if suffix in LINES:
        records: list[object] = [line for _, line in islice(json_lines(path), _MOST_RECORDS)]
    elif suffix == ".json":
        document = load_json(path)
        rows, records = _longest_list(document)
    elif suffix in (".csv", ".tsv"):
        records = list(_csv_records(path, suffix))
    else:
        raise LogError(MAPPING_NOT_SUGGESTED().at(path))
    objects = [record for record in records[:_MOST_RECORDS] if isinstance(record, dict)]
    if not objects:
        raise LogError((FILE_EMPTY() if not records else MAPPING_NOT_SUGGESTED()).at(path))
    values: dict[_Path, list[object]] = {}
    for n, record in enumerate(objects):
        for where, value in _members(record):
            if is_plain(value) and (where in values or len(values) < _MOST_PATHS):
                append_cell(values, where, value, n)
    members = _members(document) if isinstance(document, dict) else ()
    around = {path: value for path, value in members if is_plain(value)}
    return _Sample(rows or None, values, around, len(objects))


def _csv_records(path: str, suffix: str) -> Iterator[dict[str, object]]:
    with open_binary(path) as file:
        text = file.read(_MOST_BYTES).decode("utf-8-sig", errors="replace")
    header = text.partition("\n")[0]
    delimiter = "\t" if suffix == ".tsv" else max(",;\t", key=header.count)
    try:
        for row in islice(csv.DictReader(StringIO(text), delimiter=delimiter), _MOST_RECORDS):
            yield {name: value for name, value in row.items() if isinstance(name, str)}
    except csv.Error as error:
        raise LogError(str(error)) from None


def _longest_list(document: object) -> tuple[_Path, list[object]]:
    """The longest list of objects in a document, with its path; the empty path stands for the document itself."""
    if not isinstance(document, dict):
        return (), document if isinstance(document, list) else []
    members = [(path, value) for path, value in _members(document) if isinstance(value, list)]
    lists = [(path, values) for path, values in members if values and isinstance(values[0], dict)]
    return max(reversed(lists[-_MOST_PATHS:]), key=lambda pair: len(pair[1]), default=((), []))


def _members(record: Mapping[str, object]) -> Iterator[tuple[_Path, object]]:
    """Values in nested objects that are not objects themselves, by path."""
    pending: list[tuple[_Path, object]] = [((name,), value) for name, value in reversed(list(record.items()))]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict) and len(path) < _MOST_DEPTH:
            pending += [((*path, str(name)), member) for name, member in reversed(list(value.items()))]
        else:
            yield path, value


def _roles(sample: _Sample) -> dict[str, str]:
    """Expression by role, for the members whose names are recognized."""
    roles: dict[str, str] = {}
    taken: set[_Path] = set()
    if (scores := _score_group(sample)) is not None:
        roles["score"] = f"{_expression(scores)}.*" if scores else "*"
        taken |= {path for path in sample.values if path[:-1] == scores}
    for role in ROLES:
        if role in roles:
            continue
        paths = [path for path in sample.values if path not in taken and _fits(role, sample.values[path])]
        if role in ("system", "task"):  # a value of its own in each record is no system
            paths = [path for path in paths if len(_distinct(sample.values[path])) < max(sample.n_records, 2)]
        path = _recognized(role, paths)
        if path is None and role == "score":
            truth_values = [
                path for path in paths if {type(value) for value in _distinct(sample.values[path])} == {bool}
            ]
            path = truth_values[0] if len(truth_values) == 1 else None
        if path is not None:
            roles[role] = _expression(path)
            taken.add(path)
        elif role in ("system", "task") and (path := _recognized(role, list(sample.document))) is not None:
            roles[role] = f"$.{_expression(path)}"
    return roles


def _score_group(sample: _Sample) -> _Path | None:
    """The object that contains scores by name, such as `scores`; None if there is none."""
    groups: dict[_Path, list[_Path]] = {}
    for path in sample.values:
        groups.setdefault(path[:-1], []).append(path)
    for group, paths in sorted(groups.items(), key=lambda pair: len(pair[0])):
        is_named = bool(group) and _SCORE_GROUP.fullmatch(group[-1]) is not None
        if is_named and any(_fits("score", sample.values[path]) for path in paths):
            return group
    return None


def _recognized(role: str, paths: Sequence[_Path]) -> _Path | None:
    """The member that is recognized by its name or by its name and that of its parent; outer members first."""
    for depth in range(1, _MOST_DEPTH + 1):
        level = [path for path in paths if len(path) == depth]
        for names in ({"_".join(path[-2:]): path for path in level}, {path[-1]: path for path in level}):
            if (name := find_column(role, list(names))) is not None:
                return names[name]
    return None


def _fits(role: str, values: Sequence[object]) -> bool:
    """Whether values can be those of a role: numbers or truth values for scores and resources, else labels."""
    known = [value for value in values if value is not None]
    if not known:
        return False
    if role != "score" and role not in RESOURCES:
        return True
    try:
        for value in known:
            score_of(value)
    except LogError:
        return False
    return True


def _distinct(values: Sequence[object]) -> set[object]:
    return {value for value in values if value is not None}


def _evidence(expression: str, sample: _Sample) -> str:
    """A comment with the number of different values; nothing for other expressions than members of the records."""
    values = next((values for path, values in sample.values.items() if _expression(path) == expression), None)
    if values is None:
        return ""
    n_values = len(_distinct(values))
    return f"  # {n_values} different value{'' if n_values == 1 else 's'}"


def _candidates(role: str, roles: Mapping[str, str], sample: _Sample) -> str:
    used = set(roles.values())
    paths = [
        _expression(path)
        for path, values in sample.values.items()
        if _fits(role, values) and len(_distinct(values)) > 1
    ]
    free = [_toml(path)[1:-1] for path in paths if path not in used]
    return f"; candidates: {', '.join(free[:_MOST_LISTED])}" if free else ""


def _expression(path: _Path) -> str:
    """A path as JMESPath expression."""
    return ".".join(
        name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else json.dumps(name, ensure_ascii=True) for name in path
    )


def _toml(text: str) -> str:
    """A text as TOML string, with escapes for characters that are not printable."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted) + '"'
