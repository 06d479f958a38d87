"""What tells whether a store still knows what some files give: their names, sizes and tags, and the software."""

import hashlib
import json
from dataclasses import asdict
from importlib.metadata import entry_points
from pathlib import Path

from harness_uq.estimating.analysis import Options
from harness_uq.logs.places import Fingerprint, is_remote, local_path
from harness_uq.logs.refusals import shown
from harness_uq.plugins.hookspecs import PROJECT
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.protocols import HasVersion
from harness_uq.scaling.parts import Key, Part


def key_of(part: Part, software: str) -> Key:
    """The key of a part as it is now, read by this software."""
    tags = tags_of(part)
    return Key(part_id(part), None if tags is None else _hash((*tags, software)))


def part_id(part: Part) -> str:
    """Hash of the names of a part's files, as they were given."""
    return _hash(part.urls)


def tags_of(part: Part) -> tuple[str, ...] | None:
    """Size and tag of each file of a part; None where one is not known, or a URL holds a secret."""
    tags = tuple(tag_of(file) for file in part.files if shown(file.url) == file.url)
    known = tuple(tag for tag in tags if tag is not None)
    return known if len(known) == len(part.files) else None


def has_tags(part: Part) -> bool:
    """Whether it can be told when a file of the part changes."""
    return tags_of(part) is not None


def tag_of(file: Fingerprint) -> str | None:
    """Size and tag of a file as a text; None where one is not known."""
    return None if file.tag is None or file.size is None else f"{file.size} {file.tag}"


def lasting_names(part: Part) -> list[str]:
    """The files of a part by names that hold from wherever they are looked for."""
    return [url if is_remote(url) else str(Path(local_path(url)).resolve()) for url in part.urls]


def options_text(options: Options) -> str:
    """Options as JSON with sorted keys."""
    return json.dumps(asdict(options), sort_keys=True)


def software_of(plugins: Plugins) -> str:
    """The installed distributions that read and estimate, with versions, and what the readers depend on."""
    owners = {entry.dist for entry in entry_points(group=PROJECT) if entry.dist is not None}
    named = {f"{about['Name']} {about['Version']}" for about in (owner.metadata for owner in owners)}
    readers = plugins.harnesses.values()
    return "; ".join(sorted(named | {reader.version for reader in readers if isinstance(reader, HasVersion)}))


def _hash(texts: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
