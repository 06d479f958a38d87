"""HTML tables for notebooks, made from the JSON form of a result with the standard library only."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from harness_uq.messages.control_characters import escape_control

_STYLE = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"
_INTERVAL_KEYS = {"low", "high", "level", "kind"}


class NotebookTable:
    """Base of results with `to_dict`; adds `_repr_html_`, which Jupyter calls."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """JSON form."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_of(self.to_dict())


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
