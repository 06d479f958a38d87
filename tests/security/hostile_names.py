"""Names that act on terminals, pages or GitHub Actions if they are printed as they are."""

import json
import re
from pathlib import Path

OSC_8 = "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\"
OSC_52 = "\x1b]52;c;cm0gLXJmIH4=\x07"
FORGED = "FORGED  score   0.9999  [0.9998, 1.0000]"
ACTING = (
    OSC_8,
    OSC_52,
    f"m\n{FORGED}",
    f"m\r{FORGED}\r\n{FORGED}\u2028{FORGED}",
    "m\n::error::text",
    "::error file=a::text",
    " ::set-output name=decision::pass",
    "##[error]text",
    "\u202egnp.exe\u2066",
    "\t\x00\x07\x08\x7f\x85\x9b31m",
)
MARKUP = (
    r"a\|b | c",
    "<img src=http://evil.example onerror=alert(1)>",
    "![image](http://evil.example)",
    "[link](http://evil.example) [1](http://evil.example) http://evil.example www.evil.example",
    "<script>alert(1)</script> <!-- &lt;",
    "`code` **bold** __bold__ ~~struck~~ $x$",
    r"$\frac{$ \input{/etc/passwd} \write18{id} % & # _ ^ ~ {",
    "=1+1",
    "# heading",
    "]]> </text> & --",
)
HOSTILE = (*ACTING, *MARKUP, "\ufeff\ufffe\uffff\u200b\ufff9", "\U000e0041 \U0001f3f4", "\ud800x\udfff")


def write_table(path: Path, *, task: str = "t", model: str = "m", metric: str = "score", field: str = "passage") -> str:
    """Write scores of one system on one task as JSON Lines; every third answer is wrong."""
    seed = len(path.stem)
    rows = [
        {"task": task, "model": model, "metric": metric, "id": f"q{i}", "score": int((i + seed) % 3 > 0), field: i // 3}
        for i in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def problems_in(text: str) -> list[str]:
    """What a text for people or programs must not contain: control characters, forged lines, commands of GitHub."""
    acting = re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", text)
    commands = re.findall(r"^\s*::[a-z].*|##\[.*", text, re.MULTILINE)
    forged = re.findall(r"^FORGED.*", text, re.MULTILINE)
    return [*sorted({f"U+{ord(character):04X}" for character in acting}), *commands, *forged]
