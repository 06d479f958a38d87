"""Write the JSON Schemas of what `--format json` prints, from the types: `python -m tests.schemas`."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness_uq.output.data import SCHEMA
from harness_uq.results.documents import documents

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "harness_uq" / "schemas"
PAGE = ROOT / "docs" / "reference" / "json.md"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# what docs/reference/json.md has a table of, and the definition that it describes
TABLES = {
    "entry of `estimates` has": "Estimate",
    "`structures` has one entry": "StructureSummary",
    "entry of `comparisons` has": "Comparison",
    "`watch` prints an object": "Snapshot",
}


def schemas() -> dict[str, str]:
    """Text of every schema by the name of its file."""
    words = {definition: dict(meanings(phrase)) for phrase, definition in TABLES.items()}
    return {f"{name}-v{SCHEMA}.json": schema(name, kind, words) for name, kind in documents().items()}


def schema(name: str, kind: object, words: Mapping[str, Mapping[str, str]]) -> str:
    """The schema of a type, with the meanings `words` of the fields of its definitions."""
    found: dict[str, Any] = msgspec.json.schema(kind)
    for definition, content in found.get("$defs", {}).items():
        if description := content.get("description"):
            content["description"] = inspect.cleandoc(description)
        for field, declared in content.get("properties", {}).items():
            if meaning := words.get(definition, {}).get(field):
                content["properties"][field] = {"description": meaning, **declared}
    whole = {"$schema": DIALECT, "$id": f"harness-uq:{name}-v{SCHEMA}", **found}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def meanings(phrase: str) -> Iterator[tuple[str, str]]:
    """Field and meaning, of the table that follows the phrase on the page."""
    after = PAGE.read_text(encoding="utf-8").split(phrase, 1)[1]
    table = after[after.index("| Field") :].split("\n\n", 1)[0]
    for line in table.splitlines()[2:]:
        fields, meaning = line.strip("| ").split(" | ", 1)
        for field in re.findall(r"`(\w+)`", fields):
            yield field, meaning.replace("`", "")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    made = schemas()
    for old in FOLDER.glob("*.json"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
