"""Known tasks of lm-eval: which questions share material, and how the documents say so."""

import json
from functools import cache
from importlib.resources import files

from harness_uq import CatalogueEntry


@cache
def load_catalogue() -> tuple[CatalogueEntry, ...]:
    """Entries of `catalogue.json` in order; the first whose pattern matches a task's name counts.

    A pattern is a regular expression for the whole name. Fields are dotted paths in the logged document, `a+b` a
    composite key, `prompt_prefix` the text that opens the prompt. Items are what the tasks of a group share; the field
    `doc_id` is a document's place in its data set.
    """
    text = files("harness_uq_lm_eval").joinpath("catalogue.json").read_text(encoding="utf-8")
    return tuple(
        CatalogueEntry(
            pattern=entry["pattern"],
            cluster_fields=tuple(entry.get("cluster_fields", ())),
            strata=tuple(entry.get("strata", ())),
            note=entry["note"],
            verified=entry["verified"],
            item_fields=tuple(entry.get("item_fields", ())),
        )
        for entry in json.loads(text)
    )
