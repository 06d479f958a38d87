"""Text from logs made safe for where it is shown: terminals, Markdown, CSV, JSON and HTML documents."""

import json
import re

from harness_uq.messages.control_characters import UNSAFE, escape_control, visible
from harness_uq.output.words import COMMAND

# punctuation that CommonMark and GitHub read as markup; the brackets of intervals such as [0.1, 0.2] stay
_MARKUP = re.compile(
    r"[\\`*~|$]|<(?=[A-Za-z/!?])|&(?=#?\w{1,40};)|!(?=\[)|\[(?![-−+.\d])|\](?=[(\[:])|:(?=//)|(?<=www)\."
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
)
_BLOCK_START = re.compile(r"(?=[#>]|[+-](?:[\s+-]|$))|\d{1,9}(?=[.)](?:\s|$))")
_FOLDERS = re.compile(r"""(?<![^\s'"(=])(?:~|[A-Za-z]:)?[\\/](?:[^\s'"/\\]+[\\/])+(?=[^\s/\\])""")
_ABSOLUTE = re.compile(r"(^|=)(?:[A-Za-z][\w+.-]*+:(?=[\\/])|~|(?=[\\/]))")
_PLACE = re.compile(r" \(\w++\.py, line \d++\)")
_ERROR_NAME = re.compile(r"\b[A-Z]\w*+(?=: |\Z)")
_UNFORESEEN = "an unforeseen error"
_FORMULA = ("=", "+", "-", "@")


def markdown(text: str) -> str:
    r"""Text for a line of Markdown, such as a cell of a table, without markup of its own.

    >>> print(markdown("a|b <img> [0.1, 0.2]"))
    a\|b \<img> [0.1, 0.2]
    """
    return _MARKUP.sub(r"\\\g<0>", escape_control(text))


def markdown_paragraph(text: str) -> str:
    r"""Sentences as a paragraph or list item of Markdown; commands and options between backticks stay code.

    >>> print(markdown_paragraph("# Run `harness-uq plan a_b` or `--x_y` for *x*"))
    \# Run `harness-uq plan a_b` or `--x_y` for \*x\*
    """
    parts = COMMAND.split(escape_control(text).lstrip())
    inline = "".join(f"`{part}`" if k % 2 else markdown(part) for k, part in enumerate(parts))
    start = _BLOCK_START.match(inline)
    return inline if start is None else f"{inline[: start.end()]}\\{inline[start.end() :]}"


def csv_field(value: object) -> object:
    """A field for CSV: a text that a spreadsheet would run as a formula is preceded by an apostrophe; numbers stay.

    >>> csv_field("=1+1"), csv_field(-1.5)
    ("'=1+1", -1.5)
    """
    if not isinstance(value, str):
        return value
    text = escape_control(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def json_text(document: str) -> str:
    r"""A JSON document without raw control characters: in its texts they stand as `\uXXXX`, which means the same."""
    document = document.replace("##[", r"#\u0023[")  # a command of GitHub Actions in any place of a line
    return UNSAFE.sub(lambda m: m[0] if m[0] == "\n" else json.dumps(m[0])[1:-1], document)


def html_text(page: str) -> str:
    """An HTML page with visible escapes instead of control characters; its lines stay."""
    return "\n".join(map(visible, page.split("\n")))


def redact_paths(text: str) -> str:
    """A sentence without what only the machine's owner can use: folders of absolute paths, and Python's own errors.

    >>> redact_paths("no scores in /home/ann/runs/a.json; see org/model")
    'no scores in a.json; see org/model'
    >>> redact_paths("clustered failed: ValueError: bad shape (solve.py, line 7)")
    'clustered failed: an unforeseen error'
    """
    return _without_python_errors(_FOLDERS.sub("", text))


def file_name(path: str) -> str:
    """The name of a file without the folders of an absolute path or URL; relative paths stay, as does `NAME=` before.

    >>> file_name("/home/Ann B/a.json"), file_name("runs/a.json"), file_name("new=s3://b/runs/")
    ('a.json', 'runs/a.json', 'new=runs')
    """
    path = path.rstrip("/\\")
    after_folders = max(path.rfind("/"), path.rfind("\\")) + 1
    start = _ABSOLUTE.search(path, 0, after_folders)
    return path if start is None else path[: start.end(1)] + path[after_folders:]


def _without_python_errors(text: str) -> str:
    """The text with `ValueError: bad shape (solve.py, line 7)` replaced; the error begins after the last semicolon."""
    parts, start = list[str](), 0
    for place in _PLACE.finditer(text):
        clause = max(start, text.rfind(";", start, place.start()) + 1)
        error = _ERROR_NAME.search(text, clause, place.start())
        parts.append(text[start : place.end()] if error is None else f"{text[start : error.start()]}{_UNFORESEEN}")
        start = place.end()
    return "".join((*parts, text[start:]))
