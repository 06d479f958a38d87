"""Text from logs without the characters and commands that act on a terminal, on a page or on GitHub Actions.

Control characters move the cursor, write to the clipboard or open links; bidirectional overrides reorder text; lines
that begin with `::NAME` or contain `##[` are commands of GitHub Actions. All of them become visible escapes.
"""

import re
from typing import Final

# C0, DEL, C1, lone surrogates, noncharacters, and what is invisible or changes the direction of text
UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_SPACES: Final = re.compile(r"\s+")
_BREAK: Final = re.compile("[\t\n\v\f\r\x85\u2028\u2029]")
_COMMAND: Final = re.compile(r"##(?=\[)|(?<!\S):(?=:[A-Za-z])")
_SHORT: Final = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def escape_control(text: str) -> str:
    r"""One line of text that is safe to print: line breaks and tabs become spaces, other control characters escapes.

    >>> escape_control("two\nlines"), escape_control("\x1b[2Jgone"), escape_control("\u202eab")
    ('two lines', '\\x1b[2Jgone', '\\u202eab')
    >>> print(escape_control("::error::text"))
    \x3a:error::text
    """
    if not text.isprintable():
        text = _SPACES.sub(lambda spaces: " " if _BREAK.search(spaces[0]) else spaces[0], text)
        text = UNSAFE.sub(_escape, text)
    if "::" in text or "##[" in text:
        text = _COMMAND.sub(lambda command: rf"\x{ord(command[0][0]):02x}{command[0][1:]}", text)
    return text


def escape_lines(text: str) -> str:
    """The text with `escape_control` applied to each line."""
    return "\n".join(map(escape_control, text.split("\n")))


def visible(text: str) -> str:
    r"""The text with all control characters as escapes, so that different texts look different.

    >>> print(visible("two\nlines"))
    two\nlines
    """
    return text if text.isprintable() else UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return _SHORT.get(match[0], f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
