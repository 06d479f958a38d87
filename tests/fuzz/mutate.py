"""One change to one file, the same for the same seed: bytes, JSON, or the zip around it."""

import json
import random
import struct
import warnings
import zipfile
from io import BytesIO

DEFLATE, ZSTANDARD = zipfile.ZIP_DEFLATED, 93
_MARK = "\ue000{}\ue001"  # stands for raw text until the tree is written
HOSTILE = (
    *("null", "true", "-1", "0", "1.5", "1e308", "-1e308", "1e400", "NaN", "-Infinity", "99999999999999999999"),
    *("1" * 5000, "-" + "9" * 400, "[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000, '"' + "x" * 3000 + '"'),
    *(r'"\ud800"', r'"\u0000\u001b[31m\r"', r'"\u202eabc"', '""', '"C"', '"NaN"', '"1e999"', '"=1+1"'),
    *("[]", "{}", "[1, 2]", '{"value": 1}'),
)


def mutant(content: bytes, name: str, seed: int) -> tuple[str, bytes]:
    """What was done, and the file after it."""
    rng = random.Random(seed)
    if name.endswith(".eval") and rng.random() < 0.8:
        return _of_zip(content, rng)
    if rng.random() < 0.3:
        return _of_bytes(content, rng)
    return _of_text(content, name, rng)


def _of_text(content: bytes, name: str, rng: random.Random) -> tuple[str, bytes]:
    """A change of the JSON; of one line where there are many; of bytes where it is none."""
    lines = content.split(b"\n") if name.endswith(".jsonl") else [content]
    at = rng.choice([i for i, line in enumerate(lines) if line] or [0])
    try:
        tree = json.loads(lines[at])
    except ValueError:
        return _of_bytes(content, rng)
    what, lines[at] = _of_json(tree, rng)
    return what, b"\n".join(lines)


# ---------------------------------------------------------------- bytes


def _of_bytes(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    change = rng.choice([_flip, _cut, _drop, _insert, _repeat, _zero])
    return f"bytes: {change.__name__.strip('_')}", change(content, rng)


def _flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def _span(content: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(content))
    return start, min(len(content), start + rng.choice((1, 4, 64, 1024)))


def _drop(content: bytes, rng: random.Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + content[end:]


def _insert(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content))
    return content[:at] + rng.choice((rng.randbytes(8), b"\xff", b"\0", b"{", b"]", b'"', b"\n", b"NaN")) + content[at:]


def _repeat(content: bytes, rng: random.Random) -> bytes:
    start, end = _span(content, rng)
    return content[:end] + content[start:end] + content[end:]


def _zero(content: bytes, rng: random.Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + bytes(end - start) + content[end:]


# ---------------------------------------------------------------- JSON


def _of_json(tree: object, rng: random.Random) -> tuple[str, bytes]:
    places = list(_places(tree))
    if not places:
        return "json: whole", rng.choice(HOSTILE).encode()
    owner, key = rng.choice(places)
    kind = rng.choice(("replace", "replace", "replace", "delete", "rename", "repeat", "double"))
    raw = rng.choice(HOSTILE)
    if kind == "replace":
        owner[key] = _MARK.format(raw.encode().hex())
    elif kind == "delete":
        del owner[key]
    elif isinstance(owner, list):
        kind = "double"
        owner.insert(key, owner[key])
    elif kind == "rename":
        owner[rng.choice(("", "\x00", "a|b\n", "uq_lower", key + " ", "match", "__proto__"))] = owner.pop(key)
    else:
        kind = "repeat"
        owner[key + "\ue002"] = _MARK.format(raw.encode().hex())
    return f"json: {kind}", _written(tree)


def _places(tree: object):
    """Every (owner, key) in the tree."""
    queue = [tree]
    while queue:
        owner = queue.pop()
        keys = owner.keys() if isinstance(owner, dict) else range(len(owner)) if isinstance(owner, list) else ()
        for key in keys:
            yield owner, key
            queue.append(owner[key])


def _written(tree: object) -> bytes:
    text = json.dumps(tree, ensure_ascii=False).replace("\ue002", "")
    while (start := text.find('"\ue000')) >= 0:
        end = text.index('\ue001"', start)
        text = text[:start] + bytes.fromhex(text[start + 2 : end]).decode() + text[end + 2 :]
    return text.encode("utf-8", "surrogatepass")


# ---------------------------------------------------------------- zip


def _of_zip(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    changes = [_member_text] * 6 + [_member_bytes, _no_member, _twice, _named, _directory]
    return rng.choice(changes)(unzipped(content), rng)


def unzipped(content: bytes) -> list[tuple[str, bytes, int]]:
    """Name, content and method of each member."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        infos = archive.infolist()
        if any(info.compress_type == ZSTANDARD for info in infos):
            import zipfile_zstd  # noqa: F401 - teaches zipfile this method
        return [(info.filename, archive.read(info), info.compress_type) for info in infos]


def zipped(members: list[tuple[str, bytes, int]]) -> bytes:
    """An archive of the members; Zstandard becomes deflate."""
    file = BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore", UserWarning)  # a name stands twice, as it should
        for name, content, method in members:
            archive.writestr(name, content, DEFLATE if method == ZSTANDARD else method)
    return file.getvalue()


def _member_text(members, rng):
    at = rng.randrange(len(members))
    name, content, method = members[at]
    what, changed = _of_text(content, name, rng)
    members[at] = name, changed, method
    return f"{what} of a member", zipped(members)


def _member_bytes(members, rng):
    at = rng.randrange(len(members))
    name, content, method = members[at]
    what, changed = _of_bytes(content, rng)
    members[at] = name, changed, method
    return f"{what} of a member", zipped(members)


def _no_member(members, rng):
    del members[rng.randrange(len(members))]
    return "zip: no member", zipped(members)


def _twice(members, rng):
    name, content, method = rng.choice(members)
    members.append((name, _of_text(content, name, rng)[1], method))
    return "zip: member twice", zipped(members)


def _named(members, rng):
    at = rng.randrange(len(members))
    hostile = (
        "../../up.json",
        "/root.json",
        "samples/../x.json",
        "_journal/summaries/" + "1" * 5000 + ".json",
        "/",
        "a\x00b",
    )
    members[at] = rng.choice(hostile), *members[at][1:]
    return "zip: renamed", zipped(members)


def _directory(members, rng):
    """A field of one entry of the directory: flags, method, checksum, sizes, place."""
    content = bytearray(zipped(members))
    entries = [i for i in range(len(content) - 4) if content[i : i + 4] == b"PK\x01\x02"]
    at, (offset, form) = (
        rng.choice(entries),
        rng.choice(((8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I"), (42, "<I"))),
    )
    largest = 2 ** (8 * struct.calcsize(form)) - 1
    struct.pack_into(form, content, at + offset, rng.choice((0, 1, 9, 93, rng.randrange(largest), largest)))
    return "zip: directory", bytes(content)
