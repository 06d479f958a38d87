#!/usr/bin/env python3
"""Check prose for private idioms, overlong sentences and number formats.

The check reads Markdown, the docstrings, comments and string literals of Python files, and the `--help` texts of the
command line. It finds known faults only: a text without a hit can still be hard to read. Phrases and what to write
instead are in `tools/prose_idioms.toml`. Put `prose: ignore` on a line that uses a phrase in its ordinary sense.

Usage::

    python tools/check_prose.py README.md docs harness_uq       files and folders
    python tools/check_prose.py --help-texts                    the help text of every command
    python tools/check_prose.py --max 15 docs                   fail only if there are more than 15 hits
    python tools/check_prose.py --any-length docs/decisions     accept long sentences
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

IDIOMS = Path(__file__).with_name("prose_idioms.toml")
IGNORE = "prose: ignore"
MAX_WORDS = 35
TOO_LONG = "split the sentence"
COUNTED = "questions|tasks|trials|clusters|systems|runs|samples|logs|files|models|rows|scores"
# Folders whose files are generated and not kept.
GENERATED = {"docs/_build", "docs/reference/made"}
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_CODE_SPAN = re.compile(r"`[^`]*`")
_FENCE = re.compile(r"\s*(```|~~~)")
_BLOCK_START = re.compile(r"\s*([-*+]|\d+\.)\s|\s*$")
_NOT_A_SENTENCE = re.compile(r"\s*[|>#<]|\s{4}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Rule:
    """A pattern and what to write instead of its matches."""

    pattern: re.Pattern[str]
    use: str


@dataclass(frozen=True, order=True)
class Hit:
    """One fault: where it is, the words and the remedy."""

    source: str
    line: int
    phrase: str
    use: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.phrase!r} -> {self.use}"


NUMBER_RULES = (
    Rule(re.compile(r"(?<![\w.)\]:/*}\\])\.\d+(?!\w)"), "leading zero"),
    Rule(re.compile(r"(?<![\w.])[-−]0(\.0+)?(?=\s?%|\s+points?\b)"), "no negative zero"),
    Rule(re.compile(rf"(?<![\w.,/])1 (?:{COUNTED})\b"), "singular"),
    Rule(
        re.compile(
            r"\bwhere (all|no|none|every|each|there (is|are)|it is not|they are)\b"
            r"|\bwhere (an?|the) (log|run|task|data) (do|does|has|have|is|are|holds?|names?|says?|lacks?|gives?)\b",
            re.IGNORECASE,
        ),
        "if",
    ),
)


def read_idioms(path: Path = IDIOMS) -> tuple[Rule, ...]:
    """Rules of the word list."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["idiom"]
    return tuple(Rule(re.compile(entry["pattern"], re.IGNORECASE), entry["use"]) for entry in entries)


def check_text(text: str, source: str, rules: Iterable[Rule]) -> list[Hit]:
    """Faults in a text; `source` names it and, by its suffix, says whether it is Python or Markdown."""
    lines = list(_python_prose(text) if source.endswith(".py") else _markdown_prose(text))
    hits = [
        Hit(source, number, match[0].strip(), rule.use)
        for number, line in lines
        if IGNORE not in line
        for rule in rules
        for match in rule.pattern.finditer(line)
    ]
    if source.endswith(".md"):
        hits += _long_sentences(text, source)
    return sorted(hits)


def _markdown_prose(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and lines outside of fenced blocks, without the contents of code spans."""
    for number, line in _outside_fences(text):
        yield number, line if IGNORE in line else _CODE_SPAN.sub("`x`", line)


def _outside_fences(text: str) -> Iterator[tuple[int, str]]:
    is_fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield number, line


def _python_prose(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and lines of comments and of strings that contain a space."""
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    ignored = {number for number, line in enumerate(text.splitlines(), 1) if IGNORE in line}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds and " " in token.string:
            for number, line in enumerate(token.string.splitlines(), token.start[0]):
                if number not in ignored:
                    yield number, _PLACEHOLDER.sub("{}", line)


def _long_sentences(text: str, source: str) -> Iterator[Hit]:
    for start, paragraph in _paragraphs(text):
        if IGNORE in paragraph:
            continue
        for sentence in _SENTENCE_END.split(paragraph):
            words = sentence.split()
            if len(words) > MAX_WORDS:
                yield Hit(source, start, f"{' '.join(words[:6])} … ({len(words)} words)", TOO_LONG)


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """First line number and text of paragraphs and list items; no tables, headings, quotations or indented code."""
    start, lines = 0, list[str]()
    previous = 0
    for number, line in [*_outside_fences(text), (sys.maxsize, "")]:
        is_new = number != previous + 1 or _BLOCK_START.match(line) or _NOT_A_SENTENCE.match(line)
        if is_new and lines:
            yield start, " ".join(lines)
            lines = []
        if line.strip() and not _NOT_A_SENTENCE.match(line):
            start = start if lines else number
            lines.append(line.strip())
        previous = number


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Markdown and Python files among the paths and in their folders, without generated ones."""
    for path in paths:
        candidates = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in candidates:
            is_generated = any(file.as_posix().startswith(name) for name in GENERATED)
            if file.suffix in {".md", ".py"} and not is_generated:
                yield file


def read_help_texts() -> Iterator[tuple[str, str]]:
    """Name and help text of the program, of each of its commands and of the harnesses that it runs."""
    from harness_uq.commands.parser import COMMANDS
    from harness_uq.io.plugins.manager import runners

    for command in ("", *COMMANDS, *runners()):
        yield f"harness-uq {command} --help", _help_text(*command.split())


def _help_text(*command: str) -> str:
    program = [sys.executable, "-m", "harness_uq", *command, "--help"]
    env = {**os.environ, "COLUMNS": "500", "NO_COLOR": "1"}
    return subprocess.run(program, env=env, check=True, capture_output=True, text=True).stdout  # noqa: S603


def main(argv: list[str] | None = None) -> int:
    """Print the faults; the exit code is 1 if there are more than `--max`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="Markdown or Python file, or folder")
    parser.add_argument("--help-texts", action="store_true", help="check the help text of every command too")
    parser.add_argument("--any-length", action="store_true", help=f"accept sentences over {MAX_WORDS} words")
    parser.add_argument("--max", type=int, default=0, metavar="N", help="number of hits to accept (default: 0)")
    args = parser.parse_args(argv)
    texts = [(file.as_posix(), file.read_text(encoding="utf-8")) for file in find_files(args.paths)]
    if args.help_texts:
        texts += read_help_texts()
    rules = (*read_idioms(), *NUMBER_RULES)
    hits = [hit for source, text in texts for hit in check_text(text, source, rules)]
    if args.any_length:
        hits = [hit for hit in hits if hit.use != TOO_LONG]
    for hit in hits:
        print(hit)
    print(f"{len(hits)} hits in {len(texts)} texts")
    return int(len(hits) > args.max)


if __name__ == "__main__":
    sys.exit(main())
