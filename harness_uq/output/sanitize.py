"""Text from logs made safe for where it is shown: terminals, Markdown, CSV, LaTeX, JSON.

Control characters move the cursor or hide text, bidirectional overrides turn it round; both are shown as escapes.
"""

import re

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SPACE = re.compile(r"\s*[\t\r\n\v\f\x85\u2028\u2029]\s*")
_FOLDERS = re.compile(r"""(?<![^\s'"(=])(?:~|[A-Za-z]:)?[\\/](?:[^\s'"/\\]+[\\/])+(?=[^\s/\\])""")
_WHOLE = re.compile(r"(^|=)(?:[A-Za-z][\w+.-]*:(?=[\\/])|~|(?=[\\/]))(?:.*[\\/])")
_ERROR = re.compile(r"\b[A-Z]\w*(?:: [^;]*?)? \(\w+\.py, line \d+\)")
_FORMULA = ("=", "+", "-", "@")


def escape_control(text: str) -> str:
    r"""One line of text for a terminal.

    >>> escape_control("two\nlines"), escape_control("\x1b[2Jgone"), escape_control("\u202eab")
    ('two lines', '\\x1b[2Jgone', '\\u202eab')
    """
    return _UNSAFE.sub(_escape, _SPACE.sub(" ", text))


def lines(text: str) -> str:
    """Text for a terminal, whose lines stay."""
    return "\n".join(escape_control(line) for line in text.split("\n"))


def markdown(text: str) -> str:
    r"""Text for a cell of a Markdown table.

    >>> markdown("a|b\nc")
    'a\\|b c'
    """
    return escape_control(text).replace("|", "\\|")


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
    return _UNSAFE.sub(lambda m: m[0] if m[0] == "\n" else f"\\u{ord(m[0]):04x}", document)


def redact_paths(text: str) -> str:
    """A sentence without what only the machine's owner can use: folders of absolute paths, and Python's own errors.

    >>> redact_paths("no scores in /home/ann/runs/a.json; see org/model")
    'no scores in a.json; see org/model'
    >>> redact_paths("clustered failed: ValueError: bad shape (solve.py, line 7)")
    'clustered failed: an unforeseen error'
    """
    return _ERROR.sub("an unforeseen error", _FOLDERS.sub("", text))


def file_name(path: str) -> str:
    """The name of a file without the folders of an absolute path or URL; relative paths stay, as does `NAME=` before.

    >>> file_name("/home/Ann B/a.json"), file_name("runs/a.json"), file_name("new=s3://b/runs/")
    ('a.json', 'runs/a.json', 'new=runs')
    """
    return _WHOLE.sub(r"\1", path.rstrip("/\\"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
