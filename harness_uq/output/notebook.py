"""How Python shows a result: `print` as its table, the prompt in one line, and notebooks as HTML of its JSON form."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any, Literal

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.messages.control_characters import escape_control

_STYLE = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"
_INTERVAL_KEYS = {"low", "high", "level", "kind"}


# what the one line of a result names, and what it was estimated or decided to be
_KEY = (
    *("system", "system_a", "system_b", "baseline", "model", "grader", "grader_a", "grader_b", "graders", "own"),
    *("task", "metric", "filter", "field", "quantity", "weights", "kind"),
)
_FOUND = ("value", "value_a", "value_b", "interval", "low", "high", "difference", "n_failed", "verdict", "decision")


class Displayed:
    """Base of results with `to_dict`.

    `str(result)` is the table that commands print, without colors, if the class has a `KIND`. `repr(result)` is one
    line with the class, the key, the value and its interval, or with all plain values of a part of a result.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        # a dataclass writes its own `__repr__`, unless its class contains one
        if "__repr__" not in vars(cls):
            setattr(cls, "__repr__", Displayed.__repr__)  # noqa: B010 -- no assignment to a method

    def to_dict(self) -> dict[str, object]:
        """JSON form."""
        raise NotImplementedError

    def __str__(self) -> str:
        kind = getattr(type(self), "KIND", None)
        if kind is None:
            return repr(self)
        from harness_uq.output.terminal import render

        # without a result, the messages are all there is to print
        detail: Literal["brief", "notes"] = "brief" if getattr(self, "status", "ok") == "ok" else "notes"
        options = RenderOptions(is_terminal=False, in_python=True, detail=detail)
        return render(ResultSet({kind.name: [self]}, (), {kind.name: kind}), options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._summary())})"

    def _summary(self) -> Iterator[str]:
        found = {name: getattr(self, name, None) for name in (*_KEY, *_FOUND)} if hasattr(type(self), "KIND") else {}
        if not any(value is not None for value in found.values()):
            found = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        for name, value in found.items():
            yield from _entry(name, value)
        if rows := getattr(self, "record_rows", ""):
            yield f"{rows}={len(getattr(self, rows))}"
        if getattr(self, "status", "ok") != "ok":
            yield f"status={self.status!r}"  # type: ignore[attr-defined]

    def _repr_html_(self) -> str:
        return html_of(self.to_dict())


def _entry(name: str, value: Any) -> Iterator[str]:
    """A value by its name: an interval as its limits, a difference with its interval, results as their number."""
    if isinstance(value, Displayed) and hasattr(value, "low") and hasattr(value, "high"):
        yield f"{name}=[{_rounded(value.low)}, {_rounded(value.high)}]"
    elif name == "difference" and value is not None:
        yield f"{name}={_rounded(value.value)}"
        yield from _entry("interval", value.interval)
    elif isinstance(value, Displayed | str | int | float):
        yield f"{name}={_rounded(value)}"
    elif isinstance(value, tuple | list) and value and name != "messages":
        yield f"{name}={len(value)}" if isinstance(value[0], Displayed) else f"{name}={value!r}"


def _rounded(value: Any) -> str:
    return repr(float(f"{value:.6g}") if isinstance(value, float) else value)


def html_of(value: object) -> str:
    """HTML for a value in JSON form: mappings and lists of mappings become tables, lists of texts become lists.

    Empty entries (None, empty text, empty list) are omitted, and all text is escaped.

    >>> html_of("a < b")
    'a &lt; b'
    """
    if isinstance(value, Mapping):
        return _interval(value) if set(value) == _INTERVAL_KEYS else _mapping(value)
    if isinstance(value, list):
        return _list(value)
    return escape(_text(value))


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else escape_control(str(value))


def _interval(value: Mapping[str, object]) -> str:
    level = value["level"]
    percent = f"{100 * level:g}" if isinstance(level, float) else "?"
    return escape(f"[{_text(value['low'])}, {_text(value['high'])}] ({percent} %, {value['kind']})")


def _mapping(value: Mapping[str, object]) -> str:
    rows = "".join(
        f'<tr><th scope="row" style="{_STYLE}">{escape(name.replace("_", " "))}</th><td style="{_STYLE}">'
        f"{html_of(item)}</td></tr>"
        for name, item in value.items()
        if _has_content(item)
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _has_content(item: object) -> bool:
    if isinstance(item, Mapping):
        return any(map(_has_content, item.values()))
    return item not in (None, "", [])


def _list(items: Sequence[object]) -> str:
    if items and all(isinstance(item, Mapping) for item in items):
        return _records([item for item in items if isinstance(item, Mapping)])
    if items and all(isinstance(item, list) for item in items):
        return f"<table><tbody>{''.join(_row(row) for row in items if isinstance(row, list))}</tbody></table>"
    if any(isinstance(item, str) for item in items):
        return f"<ul>{''.join(f'<li>{html_of(item)}</li>' for item in items)}</ul>"
    return escape(", ".join(map(_text, items)))


def _records(records: Sequence[Mapping[str, object]]) -> str:
    names = [name for name in records[0] if any(_has_content(record.get(name)) for record in records)]
    head = "".join(f'<th scope="col" style="{_STYLE}">{escape(name.replace("_", " "))}</th>' for name in names)
    body = "".join(_row(record.get(name) for name in names) for record in records)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(cells: Iterable[object]) -> str:
    texts = ("" if cell is None else html_of(cell) for cell in cells)
    return "<tr>" + "".join(f'<td style="{_STYLE}">{text}</td>' for text in texts) + "</tr>"
