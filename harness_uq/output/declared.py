"""JSON, JSON Schema and flat records of a result, all derived from the declaration of its class.

A result is a frozen dataclass that inherits from `Declared`. Its JSON object has one entry for each field and for each
property in `json_properties`. A field with `metadata=INTERNAL` is left out. The entries of a field with
`metadata=INLINE` become entries of the object itself. Numbers that are not finite become null.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NotRequired,
    TypeAlias,
    TypedDict,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from harness_uq.messages import HasMessages, Message, Severity, Status, join_messages, status_of
from harness_uq.messages.errors import DataError, MissingDependencyError, unknown_name
from harness_uq.output.notebook import Displayed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


INTERNAL: Mapping[str, str] = {"json": "internal"}
INLINE: Mapping[str, str] = {"json": "inline"}

Cell: TypeAlias = str | int | float | None
Record: TypeAlias = dict[str, Cell]

_SCALARS = (str, int, float, bool)
_DEFAULT_BACKENDS = ("pandas", "polars", "pyarrow")
_BACKENDS = (*_DEFAULT_BACKENDS, "modin")


class MessageDocument(TypedDict):
    """A message with its code, which the page "Messages" explains."""

    code: str
    name: str
    severity: Severity
    text: str
    params: dict[str, str | int | float | bool | list[str | int | float | bool | None] | None]
    ignored: NotRequired[bool]


class Declared(Displayed):
    """A result class whose JSON object and flat records follow from its declaration.

    `KIND`: how results of the class are presented; classes without a list of their own have none. `json_properties`:
    properties that belong to the JSON object, after the fields. `record_rows`: field with a tuple of results that are
    one flat record each; empty if the result is one record. `record_methods`: methods that take an entry of
    `record_rows` and return a further cell of its record. `record_prefix`: prefix of the columns that the records of
    `record_rows` share. `not_in_records`: fields that flat records leave out.
    """

    __slots__ = ()
    KIND: ClassVar[Any]
    json_properties: ClassVar[tuple[str, ...]] = ()
    record_rows: ClassVar[str] = ""
    record_methods: ClassVar[tuple[str, ...]] = ()
    record_prefix: ClassVar[str] = ""
    not_in_records: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, object]:
        """JSON-ready object; missing values and numbers that are not finite are None."""
        return {name: _plain(entry.value(self)) for name, entry in json_entries(type(self)).items()}

    def to_frame(self, backend: str | None = None) -> Any:
        """Data frame of the flat records, as `ResultList.to_frame`."""
        return frame_of(self.to_records(), backend)

    def plot(self, **options: Any) -> "Figure":
        """Figure of the result, as `ResultList.plot`."""
        return figure_of([self], **options)

    def to_records(self) -> list[Record]:
        """Flat records with the columns of `record_columns`, for any values."""
        cls = type(self)
        record = _cells(self, json_entries(cls), cls.record_prefix, (cls.record_rows, *cls.not_in_records))
        if not cls.record_rows:
            return [record]
        rows = getattr(self, cls.record_rows)
        extras = [{name: _scalar(getattr(self, name)(row)) for name in cls.record_methods} for row in rows]
        return [record | _cells(row, json_entries(type(row))) | extra for row, extra in zip(rows, extras, strict=True)]

    @classmethod
    def record_columns(cls) -> tuple[str, ...]:
        """The columns of the flat records: they do not depend on the data."""
        columns = _cells(None, json_entries(cls), cls.record_prefix, (cls.record_rows, *cls.not_in_records))
        if cls.record_rows:
            (row_type, _) = get_args(json_entries(cls)[cls.record_rows].type)
            columns |= _cells(None, json_entries(row_type)) | dict.fromkeys(cls.record_methods)
        return tuple(columns)


class Result(Declared, HasMessages):
    """A result with messages, which are the reason if it is missing.

    `needed`: attribute that is None or empty if there is no result; empty if there always is one.
    """

    __slots__ = ()
    json_properties: ClassVar[tuple[str, ...]] = ("status",)
    needed: ClassVar[str] = ""

    @property
    def status(self) -> Status:
        """`ok`, `not_estimable` (`reason` says why) or `failed` (an unexpected error)."""
        return status_of(self.messages, has_result=not self.needed or getattr(self, self.needed) not in (None, ()))

    @property
    def key(self) -> tuple[str, str, str]:
        """Task, metric and filter."""
        return self.task, self.metric, self.filter  # type: ignore[attr-defined]  # of results of one score

    @property
    def subject(self) -> tuple[str, ...]:
        """System and run in footnotes; empty for results of several systems."""
        return ()


def figure_of(results: Sequence[Any], **options: Any) -> "Figure":
    """Draw results by the function for the kind of the last.

    Parameters
    ----------
    results : an overall result, if any, followed by estimates (`plot_forest`), comparisons (`plot_difference`) or
        rankings (`plot_ranks`); histories (`plot_history`); a single result of `effects` or `plan`; or a gate
    **options : arguments of the function that draws the figure

    Raises
    ------
    DataError : if there are no results, none of this type are drawn, or several where one is drawn
    MissingDependencyError : if matplotlib is not installed
    """
    if not results:
        raise DataError("there are no results to draw")
    kind = getattr(type(results[-1]), "KIND", None)
    if kind is None or kind.figure is None:
        raise DataError(f"there is no figure of {type(results[-1]).__name__}")
    drawn = kind.figure(results, **options)
    figure: Figure = getattr(drawn[0] if isinstance(drawn, list) else drawn, "figure", None) or drawn
    return figure


def frame_of(records: Sequence[Record], backend: str | None) -> Any:
    """Data frame with a row for each record; all records have the same columns.

    `backend`: library of the data frame; None for the first of pandas, polars and pyarrow that is installed. Raises
    DataError if there is no such library, and MissingDependencyError if it is not installed.
    """
    import narwhals as nw

    if backend is not None and backend not in _BACKENDS:
        raise DataError(unknown_name("backend", backend, _BACKENDS))
    columns = {name: [record[name] for record in records] for name in (records[0] if records else ())}
    for library in _DEFAULT_BACKENDS if backend is None else [backend]:
        with suppress(ImportError):
            return nw.from_dict(columns, backend=library).to_native()  # type: ignore[arg-type]  # checked above
    missing, package = (backend, backend) if backend else ("a data frame library", "'harness-uq[tables]'")
    raise MissingDependencyError(f"to_frame needs {missing}: pip install {package}")


@dataclass(frozen=True, slots=True)
class JsonEntry:
    """One entry of a JSON object: its declared type, and how to get its value from the result."""

    type: Any
    value: Callable[[object], object]


_ENTRIES: dict[type, dict[str, JsonEntry]] = {}


def json_entries(cls: type) -> dict[str, JsonEntry]:
    """The entries of the JSON object of a class, by name."""
    if cls not in _ENTRIES:
        _ENTRIES[cls] = _declared_entries(cls)
    return _ENTRIES[cls]


def _declared_entries(cls: type) -> dict[str, JsonEntry]:
    entries: dict[str, JsonEntry] = {}
    for field in fields(cls):
        kind = field.metadata.get("json")
        if kind == "inline":
            entries |= {
                name: JsonEntry(entry.type, _nested(field.name, entry.value))
                for name, entry in json_entries(cast("type", field.type)).items()
            }
        elif kind != "internal":
            entries[field.name] = JsonEntry(field.type, attrgetter(field.name))
    for name in getattr(cls, "json_properties", ()):
        hints = get_type_hints(getattr(cls, name).fget)
        entries[name] = JsonEntry(hints["return"], attrgetter(name))
    return entries


def document_type(declared: Any) -> Any:
    """The type of the JSON form of a declared type, for JSON Schema."""
    origin, arguments = get_origin(declared), get_args(declared)
    if declared is float:
        return float | None
    if declared is Message:
        return MessageDocument
    if is_dataclass(declared):
        return _struct(cast("type", declared))
    if origin in (Union, UnionType):
        return Union[tuple(document_type(one) for one in arguments)]  # noqa: UP007 -- built from a tuple
    if origin is tuple and arguments[-1] is Ellipsis:
        return list[document_type(arguments[0])]  # type: ignore[misc]
    if origin is tuple:
        return tuple[tuple(map(document_type, arguments))]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, document_type(arguments[1])]  # type: ignore[misc]
    return declared


_STRUCTS: dict[type, type] = {}


def _struct(cls: type) -> type:
    """A struct with the entries of a class; one for each class, because schemas define each name once."""
    import msgspec

    if cls not in _STRUCTS:
        entries = [(name, document_type(entry.type)) for name, entry in json_entries(cls).items()]
        _STRUCTS[cls] = msgspec.defstruct(
            cls.__name__, entries, namespace={"__doc__": (cls.__doc__ or "").split("\n")[0]}
        )
    return _STRUCTS[cls]


def _nested(name: str, value: Callable[[object], object]) -> Callable[[object], object]:
    return lambda result: value(getattr(result, name))


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return {name: _plain(entry.value(value)) for name, entry in json_entries(type(value)).items()}


def _cells(value: object, entries: Mapping[str, JsonEntry], prefix: str = "", skipped: tuple[str, ...] = ()) -> Record:
    """The cells of a result; those of parts that are None are None."""
    record: Record = {}
    for name, entry in entries.items():
        kind = _optional(entry.type)
        item = None if value is None else entry.value(value)
        if name in skipped or _is_nested(kind):
            continue
        if is_dataclass(kind):
            record |= _cells(item, json_entries(cast("type", kind)), f"{prefix}{name}_")
            if name == "interval" and "value" in entries:
                record |= _deltas(record, prefix)
        elif _is_pair(kind):
            low, high = cast("tuple[Cell, Cell]", item) if item is not None else (None, None)
            record |= {f"{prefix}{name}_low": _scalar(low), f"{prefix}{name}_high": _scalar(high)}
        else:
            record[prefix + name] = _scalar(item)
    return record


def _deltas(record: Record, prefix: str) -> Record:
    """Distances of the limits of an interval from its value, as `inspect_viz.transform.ci_bounds` takes them."""
    value, low, high = (record[f"{prefix}{name}"] for name in ("value", "interval_low", "interval_high"))
    return {
        f"{prefix}interval_low_delta": _difference(value, low),
        f"{prefix}interval_high_delta": _difference(high, value),
    }


def _difference(a: Cell, b: Cell) -> float | None:
    return a - b if isinstance(a, int | float) and isinstance(b, int | float) else None


def _scalar(value: object) -> Cell:
    """A value in one cell: sequences and mappings become text."""
    if value is None or isinstance(value, _SCALARS):
        return cast("Cell", _plain(value))
    if isinstance(value, Mapping):
        return "; ".join(f"{name}={_scalar(item)}" for name, item in value.items())
    items = cast("tuple[object, ...]", value)
    messages = [item for item in items if isinstance(item, Message)]
    if messages:
        return join_messages(message for message in messages if not message.is_ignored)
    return "; ".join(map(str, items))


def _optional(declared: Any) -> Any:
    """The type without None."""
    if get_origin(declared) in (Union, UnionType):
        (kind, *others) = (one for one in get_args(declared) if one is not type(None))
        return declared if others else kind
    return declared


def _is_pair(kind: Any) -> bool:
    arguments = get_args(kind)
    return get_origin(kind) is tuple and len(arguments) == 2 and arguments[1] is not Ellipsis


def _is_nested(kind: Any) -> bool:
    """Whether it is a tuple of results or of rows of a matrix, which have no place in a flat record."""
    if get_origin(kind) is not tuple or _is_pair(kind):
        return False
    item = get_args(kind)[0]
    return (is_dataclass(item) and item is not Message) or get_origin(item) is tuple
