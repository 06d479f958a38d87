"""Read scores from any JSON, JSON Lines or CSV file by a mapping from roles to expressions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePath

from harness_uq.io.limits import check_cells
from harness_uq.io.paths import name_of, read_bytes
from harness_uq.io.tables.column_roles import RESOURCES, ROLES, Columns, Layout, ScoreColumn
from harness_uq.io.tables.files import json_lines, read_file
from harness_uq.io.tables.json_paths import (
    compile_expression,
    evaluate_expression,
    label_cell,
    last_field,
    named_values,
)
from harness_uq.io.tables.table import Table, append_cell, filled, is_plain, score_of
from harness_uq.messages.catalogue.reading import FILE_EMPTY, INVALID_JSON, MAPPING_MATCHES_NOTHING, MAPPING_NEEDS_ROWS
from harness_uq.messages.errors import LogError, MissingDependencyError, unknown_name

LINES = (".jsonl", ".ndjson")
_KEYS = ("files", "rows", *ROLES)
_CHECKED_ROWS = 1000  # rows between two checks of the number of cells


@dataclass(frozen=True, slots=True)
class TableMapping:
    """Where the records of matching files contain questions, scores and other values."""

    name: str  # of the table in the settings
    files: tuple[str, ...]  # glob patterns of paths, or of the last parts of paths
    rows: str | None  # expression for the list of records in a document or line; None if these are the records
    roles: tuple[tuple[str, str], ...]  # roles and their expressions, without the score
    scores: tuple[tuple[str | None, str], ...]  # metrics and their expressions; None if these determine the name

    def matches(self, path: str) -> bool:
        """Whether the mapping describes this file."""
        return any(fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}") for pattern in self.files)


def mapping_of(name: str, definition: Mapping[str, object]) -> TableMapping:
    """A mapping from a table `[tables.NAME]` of the settings. Raises LogError if a role does not exist, a required one
    is missing, or an expression is not valid.
    """
    if unknown := sorted(definition.keys() - set(_KEYS)):
        raise LogError(f"[tables.{name}]: {unknown_name('role', unknown[0], _KEYS)}")
    if missing := [key for key in ("files", "question", "score") if not definition.get(key)]:
        raise LogError(f"[tables.{name}]: {missing[0]!r} is missing. A mapping requires files, question and score.")
    score, files = definition["score"], definition["files"]
    scores: Sequence[tuple[str | None, object]]
    if isinstance(score, Mapping):
        scores = list(score.items())
    else:
        scores = [(None, one) for one in (score if isinstance(score, list) else [score])]
    roles = [(role, definition[role]) for role in ROLES if role in definition and role != "score"]
    rows = [("rows", definition["rows"])] if "rows" in definition else []
    for key, expression in [*rows, *roles, *scores]:
        if not isinstance(expression, str):
            raise LogError(f"[tables.{name}]: Invalid {key or 'score'}: {expression!r}. Give a JMESPath expression.")
        try:
            compile_expression(expression)
        except MissingDependencyError:
            pass  # reported if a file that the mapping describes is read
        except LogError as error:
            raise LogError(f"[tables.{name}]: {error}") from None
    patterns = files if isinstance(files, list) else [files]
    if not all(isinstance(pattern, str) for pattern in patterns):
        raise LogError(f"[tables.{name}]: Invalid files: {files!r}. Give a glob pattern or a list of them.")
    return TableMapping(
        name,
        tuple(map(str, patterns)),
        str(rows[0][1]) if rows else None,
        tuple((role, str(expression)) for role, expression in roles),
        tuple((metric, str(expression)) for metric, expression in scores),
    )


def read_mapped(path: str, mapping: TableMapping) -> tuple[Table, Layout]:
    """Read a file as a table, by a mapping; raises LogError if a required expression matches nothing. In JSON and JSON
    Lines files, expressions are evaluated for each record. In other tables they are names of columns.
    """
    suffix = PurePath(name_of(path)).suffix.lower()
    if suffix != ".json" and suffix not in LINES:
        return read_file(path, _columns(mapping))
    builder = _Builder(mapping)
    for place, record, document in _records(path, mapping, is_lines=suffix in LINES):
        builder.add(place, record, document)
    return builder.table(has_lines=suffix in LINES)


def _columns(mapping: TableMapping) -> Columns:
    """The mapping as names of columns, for files whose records are not nested."""
    columns: dict[str, str | Sequence[str]] = {role: last_field(expression) for role, expression in mapping.roles}
    scores = [last_field(expression) for _, expression in mapping.scores]
    return columns | ({"score": scores[0]} if len(scores) == 1 else {"metric": scores})


def _records(path: str, mapping: TableMapping, *, is_lines: bool) -> Iterator[tuple[int, object, object]]:
    """Line number or position of each record, the record, and the document that contains it."""
    if is_lines:
        for number, line in json_lines(path):
            for record in _rows(mapping, line) if mapping.rows else [line]:
                yield number, record, line
        return
    document = load_json(path)
    if mapping.rows is not None:
        records = _rows(mapping, document)
    elif isinstance(document, list):
        records = document
    else:
        raise LogError(MAPPING_NEEDS_ROWS(table=mapping.name))
    for number, record in enumerate(records, 1):
        yield number, record, document


def load_json(path: str) -> object:
    """The content of a JSON file; raises LogError if it is empty or not JSON."""
    content = read_bytes(path)
    if not content.strip():
        raise LogError(FILE_EMPTY())
    try:
        document: object = json.loads(content)
    except ValueError as error:
        raise LogError(INVALID_JSON(reason=str(error))) from None
    except RecursionError:
        raise LogError(INVALID_JSON(reason="it is nested too deeply")) from None
    return document


def _rows(mapping: TableMapping, document: object) -> list[object]:
    rows = evaluate_expression(mapping.rows or "@", document, document)
    if not isinstance(rows, list):
        raise LogError(MAPPING_MATCHES_NOTHING(role="rows", expression=mapping.rows, table=mapping.name))
    return rows


class _Builder:
    """Collects the cells of a table, record by record."""

    def __init__(self, mapping: TableMapping) -> None:
        self.mapping = mapping
        self.places: list[int] = []
        self.roles: dict[str, list[object]] = {role: [] for role, _ in mapping.roles}
        self.scores: dict[str, list[object]] = {}
        self.others: dict[str, list[object]] = {}
        self.used = {expression for _, expression in (*mapping.roles, *mapping.scores)}

    def add(self, place: int, record: object, document: object) -> None:
        """Add the cells of one record."""
        row = len(self.places)
        if not isinstance(record, dict):
            raise LogError(f"record {place} is not a JSON object")
        try:
            for role, expression in self.mapping.roles:
                value = evaluate_expression(expression, record, document)
                self.roles[role].append(value if role in RESOURCES else label_cell(value))
            for metric, expression in self.mapping.scores:
                for name, value in named_values(expression, record, document).items():
                    append_cell(self.scores, name if metric is None else metric, value, row)
        except LogError as error:
            raise LogError(f"record {place}: {error}") from None
        for name, value in record.items():
            if name not in self.used and is_plain(value):
                append_cell(self.others, name, value, row)
        self.places.append(place)
        if len(self.places) % _CHECKED_ROWS == 1:
            check_cells(len(self.places), len(self.roles) + len(self.scores) + len(self.others))

    def table(self, *, has_lines: bool) -> tuple[Table, Layout]:
        """The table and its layout."""
        expressions = dict(self.mapping.roles)
        n_rows = len(self.places)
        if not n_rows:
            raise LogError(FILE_EMPTY())
        scores = {name: cells for name, cells in filled(self.scores, n_rows).items() if any(map(_is_score, cells))}
        if not scores:
            expression = ", ".join(expression for _, expression in self.mapping.scores)
            raise LogError(MAPPING_MATCHES_NOTHING(role="score", expression=expression, table=self.mapping.name))
        for role, cells in self.roles.items():
            if all(cell is None for cell in cells):
                expression = expressions[role]
                raise LogError(MAPPING_MATCHES_NOTHING(role=role, expression=expression, table=self.mapping.name))
        # the expression in the name of a column appears in errors, and keeps it apart from members of the records
        names = {role: f"{role} ({expression})" for role, expression in expressions.items()}
        if "cluster" in names:  # results mention the field
            names["cluster"] = expressions["cluster"]
        has_metric = "metric" in expressions
        columns = [ScoreColumn(f"score {name}", metric=None if has_metric else name) for name in scores]
        named = {f"score {name}": column for name, column in scores.items()}
        named |= {names[role]: column for role, column in self.roles.items()}
        others = {name: column for name, column in filled(self.others, n_rows).items() if name not in named}
        layout = Layout(
            tuple(columns),
            {role: name for role, name in names.items() if role not in RESOURCES},
            frozenset(expressions),
            {role: name for role, name in names.items() if role in RESOURCES},
        )
        check_cells(n_rows, len(named) + len(others))
        return Table(named | others, self.places if has_lines else ()), layout


def _is_score(cell: object) -> bool:
    try:
        return cell is not None and is_plain(cell) and score_of(cell) is not None
    except LogError:
        return False
