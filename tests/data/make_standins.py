"""Make stand-ins of real logs: what was measured stays, what somebody wrote becomes made words of the same lengths.

    python tests/data/make_standins.py ../shared/data tests/data/logs.zip

Kept: files, their names, members of archives, keys, types, identifiers, times, numbers, scores, punctuation, and words
that stand alone (names of tasks, models, metrics and filters, labels). Made: the words of every text, each word always
by the same one, so that equal texts stay equal and shared passages stay shared; users, folders and addresses of places;
what is longer than a hash without a space. Hashes that lm-evaluation-harness takes of texts are taken of the made ones.
"""

import csv
import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

WORD = re.compile(r"[^\W\d_]+")
IS_TEXT = re.compile(r"[^\W\d_]{2,}\S*\s+\S*?[^\W\d_]{2,}")
PLACE = re.compile(r"(?:file://)?/(?:home|Users|root|tmp|private|mnt)/[^\s\"':]*|(?:https?://|git@)[^\s\"']+")
FUNCTION = re.compile(r"def \w+")
LONGEST_TOKEN = 72  # a hash has 64 characters; what is longer without a space is content in some encoding
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
EPOCH = (1980, 1, 1, 0, 0, 0)


def made_text(text: str) -> str:
    """The text with other words; places are made by themselves, and the name of a function that opens it stays."""
    head = FUNCTION.match(text)
    start = head.end() if head else 0
    parts = re.split(f"({PLACE.pattern})", text[start:])
    words = (_made_place(part) if i % 2 else WORD.sub(_made_word, part) for i, part in enumerate(parts))
    return text[:start] + "".join(words)


def _made_word(match: re.Match[str]) -> str:
    word = match.group()
    return word if len(word) == 1 else _word(word)


@cache
def _word(word: str) -> str:
    digest = hashlib.blake2b(word.encode(), digest_size=64).digest()
    made = "".join(SYLLABLES[byte % len(SYLLABLES)] for byte in digest)
    made = (made * (len(word) // len(made) + 1))[: len(word)]
    return made.upper() if word.isupper() else made.capitalize() if word[0].isupper() else made


def _made_place(place: str) -> str:
    name = hashlib.blake2b(place.encode(), digest_size=4).hexdigest()
    if place.startswith(("http", "git@")):
        return f"https://example.org/{name}"
    return f"/home/somebody/{name}{Path(place).suffix}"


def made(value: object) -> object:
    """A JSON value with made texts; keys stay."""
    if isinstance(value, dict):
        return {key: made(item) for key, item in value.items()}
    if isinstance(value, list):
        return [made(item) for item in value]
    return _made_string(value) if isinstance(value, str) else value


def _made_string(text: str) -> str:
    if IS_TEXT.search(text):
        return made_text(text)
    text = PLACE.sub(lambda place: _made_place(place.group()), text)
    return text if len(text) <= LONGEST_TOKEN else hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


def made_row(row: dict[str, object]) -> dict[str, object]:
    """A row of lm-evaluation-harness's samples, its hashes taken as lm-evaluation-harness takes them."""
    found = {key: made(value) for key, value in row.items()}
    prompt = found["arguments"]["gen_args_0"]["arg_0"]
    hashed = {
        "doc_hash": json.dumps(found["doc"], indent=2, ensure_ascii=False),
        "prompt_hash": prompt if isinstance(prompt, str) else prompt[0],
        "target_hash": str(found["target"]),
    }
    return found | {name: hashlib.sha256(text.encode()).hexdigest() for name, text in hashed.items() if name in found}


def made_lines(content: bytes) -> bytes:
    """JSON Lines of samples."""
    rows = [made_row(json.loads(line)) for line in content.decode().splitlines()]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def made_json(content: bytes) -> bytes:
    """A JSON document, indented as it was."""
    text = content.decode()
    indent = 2 if text.startswith(("{\n", "[\n")) else None
    return json.dumps(made(json.loads(text)), indent=indent, ensure_ascii=False).encode()


def made_table(content: bytes) -> bytes:
    """A CSV of scores; a column of reference answers is left out."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    names = [name for name in rows[0] if name != "reference output"]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def made_archive(content: bytes) -> bytes:
    """An .eval: its members in their order."""
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        return archive((name, made_json(source.read(name))) for name in source.namelist())


def archive(members: Iterator[tuple[str, bytes]]) -> bytes:
    """A zip archive that is the same for the same members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name, content in members:
            target.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


KINDS = {".jsonl": made_lines, ".json": made_json, ".csv": made_table, ".eval": made_archive}


FOLDERS = ("csv", "inspect", "lm_eval")  # of the shared data that have stand-ins


def made_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every log of the folder, by its path within, as its stand-in."""
    paths = sorted(
        path for path in folder.rglob("*") if path.suffix in KINDS and path.relative_to(folder).parts[0] in FOLDERS
    )
    retaken = {hash_of(path.read_bytes()): hash_of(made_lines(path.read_bytes())) for path in paths if is_samples(path)}
    for path in paths:
        content = KINDS[path.suffix](path.read_bytes())
        yield path.relative_to(folder).as_posix(), with_hashes(content, retaken) if path.suffix == ".json" else content


def is_samples(path: Path) -> bool:
    """Whether the file holds lm-evaluation-harness's samples."""
    return path.suffix == ".jsonl"


def hash_of(lines: bytes) -> str:
    """The hash of a task, which lm-evaluation-harness takes of those of its rows."""
    rows = [json.loads(line) for line in lines.decode().splitlines()]
    parts = (str(row.get(name, "")) for row in rows for name in ("doc_hash", "prompt_hash", "target_hash"))
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def with_hashes(content: bytes, retaken: dict[str, str]) -> bytes:
    """A results file with the hashes of the tasks whose samples stand beside it."""
    for theirs, ours in retaken.items():
        content = content.replace(theirs.encode(), ours.encode())
    return content


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(archive(made_files(Path(sys.argv[1]))))
