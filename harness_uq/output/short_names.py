"""Names that fit in a given width, in figures and tables."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from harness_uq.messages.control_characters import escape_control

_MAX_PER_CELL = 2
_BREAK = re.compile(r"(?<=[_ /-])|(?=\()")
_CUT_WORD = re.compile(r"[^\W_]+$")


def cell_len(text: str) -> int:
    """Number of cells of a terminal that a text takes."""
    from rich.cells import cell_len as n_cells

    return n_cells(text)


def shorten(text: str, width: int = 40) -> str:
    """`text` without control characters, in at most `width` cells of a terminal; a longer one loses its middle.

    >>> shorten("mmlu_pro_plus_chemistry", 16)
    'mmlu_pro…emistry'
    """
    text = escape_control(text)
    # many characters in few cells are joiners or accents, which figures may draw one beside the other
    if cell_len(text) <= width and len(text) <= _MAX_PER_CELL * width:
        return text
    return f"{_beginning(text, width // 2)}…{_beginning(text[::-1], width - 1 - width // 2)[::-1]}"


def shorten_names(names: Sequence[str], width: int) -> list[str]:
    """`shorten` for names that are shown together: different names remain different, as their common part is shortened.

    >>> shorten_names(["org/model-large-instruct-v1-final", "org/model-large-instruct-v2-final"], 16)
    ['org/…v1-final', 'org/…v2-final']
    """
    plain = {name: shorten(name, width) for name in dict.fromkeys(map(escape_control, names))}
    long = [name for name, text in plain.items() if text != name]
    short = plain | (_without_common_part(long, width) or {})
    groups: dict[str, list[str]] = {}
    for name, text in short.items():
        groups.setdefault(text, []).append(name)
    for members in groups.values():
        if len(members) > 1:
            short |= _without_common_part(members, width) or {}
    if len(set(short.values())) < len(short):
        short = {name: f"{shorten(name, max(width - 4, 1))}…{k}" for k, name in enumerate(short, 1)}
    return [short[escape_control(name)] for name in names]


def wrap_names(names: Sequence[str], width: int) -> list[str]:
    r"""Names in lines of at most `width` cells; different names remain different.

    They lose their common part if they then fit on one line; otherwise they are broken at `_`, `-`, `/`, a space or
    `(`.

    >>> wrap_names(["exact_match (strict)", "acc"], 12)
    ['exact_match\n(strict)', 'acc']
    """
    distinct = list(dict.fromkeys(map(escape_control, names)))
    long = [name for name in distinct if cell_len(name) > width]
    is_list = any(", " in name for name in long)
    for group, start in _groups(distinct, long) if long and not is_list else ():
        short = {name: name for name in distinct} | (_without_common_part(group, width, start) or {})
        if max(map(cell_len, short.values())) <= width and len(set(short.values())) == len(short):
            return [short[escape_control(name)] for name in names]
    wrapped = {name: _in_lines(name, width) if name in long else name for name in distinct}
    if len(set(wrapped.values())) < len(wrapped):
        return shorten_names(names, width)
    return [wrapped[escape_control(name)] for name in names]


def line_width(names: Sequence[str], least_width: int = 16) -> int:
    """The width in which names fit on one line each, at most without their common part, if not less than `least_width`
    cells.
    """
    widths = {name: cell_len(name) for name in names}
    full = max(widths.values(), default=0)
    if full <= least_width:
        return full
    least = full
    for group, kept in _groups([*widths], [name for name, width in widths.items() if width > least_width]):
        if len(group) > 1 and any(parts := _common_parts(group)):
            start, end = parts
            rest = max((width for name, width in widths.items() if name not in group), default=0)
            n_ellipses = (start > len(kept)) + bool(end)
            middle = max(cell_len(name[start : len(name) - end]) for name in group)
            least = min(least, max(cell_len(kept[:start]) + n_ellipses + middle, rest, least_width))
    return least


def _groups(names: Sequence[str], long: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Names that may have a common part, and the beginning that they keep: all names, those with the most frequent
    first word, and the long ones. Groups of at most three quarters of the names keep their first word.
    """
    yield names, ""
    first = Counter(_BREAK.split(name, maxsplit=1)[0] for name in names).most_common(1)[0][0]
    for group in ([name for name in names if name.startswith(first)], long):
        is_small = 4 * len(group) <= 3 * len(names)
        yield group, _BREAK.split(group[0], maxsplit=1)[0] if group and is_small else ""


def lost_beginning(names: Sequence[str], short: Sequence[str]) -> str:
    """The beginning that `…` replaces in the short forms of names; empty if no name has lost it, or not all the same.

    >>> lost_beginning(["mmlu_anatomy", "mmlu_logic", "overall"], ["…anatomy", "…logic", "overall"])
    'mmlu_'
    """
    pairs = [(name, text[1:]) for name, text in zip(names, short, strict=True) if text.startswith("…")]
    beginnings = {name.removesuffix(text) if name.endswith(text) else "" for name, text in pairs}
    return beginnings.pop() if len(beginnings) == 1 else ""


def piece_width(names: Sequence[str]) -> int:
    """The width of the longest part of the names that is not broken over two lines."""
    return max((cell_len(piece.strip()) for name in names for piece in _BREAK.split(name)), default=0)


def _in_lines(name: str, width: int) -> str:
    """The name in lines that end at a separator; a part that is longer than a line loses its middle."""
    lines = [""]
    for piece in _BREAK.split(name):
        if cell_len(f"{lines[-1]}{piece}".rstrip()) <= width:
            lines[-1] += piece
        else:
            lines.append(piece)
    return "\n".join(shorten(line.strip(), width) for line in lines if line.strip())


def _common_parts(names: Sequence[str]) -> tuple[int, int]:
    """Lengths of the beginning and the end of whole words that all names share."""
    start = _n_common(names)
    end = _n_common([name[start:][::-1] for name in names])
    while start and (names[0][start - 1].isalnum() or names[0][start - 1] == "("):
        start -= 1
    while end and (names[0][len(names[0]) - end].isalnum() or names[0][len(names[0]) - end] == ")"):
        end -= 1
    return start, end


def _without_common_part(names: Sequence[str], width: int, kept: str = "") -> dict[str, str] | None:
    """Names in which only the words at the beginning and end that all share are shortened; None if they are too long,
    or do not keep the beginning `kept`.
    """
    if len(names) < 2:
        return None
    start, end = _common_parts(names)
    middles = [name[start : len(name) - end] for name in names]
    n_ellipses = bool(start) + bool(end)
    room = width - n_ellipses - max(map(cell_len, middles))
    if room < 0 or not n_ellipses:
        return None
    is_whole = 0 < end <= room // 2  # then it needs no ellipsis
    before = _beginning(names[0][:start], room + 1 - end if is_whole else room)
    if len(before) < start:
        before = _CUT_WORD.sub("", before)
    after = names[0][len(names[0]) - end :] if is_whole else ""
    if len(before) < min(len(kept), start):
        return None
    return {
        name: f"{before}{'…' if len(before) < start else ''}{middle}{'…' if len(after) < end else ''}{after}"
        for name, middle in zip(names, middles, strict=True)
    }


def _n_common(texts: Sequence[str]) -> int:
    """Number of characters with which all texts begin."""
    shortest = min(map(len, texts))
    return next((k for k in range(shortest) if len({text[k] for text in texts}) > 1), shortest)


def _beginning(text: str, width: int) -> str:
    """The first characters of a text, in at most `width` cells."""
    n_cells, longest = 0, text[: _MAX_PER_CELL * width]
    for k, character in enumerate(longest):
        n_cells += cell_len(character) + (character == "\ufe0f")  # widens the character before it
        if n_cells > width:
            return text[:k]
    return longest
