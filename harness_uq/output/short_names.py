"""Names that fit in a given width, in figures and tables."""

from collections.abc import Sequence

from harness_uq.messages.control_characters import escape_control

_MAX_PER_CELL = 2


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
    ['org/mod…v1-final', 'org/mod…v2-final']
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


def _without_common_part(names: Sequence[str], width: int) -> dict[str, str] | None:
    """Names in which only the words at the beginning and end that all share are shortened; None if too long."""
    if len(names) < 2:
        return None
    start = _n_common(names)
    reversed_rests = [name[start:][::-1] for name in names]
    end = _n_common(reversed_rests)
    while start and names[0][start - 1].isalnum():
        start -= 1
    while end and names[0][len(names[0]) - end].isalnum():
        end -= 1
    middles = [name[start : len(name) - end] for name in names]
    n_ellipses = bool(start) + bool(end)
    room = width - n_ellipses - max(map(cell_len, middles))
    if room < 0 or not n_ellipses:
        return None
    is_whole = 0 < end <= room // 2  # then it needs no ellipsis
    before = _beginning(names[0][:start], room + 1 - end if is_whole else (room + 1) // 2 if end else room)
    after = _beginning(names[0][::-1][:end], end if is_whole else room - cell_len(before))[::-1]
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
