"""What is known of the structure of Inspect's tasks, from the data file beside this module."""

from functools import cache
from importlib.resources import files

import msgspec

from harness_uq import CatalogueEntry


@cache
def load_catalogue() -> tuple[CatalogueEntry, ...]:
    """Entries in order; the first whose pattern matches a task's name, with or without its package, counts."""
    content = files(__package__).joinpath("catalogue.json").read_bytes()
    entries = msgspec.json.decode(content, type=list[_Entry])
    return tuple(
        CatalogueEntry(rf"(?:.+/)?(?:{e.tasks})", e.cluster_fields, e.strata, e.note, e.verified) for e in entries
    )


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    tasks: str
    cluster_fields: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    note: str = ""
    verified: bool = False
